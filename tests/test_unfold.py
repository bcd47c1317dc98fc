"""`explain` and `diff`: formulas evaluate to the solver's figures, bills sum, expressions agree, places exist, bad input is refused."""

from __future__ import annotations

import json
import math
import re

import pytest
from click.testing import CliRunner
from conftest import usable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pages import ROOT

from costmodel import predict
from costmodel.api import library
from costmodel.cli import main
from costmodel.compile.mixed import mixed_step
from costmodel.language.formula.fold import number
from costmodel.language.problem import SpecError
from costmodel.report.sections import bill_rows, rounded
from costmodel.solve.cases import Setting
from costmodel.solve.unfold.bills import bills_of
from costmodel.solve.unfold.cases import read_case
from costmodel.solve.unfold.compare import compare
from costmodel.solve.unfold.figures import SHORT, figures, find, value_of
from costmodel.solve.unfold.opened import Opened
from costmodel.solve.unfold.symbolic import sympy_of
from costmodel.solve.unfold.tree import unfold


def run(*args: str):
    return CliRunner().invoke(main, list(args), prog_name="costmodel")


few = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
CASES = {
    "plain": ("8b", "ddr5", (), None, {}),
    "draft": ("8b", "ddr5", ("speculative-decoding", "kv-int8"), None, {}),
    "stream": ("mixtral-8x7b", "rtx4090", ("offload:share=0.5",), None, {"batch": 3}),
    "tensor": ("deepseek-v3", "h100-sxm", (), None, {"batch": 16, "devices": 8}),
    "pipeline": ("8b", "h100-sxm", ("pipeline-parallel:stages=4,micro=4",), None, {"batch": 8}),
    "host": ("gpt-oss-120b", "rtx4090", ("experts-on-host",), "llama.cpp", {"prompt": 1500}),
    "layers": ("8b", "rtx4090", ("gpu-layers:layers=10", "kv-on-host"), "llama.cpp", {}),
    "chunks": ("8b", "rtx4090", ("chunked-prefill:decodes=4",), None, {"prompt": 4000}),
    "apart": ("8b", "h100-sxm", ("disaggregation:decode=rtx4090", "speculative-decoding"), None, {"prompt": 4000}),
    "state": ("jamba-v0.1", "rtx4090", (), None, {}),
    "no cache": ("8b", "rtx4090", ("no-kv-cache",), "llama.cpp", {}),
    "ideal": ("8b", "ddr5", ("gqa:kv_heads=4",), "ideal", {"context": 0, "output": 1}),
}
_opened: dict[str, Opened] = {}


def case(name: str) -> Opened:
    if name not in _opened:
        model, hardware, techniques, engine, workload = CASES[name]
        _opened[name] = Opened(Setting(model, hardware, engine, techniques, workload, ()), library())
    return _opened[name]


@pytest.mark.parametrize("name", CASES)
def test_every_formula_evaluates_to_the_figure_that_the_solver_gives(name):
    opened, seen = case(name), 0
    for path, figure in figures().items():
        value = value_of(opened, path)
        if figure.formula is None or value is None:
            continue
        inputs = {n: value_of(opened, of) for n, of in figure.inputs.items()}
        if path.endswith(".regime"):
            assert max(("compute", "memory", "link"), key=lambda n: inputs[n]) == value  # a tie is compute
        else:
            assert number(figure.formula, inputs) == pytest.approx(float(value), rel=1e-9), path
        seen += 1
    assert seen > 25


@pytest.mark.parametrize("name", CASES)
def test_every_bill_sums_to_its_figure(name):
    opened = case(name)
    for path, figure in figures().items():
        for bill in bills_of(opened, figure):
            total = sum(amount for _, amount in bill.lines)
            assert total == pytest.approx(value_of(opened, path), rel=1e-9, abs=1e-15), (path, bill.by)
            assert not any(name == "held" for name, _ in bill.lines), path  # no engine here is so fast that a floor has to hold it


@pytest.mark.parametrize("name", ["plain", "stream", "pipeline", "host", "layers", "apart", "state"])
def test_expressions_evaluate_to_the_figures(name):
    sympy = pytest.importorskip("sympy")
    opened = case(name)
    for path in (
        "tps.expected",
        "tps.ceiling",
        "decode.bytes",
        "prefill.flops",
        "memory.kv_bytes",
        "memory.weights_bytes",
        "prefill.intensity",
    ):
        found, values = sympy_of(opened, find(path))
        evaluated = sympy.lambdify(list(values), found, [{"max": max}, "math"])(*values.values())
        assert evaluated == pytest.approx(value_of(opened, path), rel=1e-9), path
        assert bool(found.free_symbols) == bool(value_of(opened, path)), path


