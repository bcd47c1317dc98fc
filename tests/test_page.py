"""`costmodel report`: one document that stands alone, that nothing in a study can break out of, written once."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner
from reportpages import Page, Parsed, page

from costmodel import SpecError
from costmodel.api import library
from costmodel.cli import main
from costmodel.report.page.tables import groups, sort_key
from costmodel.report.page.words import _BOTH, words_in
from costmodel.report.page.write import asset, checked_script, json_in_html
from costmodel.report.study import table_of
from costmodel.solve.grid import Axes, ad_hoc
from costmodel.solve.traced import FIGURES

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{ 7 * 7 }}{% raw %}<!--\u2028"


def test_cases_of_the_same_name_are_told_apart(desk):
    rows = "\n".join(f"  - {{name: r{i}, title: {{en: same}}, case: {{techniques: [{t}]}}}}" for i, t in enumerate(("int4", "kv-int8")))
    head = "schema: costmodel/study@1\nname: twins\nextends: words\ntitle: {en: Twins}\nview: memory-vs-speed\nbase: {model: 8b, hardware: ddr5}\n"
    found = Page(library().load("study", desk.write("study", "twins", f"{head}rows:\n{rows}\n")).doc)
    assert [c["labels"]["technique"] for c in found.data["cases"]] == ["baseline", "same", "same (2)"]


def test_the_table_is_that_of_matrix():
    found = page("memory-vs-speed")
    table = table_of(found.study, found.result, "en")
    assert found.parsed.of("td") == [c for row in table["rows"] for c in row]
    assert found.parsed.of("th") == table["headers"]
    assert len(found.parsed.of("tbody")) == len(found.study.rows)


def test_the_page_stands_alone_and_its_policy_names_its_own_code():
    found = page("memory-vs-speed")
    parsed = found.parsed
    policy = next(a["content"] for a in parsed.attributes("meta") if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(part.split(" ", 1) for part in policy.split("; "))
    hashed = {k: "'sha256-" + base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() + "'" for k, t in (("script", found.script), ("style", parsed.of("style")[0]))}  # fmt: skip
    assert rules["default-src"] == "'none'" and rules["script-src"] == hashed["script"] and rules["style-src"] == hashed["style"]
    assert "unsafe" not in policy and rules["base-uri"] == rules["form-action"] == "'none'"
    for tag, attributes in parsed.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base", "img"), tag
        assert not {"src", "style", "action"} & attributes.keys() and not any(k.startswith("on") for k in attributes)
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(
        r"https?://(?!www\.w3\.org/2000/svg)|\b(?:fetch|XMLHttpRequest|import|eval|innerHTML|outerHTML|insertAdjacentHTML)\b *[(=]",
        found.script,
    )
    assert parsed.attributes("html")[0]["lang"] == "en" and "width=device-width" in found.text


def test_every_label_belongs_to_a_control():
    ids = {a["id"] for _, a in page("memory-vs-speed").parsed.elements if "id" in a}
    named = [a[k] for _, a in page("memory-vs-speed").parsed.elements for k in ("for", "aria-labelledby", "aria-describedby") if k in a]
    assert named and all(part in ids for text in named for part in text.split())


def test_korean_has_every_text_and_the_same_places():
    for key, (en, ko) in _BOTH.items():
        assert ko and sorted(re.findall(r"\{\w+\}", en)) == sorted(re.findall(r"\{\w+\}", ko)), key
    used = set(
        re.findall(
            r"\bw(?:ords)?\.([a-z]\w*)", "".join(map(asset, ("controls.js", "chart.js", "charts.js", "figures.js", "main.js", "table.js")))
        )
    )
    assert used <= words_in("ko").keys(), used - words_in("ko").keys()
    study, _ = ad_hoc(library(), "phases", Axes())
    found = Page(study, (), "ko")
    assert "바꿔 보기" in found.text and found.parsed.attributes("html")[0]["lang"] == "ko"
    assert found.data["cases"][0]["labels"]["technique"] == "기준"


def hostile_study(desk) -> str:
    quoted = json.dumps(HOSTILE)
    return desk.write(
        "study",
        "evil",
        f"""schema: costmodel/study@1
name: evil
title: {{en: {quoted}, ko: {quoted}}}
view: memory-vs-speed
base: {{model: 8b, hardware: ddr5}}
rows:
  - name: one
    title: {{en: {quoted}, ko: {quoted}}}
    case: {{techniques: [kv-int8]}}
notes:
  - {{en: {quoted}, ko: {quoted}}}
texts:
  technique: {{en: {quoted}, ko: {quoted}}}
  baseline: {{en: {quoted}, ko: {quoted}}}
