"""The site: pages that are made say what the documents and the solver say, links resolve, READMEs agree, formulas are drawn right."""

from __future__ import annotations

import re
import sys
from os.path import normpath
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages import FENCE, PAGES, README, ROOT
from pydantic import BaseModel
from refresh_docs import followed
from test_docs import anchors

import costmodel
from costmodel.api import library
from costmodel.language.formula import Bin, Call, Name, Neg, Num, parse
from costmodel.language.formula.fold import number
from costmodel.language.formula.latex import latex, symbol
from costmodel.report.schemas import schema_of
from costmodel.schema import KINDS, model_of
from costmodel.sizes import scaled, seconds, short

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
import effects
import made
import outside
from offline import loaded

TECHNIQUES = library().usable("technique")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
few = settings(max_examples=200, deadline=None)


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    """Every page of the site as text, by its path under `docs/`."""
    return {p.name: p.read_text("utf-8") for p in PAGES} | made.pages() | outside.copies()


# --- what the site holds


def test_the_index_lists_every_page(site):
    listed = set()
    for page, text in site.items():
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.M | re.S):
            entries = [re.sub(r".*<(.*)>", r"\1", line) for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {normpath(f"{Path(page).parent}/{entry}.md") for entry in entries}
    assert listed == set(site) - {"index.md"}


def test_links_of_made_pages_resolve(site, tmp_path):
    heads = {}
    for page, text in site.items():
        file = tmp_path / page.replace("/", "__")
        file.write_text(text, "utf-8")
        heads[page] = anchors(file)
    for page, text in site.items():
        for target in LINK.findall(FENCE.sub("", text)) if "/" in page else ():
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            place = normpath(f"{Path(page).parent}/{path}") if path else page
            assert place in site, f"{page}: {target}"
            assert not anchor or anchor in heads[place], f"{page}: {target}"


def test_made_pages_are_not_committed():
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert {f"/docs/{f}/" for f in (*made.FOLDERS, "project")} <= set(ignored)


def test_pages_are_written_when_they_change_and_removed_when_they_go(tmp_path):
    made.write(tmp_path, {"techniques/a.md": "one", "techniques/b.md": "two"})
    stamp = (tmp_path / "techniques/a.md").stat().st_mtime_ns
    made.write(tmp_path, {"techniques/a.md": "one", "reference/c.md": "three"})
    assert sorted(p.name for p in tmp_path.rglob("*.md")) == ["a.md", "c.md"]
    assert (tmp_path / "techniques/a.md").stat().st_mtime_ns == stamp


# --- techniques


def nodes(value) -> list:
    """All formulas of a document's part."""
    if isinstance(value, (Bin, Call, Name, Neg, Num)):
        return [value]
    if isinstance(value, BaseModel):
        return [n for _, v in value for n in nodes(v)]
    if isinstance(value, dict):
        return [n for v in value.values() for n in nodes(v)]
    return [n for v in value for n in nodes(v)] if isinstance(value, tuple) else []


@pytest.mark.parametrize("name", TECHNIQUES)
def test_a_page_shows_all_of_a_technique(site, name):
    doc, text = library().load("technique", name).doc, site[f"techniques/{name}.md"]
    plain = text.replace("\\", "")
    assert doc.title.en in plain and doc.title.ko in plain and doc.description.replace("\\", "").strip() in plain
    for knob, k in doc.knobs.items():
        assert re.search(
            rf"^\| `{knob}` \| `{re.escape(str(k.default if k.default is not None else k.model or k.hardware))}` \|", text, re.M
        )
    for node in nodes(doc.rewrite) + nodes(doc.schedule):
        shown = {latex(node), latex(Bin("*", Name("x"), node)).removeprefix(r"x \cdot ")}
        if not (isinstance(node, Num) and node.value in (0, 1)):
            assert any(s in text for s in shown), shown
    for line in (*doc.not_modelled, *doc.assumptions, *(s.ref for s in doc.sources.values())):
        assert " ".join(line.split()) in plain
    for other in doc.conflicts:
        assert f"({other}.md)" in text


@pytest.mark.parametrize("name", ["int4", "speculative-decoding", "kv-int8", "continuous-batching", "gqa"])
def test_effects_are_what_predict_says(site, name):
    workload = {"prompt": 8192, "output": 256, "batch": 1}
    assert effects.cases()["workload"] == workload
    for case in effects.cases_of(name):
        part = site[f"techniques/{name}.md"].split(f"--hw {case['hardware']} ")[1]
        for word, techniques in (("without", ()), ("with", (name,))):
            p = costmodel.predict(case["model"], case["hardware"], techniques=techniques, **workload).to_dict()
            cells = re.search(rf"^\| {word} \| (.*) \|$", part, re.M)[1].split(" | ")
            assert cells == [
                *(scaled(p["memory"][k], "B") for k in ("weights_bytes", "kv_bytes", "total_bytes")),
                *(seconds(p[k]["expected"]) for k in ("ttft_s", "tpot_s")),
                short(p["tps"]["expected"]),
                short(p["system_tps"]),
            ]


def test_every_technique_shows_an_effect(site):
    assert set(effects.cases()["techniques"]) <= set(TECHNIQUES)
    for name in TECHNIQUES:
        ratios = [set(line.split(" | ")[1:]) for line in re.findall(r"^\| ratio \| (.*) \|$", site[f"techniques/{name}.md"], re.M)]
        assert any(r - {"=", "1.00x"} for r in ratios), name


# --- the reference and the library


def parts_of(cls) -> set:
    """A pydantic class with those of its fields."""
    found = {cls}
    for field in cls.model_fields.values():
        for inner in classes_in(field.annotation):
            found |= parts_of(inner) if inner not in found else set()
    return found


def classes_in(annotation) -> list:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [c for a in get_args(annotation) for c in classes_in(a)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_has_every_field(site, kind):
    text = site[f"reference/{kind}.md"] + site["reference/index.md"]
    for cls in parts_of(model_of(kind)):
        for name, field in cls.model_fields.items():
            if cls.__name__ != "Title":
                assert f"\n| `{field.alias or name}` | " in text, (cls, name)
    assert "| any | required |" not in text.replace("| `value` | any", "")


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_about_the_language_links_to_the_reference(kind):
    text = outside.with_reference((ROOT / "docs/language.md").read_text("utf-8"))
    assert text.count(f"(reference/{kind}.md)") == 1
    page, heading = ("importing", f"Fields of {kind}") if kind in ("family", "tower", "recipe", "layout") else ("language", kind)
    text = outside.with_reference((ROOT / f"docs/{page}.md").read_text("utf-8"))
    assert f"## {heading}\n\nFrom the schema: [all fields of `{kind}`](reference/{kind}.md)." in text


@pytest.mark.parametrize(
    ("kind", "page"), [("engine", "engines"), ("format", "formats"), ("hardware", "hardware"), ("model", "models"), ("technique", "")]
)
def test_shelves_hold_every_document(site, kind, page):
    text = site[f"library/{page}.md" if page else "techniques/index.md"]
    missing = [n for n in library().usable(kind) if f"`{n}`" not in text and f"`--engine {n}`" not in text]
    assert not missing


def test_coefficients_stand_with_their_ranges(site):
    c = library().load("engine", "llama.cpp").doc.classes["nvidia-*"].coefficients["reach"]
    section = site["library/engines.md"].split("`--engine llama.cpp`")[1]
    assert f"| `reach` | `nvidia-*` | {c.value:g} | {c.low:g} … {c.high:g} | {c.prior:g} |" in section


# --- links and citations that change on the way into the site


def test_links_that_move():
    text = "[a](docs/cli.md#check) [b](CONTRIBUTING.md) [c](https://x.org/y) [d](#here) `[e](docs/cli.md)`\n```\n[f](docs/cli.md)\n```\n"
    want = "[a](../cli.md#check) [b](contributing.md) [c](https://x.org/y) [d](#here) `[e](docs/cli.md)`\n```\n[f](docs/cli.md)\n```\n"
    assert outside.moved(text, ".", "project/readme.md") == want
    assert outside.moved("[a](../benchmarks/README.md) [b](cli.md)", "docs", "design.md") == "[a](project/benchmarks.md) [b](cli.md)"
    assert outside.moved("[a](../schemas/outputs) [b](accuracy.svg)", "docs", "api.md") == "a [b](accuracy.svg)"  # a folder has no page
    folder = "[`docs/pictures`](pictures)\n```\n[a](pictures)\n```\n"
    assert outside.moved(folder, "docs", "plots.md") == "`docs/pictures`\n```\n[a](pictures)\n```\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_written_pages_lead_to_files(page):
    text = outside.moved(page.read_text("utf-8"), "docs", page.name)
    targets = LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S))
    there = [t for t in targets if not re.match(r"\w+:|#|project/", t)]
    assert [t for t in there if not (page.parent / t.partition("#")[0]).is_file()] == []


