"""Questions that broke `solve`, `explain`, `diff`, `crossovers` or `sensitivity`: each answer by another path."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from math import isclose

import pytest
from click.testing import CliRunner

from costmodel import predict, sensitivity
from costmodel.cli import main
from costmodel.compile.runnable import Runnable
from costmodel.solve.invert.question import Question
from costmodel.solve.invert.solution import solve


def run(line: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, shlex.split(line))
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize("unknown", ["output", "context", "prompt"])
def test_counts_that_a_request_is_long_by(unknown):
    answer = solve(Question("8b", "ddr5"), unknown, "e2e=60s", suggest=False)
    last, more = (predict("8b", "ddr5", **{unknown: answer.value + i}).e2e_s.expected for i in (0, 1))
    assert isinstance(answer.value, int) and last <= 60 < more


def test_trying_values_compiles_nothing(monkeypatch):
    question = Question("8b", "ddr5", techniques=("speculative-decoding",))
    slow = question.at({}).tps.expected
    monkeypatch.setattr(Runnable, "__init__", None)
    fast = question.at({"bw": 2 * question.point["bw"]}).tps.expected
    assert fast > slow == pytest.approx(question.base.tps.expected, rel=1e-12)
    assert question.at({}).tps.expected == slow


STREAMED = "llama-3.1-70b --hw rtx4090 -t offload:share=0.{}"


def test_capacity_is_no_answer_where_another_memory_is_full():
    text = run("solve capacity " + STREAMED.format(7) + " --for fits", 1)
    p = predict("llama-3.1-70b", "rtx4090", techniques=("offload:share=0.7",))
    lacking = p.memory.tiers["host"]["weights_bytes"] - p.memory.tiers["host"]["capacity_bytes"]
    assert f"the memory of the host lacks {lacking / 1e9:.4g} GB, whatever the device holds" in text
    found = json.loads(run("solve capacity " + STREAMED.format(4) + " --for fits --no-suggest --format json"))
    assert found["found"] == "exact" and found["check"]["fits"]


def test_which_memory_lacks_is_said():
    assert "it is the memory of the device that lacks" in run("solve gpu-layers llama-3.1-70b --hw rtx4090 --for fits", 1)


def test_layers_on_a_gpu_need_a_host_beside_it():
    assert "nothing to offload to" in run("solve gpu-layers 8b --hw ddr5 --for tps=3", 2)


def test_whole_numbers_and_plain_factors_read_so():
    text = run("solve drafted llama-3.1-70b --hw h100-sxm --devices 4 -t speculative-decoding --for tps=60")
    assert "drafted 2, 0.500x the 4 of now" in text and "other ends of where it is met: 12 " in text
    text = run("solve capacity llama-3.3-70b --hw rtx4090 --for fits --no-suggest")
    assert " + 0.950 x capacity" in text


def test_no_machine_is_proposed_for_being_slow():
    text = run('solve bandwidth 8b --hw ddr5 --for "tps<=30"')
    assert "the largest for" in text and "library" not in text


CASES = [
    "8b --hw ddr5",
    "llama-3.1-70b --hw rtx4090 -t offload:share=0.7,mode=stream",
    "llama-3.1-70b --hw rtx4090 -ngl 20",
    "llama-3.1-70b --hw h100-sxm -t pipeline-parallel:stages=4,micro=4 --batch 16",
    "8b --hw rtx4090 -t speculative-decoding --batch 4",
    "mixtral-8x7b --hw h100-sxm --devices 2 --batch 7",
    "llama-3.1-8b --hw a100 -t chunked-prefill:chunk=256,decodes=4",
]


@pytest.mark.parametrize("case", CASES)
def test_times_at_full_rates_have_bills(case):
    for phase in ("prefill", "decode"):
        for what, by in (("compute_s", "math"), ("memory_s", "kind")):
            step = json.loads(run(f"explain {case.replace(' ', f' {phase}.{what} ', 1)} --format json"))["steps"][0]
            assert {b["by"] for b in step["bills"]} == {by, "role", "operator"}
            for bill in step["bills"]:
                assert isclose(sum(line["value"] for line in bill["lines"]), step["value"], rel_tol=1e-9)


def test_a_regime_unfolds_to_operators():
    text = run("explain 8b regime --hw ddr5")
    p = predict("8b", "ddr5")
    assert f"fp32 {p.decode.flops / 1.2e12 * 1e3:.3f} ms 100.0%" in text  # 1.2 TFLOP/s
    assert f"KV cache {p.decode.bytes_by.kv / 90e9 * 1e3:.4g} ms" in text  # 90 GB/s


def test_the_floor_of_a_pipeline_is_no_longest_resource():
    text = run("explain llama-3.1-70b prefill.floor_s --hw h100-sxm -t pipeline-parallel:stages=4,micro=4 --batch 16")
    floor = predict("llama-3.1-70b", "h100-sxm", techniques=("pipeline-parallel:stages=4,micro=4",), batch=16).prefill.floor_s
    assert f"compute {floor * 16 / 7:.4f} s" in text and "pipeline overlap -" in text  # 4 stages, 4 parts: 7/16 of the time
    assert "the longest resource of every step" in text and "the longest of its resources" not in text


def test_an_empty_machine_is_refused():
    assert "nothing stands after the `@`" in run("diff 8b@ddr5 @", 2)


def test_knobs_fit_into_the_table():
    text = run("sensitivity llama-3.1-70b --hw h100-sxm -t speculative-decoding --devices 4")
    assert " acceptance 0.7 " in text and " drafted 4 " in text


def test_speculation_that_never_pays():
    text = run("crossovers llama-3.1-70b --hw h100-sxm -t speculative-decoding:acceptance=0.2 --devices 4")
    assert "speculation pays: at no batch" in text and "no longer" not in text and "pays at batch -" not in text


def test_a_mean_over_no_tokens_has_no_sensitivity():
    assert "`itl_mean_s` has no value here" in run("sensitivity 8b --hw ddr5 --of itl --output 1", 2)


APART = ("disaggregation:decode=m3-max",)


@pytest.mark.parametrize("unknown, target", [("reach", "tps=20"), ("step_us", "e2e=13.25s"), ("bits", "tps=40")])
def test_two_machines_share_engine_and_model(unknown, target):
    question = Question("llama-3.1-8b", "a100", techniques=APART)
    answer = solve(question, unknown, target, suggest=False)
    got = answer.check["figure"]
    assert answer.found == "exact" and got == pytest.approx(float(target.partition("=")[2].rstrip("s")), rel=1e-9)
    assert answer.check["how"] == ("formulas" if unknown == "bits" else "compiled")


def test_sensitivity_of_two_machines_is_that_of_the_documents():
    found = sensitivity("llama-3.1-8b", "a100", techniques=APART, of="e2e")
    rows = {r.input: r for r in found.rows}
    assert not any(name.startswith(("decode_k_", "decode_w_", "decode_kv_")) for name in rows)
    at = [predict("llama-3.1-8b", "a100", techniques=APART, sets=(f"engine.coefficients.step_us.value={469.6 * f}",)) for f in (1, 1.1)]
    assert rows["k_step_us"].up == pytest.approx(at[1].e2e_s.expected / at[0].e2e_s.expected - 1, rel=1e-3)


def test_bits_are_those_of_the_model_not_of_its_draft():
    question = Question("llama-3.1-8b", "h100-sxm", techniques=("speculative-decoding:draft=llama-3.2-1b",))
    half, plain = question.at({"w_scale": 0.5}).memory, question.base.memory
    assert half.weights_bytes == plain.weights_bytes / 2 and half.draft_bytes == plain.draft_bytes
    rows = {r.name: r for r in sensitivity(question.model, question.hardware, techniques=question.techniques).rows}
    assert rows["draft bits"].value == pytest.approx(16) and 0 > rows["draft bits"].elasticity > rows["bits"].elasticity


RIDING = ("chunked-prefill:chunk=256,decodes=2",)


def test_passes_over_several_groups_can_be_asked_backwards():
    question = Question("llama-3.1-8b", "a100", techniques=RIDING)
    base = predict("llama-3.1-8b", "a100", techniques=RIDING)
    assert question.at({}).ttft_s.expected == pytest.approx(base.ttft_s.expected, rel=1e-12)
    answer = solve(question, "bandwidth", "ttft=155ms", suggest=False)
    assert answer.found == "bracketed" and answer.check["how"] == "compiled"
    assert answer.check["figure"] == pytest.approx(0.155, rel=1e-9)


def test_a_figure_without_a_formula_is_computed_again():
    found = sensitivity("llama-3.1-8b", "a100", techniques=RIDING, of="ttft")
    rows = {r.input: r for r in found.rows}
    assert {r.how for r in found.rows} == {"steps"} and rows["prompt"].name == "prompt = context"
    more = predict("llama-3.1-8b", "a100", techniques=RIDING, sets=("hw.memory.hbm.bandwidth=2.2429 TB/s",))
    assert rows["bw"].up == pytest.approx(more.ttft_s.expected / found.value - 1, rel=1e-6)


def test_passes_of_as_many_tokens_work_their_shares_out_once(monkeypatch):
    from costmodel.compile import mixed

    question, calls = Question("llama-3.1-8b", "a100", techniques=RIDING), []
    question.at({"prompt": 512})
    known = mixed.fraction
    monkeypatch.setattr(mixed, "fraction", lambda *given: calls.append(given) or known(*given))
    assert question.at({"prompt": 512 * 50}).ttft_s.expected > 0
    assert 0 < len(calls) < 20


def test_the_smallest_is_the_smallest():
    answer = solve(Question("8b", "rtx4090"), "gqa.kv_heads", "kv=100MB", suggest=False)
    kv = {n: predict("8b", "rtx4090", techniques=(f"gqa:kv_heads={n}",)).memory.kv_bytes for n in (1, 2, 4, 8)}
    assert kv[1] < kv[4] <= 1e8 < kv[8]
    assert (answer.value, answer.smallest, answer.others) == (4, False, [2])


def test_seconds_over_seconds_have_no_unit():
    text = run("solve link-latency llama-3.1-70b --hw h100-sxm --devices 8 --for tps=60")
    assert " + 960 x link-latency " in text  # 80 layers x 2 all-reduces x 2 log2(8) hops


def test_coefficients_whose_range_begins_at_nothing():
    answer = solve(Question("8b", "rtx4090"), "step_us", "tps=125", suggest=False)
    assert answer.found == "exact" and answer.check["tps"] == pytest.approx(125, rel=1e-12)


def test_riding_decodes_and_streamed_weights():
    techniques = ("offload:share=0.5", "chunked-prefill:chunk=512,decodes=2")
    p = predict("llama-3.1-8b", "a100", techniques=techniques)
    assert p.prefill.expected_s == pytest.approx(sum(r.expected_s for r in p.operators["prefill"]) + p.overheads["prefill"], rel=1e-9)


def test_lines_left_out_are_counted_in_korean_too():
    assert "(그 밖 2개)" in run("explain 8b --hw ddr5 --lang ko")


def test_shipped_documents_are_named_from_the_top_wherever_one_works():
    from costmodel.folders import data_root

    top = data_root("specs").resolve().parent
    words = [sys.executable, "-m", "costmodel", "sensitivity", "8b", "--hw", "ddr5"]
    env = {**os.environ, "PYTHONPATH": str(top), "COSTMODEL_CACHE": "off"}
    text = subprocess.run(words, cwd=top.parent, env=env, capture_output=True, text=True, check=True).stdout
    assert text.count(" specs/engines/") == text.count(".yaml:") > 0