""",
    )


def test_titles_of_a_study_stay_text(desk):
    path = hostile_study(desk)
    found = Page(library().load("study", path).doc, ("q8_0",))
    plain = page("memory-vs-speed").parsed
    assert {t for t, _ in found.parsed.elements} <= {t for t, _ in plain.elements}
    assert len(found.parsed.of("script")) == 2 and found.parsed.of("title") == [HOSTILE] and found.parsed.of("h1") == [HOSTILE]
    assert HOSTILE in found.parsed.of("td") and HOSTILE in found.parsed.of("th")
    assert found.data["cases"][0]["labels"]["technique"] == HOSTILE
    assert all(c not in found.data_text for c in "<>&\u2028") and "49" not in found.parsed.of("h1")[0]


def test_texts_of_data_cannot_end_their_element():
    text = json_in_html({"a": "</script><!--&\u2028\u2029"})
    assert json.loads(text) == {"a": "</script><!--&\u2028\u2029"} and not set("<>&\u2028\u2029") & set(text)
    with pytest.raises(ValueError):
        json_in_html({"a": float("nan")})
    for bad in ("x </ScRiPt>", "<!-- x", "<script>"):
        with pytest.raises(SpecError):
            checked_script(bad)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12.1 ms", 0.0121), ("820 us", 0.00082), ("3.5 s", 3.5), ("4.76 GB", 4.76e9), ("917 MB", 917e6), ("1,008 GB/s", 1008e9),
        ("42.5", 42.5), ("1,024", 1024), ("60%", 60), ("19 tok/s", 19), ("about 13", 13), ("약 13", 13), ("faster (2.13x)", 2.13),
        ("KV decreases (0.71x–0.78x)", 0.71), ("much slower (0.0042x)", 0.0042),
        ("fewer bytes per token: weights 15.0 GB → 4.76 GB", None), ("rtx4090", None), ("c8k", None), ("", None), ("8b", None),
    ],
)  # fmt: skip
def test_cells_are_sorted_by_what_they_mean(text, number):
    assert sort_key(text) == (None if number is None else pytest.approx(number))


def test_variants_stay_below_their_row_and_mixed_columns_are_text():
    table = {"headers": ["a", "b", "c"], "rows": [["x", "1 GB", "1"], ["·\u00a0y", "2 MB", "two"], ["z", "-", "3"]]}
    found = groups(table)
    assert [len(g) for g in found] == [2, 1] and found[0][1][1] == ("2 MB", 2e6) and found[1][0][1] == ("-", None)
    assert all(row[2][1] is None for group in found for row in group)


def run(*words):
    return CliRunner().invoke(main, ["report", *map(str, words)])


def test_command_writes_once_and_replaces_when_told(tmp_path):
    target = tmp_path / "sub" / "page.html"
    first = run("phases", "-o", target)
    assert first.exit_code == 0 and first.output.startswith(str(target)) and first.output.count("\n") == 1
    text = target.read_bytes()
    again = run("phases", "-o", target)
    assert again.exit_code == 2 and again.stdout == "" and "there already" in again.stderr and "--force" in again.stderr
    assert run("phases", "-o", target, "--force").exit_code == 0 and target.read_bytes() == text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("phases", "-o", "{}/page.txt"), "ends in .html"),
        (("phases", "-o", "{}"), "is a folder"),
        (("phasse", "-o", "{}/a.html"), "phases"),
        (("phases", "-o", "{}/a.html", "--formats", "q4_k_n"), "q4_k_m"),
        (("--model", "8bb", "-o", "{}/a.html"), "8b"),
        (("--hw", "ddr55", "-o", "{}/a.html"), "ddr5"),
        (("phases", "--hw", "ddr5", "-o", "{}/a.html"), "options are for grids"),
    ],
)
def test_bad_input_is_one_message(tmp_path, words, said):
    done = run(*(w.format(tmp_path) for w in words))
    assert done.exit_code == 2 and done.stdout == "" and said in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_same_bytes_twice(tmp_path):
    for seed, name in (("1", "a.html"), ("2", "b.html")):
        words = [
            "-m",
            "costmodel",
            "report",
            "--model",
            "8b",
            "--hw",
            "ddr5",
            "-t",
            "none",
            "-t",
            "speculative-decoding",
            "--formats",
            "q8_0,bf16",
        ]
        subprocess.run(
            [sys.executable, *words, "-o", str(tmp_path / name)], check=True, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True
        )
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_study_without_a_model_has_its_table_alone(tmp_path):
    assert run("hardware", "-o", tmp_path / "page.html").exit_code == 0
    parsed = Parsed((tmp_path / "page.html").read_text("utf-8"))
    assert json.loads(parsed.of("script")[0])["cases"] == [] and not any(a.get("id") == "controls" for _, a in parsed.elements)
    assert words_in("en")["nothing"] in parsed.of("p")


def test_refused_cells_are_left_out_and_named_in_the_table():
    study, _ = ad_hoc(library(), "memory-vs-speed", Axes(models=("8b",), hardware=("ddr5", "rtx4090"), techniques=("offload",)))
    found = Page(study)
    assert len(found.data["cases"]) == 1 and any("refused" in cell for cell in found.parsed.of("td"))


def test_large_grids_say_what_they_leave_out(monkeypatch):
    monkeypatch.setattr("costmodel.report.page.cases.MOST_PROGRAMS", 2)
    monkeypatch.setattr("costmodel.report.page.write.MOST_PROGRAMS", 2)
    study, _ = ad_hoc(library(), "memory-vs-speed", Axes(models=("1b", "3b", "8b"), hardware=("ddr5",)))
    found = Page(study, ("q8_0",))
    assert len(found.data["cases"]) == 2 and [len(c["programs"]) for c in found.data["cases"]] == [1, 1]
    assert words_in("en")["left_out"].format(count=1, most=2) in found.parsed.of("p")


def test_figures_of_the_page_are_known():
    shown = set(re.findall(r'"((?:tps|tpot_s|ttft_s|memory|decode|prefill)\.[a-z_.]+)"', "".join(map(asset, ("figures.js", "charts.js")))))
    assert shown and shown <= FIGURES.keys(), shown - FIGURES.keys()