def test_expressions_by_hand():
    """Two FLOPs per multiply-add of every matrix, and four per head, width and (query, key) pair: Llama 3.1 8B."""
    sympy = pytest.importorskip("sympy")
    found, values = sympy_of(case("plain"), find("flops"))
    B, L, d, f, h, q, kv, S, V = (
        next(s for s in values if s.name == n) for n in ("B", "L", "d", "d_ff", "d_h", "n_q", "n_kv", "context", "vocab")
    )
    hand = 2 * B * (L * d * (2 * q * h + 2 * kv * h + 3 * f) + d * V) + 4 * B * L * q * h * (S + 1)
    assert sympy.expand(found - hand) == 0
    assert sum(v for k, v in values.items() if k == d) == 4096


def test_figures_of_the_prediction_are_all_known():
    """Every number of `costmodel/prediction@1` but the workload can be asked for."""
    data = predict("8b", "ddr5").to_dict()
    skipped = ("schema", "model", "hardware", "engine", "techniques", "sets", "workload", "not_modelled", "assumptions")

    def leaves(value, path=""):
        if isinstance(value, dict) and value:
            for key, below in value.items():
                yield from leaves(below, f"{path}.{key}" if path else key)
        else:
            yield path, value

    for path, value in leaves({k: v for k, v in data.items() if k not in skipped}):
        if path != "memory.tiers":
            found = value_of(case("plain"), find(path).path)
            assert found == value or math.isclose(found, value, rel_tol=1e-12), path
    assert {find(short).path for short in SHORT} <= figures().keys()


def test_a_part_of_a_bill_by_hand():
    """mlp.gate of Llama 3.1 8B in bf16 on 1008 GB/s: 32 matrices of 4096 x 14336, two bytes a weight."""
    opened = Opened(Setting("llama-3.1-8b", "rtx4090", "ideal", (), {}, ()), library())
    data = unfold(opened, find("decode.bytes_by.weights"), 3)
    gate = next(o for o in data["operators"][0]["operators"] if o["name"] == "mlp.gate")
    assert gate["terms"][0]["value"] == 32 * 4096 * 14336 * 2
    assert gate["terms"][0]["formula"] == "d_in * d_out * w_bytes"
    seconds = next(b for b in unfold(opened, find("decode.expected_s"), 2)["steps"][0]["bills"] if b["by"] == "operator")
    line = next(x["value"] for x in seconds["lines"] if x["name"] == "mlp.gate")
    assert line == pytest.approx(32 * (4096 * 14336 * 2 + 2 * (4096 + 14336)) / 1008e9)


PLACE = re.compile(r"(specs/[\w./+-]+\.yaml):(\d+)")


@pytest.mark.parametrize("name", ["draft", "host", "apart", "ideal"])
def test_places_exist_and_say_what_is_there(name):
    data = unfold(case(name), find("tps"), 3)
    found = PLACE.findall(json.dumps(data))
    assert len(found) > 50
    for file, line in set(found):
        lines = (ROOT / file).read_text("utf-8").splitlines()
        assert 1 <= int(line) <= len(lines) and lines[int(line) - 1].strip(), (file, line)
    for dim in data["dims"]:
        file, line = PLACE.search(dim["where"]).groups()
        assert dim["name"].partition("__")[0] in (ROOT / file).read_text("utf-8").splitlines()[int(line) - 1] or dim["technique"]
    for rate in data["rates"]:
        file, line = PLACE.search(rate["where"]).groups()
        assert rate["path"].rpartition(".")[2] in (ROOT / file).read_text("utf-8").splitlines()[int(line) - 1]
        assert rate["kind"] in ("datasheet", "paper", "measured", "derived", "assumed"), rate


def test_a_source_speaks_for_the_document_that_it_stands_in():
    rates = {r["name"]: r for r in unfold(case("layers"), find("tps"), 3)["rates"]}
    assert (rates["bw"]["kind"], rates["hram"]["kind"], rates["hpk_fp32"]["kind"]) == ("datasheet", "assumed", "assumed")
    assert rates["host"]["where"].startswith("specs/hardware/rtx4090.yaml") and rates["host"]["kind"] == "derived"
    assert rates["host_latency"]["where"].startswith("specs/hardware/nvidia-geforce.yaml") and rates["host_latency"]["kind"] == "assumed"


