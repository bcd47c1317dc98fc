"""Sweeps: every point is what `predict` says, whatever is an array, a compiled case, a block or an executor's task."""

from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_graph import CASES, formulas

import costmodel
from costmodel import SpecError, predict, sweep
from costmodel.compile.graph.evaluate import values
from costmodel.compile.graph.narrow import narrowed
from costmodel.compile.graph.nodes import Graph, needed
from costmodel.language.problem import problem
from costmodel.solve.sweep import cells, quantiles
from costmodel.solve.sweep.axes import axis
from costmodel.solve.sweep.blocks import blocks_of
from costmodel.solve.sweep.conditions import Goal
from costmodel.solve.sweep.front import Front
from costmodel.solve.sweep.program import tiles
from costmodel.solve.sweep.quantiles import Quantiles
from costmodel.solve.traced import FIGURES as TRACED

np = pytest.importorskip("numpy")

FIGURES = ("tps.ceiling", "tps.expected", "ttft_s.expected", "memory.total_bytes", "memory.fits", "decode.regime", "system_tps")


@pytest.fixture(autouse=True)
def arrays_at_once(monkeypatch):
    """Arrays and inputs even where a sweep is so small that single predictions would be quicker."""
    monkeypatch.setattr(cells, "FEW_POINTS", 1)
    monkeypatch.setattr(cells, "FEW_VALUES", 2)


def figure(p, path: str):
    for part in path.split("."):
        p = getattr(p, part)
    return p


def same(got, want) -> bool:
    if want is None:
        return got != got or got == ""
    return bool(got == want) if isinstance(want, (str, bool)) else got == pytest.approx(want, rel=1e-9)


def check(result, model, hardware, sets=(), names=FIGURES, every: int = 1, **options):
    """Every (or every n-th) point of a mesh against `predict`."""
    axes = result.axes
    points = list(itertools.product(*(range(len(v)) for v in axes.values())))
    assert len(points) == result.points
    for places in points[::every]:
        case = {"model": model, "hardware": hardware, **options}
        more = list(sets)
        for (name, given_values), i in zip(axes.items(), places, strict=True):
            value = given_values[i].item() if hasattr(given_values[i], "item") else given_values[i]
            if "." in name:
                more.append(axis(name, [value]).override(0))
            elif name == "techniques":
                case[name] = () if value == "none" else tuple(value.split("+"))
            else:
                case[name] = value if name in ("model", "hardware", "engine") else int(value)
        p = predict(case.pop("model"), case.pop("hardware"), sets=tuple(more), **case)
        for name in names:
            assert same(result[name][places], figure(p, name)), (name, places, more)


