"""Cases asked backwards: answers by hand arithmetic and by predicting again, exactness, why there is none, crossings."""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil, log
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import costmodel
from costmodel import SpecError, invert, predict
from costmodel.api import library
from costmodel.cli import main
from costmodel.compile.build import Case, build
from costmodel.compile.graph.algebra import piece, roots
from costmodel.compile.graph.evaluate import values
from costmodel.compile.graph.nodes import Graph
from costmodel.solve.invert.api import crossovers
from costmodel.solve.prediction import Prediction
from costmodel.solve.traced import FIGURES, Formulas
from costmodel.solve.varied import varied


def run(*args):
    result = CliRunner().invoke(main, list(args))
    return result.exit_code, result.output


def figure(p, path: str):
    for part in path.split("."):
        p = getattr(p, part)
    return p


# --- algebra


def test_a_piece_is_the_graph_near_its_point_and_says_where_it_holds():
    graph = Graph()
    x = graph.input("x")
    node = graph.most(3 * x, x * x) / (1 + x) + graph.where(graph.make(">", x, 10), 1, 0)
    low, high = piece(node, {"x": 2.0}), piece(node, {"x": 20.0})
    assert low.at(Fraction(2)) == 2 and high.at(Fraction(20)) == Fraction(400, 21) + 1
    assert low.valid(Fraction(3)) and not low.valid(Fraction(4)) and not high.valid(Fraction(9))


def test_roots_are_exact_and_isolated():
    graph = Graph()
    x = graph.input("x")
    line, curve = piece(7 / (2 + x), {"x": 1.0}), piece(x**5 + x, {"x": 1.0})
    assert roots(line, 0.5, 1.0).exact == 12 and roots(line, 0.5, 1.0).degree == 1
    found = roots(curve, 3.0, 1.13299756588507)
    assert found.degree == 5 and found.value**5 + found.value == pytest.approx(3, rel=1e-15)
    assert roots(piece(graph.const(4), {}), 4.0, 1.0) is None


def test_floor_and_sums_are_multiplied_out():
    graph = Graph()
    x = graph.input("x")
    total = graph.sum(4, lambda i: graph.most(i * x, 3))
    made = piece(total + graph.make("floor", x / 2), {"x": 2.5})
    assert made.at(Fraction(5, 2)) == Fraction(3 + 3) + 5 + Fraction(15, 2) + 1
    assert made.valid(Fraction(3)) and not made.valid(Fraction(4))


def test_what_is_no_quotient_of_polynomials_is_said():
    graph = Graph()
    x = graph.input("x")
    for node in (graph.make("log2", x), graph.make("**", 0.5, x), graph.sum(x, lambda i: i * x), x + graph.input("y")):
        with pytest.raises(NotImplementedError):
            piece(node, {"x": 3.0, "y": 1.0})


CASES = [
    ("8b", "ddr5", None, (), 1),
    ("8b", "rtx4090", None, ("speculative-decoding",), 1),
    ("deepseek-v3", "h100-sxm", "vllm", (), 8),
    ("llama-3.3-70b", "rtx4090", "llama.cpp", ("gpu-layers:layers=40",), 1),
    ("8b", "h100-sxm", None, ("disaggregation",), 1),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: "-".join(map(str, (c[0], c[1], *c[3]))))
def test_a_case_at_other_inputs_has_the_figures_of_its_formulas(case):
    model, hardware, engine, techniques, devices = case
    runnable = build(Case(model, hardware, engine, techniques, devices), library(), {}, True)
    found = Formulas(runnable)
    point = {k: v if k in ("prompt", "output", "context", "batch") or k.endswith("drafted") else 0.8 * v for k, v in found.inputs.items()}
    p = Prediction(varied(runnable, point))
    for name in ("tps.expected", "tps.ceiling", "tps.rule_of_thumb", "ttft_s.expected", "memory.total_bytes", "memory.kv_bytes"):
        (want,) = values([found.figure(name)], point)
        assert FIGURES[name](p) == pytest.approx(want, rel=1e-12), name


# --- solve: hand arithmetic