def test_citations_become_links():
    assert outside.with_rules("as R7 says (R12)", "cli") == "as [R7](semantics.md#r7) says ([R12](semantics.md#r12))"
    assert outside.with_rules("- **R4** as R5", "semantics") == "- [**R4**]{#r4} as [R5](#r5)"
    for text in ("`R7`", "DeepSeek-R1", "[R7](x.md)", "R7a", "R700"):
        assert outside.with_rules(text, "cli") == text


def test_what_a_page_loads():
    assert loaded('<script src="https://cdn.org/x.js">') == ["https://cdn.org/x.js"]
    assert loaded("<link rel=stylesheet href=//fonts.org/a.css><img src='http://i.org/x.png'>") == [
        "//fonts.org/a.css",
        "http://i.org/x.png",
    ]
    assert loaded("@import 'https://a.org/b.css'; a {background: url(\"https://c.org/d\")}") == ["https://a.org/b.css", "https://c.org/d"]
    assert loaded('<a href="https://arxiv.org/abs/1"><script src="_static/x.js"></script><style>a {background: url(data:x)}</style>') == []


# --- the READMEs


def shape(text: str) -> list[str]:
    """What must be the same in both languages: the order of headings, paragraphs and blocks, with what commands and links they hold."""
    found = []
    for part in re.split(r"\n{2,}", FENCE.sub(lambda m: m[0].replace("\n\n", "\n \n"), text.strip())):
        if part.startswith("```"):
            found.append(part)
        else:
            found.append(
                f"{re.match('#*', part)[0]} {sorted(LINK.findall(part))} {sorted({' '.join(c.split()) for c in re.findall(r'`[^`]+`', part)})}"
            )
    return found