BW, CAPACITY = "hw.memory.vram.bandwidth", "hw.memory.vram.capacity"
KINDS = {
    "dense, CPU": (
        "8b",
        "ddr5",
        {},
        {"hw.memory.dram.bandwidth": [5e10, 9e10, 4e11, 1.1e12], "hw.compute.fp32": ["500 GFLOP/s", 1.2e12, 9e12]},
    ),
    "dense, GPU": (
        "8b",
        "rtx4090",
        {"engine": "llama.cpp"},
        {BW: np.linspace(2e11, 2e12, 4), CAPACITY: ["8 GiB", "16 GiB", "24 GiB", "48 GiB"]},
    ),
    "math of a swept peak": (
        "8b",
        "rtx4090",
        {"engine": "llama.cpp"},
        {"hw.compute.int8": [1e12, 1e14, 1e15], "hw.compute.fp8": [1e13, 5e14, 6e14]},
    ),
    "MoE": ("mixtral-8x7b", "h100-sxm", {"engine": "vllm", "techniques": ("kv-int8",)}, {"hw.memory.hbm.bandwidth": [1e12, 3e12, 9e12]}),
    "MLA, several devices": (
        "deepseek-v3",
        "h100-sxm",
        {"engine": "vllm", "devices": 8},
        {"hw.links.peer.bandwidth": [5e10, 2e11, 9e11], "hw.links.peer.latency": [0, 1e-6, 1e-4]},
    ),
    "hybrid": ("jamba-v0.1", "a100-80gb", {}, {"hw.compute.bf16": [1e13, 3e14, 9e14], "hw.usable": [0.3, 0.5, 1]}),
    "layers on the host": (
        "llama-3.3-70b",
        "rtx4090",
        {"engine": "llama.cpp", "techniques": ("gpu-layers:layers=40",)},
        {"hw.host.dram.bandwidth": [1e10, 6e10, 4e11], "hw.host.dram.capacity": [1.6e10, 4e10, 2e11]},
    ),
    "streamed": ("llama-3.3-70b", "rtx4090", {"techniques": ("offload:share=0.5",)}, {"hw.links.host.bandwidth": [1e9, 3e10, 9e11]}),
    "both ends of a link": (
        "llama-3.3-70b",
        "rtx4090",
        {"techniques": ("offload:share=0.5",)},
        {"hw.links.host.bandwidth": [1e9, 3e10, 9e11], "hw.host.dram.bandwidth": [2e9, 4e10, 2e11]},
    ),
    "experts on the host": (
        "gpt-oss-120b",
        "rtx4090",
        {"techniques": ("experts-on-host",)},
        {"hw.host.dram.bandwidth": [1e10, 6e10, 4e11], BW: [3e11, 1e12, 2e12]},
    ),
    "draft model": (
        "8b",
        "rtx4090",
        {"techniques": ("speculative-decoding",)},
        {"tech.speculative-decoding.acceptance": [0, 0.3, 0.7, 0.95], BW: [3e11, 1e12, 2e12]},
    ),
    "whole knobs": ("8b", "rtx4090", {"techniques": ("speculative-decoding",)}, {"tech.speculative-decoding.drafted": [1, 2, 4, 9]}),
    "knobs of placement": ("llama-3.3-70b", "rtx4090", {"techniques": ("gpu-layers",)}, {"tech.gpu-layers.layers": [0, 7, 40, 81]}),
    "disaggregation": (
        "8b",
        "h100-sxm",
        {"techniques": ("disaggregation",)},
        {"hw.memory.hbm.bandwidth": [1e12, 3e12, 9e12], "hw.links.network.bandwidth": [1e9, 1e10, 1e11]},
    ),
    "another machine decodes": (
        "8b",
        "h100-sxm",
        {"techniques": ("disaggregation:decode=ddr5",)},
        {"hw.memory.hbm.bandwidth": [1e12, 3e12, 9e12]},
    ),
    "pipeline": ("8b", "h100-sxm", {"techniques": ("pipeline-parallel:stages=4,micro=4",)}, {"hw.links.peer.bandwidth": [1e9, 1e10, 1e11]}),
    "caching": ("8b", "rtx4090", {"techniques": ("prefix-caching",)}, {"tech.prefix-caching.hit": [0, 0.25, 0.5, 0.9]}),
    "chunks": ("8b", "rtx4090", {"techniques": ("chunked-prefill",)}, {BW: [3e11, 1e12, 2e12]}),
    "riding decodes": ("8b", "rtx4090", {"techniques": ("continuous-batching",)}, {BW: [3e11, 1e12, 2e12]}),
    "no cache": ("8b", "ddr5", {"techniques": ("no-kv-cache",)}, {}),
    "formats": ("8b", "rtx4090", {}, {"model.weights.format": ["bf16", "q4_k_m", "q8_0"], "model.dims.L": [8, 16, 32]}),
    "power": ("8b", "rtx4090", {}, {"hw.power_limit": [200, 300, 400, 450]}),
    "coefficients": ("8b", "ddr5", {}, {"engine.classes.cpu-*.coefficients.reach": [0.4, 0.6, 0.8, 1.0]}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_point_is_that_of_predict(kind):
    model, hardware, options, axes = KINDS[kind]
    names = FIGURES if "chunks" not in kind else FIGURES[:6]
    result = sweep(model, hardware, batch=[1, 3, 40], context=[0, 700, 30000], axes=axes, figures=names, prompt=900, output=20, **options)
    check(result, model, hardware, names=names, every=max(1, result.points // 6), prompt=900, output=20, **options)


def test_a_table_is_a_row_a_point_whatever_is_compiled():
    rng = np.random.default_rng(3)
    rows = 60
    batch, context = rng.integers(1, 200, rows), rng.integers(0, 60000, rows)
    formats = [("q4_k_m", "q8_0", "bf16")[i] for i in rng.integers(0, 3, rows)]
    bandwidth = rng.uniform(1e11, 2e12, rows)
    axes = {"model.weights.format": formats, BW: bandwidth}
    result = sweep("8b", "rtx4090", context=context, batch=batch, axes=axes, table=True, figures=FIGURES)
    assert result.shape == (rows,) and list(result.axes) == ["context", "batch", "model.weights.format", BW]
    for i in range(0, rows, 4):
        sets = (f"model.weights.format={formats[i]}", f"{BW}={bandwidth[i].item()!r} B/s")
        p = predict("8b", "rtx4090", context=int(context[i]), batch=int(batch[i]), sets=sets)
        for name in FIGURES:
            assert same(result[name][i], figure(p, name)), (name, i)


def test_documents_and_techniques_are_axes():
    techniques = [(), ("int4", "kv-int8"), "int8"]
    result = sweep(
        ["8b", "mixtral-8x7b"], ["h100-sxm", "a100-80gb-sxm"], batch=(1, 32), techniques=techniques, prompt=500, output=9, figures=FIGURES
    )
    assert list(result.axes) == ["model", "hardware", "batch", "techniques"]
    assert result.axes["techniques"] == ["none", "int4+kv-int8", "int8"] and result.shape == (2, 2, 2, 3)
    check(result, None, None, every=5, prompt=500, output=9)


def test_engines_and_devices_are_axes():
    result = sweep("8b", "h100-sxm", engine=["vllm", "llama.cpp"], devices=[1, 2], context=[10, 2000], figures=FIGURES, axes={"batch": [3]})
    assert result.shape == (2, 2, 2, 1)
    check(result, "8b", "h100-sxm", every=3)


def test_loaded_documents_are_named_in_results():
    result = sweep(costmodel.load_model("8b"), [costmodel.load_hardware("ddr5"), "ddr4"], techniques=costmodel.load_technique("int4"))
    assert result.axes == {"hardware": ["ddr5", "ddr4"]} and result.base["model"] == "8b" and result.base["techniques"] == "int4"
    assert result.tps.expected[0] == predict("8b", "ddr5", techniques="int4").tps.expected


def test_the_context_follows_a_prompt_that_varies():
    result = sweep("8b", "rtx4090", prompt=[100, 5000, 70000], batch=[1, 4], figures=FIGURES)
    check(result, "8b", "rtx4090")


def test_single_predictions_and_formulas_agree(monkeypatch):
    formulas = sweep("8b", "ddr5", batch=[1, 5, 9], context=[10, 9000], figures=FIGURES)
    monkeypatch.setattr(cells, "FEW_POINTS", 100)
    single = sweep("8b", "ddr5", batch=[1, 5, 9], context=[10, 9000], figures=FIGURES)
    for name in FIGURES:
        assert all(same(a, b.item()) for a, b in zip(formulas[name].ravel(), single[name].ravel(), strict=True))


def test_figures_are_read_as_those_of_a_prediction():
    result = sweep("8b", "rtx4090", batch=[1, 64], context=[1000, 100000])
    assert result.figures == ("tps.ceiling", "tps.expected", "memory.total_bytes", "memory.fits", "decode.regime")
    assert result.memory.fits.dtype == bool and result.decode.regime.tolist() == [["memory", "memory"], ["memory", "memory"]]
    p = predict("8b", "rtx4090", batch=64, context=1000)
    for name in ("ttft_s.low", "e2e_s.expected", "itl_mean_s", "decode.bytes_by.kv", "memory.max_batch", "decode.ridge", "prefill.steps"):
        assert result[name][1, 0] == pytest.approx(figure(p, name), rel=1e-9), name
    assert result.decode.bytes_by.kv is result["decode.bytes_by.kv"] and result.itl_mean_s.shape == (2, 2)
    assert set(result.columns()) == {"batch", "context", *result.figures} and result.columns()["batch"].tolist() == [1, 1, 64, 64]
    with pytest.raises(AttributeError):
        result.tps.nothing  # noqa: B018
    with pytest.raises(SpecError, match=r"did you mean `tps\.expected`"):
        result["tps.expekted"]


def test_without_axes_there_is_one_point():
    result = sweep("8b", "ddr5")
    assert result.shape == () and result.tps.expected.item() == predict("8b", "ddr5").tps.expected


def test_a_machine_of_unknown_capacity_has_no_answer(desk):
    from costmodel.library import Library

    desk.write("hardware", "vast", "extends: cpu-desktop\nmemory: {main: {bandwidth: 90 GB/s}}\ncompute: {fp32: 1 TFLOP/s}\n")
    result = sweep("8b", ["vast", "ddr5"], batch=[1, 2, 3], library=Library(roots=(desk.root,)))
    assert np.isnan(result.memory.fits[0]).all() and (result.memory.fits[1] == 1).all()


REFUSED = [
    ({"batch": [1, 0]}, "batch: want a whole number from 1 to 1,000,000,000,000, got 0"),
    ({"batch": [1, 2.5]}, "got 2.5"),
    ({"batch": [True, 2]}, "got True"),
    ({"context": np.array([1.0, np.nan])}, "context: want a whole number from 0"),
    ({"context": ["1k", "lots"]}, "got 'lots'"),
    ({"batch": 0}, "batch: want a whole number from 1"),
    ({"batch": []}, "no values"),
    ({"batch": np.ones((2, 2))}, "one dimension, got 2"),
    ({"devices": [1, 0]}, "devices: want a whole number"),
    ({"techniques": [(), ("offload:share=0.5",)]}, "nothing to offload to"),
    ({"axes": {"hw.memory.dram.bandwith": [1e9, 2e9, 3e9]}}, "bandwith"),
    ({"axes": {"hw.memory.vram.bandwidth": [1e9, 2e9, 3e9]}}, "nothing stands at `memory.vram.bandwidth`"),
    ({"axes": {"hw.memory.dram.bandwidth": [1e9, -2e9, 3e9, 4e9]}}, "greater than 0"),
    ({"axes": {"hw.memory.dram.bandwidth": [1e9, float("inf"), 3e9, 4e9]}}, "not a number that can be set"),
    ({"axes": {"hw.memory.dram.bandwidth": ["1 GB/s", "2 furlongs"]}}, "furlongs"),
    ({"axes": {"btach": [1, 2]}}, "`btach` is no axis"),
    ({"axes": {"hwx.memory.dram.bandwidth": [1]}}, "is no axis"),
    ({"axes": {"batch": [1, 2]}, "batch": [1, 2]}, "given twice"),
    ({"axes": {"tech.int4.format": ["awq"]}}, "technique `int4` is not in use"),
    ({"techniques": "speculative-decoding", "axes": {"tech.speculative-decoding.drafted": [1, 2.5, 3]}}, "whole number"),
    ({"techniques": "speculative-decoding", "axes": {"tech.speculative-decoding.acceptance": [0.1, 0.2, 1.5]}}, "outside"),
    ({"batch": [1, 2], "context": [1, 2, 3], "table": True}, "as long as each other"),
    ({"table": True}, "as long as each other"),
    ({"figures": ["tps.expekted"]}, "no figure `tps.expekted`"),
    ({"btach": [1]}, "no argument `btach`"),
    ({"errors": "ignore"}, "raise` or `nan"),
    ({"best": "high:tps.expected"}, "is not a goal"),
    ({"pareto": ["tps.expected"]}, "at least two"),
    ({"where": "tps.expected"}, "compares with nothing"),
    ({"where": "tps.expected>many"}, "is not a number"),
    ({"where": "decode.regime=fast"}, "no regime"),
    ({"quantiles": {"tps.expected": [1.5]}}, "ranks from 0 to 1"),
    ({"histogram": {"tps.expected": [3, 2]}}, "rising edges"),
    ({"batch": range(1, 10**5), "context": range(1, 10**5)}, "more than 4 GiB of arrays"),
    ({"out": "points.xls"}, "want a name that ends in"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=lambda v: v if isinstance(v, str) else None)
def test_bad_input_is_refused_in_one_message(options, message):
    with pytest.raises(SpecError) as refused:
        sweep("8b", "ddr5", **options)
    assert message in str(refused.value)


def test_refused_points_can_be_left_blank():
    bandwidth, techniques = [1e11, -1.0, 2e11, 1e40], [(), ("offload:share=0.5",)]
    axes = {"hw.memory.dram.bandwidth": bandwidth}
    result = sweep("8b", "ddr5", batch=[4, 0, 2.5, 7], techniques=techniques, axes=axes, errors="nan")
    bad = np.ones((4, 2, 4), bool)
    bad[np.ix_([0, 3], [0], [0, 2])] = False
    assert (np.isnan(result.tps.expected) == bad).all() and (result.decode.regime == "").tolist() == bad.tolist()
    assert result.missing == bad.sum()
    assert result.tps.expected[3, 0, 2] == predict("8b", "ddr5", batch=7, sets=("hw.memory.dram.bandwidth=200 GB/s",)).tps.expected


def test_a_point_without_a_value_raises_what_predict_raises(desk):
    from costmodel.library import Library

    desk.write("technique", "odd", "schedule: {decode: {T: 'max(0, 5 - batch)'}}\n")
    own = Library(roots=(desk.root,))
    with pytest.raises(SpecError) as wanted:
        predict("8b", "ddr5", techniques="odd", batch=6, library=own)
    with pytest.raises(SpecError) as got:
        sweep("8b", "ddr5", techniques="odd", batch=[2, 6, 3, 9], library=own)
    assert str(got.value) == str(wanted.value) and "the schedule has T = 0" in str(got.value)
    blank = sweep("8b", "ddr5", techniques="odd", batch=[2, 6, 3, 9], library=own, errors="nan")
    assert np.isnan(blank.tps.expected).tolist() == [False, True, False, True]


def test_an_efficiency_above_one_is_refused_where_predict_refuses_it(desk):
    from costmodel.library import Library

    desk.write("engine", "steep", "extends: ideal\nfixed: false\nefficiency: {weights: 'bandwidth / (200 * GB / second)'}\n")
    own = Library(roots=(desk.root,))
    path, bandwidth = "hw.memory.dram.bandwidth", [5e10, 1e11, 1.5e11, 1.9e11]
    fine = sweep("8b", "ddr5", engine="steep", batch=[1, 2, 3], axes={path: bandwidth}, library=own)
    assert fine.tps.expected[1, 2] == pytest.approx(
        predict("8b", "ddr5", engine="steep", batch=2, sets=(f"{path}=150 GB/s",), library=own).tps.expected, rel=1e-9
    )
    with pytest.raises(SpecError, match="want more than 0, at most 1"):
        sweep("8b", "ddr5", engine="steep", batch=[1, 2, 3], axes={path: [*bandwidth, 3e11]}, library=own)
    with pytest.raises(SpecError, match="want more than 0, at most 1"):
        predict("8b", "ddr5", engine="steep", sets=(f"{path}=300 GB/s",), library=own)


def test_reductions_are_those_of_the_whole_arrays():
    axes = {BW: np.linspace(2e11, 2e12, 15)}
    mesh = {"batch": np.arange(1, 40, 3), "context": np.arange(0, 60000, 3777), "axes": axes}
    names = ("tps.expected", "system_tps", "memory.total_bytes", "memory.fits", "ttft_s.expected")
    whole = sweep("8b", "rtx4090", figures=names, **mesh)
    asked = {
        "where": ["memory.fits", "tps.expected>=20", "memory.total_bytes<20 GiB"],
        "best": ["tps.expected", "min:memory.total_bytes"],
        "top": 4,
    }
    asked |= {"pareto": ("system_tps", "tps.expected", "memory.total_bytes"), "quantiles": {"tps.expected": [0, 0.25, 1]}}
    result = sweep("8b", "rtx4090", block_bytes=1, histogram={"tps.expected": [20, 50, 100, 200]}, **asked, **mesh)
    tps, bytes_ = whole.tps.expected.ravel(), whole.memory.total_bytes.ravel()
    held = np.flatnonzero(whole.memory.fits.ravel() & (tps >= 20) & (bytes_ < 20 * 2**30))
    assert result.chosen == held.size and 0 < held.size < result.points
    order = sorted(held, key=lambda i: (-tps[i], i))[:4]
    assert [row["tps.expected"] for row in result.best["tps.expected"]] == pytest.approx(tps[order], rel=1e-9)
    assert [row["batch"] for row in result.best["tps.expected"]] == [mesh["batch"][np.unravel_index(i, whole.shape)[0]] for i in order]
    assert result.best["memory.total_bytes"][0]["memory.total_bytes"] == bytes_[held].min()
    scores = np.stack([whole.system_tps.ravel(), tps, -bytes_])[:, held]
    front = [i for i in range(held.size) if not ((scores >= scores[:, [i]]).all(0) & (scores > scores[:, [i]]).any(0)).any()]
    distinct = {tuple(scores[:, i]) for i in front}
    assert {(r["system_tps"], r["tps.expected"], -r["memory.total_bytes"]) for r in result.pareto} == distinct and len(
        result.pareto
    ) == len(distinct)
    assert list(result.quantiles["tps.expected"].values()) == pytest.approx(np.quantile(tps[held], [0, 0.25, 1]), rel=1e-12)
    assert result.histograms["tps.expected"]["counts"] == np.histogram(tps[held], [20, 50, 100, 200])[0].tolist()
    with pytest.raises(SpecError, match="kept no arrays"):
        result.tps.expected  # noqa: B018


def test_best_and_front_take_the_first_of_equals():
    result = sweep(
        "8b", "rtx4090", context=[100, 100, 100], batch=[2, 2], best="tps.expected", top=2, pareto=["tps.expected", "system_tps"]
    )
    assert len(result.best["tps.expected"]) == 2 and result.pareto == [
        {"context": 100, "batch": 2, **{k: v for k, v in result.pareto[0].items() if "tps" in k}}
    ]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=60), st.integers(1, 60), st.integers(2, 3))
def test_fronts_join_to_the_front_of_all(points, cut, goals):
    rows = np.array(points, float).T
    names = ("tps.expected", "system_tps", "user_tps")[:goals]
    front = Front(tuple(Goal(n, False) for n in names))
    arrays = [dict(zip(names, part, strict=False)) for part in (rows[:, :cut], rows[:, cut:])]
    _, at = (
        front.join(front.of(0, arrays[0], None), front.of(cut, arrays[1], None)) if cut < rows.shape[1] else front.of(0, arrays[0], None)
    )
    rows = rows[:goals]
    best = [i for i in range(rows.shape[1]) if not ((rows >= rows[:, [i]]).all(0) & (rows > rows[:, [i]]).any(0)).any()]
    firsts = {tuple(rows[:, i]): i for i in reversed(best)}
    assert sorted(at) == sorted(firsts.values())


def test_large_fronts_are_thinned_to_the_same(monkeypatch):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(3, 30000))
    arrays = dict(zip(("tps.expected", "system_tps", "user_tps"), rows, strict=True))
    front = Front(tuple(Goal(n, least) for n, least in zip(arrays, (False, True, False), strict=True)))
    _, at = front.of(0, arrays, None)
    scores = rows * np.array([[1], [-1], [1]])
    assert all(not ((scores >= scores[:, [i]]).all(0) & (scores > scores[:, [i]]).any(0)).any() for i in at)
    rest = np.setdiff1d(rng.integers(0, 30000, 300), at)
    assert all((scores[:, at] >= scores[:, [i]]).all(0).any() for i in rest)


@pytest.mark.parametrize(
    "values",
    [np.random.default_rng(1).lognormal(0, 6, 50001), np.random.default_rng(2).normal(0, 1e9, 50001).round(-8), np.zeros(9)],
    ids=["wide", "signs", "zeros"],
)
def test_the_sketch_keeps_its_error_whatever_the_blocks(values):
    ranks = [0, 0.001, 0.1, 0.5, 0.9, 0.999, 1]
    sketch = Quantiles("tps.expected", ranks, quantiles.EXACT + 1)
    states = [sketch.of(0, {"tps.expected": part}, None) for part in np.array_split(values, 7)]
    joined, other = states[0], states[-1]
    for state in states[1:]:
        joined = sketch.join(joined, state)
    for state in reversed(states[:-1]):
        other = sketch.join(state, other)
    found = sketch.result(joined)
    assert found == sketch.result(other)
    ordered = np.sort(values)
    for rank, value in zip(ranks, found, strict=True):
        want = ordered[int(rank * (values.size - 1))]
        assert abs(value - want) <= quantiles.ERROR * abs(want) * (1 + 1e-9)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 9), min_size=0, max_size=4), st.integers(1, 40))