def test_bandwidth_for_a_ceiling_is_bytes_per_step_times_the_speed():
    p = predict("8b", "ddr5", engine="ideal")
    by = p.decode.bytes_by
    answer = invert("bandwidth", "tps=30", "8b", "ddr5", engine="ideal", ceiling=True)
    assert answer.found == "exact" and answer.value == pytest.approx(30 * (by.weights + by.kv + by.state), rel=1e-14)
    assert answer.check["figure"] == pytest.approx(30, rel=1e-12) and answer.check["how"] == "compiled"


def test_flops_for_a_ceiling_of_a_prompt_are_its_flops_over_the_time():
    p = predict("8b", "ddr5")
    answer = invert("flops", "ttft=2s", "8b", "ddr5", ceiling=True)
    assert answer.found == "exact" and answer.value == pytest.approx(p.prefill.flops / 2, rel=1e-12)


def test_capacity_is_what_it_takes_over_the_usable_share():
    p = predict("llama-3.3-70b", "rtx4090", context=32768)
    doc = costmodel.load_hardware("rtx4090").doc
    answer = invert("capacity", "fits", "llama-3.3-70b", "rtx4090", context=32768)
    reserve = doc.memory["vram"].reserve or 0
    assert answer.found == "exact" and answer.value == pytest.approx((p.memory.total_bytes + reserve) / doc.usable, rel=1e-12)
    assert answer.check["fits"] is True and all(w["value"] >= answer.value for w in answer.would_do)


@pytest.mark.parametrize("unknown,most", [("prompt", lambda p: p.memory.max_context - p.output), ("batch", lambda p: p.memory.max_batch)])
def test_the_largest_that_fits_is_predicts(unknown, most):
    answer = invert(unknown, "fits", "8b", "rtx4090")
    expected = most(predict("8b", "rtx4090"))
    assert answer.value == expected
    assert answer.found in ("exact", "whole") and not answer.smallest
    assert predict("8b", "rtx4090", **{unknown: answer.value}).memory.fits
    assert not predict("8b", "rtx4090", **{unknown: answer.value + 1}).memory.fits


def test_bits_that_fit_are_the_room_over_the_weights():
    p = predict("llama-3.3-70b", "rtx4090")
    rest = p.memory.total_bytes - p.memory.weights_bytes
    answer = invert("bits", "fits", "llama-3.3-70b", "rtx4090")
    assert answer.value == pytest.approx(8 * (p.memory.usable_bytes - rest) / p.runnable.meta["params"], rel=1e-9)
    assert answer.would_kind == "format"
    for w in answer.would_do:
        assert w["value"] <= answer.value * 1.05
        assert predict("llama-3.3-70b", "rtx4090", sets=[f"model.weights.format={w['name']}"]).memory.fits


ROUND = [
    ("bandwidth", "tps.expected", "8b", "ddr5", {}),
    ("bandwidth", "e2e_s.expected", "8b", "rtx4090", {}),
    ("flops", "ttft_s.expected", "mixtral-8x7b", "h100-sxm", {"devices": 2}),
    ("host-bandwidth", "tps.expected", "llama-3.3-70b", "rtx4090", {"techniques": ("gpu-layers:layers=40",)}),
    ("link", "tps.expected", "llama-3.3-70b", "rtx4090", {"devices": 4, "engine": "vllm"}),
    ("acceptance", "tps.expected", "8b", "rtx4090", {"techniques": ("speculative-decoding",)}),
    ("kv-bits", "tps.expected", "8b", "rtx4090", {"context": 32768}),
    ("bits", "tps.expected", "8b", "ddr5", {}),
    ("reach", "tps.expected", "8b", "ddr5", {}),
    ("bandwidth", "tps.expected", "8b", "h100-sxm", {"techniques": ("disaggregation:decode=a100-80gb",)}),
]


