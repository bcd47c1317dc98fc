"""Predictions as formulas: the same figures as numbers, in NumPy and JavaScript too, and exact derivatives."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel import predict
from costmodel.api import library
from costmodel.compile.build import Case, build
from costmodel.compile.graph.evaluate import gradient, values
from costmodel.compile.graph.nodes import Graph
from costmodel.compile.graph.read import Functions
from costmodel.compile.graph.text import javascript, numpy_function, numpy_source
from costmodel.solve.record import REGIMES
from costmodel.solve.traced import FIGURES, Formulas

CASES = [
    ("8b", "ddr5", None, (), 1),
    ("8b", "rtx4090", "llama.cpp", (), 1),
    ("8b", "rtx4090", None, ("speculative-decoding",), 1),
    ("mixtral-8x7b", "h100-sxm", "vllm", ("kv-int8",), 1),
    ("llama-3.3-70b", "rtx4090", "llama.cpp", ("gpu-layers:layers=40",), 1),
    ("gpt-oss-120b", "rtx4090", None, ("experts-on-host",), 1),
    ("deepseek-v3", "h100-sxm", "vllm", (), 8),
    ("jamba-v0.1", "a100-80gb", None, (), 1),
    ("8b", "h100-sxm", None, ("disaggregation",), 1),
    ("8b", "h100-sxm", None, ("pipeline-parallel:stages=4,micro=4",), 1),
    ("8b", "ddr5", None, ("no-kv-cache",), 1),
    ("8b", "rtx4090", None, ("prefix-caching",), 1),
    ("8b", "rtx4090", None, ("continuous-batching",), 1),
]
INNER = ("compute_s", "memory_s", "link_s")
"""Figures that only formulas show: what the regime is told by."""
cases = pytest.mark.parametrize("case", CASES, ids=lambda c: "-".join(map(str, (c[0], c[1], *c[3]))))


def formulas(case, **workload) -> Formulas:
    model, hardware, engine, techniques, devices = case
    return Formulas(build(Case(model, hardware, engine, techniques, devices), library(), {}, True), **workload)


def numbers(case, **workload):
    model, hardware, engine, techniques, devices = case
    return predict(model, hardware, engine=engine, techniques=techniques, devices=devices, **workload)


def figure(prediction, path: str):
    for part in path.split("."):
        prediction = prediction.get(part) or {} if isinstance(prediction, dict) else getattr(prediction, part)
    prediction = None if prediction == {} else prediction  # a tier that holds nothing
    return REGIMES.index(prediction) if path.endswith("regime") else int(prediction) if isinstance(prediction, bool) else prediction


def shown(case) -> dict:
    found = formulas(case, output=20)
    return {name: found.figure(name) for name in FIGURES}


@cases
def test_every_figure_is_that_of_predict(case):
    @settings(max_examples=5, deadline=None, derandomize=True)
    @given(st.integers(1, 9000), st.integers(2, 24), st.integers(1, 70000), st.integers(1, 96))
    def holds(prompt, output, context, batch):
        workload = {"prompt": prompt, "output": output, "context": context, "batch": batch}
        p, found = numbers(case, **workload), formulas(case, **workload)
        names = [n for n in FIGURES if n.rpartition(".")[2] not in INNER]
        for name, value in zip(names, values(map(found.figure, names), found.inputs), strict=True):
            want = figure(p, name)
            assert want is None or value == pytest.approx(want, rel=1e-9), name

    holds()


@cases
def test_numpy_and_javascript_compute_the_same(case):
    np = pytest.importorskip("numpy")
    outputs, found = shown(case), formulas(case, output=20)
    rng = np.random.default_rng(7)
    low = {"batch": 1, "context": 1, "prompt": 1, "bw": found.inputs["bw"] / 3}
    high = {"batch": 64, "context": 50000, "prompt": 6000, "bw": found.inputs["bw"] * 3}
    arrays = {n: np.floor(rng.uniform(low[n], high[n], 12)) for n in low}
    points = [{**found.inputs, **{n: float(a[i]) for n, a in arrays.items()}} for i in range(12)]
    run = numpy_function(numpy_source(outputs, list(found.inputs), list(low)))
    rows = [np.broadcast_to(row, (12,)) for row in run(**{**found.inputs, **arrays})]
    want = [values(outputs.values(), point) for point in points]
    for i in range(12):
        assert [row[i] for row in rows] == pytest.approx(want[i], rel=1e-12)
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node")
    program = f"const f = {javascript(outputs)}; console.log(JSON.stringify({json.dumps(points)}.map(f)))"
    told = json.loads(subprocess.run([node, "-"], input=program, capture_output=True, text=True, check=True).stdout)
    for i in range(12):
        assert [told[i][name] for name in outputs] == pytest.approx(want[i], rel=1e-9)


@cases
@pytest.mark.parametrize("name", ["tps.expected", "ttft_s.expected", "tps.ceiling"])
def test_derivatives_are_those_of_small_steps(case, name):
    found = formulas(case, prompt=700, context=900, batch=3)
    node = found.figure(name)
    slopes = gradient(node, found.inputs)
    assert set(slopes) == node.deps
    (base,) = values([node], found.inputs)
    for key, slope in slopes.items():
        if key in ("prompt", "knob_prefix_caching_hit") and "floor" in {n.op for n in found.graph.nodes}:
            continue  # whole passes and whole tokens: steps, which have no slope
        at, step = found.inputs[key], 1e-6 * abs(found.inputs[key])
        if key.endswith("drafted") or not at:
            continue
        up, down = (values([node], {**found.inputs, key: at + s})[0] for s in (step, -step))
        measured = (up - down) / (2 * step)
        assert slope * at / base == pytest.approx(measured * at / base, abs=2e-6), key


def test_fewer_inputs_leave_less_to_compute():
    runnable = build(Case("8b", "ddr5"), library(), {}, True)
    whole, part = Formulas(runnable), Formulas(runnable, vary=("context",))
    name = "tps.expected"
    assert part.figure(name).deps == {"context"} < whole.figure(name).deps
    assert values([part.figure(name)], {"context": 1024}) == pytest.approx(values([whole.figure(name)], whole.inputs), rel=1e-12)


def test_chunks_have_no_formula():
    with pytest.raises(NotImplementedError):
        formulas(("8b", "ddr5", None, ("chunked-prefill",), 1)).figure("ttft_s.expected")


def test_source_outside_the_small_language_is_refused():
    for body in ("import os", "for i in B: pass", "return [B]", "return B.real", "return B if B < 1 < 2 else 0"):
        with pytest.raises(NotImplementedError):
            graph = Graph()
            Functions(f"def step(B):\n    {body}\n", graph).call("step", graph.input("B"))


def test_equal_operations_are_one_node_and_numbers_are_folded():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    assert x * y + 0 is x * y and (x * 1) / 1 is x and x * 0 is graph.const(0)
    assert graph.make("+", 2, 3).value == 5 and graph.most(x, 2, 1).op == "max"
    assert graph.where(graph.make(">", x, y), x, y) is graph.most(x, y)
    assert graph.sum(4, lambda i: x) is 4 * x
    with pytest.raises(TypeError):
        bool(x)