def test_blocks_and_tiles_cover_a_mesh_once_and_in_order(shape, most):
    order, at = np.arange(int(np.prod(shape))).reshape(shape), 0
    for block in blocks_of(tuple(shape), most):
        part = order[tuple(slice(*r) for r in block.ranges)]
        assert block.start == at and part.ravel().tolist() == list(range(at, at + block.size)) and block.size <= max(most, 1)
        at += block.size
    assert at == order.size
    seen = np.zeros(shape, int)
    for tile in tiles(tuple(shape), most):
        seen[tile] += 1
        assert seen[tile].size <= most or len(shape) == 0
    assert (seen == 1).all()


MESH = {
    "batch": np.arange(1, 30),
    "context": np.arange(1, 20001, 400),
    "axes": {"hw.memory.dram.bandwidth": np.linspace(4e10, 4e12, 9), "model.weights.format": ["q4_k_m", "bf16"]},
}
ASKED = {
    "best": ["tps.expected"],
    "pareto": ["system_tps", "tps.expected"],
    "quantiles": {"tps.expected": [0.1, 0.5]},
    "where": ["memory.fits"],
    "keep": True,
    "block_bytes": 1 << 17,
}


def on(executor):
    return sweep("8b", "ddr5", executor=executor, **MESH, **ASKED)


