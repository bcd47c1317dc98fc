"""`costmodel report`: numbers of the page are those of predict, the file is one document that nothing in a study can break out of."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from costmodel import SpecError, predict
from costmodel.api import library
from costmodel.cli import main
from costmodel.compile.build import Case, build
from costmodel.compile.graph.evaluate import values
from costmodel.language.problem import SpecError as Refused
from costmodel.report.page.cases import _first_of_each
from costmodel.report.page.programs import Programs, figures_of
from costmodel.report.page.tables import groups, sort_key
from costmodel.report.page.words import _BOTH, words_in
from costmodel.report.page.write import asset, checked_script, json_in_html, report_page
from costmodel.report.study import table_of
from costmodel.sizes import both_bytes, scaled, seconds, short
from costmodel.solve.cases import DEFAULT_WORKLOAD
from costmodel.solve.grid import Axes, ad_hoc
from costmodel.solve.settings import settings_of
from costmodel.solve.traced import FIGURES, REGIMES, WORKLOAD, Formulas
from costmodel.solve.views import run_study

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the page's JavaScript")
GRID = Axes(
    models=("8b", "deepseek-v3"),
    hardware=("h100-sxm",),
    techniques=("none", "speculative-decoding", "prefix-caching+kv-int8"),
    contexts=(2048,),
)
OTHERS = Axes(
    models=("gpt-oss-20b",),
    hardware=("rtx4090",),
    techniques=("experts-on-host", "disaggregation:decode=h100-sxm", "continuous-batching", "chunked-prefill"),
)
STUDIES = {"memory-vs-speed": Axes(), "techniques": Axes(), "grid": GRID, "others": OTHERS, "decode-ceiling": Axes()}
FORMATS = {"memory-vs-speed": ("q4_k_m", "q8_0"), "grid": ("bf16",)}
INNER = ("compute_s", "memory_s", "link_s")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{ 7 * 7 }}{% raw %}<!--\u2028"


class Parsed(HTMLParser):
    """A page's elements, and the texts of scripts, styles and cells."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.texts: list[list] = []
        self.open = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.texts.append([tag, ""])
        self.open = True

    def handle_endtag(self, tag):
        self.open = False

    def handle_data(self, data):
        if self.open:
            self.texts[-1][1] += data

    def of(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]

    def attributes(self, tag: str) -> list[dict]:
        return [attributes for name, attributes in self.elements if name == tag]


class Page:
    """A study's page, and what it was made of."""

    def __init__(self, study, formats=(), lang="en"):
        self.study = study
        self.result = run_study(study, library())
        self.text = report_page(study, self.result, library(), lang, formats)
        self.parsed = Parsed(self.text)
        self.data_text, self.script = self.parsed.of("script")
        self.data = json.loads(self.data_text)
        self.settings = [one.setting for one in _first_of_each(settings_of(study))[0]]

    def node(self, code: str):
        """What a piece of JavaScript prints as JSON, with the page's code before it and its data in `page`."""
        program = f"{self.script}\nconst page = {self.data_text};\nconsole.log(JSON.stringify((() => {{{code}}})()))"
        done = subprocess.run(["node", "-"], input=program, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:2000]
        return json.loads(done.stdout)


_pages: dict[str, Page] = {}


def page(name: str) -> Page:
    if name not in _pages:
        axes = STUDIES[name]
        study, _ = ad_hoc(library(), "memory-vs-speed" if any(axes) else name, axes)
        _pages[name] = Page(study, FORMATS.get(name, ()))
    return _pages[name]


def figure(prediction, path: str):
    for part in path.split("."):
        prediction = prediction.get(part) or {} if isinstance(prediction, dict) else getattr(prediction, part)
    prediction = None if prediction == {} else prediction  # a tier that holds nothing
    return REGIMES.index(prediction) if path.endswith("regime") else int(prediction) if isinstance(prediction, bool) else prediction


def close(found, want) -> bool:
    """Whether two figures agree to 1e-9; what a prediction does not state is 0 or nothing."""
    return (
        found == want or (found == 0 and want is None) or (found is not None and want is not None and abs(found - want) <= 1e-9 * abs(want))
    )


def case_of(setting, program) -> Case:
    sets = (*(s for s in setting.set if not s.startswith("model.weights.format=")), f"model.weights.format={program['format']}")
    work = DEFAULT_WORKLOAD | setting.workload
    return Case(setting.model, setting.hardware, setting.engine, setting.techniques, work["devices"], sets)


