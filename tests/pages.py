"""What pages of documentation show: their blocks, the files that these name, and what commands, doctests and refusals print."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from costmodel.cli import main
from costmodel.compile.build import Case, build
from costmodel.library import FOLDERS, Library
from costmodel.solve.prediction import Prediction
from costmodel.solve.validate import validate_file
from costmodel.solve.views import run_study

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
README = ROOT / "README.md"
FENCE = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```[ \t]*$", re.M | re.S)
REFUSED = re.compile(r"^```yaml\n(# refused\n.*?)^```\n\n```text\n(.*?)^```$", re.M | re.S)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_HEADER = re.compile(r"^schema: costmodel/(\w+)@1\nname: (\S+)$", re.M)
_CASES = {"hardware": {"hardware": "{}"}, "model": {"model": "{}"}, "technique": {"techniques": ("{}",)}, "engine": {"engine": "{}"}}


def blocks(language: str, pages=PAGES) -> list[tuple[str, str]]:
    """(page and line, text) of every fenced block of a language."""
    found = []
    for page in pages:
        text = page.read_text("utf-8")
        for match in FENCE.finditer(text):
            if match[1] == language:
                found.append((f"{page.name}:{text.count(chr(10), 0, match.start()) + 1}", match[3]))
    return found


def kind_and_name(text: str) -> tuple[str, str]:
    """Of a document."""
    kind, name = _HEADER.search(text).groups()
    return kind, name


def write(root: Path, text: str) -> tuple[str, str]:
    """Put a document where `specs/` would have it."""
    kind, name = kind_and_name(text)
    path = root / FOLDERS[kind] / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return kind, name


def use(library: Library, kind: str, name: str) -> None:
    """Load a document by name, check it as `costmodel validate` does, and put it to use."""
    spec = library.load(kind, name)
    validate_file(library, spec.files[0])
    if kind == "study":
        assert run_study(spec.doc, library)["rows"]
    elif kind in _CASES and not spec.doc.abstract:
        given = {k: v.format(name) if isinstance(v, str) else (name,) for k, v in _CASES[kind].items()}
        p = Prediction(build(Case(**({"model": "8b", "hardware": "rtx4090"} | given)), library))
        assert p.tps.expected > 0


def prepare(folder: Path, page: str = "") -> None:
    """Lay out what commands of a page find: `specs`, `tests`, and the files of blocks that are named (```` ```csv mine.csv ````)."""
    for name in ("specs", "tests"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    for path in PAGES:
        if path.name == page:
            for match in FENCE.finditer(path.read_text("utf-8")):
                if match[2].strip():
                    (folder / match[2].strip()).write_text(match[3], "utf-8")


def parts(block: str) -> list[tuple[str, list[str]]]:
    """(command line, printed lines) of a console block."""
    found = []
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        line, *printed = part.splitlines()
        found.append((line, printed))
    return found


def output(command: str) -> tuple[int, int, list[str]]:
    """Exit code that a command line of a page claims (`# exits 2`), the real one, and what is printed."""
    words, _, note = command.partition("# exits")
    result = CliRunner(env={"COLUMNS": "80"}).invoke(main, shlex.split(words)[1:], prog_name="costmodel")
    text = result.output if result.exit_code == 2 else result.stdout  # no progress, which only slow runs show
    lines = [line.rstrip() for line in text.replace(f"{ROOT}/", "").splitlines()]
    return int(note or 0), result.exit_code, lines