def equal(a, b) -> bool:
    parts = all(getattr(a, n) == getattr(b, n) for n in ("best", "pareto", "quantiles", "chosen", "missing", "figures"))
    return parts and all(np.array_equal(a[n], b[n]) for n in a.figures)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_give_what_the_serial_run_gives(kind):
    with kind(2) as executor:
        assert equal(on(executor), on(None))
        blank = {"batch": [1, 0, 3], "context": range(5000), "errors": "nan", "block_bytes": 1 << 16}
        there, here = (sweep("8b", "ddr5", executor=e, **blank) for e in (executor, None))
        assert np.array_equal(there.tps.expected, here.tps.expected, equal_nan=True)
        with pytest.raises(SpecError, match="whole number"):
            sweep("8b", "ddr5", executor=executor, batch=[1, 0])


@pytest.mark.full
def test_a_local_cluster_of_dask_gives_what_the_serial_run_gives():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert equal(on(client.get_executor()), on(None))


def test_errors_travel_between_processes():
    error = pickle.loads(pickle.dumps(problem("no such thing", None, "help")))
    assert isinstance(error, SpecError) and str(error) == str(problem("no such thing", None, "help"))


@pytest.mark.parametrize("case", CASES, ids=lambda c: "-".join(map(str, (c[0], c[1], *c[3]))))
def test_narrowed_graphs_have_the_same_values(case):
    found = formulas(case, output=20)
    nodes = [found.figure(n) for n in TRACED]
    spans = {n: (v, v) for n, v in found.inputs.items()} | {
        "batch": (1, 64),
        "context": (0, 60000),
        "prompt": (1, 6000),
        "bw": (found.inputs["bw"] / 3, found.inputs["bw"] * 3),
    }
    narrow = narrowed(nodes, spans)
    assert len(needed(narrow)) < len(needed(nodes))
    rng = np.random.default_rng(11)
    for _ in range(4):
        point = found.inputs | {n: float(np.floor(rng.uniform(*spans[n]))) for n in ("batch", "context", "prompt", "bw")}
        assert values(narrow, point) == pytest.approx(values(nodes, point), rel=1e-12)