def test_overrides_are_the_place_of_what_they_set():
    opened = Opened(Setting("8b", "ddr5", None, (), {}, ("hw.memory.dram.bandwidth=100 GB/s", "model.dims.L=16")), library())
    data = unfold(opened, find("tps"), 3)
    bandwidth = next(r for r in data["rates"] if r["name"] == "bw")
    assert (bandwidth["value"], bandwidth["kind"], bandwidth["where"]) == (100e9, "given", "--set #1:1")
    assert next(d["where"] for d in data["dims"] if d["name"] == "L") == "--set #2:1"


def test_techniques_show_what_they_rewrote():
    rewrites = unfold(case("ideal"), find("memory"), 2)["rewrites"]
    assert any(r["text"].startswith("dim n_kv = 4 (gqa:kv_heads=4") and "specs/techniques/gqa.yaml" in r["where"] for r in rewrites)
    draft = {r["text"].partition(" (")[0]: r for r in unfold(case("draft"), find("tps"), 2)["rewrites"]}
    kv = draft["kv format kv_int8_per_token_head128"]
    assert {"attention.scores", "attention.mix", "draft: attention.mix"} <= set(kv["operators"]) and "mlp.gate" not in kv["operators"]
    assert {"schedule decode.T = 5", "schedule decode.R = 5"} <= draft.keys()
    assert unfold(case("plain"), find("tps"), 2)["rewrites"] == []
    scaled = [r["text"] for r in unfold(case("tensor"), find("decode.flops"), 2)["rewrites"] if r["text"].startswith("scale ")]
    assert scaled and all(text.startswith("scale flops ") for text in scaled)  # the terms of other bills stay out


def test_levels_add_to_one_another():
    one, two, three = (unfold(case("plain"), find("tps"), level) for level in (1, 2, 3))
    assert [s["figure"] for s in one["steps"]] == ["tps.expected"]
    assert [s["figure"] for s in two["steps"]][:3] == ["tps.expected", "tpot_s.expected", "decode.expected_s"]
    assert "operators" not in two and len(three["operators"][0]["operators"]) == len(predict("8b", "ddr5").operators["decode"])


def test_the_table_of_operators_takes_a_decode_step_whole():
    """R49: an engine computes a prompt in passes; a decode step, however many tokens it has, in one."""
    p = predict("8b", "rtx4090", engine="llama.cpp", techniques=("no-kv-cache",))
    assert sum(r.expected_s for r in p.operators["decode"]) + p.overheads["decode"] == pytest.approx(p.decode.expected_s, rel=1e-9)
    with pytest.raises(SpecError, match="more than 100,000 steps"):
        _ = predict("8b", "rtx4090", engine="llama.cpp", prompt=10**12).operators


@few
@given(
    st.sampled_from(["8b", "deepseek-v3", "jamba-v0.1"]), st.integers(1, 3000), st.integers(0, 5000), st.integers(1, 40), st.integers(0, 80)
)
def test_resources_are_those_of_a_step(model, tokens, cached, batch, layers):
    runnable = predict(model, "rtx4090", techniques=(f"gpu-layers:layers={layers}",), engine="ideal").runnable
    group = (batch, tokens, cached, 1)
    assert mixed_step(runnable, [group]) == pytest.approx(runnable.one(*group), rel=1e-9)


@few
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_printed_lines_sum_to_the_printed_total(values):
    assert sum(rounded(values)) == round(sum(values))
    assert all(abs(w - v) <= 0.5 for w, v in zip(rounded(values), values, strict=True)) or len(values) > 1


@few
@given(st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=30), st.sampled_from(["s", "B", "FLOP"]))
def test_bills_print_as_they_sum(amounts, unit):
    rows, total = bill_rows([(f"line {i}", a) for i, a in enumerate(amounts)], unit)
    printed = [float(row[1].split()[0].replace(",", "")) for row in rows]
    assert math.isclose(sum(printed), float(total[1].split()[0].replace(",", "")), rel_tol=1e-9, abs_tol=1e-9)
    assert len({row[1].partition(" ")[2] for row in (*rows, total)}) == 1


