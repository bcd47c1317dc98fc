"""Pages of the repository that stand outside `docs/`: copied into the site, with links that hold there; and links to made pages.

A page of `docs/` cannot link to a made page, since the link would be dead in the repository; so pages get
their links to the reference when the site is built.
"""

from __future__ import annotations

import re
from pathlib import Path

import made

from costmodel.schema import KINDS

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = {
    "README.md": "project/readme.md",
    "README.ko.md": "project/readme-ko.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "benchmarks/README.md": "project/benchmarks.md",
    "examples/estimator/README.md": "project/estimator.md",
}
_LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
_FILE = re.compile(r"\[([^\]\n]+)\]\(([^)\s#:]+)\)")
_RULE = re.compile(r"(?<![\w\[*-])R(\d{1,2})\b(?![\w\]])")
_KIND = re.compile(r"^#{2,3} (?:Fields of )?([a-z, `]+)$\n", re.M)
_FENCED = re.compile(r"(^```.*?^```[ \t]*$)", re.M | re.S)
_CODE = re.compile(r"(^```.*?^```[ \t]*$|`[^`\n]*`)", re.M | re.S)


def moved(text: str, folder: str, at: str) -> str:
    """A page of `folder` (in the repository) as it reads at `at` (under the sources of the site): links changed, code left alone.

    Links to folders, and those of examples to their sources, become plain text: these have no pages.
    """
    from os.path import normpath, relpath

    def link(match: re.Match) -> str:
        target = normpath(f"{folder}/{match[2]}")
        place = PAGES.get(target, target.removeprefix("docs/") if target.startswith("docs/") else None)
        return match[0] if place is None else match[1] + relpath(place, str(Path(at).parent)) + match[3]

    def file(match: re.Match) -> str:
        there = ROOT / folder / match[2]
        source = there.is_file() and there.suffix != ".md" and folder.startswith("examples")
        return match[1] if source or there.is_dir() else match[0]

    plain = (part if i % 2 else _FILE.sub(file, part) for i, part in enumerate(_FENCED.split(text)))
    text = "".join(plain)  # first, since code in the text of a link would split it below
    return "".join(part if i % 2 else _LINK.sub(link, part) for i, part in enumerate(_CODE.split(text)))


def copies() -> dict[str, str]:
    """The pages of the repository's top as pages of the site."""
    return {at: moved((ROOT / page).read_text("utf-8"), str(Path(page).parent), at) for page, at in PAGES.items()}


def with_reference(text: str) -> str:
    """A page with links to the made reference below the headings of kinds (`## hardware`, `### Fields of family`)."""

    def linked(match: re.Match) -> str:
        kinds = [k for k in re.split(r"[, `]+", match[1]) if k in KINDS]
        links = ", ".join(f"[all fields of `{k}`](reference/{k}.md)" for k in kinds)
        return f"{match[0]}\nFrom the schema: {links}.\n" if kinds else match[0]

    return "".join(part if i % 2 else _KIND.sub(linked, part) for i, part in enumerate(_FENCED.split(text)))


def with_rules(text: str, page: str) -> str:
    """Citations of rules as links to them; on their own page, rules get anchors (`#r7`)."""
    if page == "semantics":
        text = re.sub(r"^- \*\*R(\d+)\*\*", r"- [**R\1**]{#r\1}", text, flags=re.M)
    place = "" if page == "semantics" else "../" * page.count("/") + "semantics.md"
    return "".join(part if i % 2 else _RULE.sub(rf"[R\1]({place}#r\1)", part) for i, part in enumerate(_CODE.split(text)))


def _read(app, page: str, content: list[str]) -> None:
    if "/" not in page:
        content[0] = moved(content[0], "docs", f"{page}.md")
    content[0] = with_rules(content[0], page)
    if page in ("language", "importing"):
        content[0] = with_reference(content[0])


def setup(app) -> dict:
    """Copy pages before sources are looked for, change links as they are read."""
    app.connect("builder-inited", lambda app: made.write(Path(app.srcdir), copies(), ("project",)))
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
