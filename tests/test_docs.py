"""The pages under docs/ say what is true: documents load and predict, refusals and doctests match, commands run, links resolve."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from pages import FENCE, FLAGS, PAGES, REFUSED, ROOT, blocks, kind_and_name, output, parts, prepare, use, write
from refresh_docs import printed

from costmodel.language.problem import SpecError
from costmodel.library import FOLDERS, Library

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
DOCUMENTS = [(where, text) for where, text in blocks("yaml") if text.startswith("schema:")]
REFUSALS = [(page.name, m[1], m[2]) for page in PAGES for m in REFUSED.finditer(page.read_text("utf-8"))]


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """All documents of all pages, laid out like `specs/`."""
    root = tmp_path_factory.mktemp("documents")
    for _, text in DOCUMENTS:
        write(root, text)
    return root


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
    assert len(marked) == len(REFUSALS)


@pytest.mark.parametrize(("text", "message"), [pytest.param(t, m, id=f"{w} {kind_and_name(t)[1]}") for w, t, m in REFUSALS])
def test_refusals_are_printed_as_shown(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    kind, name = write(tmp_path, text)
    with pytest.raises(SpecError) as refused:
        use(Library(roots=(Path(),)), kind, name)
    assert str(refused.value).rstrip() == message.rstrip()


@pytest.mark.parametrize("page", [p for p in PAGES if ">>> " in p.read_text("utf-8")], ids=lambda p: p.name)
def test_doctests(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = "\n".join(text for where, text in blocks("python") if where.startswith(page.name + ":") and ">>> " in text)
    parsed = doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), 0)
    assert parsed.examples
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(parsed, out=report.append)
    assert not result.failed, "".join(report)


COMMANDS = [(where, *part) for where, text in blocks("console") for part in parts(text) if part[0].startswith("costmodel")]


@pytest.mark.parametrize(("page", "command", "printed"), [pytest.param(w.split(":")[0], c, p, id=f"{w} {c[:60]}") for w, c, p in COMMANDS])
def test_commands_print_and_exit_as_the_page_says(tmp_path, monkeypatch, page, command, printed):
    """Every shown line is printed, in order; a `…` line, or a `…` at the end of one, stands for what is left out."""
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path, page)
    claimed, code, lines = output(command)
    assert code == claimed, lines
    rest = iter(lines)
    for line in (p.rstrip() for p in printed if p != "…"):
        assert any(line == r or (line.endswith("…") and r.startswith(line[:-1])) for r in rest), f"not printed: {line}"


def anchors(page: Path) -> set[str]:
    """Heading anchors as GitHub makes them."""
    text = FENCE.sub("", page.read_text("utf-8"))
    heads = (re.sub(r"[`*_]", "", h).strip().lower() for h in re.findall(r"^#+ (.*)$", text, re.M))
    return {re.sub(r"[^\w\- ]", "", h).replace(" ", "-") for h in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_internal_links_resolve(page):
    for target in _LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
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


def test_refresh_keeps_what_a_page_leaves_out():
    new = ["engine: b", "tokens/s  20", "", "memory  3 GB", "ridge 0.1234567", "done"]
    assert printed(["engine: a", "…", "memory  9 GB", "ridge 0.123…", "…"], new) == ["engine: b", "…", "memory  3 GB", "ridge 0.123…", "…"]
    assert printed(["…", "tokens/s  1", "", "memory  1 GB", "…"], new) == ["…", "tokens/s  20", "", "memory  3 GB", "…"]
    assert printed(["engine: a", "done"], new) == new