@pytest.mark.parametrize(("unknown", "path", "model", "hardware", "case"), ROUND, ids=lambda x: str(x)[:24])
def test_the_present_value_solves_for_the_present_figure(unknown, path, model, hardware, case):
    now = figure(predict(model, hardware, **case), path)
    answer = invert(unknown, f"{path}={now!r}" + (" s" if path.endswith("_s.expected") else ""), model, hardware, **case)
    assert answer.found == "exact" and answer.value == pytest.approx(answer.now, rel=1e-6)
    assert answer.check["figure"] == pytest.approx(now, rel=1e-9)
    by_documents = "bits" not in unknown and "disaggregation:decode=a100-80gb" not in case.get("techniques", ())
    assert answer.check["how"] == ("compiled" if by_documents else "formulas")


def test_chunks_and_means_over_nothing_are_no_tracebacks():
    chunked = {"techniques": "chunked-prefill", "batch": 4}
    answer = invert("flops", "ttft=30s", "8b", "ddr5", **chunked)
    assert answer.found == "bracketed" and answer.check["figure"] == pytest.approx(30, rel=1e-9)
    assert invert("bandwidth", "itl=50ms", "8b", "ddr5", output=1).found == "none"


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.floats(0.3, 3), st.sampled_from(["bandwidth", "context", "batch", "bits"]), st.sampled_from(["8b", "qwen3-30b-a3b"]))
def test_an_answer_meets_its_target_and_its_neighbour_does_not(factor, unknown, model):
    p = predict(model, "rtx4090", batch=4)
    goal = p.tps.expected * factor
    answer = invert(unknown, f"tps={goal!r}", model, "rtx4090", batch=4)
    if answer.found == "none":
        assert answer.nearest["figure"] < goal
        return
    assert answer.check["figure"] >= goal * (1 - 1e-9)
    if unknown in ("context", "batch"):
        past = {unknown: answer.value + (-1 if answer.smallest else 1)}
        assert predict(model, "rtx4090", **({"batch": 4} | past)).tps.expected < goal
    else:
        assert answer.check["figure"] == pytest.approx(goal, rel=1e-9)


def test_whole_numbers_round_the_exact_crossing_to_the_side_that_meets():
    down, up = invert("context", "tps=10", "8b", "ddr5"), invert("batch", "system-tps=5000", "8b", "h100-sxm")
    assert down.found == up.found == "exact"
    assert down.value < down.crossing < down.value + 1 and up.value - 1 < up.crossing < up.value


def test_layers_formats_and_devices_are_compiled_one_by_one():
    layers = invert("gpu-layers", "fits", "llama-3.3-70b", "rtx4090", engine="llama.cpp", sets=["model.weights.format=q4_k_m"])
    fits = [
        predict(
            "llama-3.3-70b", "rtx4090", engine="llama.cpp", techniques=[f"gpu-layers:layers={n}"], sets=["model.weights.format=q4_k_m"]
        ).memory.fits
        for n in (layers.value, layers.value + 1)
    ]
    assert layers.found == "whole" and fits == [True, False]
    some = invert("format", "tps=13.4", "8b", "ddr5")
    for tried in some.tried:
        p = predict("8b", "ddr5", sets=[f"model.weights.format={tried['value']}"])
        assert tried["met"] == (p.tps.expected >= 13.4)
    many = invert("devices", "tps=30", "llama-3.3-70b", "rtx4090", engine="vllm")
    assert many.found == "tried" and predict("llama-3.3-70b", "rtx4090", engine="vllm", devices=many.value).tps.expected >= 30
    dims = invert("model.dims.L", "tps=15", "8b", "ddr5")
    assert (
        predict("8b", "ddr5", sets=[f"model.dims.L={dims.value}"]).tps.expected
        >= 15
        > predict("8b", "ddr5", sets=[f"model.dims.L={dims.value + 1}"]).tps.expected
    )


def test_none_says_what_remains_and_what_comes_nearest():
    answer = invert("bandwidth", "tps=1000", "8b", "ddr5")
    assert answer.found == "none" and answer.reason == "limit" and answer.nearest["figure"] < 1000
    assert sum(answer.remains.values()) == pytest.approx(1, abs=2e-3) and answer.remains["compute"] > 0.9
    beyond = predict("8b", "ddr5", sets=["hw.memory.dram.bandwidth=1e20 B/s"]).tps.expected
    assert answer.nearest["figure"] == pytest.approx(beyond, rel=1e-4)
    flat = invert("context", "ttft=1s", "8b", "ddr5")
    assert flat.found == "none" and flat.reason == "flat"
    assert invert("context", "ttft=20s", "8b", "ddr5").found == "any"


