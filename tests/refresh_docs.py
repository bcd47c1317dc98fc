"""Rewrite what the pages print (commands, doctests, refusals) with what is printed now: `python tests/refresh_docs.py [PAGE…]`.

Lines that a page leaves out (`…`, in the README also `...`) stay left out. Read the diff: the words around figures stay.
"""

from __future__ import annotations

import doctest
import os
import re
import sys
import tempfile
from contextlib import chdir
from difflib import SequenceMatcher
from itertools import groupby, islice
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]
import conftest  # noqa: E402
from pages import FENCE, FLAGS, PAGES, README, REFUSED, output, parts, prepare, use, write  # noqa: E402

from costmodel.language.problem import SpecError  # noqa: E402
from costmodel.library import Library  # noqa: E402

GAPS = ("…", "...")


def likeness(old: str, new: str) -> float:
    """How much two lines look like one another, figures and spaces aside; 0 to 1."""
    a, b = (" ".join(re.sub(r"\d[\d,.]*", "0", line).split()) for line in (old, new))
    same = 1.0 if a == b else SequenceMatcher(None, a, b, autojunk=False).ratio()
    return same if same > 0.5 else 0.0


def align(old: list[str], new: list[str]) -> list[int | None]:
    """For every old line the new one that takes its place: in order, most alike together, side by side where they were."""
    score = [[likeness(o.rstrip("…"), n[: len(o) - 1] if o.endswith("…") else n) + 0.1 * (o == n) for n in new] for o in old]
    best = [[0.0] * (len(new) + 2) for _ in range(len(old) + 2)]
    taken = [[0.0] * (len(new) + 2) for _ in range(len(old) + 2)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            if score[i][j]:
                taken[i][j] = score[i][j] + max(taken[i + 1][j + 1] + 0.2, best[i + 1][j + 1])
            best[i][j] = max(best[i + 1][j], best[i][j + 1], taken[i][j])
    found: list[int | None] = [None] * len(old)
    i = j = 0
    while i < len(old) and j < len(new):
        if taken[i][j] and taken[i][j] == best[i][j]:
            while taken[i][j]:
                found[i] = j
                i, j = i + 1, j + 1
                if taken[i][j] + 0.2 < best[i][j]:
                    break
        elif best[i + 1][j] == best[i][j]:
            i += 1
        else:
            j += 1
    return found


def printed(old: list[str], new: list[str]) -> list[str]:
    """The new lines, less those that the page leaves out."""
    shown = [line for line in old if line.strip() not in GAPS]
    places = align(shown, new)
    cut = {p: new[p][: len(o) - 1] + "…" for o, p in zip(shown, places, strict=True) if p is not None and o.endswith("…")}
    gap = next((line for line in old if line.strip() in GAPS), None)
    kept = set(range(len(new))) if gap is None else kept_lines(old, places, len(new))
    lines: list[str] = []
    for i, line in enumerate(new):
        if i in kept:
            lines.append(cut.get(i, line))
        elif not lines or lines[-1] != gap:
            lines.append(gap or "…")
    return lines


def kept_lines(old: list[str], places: list[int | None], count: int) -> set[int]:
    """The new lines that the page shows: from the first to the last of every run of lines between `…`."""
    kept: set[int] = set()
    shown = iter(places)
    runs = [[*run] for _, run in groupby(old, key=lambda line: line.strip() in GAPS)]
    for run in runs:
        if run[0].strip() in GAPS:
            continue
        real = [p for p in islice(shown, len(run)) if p is not None]
        first = 0 if run is runs[0] else min(real, default=0)
        kept |= set(range(first, count if run is runs[-1] else max(real, default=first - 1) + 1))
    return kept


def trimmed(lines: list[str]) -> list[str]:
    """Without blank lines at the end."""
    return trimmed(lines[:-1]) if lines and not lines[-1].strip() else lines


def console(block: str, page: str) -> str:
    """A block of commands with what they print now, each in a folder of its own."""
    text = ""
    for line, old in parts(block):
        if not line.startswith("costmodel"):
            text += "\n".join([f"$ {line}", *trimmed(old)]) + "\n"
            continue
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            prepare(Path(folder), page)
            claimed, code, new = output(line)
        if claimed != code:
            print(f"  exits {code}, the page says {claimed}: {line}")
        shown = printed(trimmed(old), new) if trimmed(old) else []
        text += "\n".join([f"$ {line}", *shown]).rstrip() + "\n"
    return text


class Got(doctest.DocTestRunner):
    """Notes what examples print where that differs."""

    def __init__(self):
        super().__init__(optionflags=FLAGS)
        self.got: dict[int, str] = {}

    def report_failure(self, out, test, example, got):
        """Note what was printed."""
        self.got[example.lineno] = got

    def report_unexpected_exception(self, out, test, example, exc_info):
        """Note the exception's last line."""
        self.got[example.lineno] = (
            f"Traceback (most recent call last):\n    ...\n{''.join(doctest._exception_traceback(exc_info).splitlines()[-1:])}\n"
        )


def python(block: str, names: dict) -> str:
    """A block of doctests with what they print now; names go on to the next block of the page."""
    test = doctest.DocTestParser().get_doctest(block, names, "page", "page", 0)
    test.globs, runner = names, Got()
    runner.run(test, clear_globs=False)
    lines = block.splitlines(keepends=True)
    for example in reversed(test.examples):
        if example.lineno in runner.got:
            first = example.lineno + example.source.count("\n")
            got = [line for line in runner.got[example.lineno].splitlines() if line.strip()]  # a blank line would end the example
            failed = example.exc_msg is not None or got[:1] == ["Traceback (most recent call last):"]
            new = got if failed or not example.want else printed(example.want.splitlines(), got)
            lines[first : first + example.want.count("\n")] = [f"{line}\n" for line in new]
    return "".join(lines)


def refusal(match: re.Match) -> str:
    """A refused document with its message of now."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        kind, name = write(Path(folder), match[1])
        try:
            use(Library(roots=(Path(),)), kind, name)
        except SpecError as error:
            return f"```yaml\n{match[1]}```\n\n```text\n{str(error).rstrip()}\n```"
    print(f"  not refused: {name}")
    return match[0]


def refreshed(page: Path) -> str:
    """The page with everything that it prints as it is printed now."""
    names: dict = {"__name__": "__main__"}

    def block(match: re.Match) -> str:
        if match[1] == "console":
            new = console(match[3], page.name)
        elif match[1] == "python" and ">>> " in match[3]:
            new = python(match[3], names)
        else:
            return match[0]
        return match[0].replace(match[3], new) if match[3] else match[0]

    text = page.read_text("utf-8")
    if re.search(r"^(<{7}|>{7}) ", text, re.M):
        raise SystemExit(f"{page.name}: a merge is not finished")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        prepare(Path(folder), page.name)
        text = FENCE.sub(block, text)
    return REFUSED.sub(refusal, text)


def followed(english: str, korean: str) -> str:
    """The Korean README with the blocks of the English one."""
    blocks = iter(m[0] for m in FENCE.finditer(english))
    return FENCE.sub(lambda m: next(blocks, m[0]), korean)


def refresh(wanted: list[str]) -> None:
    """Rewrite the pages (all, or those whose names are given)."""
    print(f"program cache: {os.environ['COSTMODEL_CACHE']}, {conftest.__name__}")
    for page in [README, *PAGES]:
        if wanted and page.name not in {Path(w).name for w in wanted}:
            continue
        print(page.name)
        old, new = page.read_text("utf-8"), refreshed(page)
        if old != new:
            page.write_text(new, "utf-8")
            print("  rewritten")
    korean = README.with_name("README.ko.md")
    korean.write_text(followed(README.read_text("utf-8"), korean.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    refresh(sys.argv[1:])
