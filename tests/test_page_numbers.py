"""Numbers of `costmodel report`: the page's JavaScript, run in node, says what predict says, wherever the sliders stand."""

from __future__ import annotations

import json
import random
import subprocess

import pytest
from reportpages import INNER, STUDIES, Page, case_of, close, figure, needs_node, page

from costmodel import predict
from costmodel.api import library
from costmodel.compile.build import Case, build
from costmodel.compile.graph.evaluate import values
from costmodel.report.page.programs import Programs, figures_of
from costmodel.report.page.write import asset
from costmodel.sizes import both_bytes, scaled, seconds, short
from costmodel.solve.cases import DEFAULT_WORKLOAD
from costmodel.solve.grid import Axes, ad_hoc
from costmodel.solve.settings import settings_of
from costmodel.solve.traced import WORKLOAD, Formulas


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
@pytest.mark.parametrize("name", ["grid", *(pytest.param(n, marks=pytest.mark.full) for n in ("memory-vs-speed", "techniques", "others"))])
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