PAIRS = [("plain", "draft"), ("plain", "ideal"), ("stream", "host"), ("tensor", "pipeline"), ("apart", "chunks"), ("no cache", "state")]


@pytest.mark.parametrize("pair", PAIRS)
def test_lines_of_a_diff_sum_to_the_change(pair):
    a, b = map(case, pair)
    data = compare(a, b)
    for term in data["terms"]:
        assert term["change"] == pytest.approx(value_of(b, term["figure"]) - value_of(a, term["figure"]), rel=1e-12)
        for bill in term["bills"]:
            for key in ("a", "b", "change"):
                assert sum(line[key] for line in bill["lines"]) == pytest.approx(term[key], rel=1e-9, abs=1e-12), (
                    term["figure"],
                    bill["by"],
                )
        for line in term["bills"][0]["lines"]:
            if line.get("by_amount") is not None:
                assert line["by_amount"] + line["by_rate"] == pytest.approx(line["change"], rel=1e-9, abs=1e-12)
    back = compare(b, a)["terms"][0]
    assert back["change"] == pytest.approx(-data["terms"][0]["change"])


def test_twice_the_bandwidth_is_a_change_of_rate_and_half_the_bits_one_of_amount():
    base = Setting("llama-3.1-8b", "ddr5", "ideal", (), {}, ())
    fast = base._replace(set=("hw.memory.dram.bandwidth=180 GB/s",))
    small = base._replace(set=("model.weights.format=fp8",))
    a, b, c = (Opened(s, library()) for s in (base, fast, small))
    line = next(x for x in compare(a, b)["terms"][0]["bills"][0]["lines"] if x["name"] == "weights")
    assert line["by_amount"] == pytest.approx(0, abs=1e-12) and line["by_rate"] == pytest.approx(-line["a"] / 2)
    assert [(r["name"], r["b"] / r["a"]) for r in compare(a, b)["rates"]] == [("bw", 2)]
    line = next(x for x in compare(a, c)["terms"][0]["bills"][0]["lines"] if x["name"] == "weights")
    assert line["by_rate"] == pytest.approx(0, abs=1e-9) and line["by_amount"] < 0


@pytest.mark.parametrize("name", ["layers", "host", "stream"])
def test_lower_tiers_are_figures_too(name):
    opened = case(name)
    for what, value in opened.prediction.memory.tiers["host"].items():
        figure = find(f"memory.tiers.host.{what}")
        assert unfold(opened, figure, 3)["value"] == value
        for bill in bills_of(opened, figure):
            assert sum(a for _, a in bill.lines) == pytest.approx(value, rel=1e-9)
    assert bills_of(opened, find("memory.tiers.host.weights_bytes"))


def test_a_case_with_itself_differs_in_nothing():
    data = compare(case("plain"), case("plain"))
    assert not any(data[k] for k in ("given", "dims", "formats", "rates", "shares"))
    assert all(f["ratio"] in (1, None) for f in data["figures"]) and all(t["change"] == 0 for t in data["terms"])