def test_bounds_decide_maxima_branches_and_sums():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")

    def narrow(node, **spans):
        return repr(narrowed([graph.node(node)], {"x": (1.0, 9.0), "y": (20.0, 30.0), **spans})[0])

    assert narrow(graph.most(x, y)) == "y" and narrow(graph.least(x, y, 3 * x)).startswith("<min") is False
    assert narrow(graph.where(graph.make("<", x, y), x, y)) == "x" and narrow(graph.make("<", y, x)) == "False"
    assert narrow(2 * x + 3 * x - 5 * x) == "0" and narrow((x * y) / y) == "x"
    assert narrow((x * y) / y, y=(0.0, 1.0)) != "x"
    assert narrow(graph.most(2 * x, 3 * x, x)) == repr(narrowed([3 * x], {"x": (1.0, 9.0)})[0])
    kept, floored = ((x * 7) / 7, graph.make("floor", (x * 7) / 7))
    assert [len(needed(narrowed([n], {"x": (1.0, 9.0)}))) for n in (kept, floored)] == [1, 5]  # what decides a step is not touched
    flag = graph.where(graph.make("<=", graph.make("floor", (x * 7) / 7) + x + x, 5), 1, 0)
    shapes = [n.op for n in needed(narrowed([flag], {"x": (1.0, 9.0)}))]
    assert "/" in shapes and shapes.count("+") == 1  # the step inside stays, the sum that is compared is collected