def test_a_knob_without_a_solution_in_its_range():
    answer = invert("acceptance", "tps=5000", "8b", "rtx4090", techniques="speculative-decoding")
    assert answer.found == "none" and answer.nearest["value"] == 0.99


# --- crossings


def crossing(found, name, by=None):
    return next(r for r in found.rows if r.name == name and by in (None, r.by))


def test_a_weight_matrix_turns_at_peak_times_bytes_over_twice_the_bandwidth():
    row = crossing(crossovers("8b", "h100-sxm"), "matrix-compute")
    doc = costmodel.load_hardware("h100-sxm").doc
    bandwidth = next(iter(doc.memory.values())).bandwidth
    assert row.value == pytest.approx(doc.compute["fp16"] * row.detail["bits"] / 8 / (2 * bandwidth), rel=1e-12)


def test_kv_outweighs_weights_at_weights_over_bytes_per_token():
    p, found = predict("8b", "ddr5"), crossovers("8b", "ddr5")
    per_token = 131072
    assert crossing(found, "kv-read", "context").value == ceil(p.decode.bytes_by.weights / per_token - 1)
    assert crossing(found, "kv-held", "context").value == ceil(p.memory.weights_bytes / per_token - p.output)
    assert crossing(found, "kv-read", "batch").value == ceil(p.decode.bytes_by.weights / (per_token * (p.context + 1)))
    turned = crossing(found, "decode-compute", "batch").value
    assert [predict("8b", "ddr5", batch=b).decode.regime for b in (turned - 1, turned)] == ["memory", "compute"]


def test_speculation_pays_above_the_acceptance_and_up_to_the_batch():
    found = crossovers("8b", "rtx4090", techniques=("speculative-decoding:drafted=6",))
    needed, spans = crossing(found, "speculation").value, crossing(found, "speculation-pays").detail["pays"]
    plain = predict("8b", "rtx4090").tps.expected

    def speculated(acceptance, batch=1):
        return predict("8b", "rtx4090", techniques=(f"speculative-decoding:drafted=6,acceptance={acceptance}",), batch=batch).tps.expected

    assert speculated(needed) == pytest.approx(plain, rel=1e-9) and speculated(needed + 0.01) > plain
    ((first, last),) = spans
    for batch in (first, last, last + 1):
        assert (speculated(0.7, batch) > predict("8b", "rtx4090", batch=batch).tps.expected) == (batch <= last)


@pytest.mark.parametrize(("model", "E", "k", "devices"), [("mixtral-8x7b", 8, 2, 2), ("deepseek-v3", 256, 8, 8)])
def test_a_moe_reads_nearly_all_experts_where_the_threshold_says(model, E, k, devices):
    found = crossovers(model, "h100-sxm", devices=devices)
    assert crossing(found, "moe-experts").value == ceil(log(0.05) / log(1 - k / E))
    half = crossing(found, "moe-half").value

    def tpot(batch, *sets):
        return predict(model, "h100-sxm", devices=devices, batch=batch, sets=sets).tpot_s.expected

    for batch in (half - 1, half):
        middle = (tpot(batch, f"model.dims.E={k}") + tpot(batch, f"model.dims.k={E}")) / 2
        assert (tpot(batch) >= middle) == (batch == half)
    assert crossing(found, "moe-total").nearest["figure"] > 1
    assert not [r for r in crossovers("8b", "ddr5").rows if r.name.startswith("moe")]


# --- the command line