def test_cases_on_one_line():
    base = Setting(None, "ddr5", None, ("kv-int8",), {"prompt": 1024, "batch": 1}, ())
    made = read_case("8b@rtx4090+int4:format=awq+batch=8+context=32k+engine=vllm+hw.memory.vram.bandwidth=1 TB/s", base, "A")
    assert made == Setting(
        "8b",
        "rtx4090",
        "vllm",
        ("kv-int8", "int4:format=awq"),
        {"prompt": 1024, "batch": 8, "context": 32768},
        ("hw.memory.vram.bandwidth=1 TB/s",),
    )
    assert read_case("+gqa:kv_heads=4", made, "B")._replace(techniques=()) == made._replace(techniques=())
    assert read_case("@ddr4", made, "B") == made._replace(hardware="ddr4")
    assert read_case("8b", base, "A").hardware == "ddr5"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "8b", "tpss", "--hw", "ddr5"], "did you mean `tps`"),
        (["explain", "8b", "decode.byte_by.kv", "--hw", "ddr5"], "did you mean `decode.bytes_by.kv`"),
        (["explain", "8b", "\x1b[31m" + "x" * 5000, "--hw", "ddr5"], "no figure"),
        (["explain", "8b", "", "--hw", "ddr5"], "no figure"),
        (["explain", "8b", "__class__", "--hw", "ddr5"], "no figure"),
        (["explain", "8x", "tps", "--hw", "ddr5"], "no model `8x`"),
        (["explain", "8b", "tps"], "Missing option '--hw'"),
        (["explain", "8b", "tps", "--hw", "ddr5", "--level", "4"], "--level"),
        (["explain", "8b", "decoding_s", "--hw", "ddr5", "--symbolic"], "no expression of its own"),
        (["explain", "8b", "prefill.bytes", "--hw", "ddr5", "-t", "chunked-prefill:chunk=100", "--latex"], "sum over several passes"),
        (["explain", "8b", "memory.tiers.host.kv_bytes", "--hw", "ddr5"], "this case has no `memory.tiers.host.kv_bytes`"),
        (["diff", "8b", "14b"], "the case names no hardware"),
        (["diff", "@ddr5", "8b@ddr5"], "the case names no model"),
        (["diff", "8b@ddr5", "+"], "nothing stands after a `+`"),
        (["diff", "8b@ddr5", "+batc=2"], "did you mean `batch`"),
        (["diff", "8b@ddr5", "+batch=0"], "batch: want 1 to"),
        (["diff", "8b@ddr5", "+devices=70000"], "devices: want 1 to 65,536"),
        (["diff", "8b@ddr5", "+batch=many"], "is not a count"),
        (["diff", "8b@ddr5", "+int5"], "no technique `int5`"),
        (["diff", "8b@ddr5", "8b@dd5"], "did you mean `ddr5`"),
        (["diff", "8b@ddr5"], "Missing argument 'B'"),
        (["diff", "\x00@ddr5", "8b@ddr5"], "no model"),
    ],
)
def test_bad_input_is_refused_with_one_message(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert message in result.stderr and "Traceback" not in result.stderr and "\x1b" not in result.stderr


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("fmt", ["text", "markdown"])
def test_commands_print(lang, fmt):
    result = run("explain", "8b", "--hw", "rtx4090", "-ngl", "20", "--level", "3", "--lang", lang, "--format", fmt)
    assert result.exit_code == 0 and "tps.expected = 1 / tpot" in result.stdout.replace("\\", "")
    result = run("diff", "8b@ddr5", "@rtx4090+int4", "--lang", lang, "--format", fmt)
    assert result.exit_code == 0 and "TPOT" in result.stdout and ("연산" in result.stdout) == (lang == "ko")


def test_commands_give_json():
    data = json.loads(run("explain", "8b", "ttft", "--hw", "ddr5", "--format", "json", "--latex").stdout)
    assert data["schema"] == "costmodel/unfolded-figure@1" and data["value"] == predict("8b", "ddr5").ttft_s.expected
    assert "\\max" in data["symbolic"]["latex"] and data["symbolic"]["text"].count("\n") == 0 and "shown" not in data["symbolic"]
    data = json.loads(run("diff", "8b", "14b", "--hw", "ddr5", "--batch", "4", "--format", "json").stdout)
    assert data["schema"] == "costmodel/diff@1" and data["a"]["workload"]["batch"] == data["b"]["workload"]["batch"] == 4
    assert {d["name"] for d in data["dims"]} >= {"L", "d", "d_ff"}


def test_a_prompt_of_one_output_token_has_no_gap():
    assert value_of(case("ideal"), "itl_mean_s") is None
    assert run("explain", "8b", "itl_mean", "--hw", "ddr5", "--output", "1").stdout.startswith("mean gap between output tokens: -")


def test_explaining_a_plain_case_loads_no_sympy():
    import subprocess
    import sys

    code = (
        "import sys; from costmodel.cli import main\n"
        "try: main(['explain', '8b', '--hw', 'ddr5', '--level', '3'])\nexcept SystemExit: pass\n"
        "assert 'sympy' not in sys.modules and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT)


def test_every_technique_can_be_explained():
    seen = 0
    for name in usable("technique"):
        try:
            opened = Opened(Setting("8b", "h100-sxm", None, (name,), {"batch": 4}, ()), library())
        except SpecError:
            continue
        seen += 1
        for path in ("tps.expected", "memory.total_bytes"):
            data = unfold(opened, find(path), 3)
            assert json.dumps(data, allow_nan=False) and data["value"] == value_of(opened, path)
        for bill in bills_of(opened, find("decode")):
            assert sum(a for _, a in bill.lines) == pytest.approx(value_of(opened, "decode.expected_s"), rel=1e-9), name
    assert seen > 20