@needs_node
@pytest.mark.parametrize("name", STUDIES)
def test_untouched_a_case_shows_what_predict_says(name):
    found = page(name)
    told = found.node("return page.cases.map((_, i) => figuresOf(page, untouched(page, i)))")
    assert len(told) == len(found.settings) > 2
    for setting, figures in zip(found.settings, told, strict=True):
        work = DEFAULT_WORKLOAD | setting.workload
        p = predict(
            setting.model, setting.hardware, engine=setting.engine, techniques=setting.techniques, sets=setting.set,
            **{k: work[k] for k in (*WORKLOAD, "devices")},
        )  # fmt: skip
        names = [n for n in figures if n.rpartition(".")[2] not in INNER]
        assert {"tps.expected", "tps.ceiling", "ttft_s.expected", "memory.total_bytes", "decode.ridge", "prefill.regime"} <= set(names)
        for n in names:
            assert close(figures[n], figure(p, n)), (setting, n)


@needs_node
@pytest.mark.parametrize("name", ["memory-vs-speed", "grid", "others"])
def test_moved_sliders_show_what_predict_says(name):
    """Workload, bandwidth, peak rates, knobs and formats, against predictions that are compiled with them."""
    found, rng, points = page(name), random.Random(name), []
    for index, case in enumerate(found.data["cases"]):
        values = {}
        for control in case["controls"]:
            low, high = control["min"], control["max"]
            if control["id"] in WORKLOAD:
                values[control["id"]] = rng.randint(max(1, low), min(high, 20000 if control["id"] != "batch" else 64))
            elif control["id"] == "bw":
                values["bw"] = control["value"] * rng.uniform(0.3, 3)
            elif control["id"] == "pk":
                values["pk"] = control["value"] * rng.uniform(0.3, 3)
            elif control["id"].startswith("knob_"):
                whole = control["kind"] in ("count", "whole")
                values[control["id"]] = (
                    rng.randint(max(1, int(low)), min(int(high), 12)) if whole else round(rng.uniform(low, high * 0.9), 3)
                )
        points.append((index, rng.randrange(len(case["programs"])), values))
    told = found.node(
        f"return {json.dumps(points)}.map(([i, f, v]) => {{ let s = untouched(page, i); s = withFormat(page, s, f);"
        " return figuresOf(page, { ...s, values: { ...s.values, ...v } }) })"
    )
    for (index, place, given), figures in zip(points, told, strict=True):
        p = moved(found, index, place, given)
        for n in figures:
            if n.rpartition(".")[2] not in INNER and figures[n] is not None:
                assert close(figures[n], figure(p, n)), (found.settings[index], given, n)


def moved(found: Page, index: int, place: int, given: dict):
    """The prediction that a state stands for, by options alone."""
    setting, case = found.settings[index], found.data["cases"][index]
    program = found.data["programs"][case["programs"][place]]
    sets = list(setting.set) if place == 0 else list(case_of(setting, program).sets)
    spec = library().load("hardware", setting.hardware)
    if "bw" in given:
        tier = next(iter(spec.doc.memory))
        sets.append(f"hw.memory.{tier}.bandwidth={given['bw'] * 1e9!r} B/s")
    if "pk" in given:
        factor = given["pk"] / next(c["value"] for c in case["controls"] if c["id"] == "pk")
        sets += [f"hw.compute.{k}={v * factor!r} FLOP/s" for k, v in spec.doc.compute.items()]
    for text in setting.techniques:
        name, knobs = text.split(":")[0], {}
        for knob in library().load("technique", name).doc.knobs:
            key = f"knob_{name}_{knob}".replace("-", "_")
            if key in given:
                knobs[knob] = given[key]
        sets += [f"tech.{name}.{k}={v!r}" for k, v in knobs.items()]
    work = {k: given[k] for k in WORKLOAD} | {"devices": (DEFAULT_WORKLOAD | setting.workload)["devices"]}
    return predict(setting.model, setting.hardware, engine=setting.engine, techniques=setting.techniques, sets=tuple(sets), **work)