def without_languages(text: str) -> str:
    """Less a line that only links to the README in the other language."""
    return re.sub(r"^\[[^\]]+\]\(README(\.ko)?\.md\)\n\n", "", text, flags=re.M)


def test_both_readmes_say_the_same():
    english, korean = (without_languages(p.read_text("utf-8")) for p in (README, README.with_name("README.ko.md")))
    assert shape(english) == shape(korean)
    prose = [p for p in re.split(r"\n{2,}", FENCE.sub("", korean)) if p.strip() and p.strip() not in ("# costmodel", "Apache-2.0")]
    assert all(re.search("[가-힣]", p) for p in prose)


def test_the_korean_readme_follows_the_blocks_of_the_other():
    a, b = "x\n\n```console\n$ new\n```\n\ny\n", "가\n\n```console\n$ old\n```\n\n나\n"
    assert followed(a, b) == "가\n\n```console\n$ new\n```\n\n나\n"


# --- formulas as LaTeX


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2 * B * T * d", r"2 \cdot B \cdot T \cdot d"),
        ("(1 - k / E) ** M", r"\left(1 - \frac{k}{E}\right)^{M}"),
        ("a - (b - c)", r"a - \left(b - c\right)"),
        ("n_kv * d_h", r"n_{\mathrm{kv}} \cdot d_{h}"),
        ("tokens_out + 1e-9", r"\mathrm{tokens\_out} + 10^{-9}"),
        ("-(a + b) * 2.5e-6", r"\left(-\left(a + b\right)\right) \cdot 2.5 \cdot 10^{-6}"),
        ("min(a, max(b, 1))", r"\min\left(a, \max\left(b, 1\right)\right)"),
        ("where(a > 0 and b != 1, a, 0)", r"\begin{cases} a & \text{if } a > 0 \text{ and } b \ne 1 \\ 0 & \text{else} \end{cases}"),
        ("ceil_to(a + 1, b)", r"\left\lceil \frac{a + 1}{b} \right\rceil \cdot b"),
        ("log2(a) / sqrt(b)", r"\frac{\log_2\left(a\right)}{\sqrt{b}}"),
    ],
)
def test_latex(text, want):
    assert latex(parse(text)) == want


def test_names_as_symbols():
    assert [symbol(n) for n in ("B", "d_ff", "bytes.kv", "_x")] == ["B", r"d_{\mathrm{ff}}", r"\mathrm{bytes.kv}", r"\mathrm{\_x}"]