def test_the_command_prints_and_exits():
    code, text = run("solve", "bandwidth", "8b", "--hw", "ddr5", "--for", "tps=30")
    assert code == 0 and "exact" in text and "predicted again there: tps.expected 30.00 tok/s" in text
    code, text = run("solve", "bandwidth", "8b", "--hw", "ddr5", "--for", "tps=1000", "--format", "json")
    assert code == 1 and json.loads(text)["found"] == "none"
    code, text = run("solve", "context", "8b", "--hw", "ddr5", "--for", "tps>=10", "--lang", "ko")
    assert code == 0 and "최댓값" in text
    code, text = run("crossovers", "mixtral-8x7b", "--hw", "h100-sxm", "--devices", "2", "--format", "json")
    assert code == 0 and json.loads(text)["schema"] == "costmodel/crossovers@1"
    for lang in ("en", "ko"):
        for model in ("mamba-2.8b", "jamba-v0.1"):
            assert run("crossovers", model, "--hw", "a100-80gb", "--lang", lang)[0] == 0


BAD = [
    ("bandwith", "tps=30", "bandwidth"),
    ("bandwidth", "tsp=30", "tps"),
    ("bandwidth", "tps=fast", "not a number"),
    ("bandwidth", "tps=nan", "more than 0"),
    ("bandwidth", "tps=-3", "more than 0"),
    ("bandwidth", "ttft=2", "unit"),
    ("bandwidth", "ttft=2GB", "want s"),
    ("bandwidth", "fits=1", "takes no value"),
    ("bandwidth", "tps", "name=value"),
    ("capacity", "tps=30", "fits"),
    ("acceptance", "tps=30", "speculative-decoding"),
    ("int8", "tps=30", "in use"),
    ("link", "tps=30", "nothing moves"),
    ("model.dims.nope", "tps=30", "no number stands"),
    ("model", "tps=30", "no unknown"),
    ("gqa.nope", "tps=30", "kv_heads"),
    ("no-such.thing", "tps=30", "no-such"),
    ("__class__.__mro__", "tps=30", "__class__"),
    ("model.__class__", "tps=30", "no number stands"),
    ("x" * 5000, "tps=30", "no unknown"),
]


@pytest.mark.parametrize(("unknown", "target", "told"), BAD, ids=[f"{u[:20]}-{t}" for u, t, _ in BAD])
def test_bad_input_is_one_message(unknown, target, told):
    with pytest.raises(SpecError) as error:
        invert(unknown, target, "8b", "ddr5")
    assert told in str(error.value) and len(str(error.value)) < 1200
    result = CliRunner().invoke(main, ["solve", unknown, "8b", "--hw", "ddr5", "--for", target])
    assert result.exit_code == 2 and not result.stdout


def test_techniques_and_overrides_are_taken_as_predict_takes_them():
    own = Path(costmodel.__file__).parents[1] / "specs" / "techniques" / "speculative-decoding.yaml"
    ways = ("speculative-decoding", ["speculative-decoding"], costmodel.load_technique("speculative-decoding"), own)
    needed = {crossing(crossovers("8b", "ddr5", techniques=way), "speculation").value for way in ways}
    assert len(needed) == 1 and 0.3 < needed.pop() < 0.6
    sets = "hw.memory.dram.capacity=8 GB"
    assert invert("capacity", "fits", "8b", "ddr5", sets=sets, suggest=False).now == 8e9


@pytest.mark.parametrize(
    "odd", [{"techniques": 3}, {"sets": [["a"]]}, {"unknown": None}, {"target": 3}, {"batch": "x"}, {"model": 3}], ids=str
)
def test_arguments_of_another_kind_are_problems(odd):
    with pytest.raises(SpecError):
        invert(**{"unknown": "bandwidth", "target": "tps=30", "model": "8b", "hardware": "ddr5", **odd})


def test_tokens_of_output_for_a_time():
    answer = invert("output", "e2e=30s", "8b", "ddr5")
    assert [predict("8b", "ddr5", output=answer.value + more).e2e_s.expected <= 30 for more in (0, 1)] == [True, False]


def test_a_case_at_other_inputs_is_not_compiled_again(monkeypatch):
    runnable = build(Case("8b", "h100-sxm", None, ("disaggregation:decode=a100-sxm-80gb", "speculative-decoding"), 1), library(), {}, True)
    monkeypatch.setattr(type(runnable), "__init__", None)
    assert varied(runnable, {"bw": 1e12, "decode_bw": 1e12}).other.meta["rates"]["bw"] == 1e12 != runnable.other.meta["rates"]["bw"]
