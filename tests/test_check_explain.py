"""Explanations of measured figures: what costmodel itself makes under a known cause is explained by it; documents alone add one."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from test_cli import run

from costmodel.api import library
from costmodel.language.problem import SpecError
from costmodel.library import Library
from costmodel.solve.cases import Setting, evaluate, with_techniques
from costmodel.solve.check import check
from costmodel.solve.explain.outcome import outcome_of, with_rates
from costmodel.solve.explain.search import solve_range, solve_values
from costmodel.solve.explain.standins import family

few = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
GPUS = st.sampled_from(["rtx4090", "rtx3090", "rx7900-xtx", "a100-80gb-sxm"])
MODELS = st.sampled_from(["8b", "qwen3-4b", "mistral-7b", "qwen2.5-0.5b"])
CPUS = st.sampled_from(["ddr5", "ryzen-7950x", "core-i9-14900k"])


def plain(model: str, hardware: str, *techniques: str, sets=(), **workload) -> Setting:
    return Setting(model, hardware, None, techniques, workload, tuple(sets))


def judge(setting: Setting, decode=None, prefill=None, shelf=None):
    shelf = shelf or library()
    return check(evaluate(setting, shelf), decode, shelf, prefill=prefill, setting=setting)


def figures(setting: Setting, **change):
    found = outcome_of(evaluate(setting, library()), **change)
    return found.decode.expected, found.prefill.expected


def told(result):
    """The verdict, where it is not `normal`: a figure inside the span needs no cause, and the span of prompts is wide."""
    assume(result.verdict != "normal")
    return result


def names(result, top: int = 3) -> list[str]:
    return [e.name for e in result.explanations[:top]]


@few
@given(MODELS, GPUS, st.floats(1.6, 4.5))
def test_speculation_is_found(model, gpu, tokens):
    setting = plain(model, gpu)
    decode, prefill = figures(setting, tokens=tokens)
    result = told(judge(setting, decode, prefill))
    assert "speculation" in names(result)
    item = next(e for e in result.explanations if e.name == "speculation")
    assert item.parameter["value"] == pytest.approx(tokens, rel=0.2)
    assert item.decode["expected"] == pytest.approx(decode, rel=0.05)


@few
@given(MODELS, CPUS)
def test_one_memory_channel_is_found(model, cpu):
    setting = plain(model, cpu)
    half = outcome_of(with_rates(evaluate(setting, library()), {"memory": 0.5}))
    assert "one-memory-channel" in names(told(judge(setting, half.decode.expected, half.prefill.expected)))


@few
@given(MODELS, GPUS, st.integers(2048, 16384))
def test_a_cache_in_host_ram_is_found(model, gpu, context):
    setting = plain(model, gpu, context=context)
    decode, prefill = figures(with_techniques(setting, ("kv-on-host",)))
    assert "kv-in-host-ram" in names(told(judge(setting, decode, prefill)))


@few
@given(st.sampled_from(["8b", "qwen3-4b", "mistral-7b"]), GPUS, st.floats(0.2, 0.8))
def test_layers_on_the_cpu_are_found(model, gpu, part):
    setting = plain(model, gpu)
    layers = round(part * evaluate(setting, library()).runnable.meta["layers"])
    decode, prefill = figures(with_techniques(setting, (f"gpu-layers:layers={layers}",)))
    result = told(judge(setting, decode, prefill))
    assert "layers-on-the-cpu" in names(result)
    item = next(e for e in result.explanations if e.name == "layers-on-the-cpu")
    assert abs(item.parameter["value"] - layers) <= 2


@few
@given(MODELS, GPUS, st.floats(0.3, 0.95))
def test_a_cached_prompt_is_found(model, gpu, hit):
    setting = plain(model, gpu, prompt=4096)
    _, prefill = figures(with_techniques(setting, (f"prefix-caching:hit={hit}",)))
    result = told(judge(setting, None, prefill))
    assert names(result, 3).count("prompt-cache") == 1
    assert next(e for e in result.explanations if e.name == "prompt-cache").parameter["value"] == pytest.approx(hit, abs=0.05)


@few
@given(st.sampled_from(["8b", "mistral-7b"]), GPUS, st.integers(3, 24))
def test_a_total_over_users_is_listed(model, gpu, users):
    setting = plain(model, gpu)
    decode = outcome_of(evaluate(plain(model, gpu, batch=users), library()), measure="total").decode.expected
    result = judge(setting, decode)
    item = next(e for e in result.explanations if e.name == "all-users")
    assert abs(item.parameter["value"] - users) <= 1


@few
@given(MODELS, GPUS)
def test_no_device_at_work_is_found(model, gpu):
    setting = plain(model, gpu)
    from costmodel.solve.explain.facts import facts_of
    from costmodel.solve.explain.variant import Variants

    p = evaluate(setting, library())
    spec = library().load("explanation", "cpu-fallback")
    found, _ = Variants(setting, p, facts_of(p, setting, library(), 1, None), library(), 1).outcome(spec, {})
    assert "cpu-fallback" in names(told(judge(setting, found.decode.expected, found.prefill.expected)), 2)


ORDER = ["slow", "normal", "fast", "impossible"]


@few
@given(MODELS, st.one_of(GPUS, CPUS), st.lists(st.floats(0.01, 3), min_size=2, max_size=8))
def test_verdicts_are_monotone(model, machine, shares):
    p = evaluate(plain(model, machine), library())
    found = [ORDER.index(check(p, s * p.tps.ceiling, library()).verdict) for s in sorted(shares)]
    assert found == sorted(found)


@few
@given(MODELS, st.one_of(GPUS, CPUS), st.floats(0.001, 50), st.one_of(st.none(), st.floats(0.001, 50)))
def test_any_figure_gets_finite_ranked_explanations(model, machine, decode, prefill):
    # R53
    setting = plain(model, machine)
    p = evaluate(setting, library())
    result = judge(setting, decode * p.tps.expected, None if prefill is None else prefill * p.prompt / p.ttft_s.expected)
    scores = [e.score for e in result.explanations]
    assert scores == sorted(scores, reverse=True) and all(s > 0 for s in scores)
    for item in result.explanations:
        assert item.decode["low"] <= item.decode["expected"] * 1.0001 and item.decode["expected"] <= item.decode["high"] * 1.0001
        assert item.decode["expected"] <= item.decode["ceiling"] * 1.0001
    if abs(decode - 1) < 0.05 and prefill is None:
        assert not result.explanations


def test_it_answers_in_about_a_second():
    setting = plain("qwen3-30b-a3b", "rtx3090", sets=("model.weights.format=q4_k_m",))
    judge(setting, 20, 100)
    start = time.process_time()
    judge(setting, 21, 100)
    assert time.process_time() - start < 1.5


OWN = """title: {en: "A test reason", ko: "시험용 이유"}
look: "Nothing."
prior: 5
when: decode_ratio < 0.9
solve: {name: share, low: 0.01, high: 1, neutral: 1}
change: {rates: {memory: share}}
"""


def test_an_explanation_is_a_document(desk):
    desk.write("explanation", "of-my-own", OWN)
    shelf = Library(roots=(desk.root,))
    first = judge(plain("8b", "rtx4090"), 30, shelf=shelf).explanations[0]
    assert first.name == "of-my-own" and first.title["ko"] == "시험용 이유"
    assert first.decode["expected"] == pytest.approx(30, rel=1e-3)
    assert "of-my-own" not in names(judge(plain("8b", "rtx4090"), 400, shelf=shelf), 50)


def test_a_missing_technique_is_skipped_with_a_note(desk):
    desk.write("explanation", "of-tomorrow", "title: t\nchange: {techniques: [not-there-yet]}\n")
    desk.write("explanation", "stand-in", "title: t\ninstead_of: of-tomorrow\nprior: 9\nchange: {rates: {memory: 0.2}}\n")
    desk.write("explanation", "not-needed", "title: t\ninstead_of: slow-kernels\nprior: 9\nchange: {rates: {memory: 0.2}}\n")
    result = judge(plain("8b", "rtx4090"), 30, shelf=Library(roots=(desk.root,)))
    assert {"name": "of-tomorrow", "reason": "no technique `not-there-yet`"} in result.skipped
    assert names(result, 1) == ["stand-in"] and "not-needed" not in names(result, 50)


WRONG = [
    ("change: {rates: {memory: 0}}", "above 0"),
    ("change: {rates: {momory: 1}}", "memory"),
    ("change: {tokens: speed}", "speed"),
    ("when: decode_rato > 1\nchange: {seconds: 1}", "decode_ratio"),
    ("prior: 1 / (layers - layers)\nchange: {seconds: 1}", "prior"),
    ("solve: {name: x, low: 1}\nchange: {seconds: x}", "`values`"),
    ("solve: {name: layers, low: 1, high: 2}\nchange: {seconds: layers}", "name of the language"),
    ("figure: sideways\nchange: {seconds: 1}", "slow"),
    ("look: here", "change"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_document_is_told_where_it_stands(desk, text, message):
    path = desk.write("explanation", "wrong", f"title: t\n{text}\n")
    with pytest.raises(SpecError, match=message) as stop:
        judge(plain("8b", "rtx4090"), 30, shelf=Library(roots=(desk.root,)))
    assert path.rpartition("/")[2] in str(stop.value)


def test_options_and_json():
    data = json.loads(run("check", "--prefill", "60000", "--model", "8b", "--hw", "rtx4090", "--format", "json", code=1))
    assert data["measured"] is None and data["decode"] is None and data["prefill"]["verdict"] == "impossible"
    assert data["explanations"][0]["name"] == "prompt-cache"
    both = json.loads(run("check", "30", "--prefill", "7000", "--model", "8b", "--hw", "rtx4090", "--format", "json"))
    assert both["decode"]["verdict"] == "slow" and both["prefill"]["verdict"] == "normal" and both["verdict"] == "slow"
    item = both["explanations"][0]
    assert {"name", "title", "look", "parameter", "change", "decode", "prefill", "fits", "prior", "score"} <= set(item)
    assert item["decode"]["ratio"] == pytest.approx(item["decode"]["expected"] / 30)


def test_neither_figure_is_a_usage_error():
    assert "TOK_S" in run("check", "--model", "8b", "--hw", "ddr5", code=2)
    with pytest.raises(SpecError, match="no measured figure"):
        check(evaluate(plain("8b", "ddr5"), library()))


@pytest.mark.parametrize("value", ["0", "-3", "nan", "inf", "fast", "1e400"])
def test_hostile_figures(value):
    run("check", "--prefill", value, "--model", "8b", "--hw", "ddr5", code=2)


@pytest.mark.parametrize("extreme", ["1e-9", "1e11"])
def test_extreme_figures_are_judged(extreme):
    code = 1 if float(extreme) > 1 else 0
    run("check", extreme, "--prefill", extreme, "--model", "8b", "--hw", "rtx4090", "--batch", "3", "--devices", "2", code=code)


def test_declared_placement_is_taken_into_account():
    slow = run("check", "10", "--model", "8b", "--hw", "rtx4090", "--context", "4k")
    assert "slow" in slow.splitlines()[0]
    assert "normal" in run("check", "12", "--model", "8b", "--hw", "rtx4090", "--gpu-layers", "0").splitlines()[0]


@given(st.floats(0.5, 100), st.floats(0.01, 0.99), st.floats(0.001, 10))
def test_solving_meets_the_figure(top, part, cost):
    # R54
    def speed(x: float) -> float:
        return 1 / (1 / top + cost * x)

    target = speed(part)
    for cheap in (True, False):
        found = solve_range(speed, target, (0, 1), cheap, False)
        assert speed(found.value) == pytest.approx(target, rel=0.02)
    assert solve_range(speed, 2 * top, (0, 1), True, False).value == 0
    assert solve_range(lambda x: top, target, (0, 1), True, False) is None


def test_solving_over_values():
    # R54
    assert solve_values(lambda v: 10 / v, 3, (1, 2, 3, 4, 5)).value == 3
    assert solve_values(lambda v: v, 100, (1, 2, 3)).value == 3


def test_families():
    assert family("llama-3.1-8b") == family("llama-3.1-70b") == "llama-3.1"
    assert family("8b") == family("14b") != family("qwen3-8b") == family("qwen3-30b-a3b")
