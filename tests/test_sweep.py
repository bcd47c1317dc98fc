"""Sweeps: every point is what `predict` says, whatever is an array, a compiled case, a block or an executor's task."""

from __future__ import annotations

import itertools

import pytest

import costmodel
from costmodel import SpecError, predict, sweep
from costmodel.solve.sweep import cells
from costmodel.solve.sweep.axes import axis

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


def check(result, model, hardware, sets=(), names=FIGURES, every: int = 1, **given):
    """Every (or every n-th) point of a mesh against `predict`."""
    axes = result.axes
    points = list(itertools.product(*(range(len(v)) for v in axes.values())))
    assert len(points) == result.points
    for places in points[::every]:
        case = {"model": model, "hardware": hardware, **given}
        more = list(sets)
        for (name, values), i in zip(axes.items(), places, strict=True):
            value = values[i].item() if hasattr(values[i], "item") else values[i]
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
    "dense, CPU": ("8b", "ddr5", {}, {"hw.memory.dram.bandwidth": [5e10, 9e10, 4e11, 1.1e12], "hw.compute.fp32": ["500 GFLOP/s", 1.2e12, 9e12]}),
    "dense, GPU": ("8b", "rtx4090", {"engine": "llama.cpp"}, {BW: np.linspace(2e11, 2e12, 4), CAPACITY: ["8 GiB", "16 GiB", "24 GiB", "48 GiB"]}),
    "math of a swept peak": ("8b", "rtx4090", {"engine": "llama.cpp"}, {"hw.compute.int8": [1e12, 1e14, 1e15], "hw.compute.fp8": [1e13, 5e14, 6e14]}),
    "MoE": ("mixtral-8x7b", "h100-sxm", {"engine": "vllm", "techniques": ("kv-int8",)}, {"hw.memory.hbm.bandwidth": [1e12, 3e12, 9e12]}),
    "MLA, several devices": ("deepseek-v3", "h100-sxm", {"engine": "vllm", "devices": 8}, {"hw.links.peer.bandwidth": [5e10, 2e11, 9e11], "hw.links.peer.latency": [0, 1e-6, 1e-4]}),
    "hybrid": ("jamba-v0.1", "a100-80gb", {}, {"hw.compute.bf16": [1e13, 3e14, 9e14], "hw.usable": [0.3, 0.5, 1]}),
    "layers on the host": ("llama-3.3-70b", "rtx4090", {"engine": "llama.cpp", "techniques": ("gpu-layers:layers=40",)}, {"hw.host.dram.bandwidth": [1e10, 6e10, 4e11], "hw.host.dram.capacity": [1.6e10, 4e10, 2e11]}),
    "streamed": ("llama-3.3-70b", "rtx4090", {"techniques": ("offload:share=0.5",)}, {"hw.links.host.bandwidth": [1e9, 3e10, 9e11]}),
    "both ends of a link": ("llama-3.3-70b", "rtx4090", {"techniques": ("offload:share=0.5",)}, {"hw.links.host.bandwidth": [1e9, 3e10, 9e11], "hw.host.dram.bandwidth": [2e9, 4e10, 2e11]}),
    "experts on the host": ("gpt-oss-120b", "rtx4090", {"techniques": ("experts-on-host",)}, {"hw.host.dram.bandwidth": [1e10, 6e10, 4e11], BW: [3e11, 1e12, 2e12]}),
    "draft model": ("8b", "rtx4090", {"techniques": ("speculative-decoding",)}, {"tech.speculative-decoding.acceptance": [0, 0.3, 0.7, 0.95], BW: [3e11, 1e12, 2e12]}),
    "whole knobs": ("8b", "rtx4090", {"techniques": ("speculative-decoding",)}, {"tech.speculative-decoding.drafted": [1, 2, 4, 9]}),
    "knobs of placement": ("llama-3.3-70b", "rtx4090", {"techniques": ("gpu-layers",)}, {"tech.gpu-layers.layers": [0, 7, 40, 81]}),
    "disaggregation": ("8b", "h100-sxm", {"techniques": ("disaggregation",)}, {"hw.memory.hbm.bandwidth": [1e12, 3e12, 9e12], "hw.links.network.bandwidth": [1e9, 1e10, 1e11]}),
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
    model, hardware, given, axes = KINDS[kind]
    names = FIGURES if "chunks" not in kind else FIGURES[:6]
    result = sweep(model, hardware, batch=[1, 3, 40], context=[0, 700, 30000], axes=axes, figures=names, prompt=900, output=20, **given)
    check(result, model, hardware, names=names, every=max(1, result.points // 15), prompt=900, output=20, **given)