@needs_node
@pytest.mark.parametrize("name", ["memory-vs-speed", "techniques", "grid", "others"])
def test_formulas_agree_at_hundreds_of_random_points(name):
    """Every open input at once, bytes of weights and KV among them, against the graph that Python evaluates."""
    found, rng = page(name), random.Random(7)
    points = []
    for i, program in enumerate(found.data["programs"]):
        for _ in range(max(4, 240 // len(found.data["programs"]))):
            inputs = {}
            for key, value in program["inputs"].items():
                if key in WORKLOAD:
                    inputs[key] = rng.randint(1, 50 if key == "batch" else 30000)
                elif key.startswith("knob_"):
                    inputs[key] = value
                else:
                    inputs[key] = value * rng.uniform(0.3, 3)
            points.append((i, inputs))
    assert len(points) > 150
    told = found.node(f"return {json.dumps(points)}.map(([i, x]) => FORMULAS[page.programs[i].function](page.programs[i].k)(x))")
    graphs: dict[int, tuple] = {}
    for (i, inputs), figures in zip(points, told, strict=True):
        if i not in graphs:
            graphs[i] = graph_of(found, i)
        outputs = graphs[i]
        for n, want in zip(outputs, values(outputs.values(), inputs), strict=True):
            assert close(figures[n], want), (i, n)


def graph_of(found: Page, number: int) -> dict:
    index = next(i for i, c in enumerate(found.data["cases"]) if number in c["programs"])
    setting, program = found.settings[index], found.data["programs"][number]
    work = DEFAULT_WORKLOAD | setting.workload
    case = case_of(setting, program)
    if found.data["cases"][index]["programs"][0] == number:
        case = Case(setting.model, setting.hardware, setting.engine, setting.techniques, work["devices"], setting.set)
    return figures_of(Formulas(build(case, library(), None, True), **{k: work[k] for k in WORKLOAD}))[0]


def test_programs_that_differ_in_numbers_alone_share_a_function():
    made = Programs(library())
    setting = settings_of(ad_hoc(library(), "phases", Axes())[0])[0].setting
    first, second = (made.add(setting._replace(set=(f"model.weights.format={f}",))) for f in ("q6_k", "q8_0"))
    assert first.function == second.function == 0 and first.constants != second.constants
    assert made.source().count("(k) =>") == 1 and first.fixed == {}


def test_what_has_no_formula_is_known_at_the_case_alone():
    found = page("others")
    program = next(p for c, p in ((c, found.data["programs"][c["programs"][0]]) for c in found.data["cases"]) if p["fixed"])
    p = predict("gpt-oss-20b", "rtx4090", techniques=["chunked-prefill"])
    assert program["fixed"]["ttft_s.expected"] == pytest.approx(p.ttft_s.expected) and "tps.expected" not in program["fixed"]


@needs_node
@pytest.mark.parametrize("name", ["memory-vs-speed", "grid", "others"])
def test_every_step_of_a_slider_goes_somewhere_and_comes_back(name):
    told = page(name).node(
        """return page.cases.flatMap((c, i) => c.controls.map((control) => {
          const s = scaleOf(page, i, control);
          const n = Math.floor((s.max - s.min) / s.step + 1e-9);
          const at = Array.from({ length: n + 1 }, (_, k) => s.min + k * s.step);
          return [control.id, at.map((p) => [p, s.value(p), s.at(s.value(p))]), s.step,
                  control.min, control.max, untouched(page, i).values[control.id], s.at(untouched(page, i).values[control.id])];
        }))"""
    )
    assert {"context", "batch", "bw", "bits", "kv_bits", "prompt", "output", "pk"} <= {row[0] for row in told}
    for name, steps, step, low, high, start, at in told:
        shown = [value for _, value, _ in steps]
        assert shown == sorted(set(shown)), name
        assert all(abs(place - back) < step / 2 for place, _, back in steps), name
        assert low * 0.999 <= shown[0] or name == "context", name
        assert shown[-1] <= high * 1.001 and low <= start <= high, name
        assert steps[0][0] - 1e-9 <= at <= steps[-1][0] + 1e-9, name


@needs_node
def test_bits_step_through_formats_and_scale_between_them():
    found = page("memory-vs-speed")
    told = found.node(
        """const c = page.cases[0].controls.find((one) => one.kind === "bits");
        const at = (bits) => { const s = withValue(page, untouched(page, 0), c, bits); const { program, scale } = programOf(page, s);
          return [program.format, scale, figuresOf(page, s)["memory.weights_bytes"], figuresOf(page, s)["tps.expected"]] };
        const all = formatsOf(page, 0).map((f) => f.bits);
        return [...all.map(at), at(all[0] * 1.05)]"""
    )
    assert [row[:2] for row in told[:3]] == [["q4_k_m", 1], ["q8_0", 1], ["bf16", 1]]
    assert told[3][0] == "q4_k_m" and told[3][1] == pytest.approx(1.05)
    assert told[3][2] == pytest.approx(1.05 * told[0][2]) and told[3][3] < told[0][3]


@needs_node
def test_only_what_a_program_leaves_open_has_a_slider():
    """A knob that shapes the model is no slider: it would move nothing."""
    for name in ("memory-vs-speed", "techniques", "grid", "others"):
        found = page(name)
        for case in found.data["cases"]:
            inputs = found.data["programs"][case["programs"][0]]["inputs"]
            assert all(key in inputs for c in case["controls"] for key, _ in c.get("inputs", ()))
    knobs = {
        c["id"]
        for c in page("memory-vs-speed").data["cases"] + page("techniques").data["cases"]
        for c in c["controls"]
        if c["id"].startswith("knob_")
    }
    assert "knob_speculative_decoding_acceptance" in knobs and not any("mla" in k for k in knobs)


@needs_node
def test_bytes_are_scaled_on_both_machines_of_a_case():
    found = page("others")
    told = found.node(
        """const i = page.cases.findIndex((c) => c.labels.used.startsWith("disagg"));
        const [s, c] = [untouched(page, i), page.cases[i].controls];
        const moved = (id, by) => figuresOf(page, { ...s, values: { ...s.values, [id]: s.values[id] * by } });
        const names = ["memory.weights_bytes", "memory.kv_bytes", "decode.bytes_by.weights", "prefill.bytes_by.weights", "decode.bytes_by.kv"];
        const [a, b, d] = [figuresOf(page, s), moved("bits", 2), moved("kv_bits", 3)];
        return [names.map((n) => b[n] / a[n]), names.map((n) => d[n] / a[n]), c.map((one) => one.id)]"""
    )
    assert told[0] == pytest.approx([2, 1, 2, 2, 1]) and told[1] == pytest.approx([1, 3, 1, 1, 3])
    assert {"bw", "decode_bw", "pk", "decode_pk"} <= set(told[2])


def test_cases_of_the_same_name_are_told_apart(desk):
    rows = "\n".join(f"  - {{name: r{i}, title: {{en: same}}, case: {{techniques: [{t}]}}}}" for i, t in enumerate(("int4", "kv-int8")))
    head = "schema: costmodel/study@1\nname: twins\nextends: words\ntitle: {en: Twins}\nview: memory-vs-speed\nbase: {model: 8b, hardware: ddr5}\n"
    found = Page(library().load("study", desk.write("study", "twins", f"{head}rows:\n{rows}\n")).doc)
    assert [c["labels"]["technique"] for c in found.data["cases"]] == ["baseline", "same", "same (2)"]


@needs_node
def test_typed_numbers_are_held_within_their_range():
    told = page("grid").node(
        """const c = page.cases[0].controls.find((one) => one.id === "batch");
        return [-5, 0, 2.6, 1e12].map((v) => allowed(c, v))"""
    )
    assert told[:3] == [1, 1, 3] and told[3] == page("grid").data["cases"][0]["controls"][1]["max"]


@needs_node
def test_numbers_look_as_on_the_command_line():
    rng = random.Random(3)
    sample = [rng.uniform(1, 10) * 10.0 ** rng.randint(-7, 12) for _ in range(600)] + [0, 0.9999, 999.7, 999.4, 99950.0, 1e6, 1e9, 3.0]
    code = (
        asset("format.js")
        + f"\nconsole.log(JSON.stringify({json.dumps(sample)}.map((v) => [short(v), scaled(v, 'B'), seconds(v), bothBytes(v)])))"
    )
    told = json.loads(subprocess.run(["node", "-"], input=code, capture_output=True, text=True, check=True).stdout)
    for value, shown in zip(sample, told, strict=True):
        assert shown == [short(value), scaled(value, "B"), seconds(value), both_bytes(value)], value


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
        with pytest.raises(Refused):
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


def test_spec_errors_are_the_package_s():
    assert Refused is SpecError
