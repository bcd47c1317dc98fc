"""The pages under docs/ say what is true: documents load and predict, refusals and doctests match, commands run, links resolve."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from costmodel.cli import main
from costmodel.compile.build import Case, build
from costmodel.language.problem import SpecError
from costmodel.library import FOLDERS, Library
from costmodel.solve.prediction import Prediction
from costmodel.solve.validate import validate_file
from costmodel.solve.views import run_study

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
_FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```[ \t]*$", re.M | re.S)
_REFUSED = re.compile(r"^```yaml\n(# refused\n.*?)^```\n\n```text\n(.*?)^```$", re.M | re.S)
_HEADER = re.compile(r"^schema: costmodel/(\w+)@1\nname: (\S+)$", re.M)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CASES = {"hardware": {"hardware": "{}"}, "model": {"model": "{}"}, "technique": {"techniques": ("{}",)}, "engine": {"engine": "{}"}}


def blocks(language: str) -> list[tuple[str, str]]:
    """(page and line, text) of every fenced block of a language."""
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in _FENCE.finditer(text):
            if match[1] == language:
                found.append((f"{page.name}:{text.count(chr(10), 0, match.start()) + 1}", match[2]))
    return found


def kind_and_name(text: str) -> tuple[str, str]:
    kind, name = _HEADER.search(text).groups()
    return kind, name


def write(root: Path, text: str) -> tuple[str, str]:
    kind, name = kind_and_name(text)
    path = root / FOLDERS[kind] / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return kind, name


DOCUMENTS = [(where, text) for where, text in blocks("yaml") if text.startswith("schema:")]
REFUSED = [(page.name, m[1], m[2]) for page in PAGES for m in _REFUSED.finditer(page.read_text("utf-8"))]


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """All documents of all pages, laid out like `specs/`."""
    root = tmp_path_factory.mktemp("documents")
    for _, text in DOCUMENTS:
        write(root, text)
    return root


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


def test_there_are_examples_of_every_kind():
    assert {kind_and_name(text)[0] for _, text in DOCUMENTS} == set(FOLDERS)


def test_names_are_unique():
    names = [kind_and_name(text) for _, text in DOCUMENTS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("text", [pytest.param(t, id=f"{w} {kind_and_name(t)[1]}") for w, t in DOCUMENTS])
def test_documents_are_valid(tree, text):
    kind, name = kind_and_name(text)
    library = Library(roots=(tree,))
    assert library.locate(kind, name).is_relative_to(tree)
    use(library, kind, name)


def test_every_refused_example_shows_its_message():
    marked = [text for _, text in blocks("yaml") if text.startswith("# refused")]
    assert len(marked) == len(REFUSED)


@pytest.mark.parametrize(("text", "message"), [pytest.param(t, m, id=f"{w} {kind_and_name(t)[1]}") for w, t, m in REFUSED])
def test_refusals_are_printed_as_shown(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    kind, name = write(tmp_path, text)
    with pytest.raises(SpecError) as refused:
        use(Library(roots=(Path(),)), kind, name)
    assert str(refused.value).rstrip() == message.rstrip()


@pytest.mark.parametrize("page", [p for p in PAGES if ">>> " in p.read_text("utf-8")], ids=lambda p: p.name)
def test_doctests(page):
    source = "\n".join(text for where, text in blocks("python") if where.startswith(page.name + ":") and ">>> " in text)
    parsed = doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), 0)
    assert parsed.examples
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(parsed, out=report.append)
    assert not result.failed, "".join(report)


def commands() -> list[tuple[str, str, list[str]]]:
    """(page and line, command line, printed lines) of every console block."""
    found = []
    for where, text in blocks("console"):
        for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
            line, *printed = part.splitlines()
            found.append((where, line, printed))
    return found


COMMANDS = [(where, line, printed) for where, line, printed in commands() if line.startswith("costmodel")]


@pytest.mark.parametrize(("command", "printed"), [pytest.param(c, p, id=f"{w} {c[:60]}") for w, c, p in COMMANDS])
def test_commands_print_and_exit_as_the_page_says(tmp_path, monkeypatch, command, printed):
    """Every shown line is printed, in order; a `…` line, or a `…` at the end of one, stands for what is left out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    words, _, note = command.partition(" # exits ")
    result = CliRunner().invoke(main, shlex.split(words)[1:], prog_name="costmodel")
    assert result.exit_code == int(note or 0), result.output
    rest = iter(result.output.replace(f"{ROOT}/", "").splitlines())
    for line in (p.rstrip() for p in printed if p != "…"):
        assert any(line == r.rstrip() or (line.endswith("…") and r.startswith(line[:-1])) for r in rest), f"not printed: {line}"


def anchors(page: Path) -> set[str]:
    """Heading anchors as GitHub makes them."""
    text = _FENCE.sub("", page.read_text("utf-8"))
    heads = (re.sub(r"[`*_]", "", h).strip().lower() for h in re.findall(r"^#+ (.*)$", text, re.M))
    return {re.sub(r"[^\w\- ]", "", h).replace(" ", "-") for h in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_internal_links_resolve(page):
    for target in _LINK.findall(_FENCE.sub("", page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target}: no such file"
        assert file == page or file.is_relative_to(ROOT), f"{target}: outside the repository"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{target}: no such heading"


def test_operators_are_listed_with_their_arguments():
    table = dict(
        re.findall(
            r"^\| `([a-z0-9-]+)` \| [^|]+ \| ([^|]*) \|$",
            (ROOT / "docs/language.md").read_text("utf-8").split("The built-in operators")[1],
            re.M,
        )
    )
    library = Library()
    shipped = {n: library.load("operator", n).doc for n in library.names("operator")}
    given = {n: set(re.findall(r"`(\w+)`", text)) for n, text in table.items()}
    want = {n: set(doc.args) for n, doc in shipped.items() if not doc.abstract}
    assert {n: given.get(n) for n in want} == want