values = st.one_of(st.integers(0, 9).map(Num), st.sampled_from("abc").map(Name))
trees = st.recursive(
    values,
    lambda inner: st.one_of(
        inner.map(Neg),
        st.builds(Bin, st.sampled_from(["+", "-", "*", "/"]), inner, inner),
        st.builds(lambda x, n: Bin("**", x, Num(n)), inner, st.integers(0, 3)),
        st.builds(lambda fn, x, y: Call(fn, (x, y)), st.sampled_from(["min", "max"]), inner, inner),
        st.builds(lambda a, b, x, y: Call("where", (Bin("<", a, b), x, y)), inner, inner, inner, inner),
    ),
    max_leaves=12,
)


def read_back(text: str) -> str:
    """LaTeX of this kind as Python, read by its own grammar: nothing of the writer's precedence is known here."""
    group = r"\{((?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*)\}"
    while r"\begin{cases}" in text:
        inner = re.search(r"\\begin\{cases\}((?:(?!\\begin).)*?)\\end\{cases\}", text)
        first, other = inner[1].split(r"\\")
        value, condition = first.split(r"& \text{if }")
        chosen = f"(({value}) if ({condition}) else ({other.split('&')[0]}))"
        text = text[: inner.start()] + chosen + text[inner.end() :]
    while r"\frac" in text:
        at = text.rindex(r"\frac")
        upper, rest = braced(text[at + 5 :])
        lower, rest = braced(rest)
        text = f"{text[:at]}(({upper})/({lower})){rest}"
    text = re.sub(r"\^" + group, r"**(\1)", text)
    for old, new in ((r"\left", ""), (r"\right", ""), (r"\cdot", "*"), (r"\min", "min"), (r"\max", "max")):
        text = text.replace(old, new)
    assert "\\" not in text, text
    return text


def braced(text: str) -> tuple[str, str]:
    """What the braces at the start hold, and what follows them."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "{") - (c == "}")
        if depth == 0:
            return text[1:i], text[i + 1 :]
    raise AssertionError(text)


@few
@given(trees, st.integers(1, 5), st.integers(1, 5), st.integers(1, 5))
def test_latex_means_the_same_as_the_formula(node, a, b, c):
    env = {"a": a, "b": b, "c": c}
    try:
        want = number(node, env)
    except Exception:
        return  # divided by zero
    try:
        got = eval(read_back(latex(node)), {"min": min, "max": max}, env)  # text of our own, in a test
    except ZeroDivisionError:
        return  # in a branch that the formula does not take
    assert got == pytest.approx(want, rel=1e-9, abs=1e-9)


def test_mathml_of_every_formula_on_the_site(site):
    mathml = pytest.importorskip("latex2mathml") and __import__("mathml").mathml
    found = {f for text in site.values() for f in re.findall(r"\$\$\n(.*?)\n\$\$|(?<!\$)\$([^$\n]+)\$(?!\$)", FENCE.sub("", text), re.S)}
    assert len(found) > 100
    for display, inline in found:
        assert mathml(display or inline).startswith("<math alttext=")
    for wrong in (r"\nosuch{a}", r"\left( a", r"\frac{a"):
        with pytest.raises(ValueError):
            print(mathml(wrong))


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_says_what_it_is(kind):
    schema = schema_of(kind)
    fields = [(n, f, v) for n, part in {"": schema, **schema.get("definitions", {})}.items() for f, v in fields_in(part).items()]
    assert [(n, f) for n, f, v in fields if v.get("description", "formula") in ("formula", "time or formula") and f != "schema"] == []


def fields_in(part: dict) -> dict:
    """The fields of an object, or of the one that may be written shorter."""
    return next((p["properties"] for p in part.get("anyOf", [part]) if "properties" in p), {})


@pytest.mark.parametrize("name", TECHNIQUES)
def test_every_knob_says_what_it_is(name):
    assert [k for k, knob in library().load("technique", name).doc.knobs.items() if not knob.description] == []


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("*.md")), ROOT / "examples/estimator/README.md"], ids=lambda page: page.name)
def test_nothing_is_installed_by_a_name_that_another_package_has(page):
    assert not re.search(r"pip install( -\S+)* ['\"]?costmodel", page.read_text("utf-8"))  # PyPI's costmodel is not this one
