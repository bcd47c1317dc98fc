"""A placement as the options of other programs, to paste: llama.cpp and vLLM."""

from __future__ import annotations

from math import ceil

CPUS = ("cpu-desktop", "cpu-server")
NO_VLLM = (*CPUS, "apple-silicon")
KV_BITS = ((0.7, "q4_0", None), (1.2, "q8_0", "fp8"), (8, None, None))
"""Bytes per cached element up to which llama.cpp's and vLLM's names of a cache format stand."""


def flags_of(p) -> dict[str, str]:
    """Options that ask for what a prediction describes; programs that cannot run it are left out."""
    knobs = {name: dict(k.split("=", 1) for k in rest.split(",") if k) for name, _, rest in _split(p.runnable.meta["techniques"])}
    found = {"llama.cpp": " ".join(_llama(p, knobs))}
    if p.runnable.meta["class"] not in NO_VLLM:
        found["vllm"] = " ".join(_vllm(p, knobs))
    return found


def _split(texts):
    return [t.partition(":") for t in texts]


def _kv(p) -> tuple[str | None, str | None]:
    width = p.runnable.meta["kv_width"]
    return next((llama, vllm) for most, llama, vllm in KV_BITS if width <= most)


def _llama(p, knobs: dict) -> list[str]:
    meta = p.runnable.meta
    layers = int(meta["layers"])
    on_gpu = min(layers + 1, int(knobs["gpu-layers"]["layers"])) if "gpu-layers" in knobs else layers + 1
    parts = [f"-ngl {0 if meta['class'] in CPUS else on_gpu}"]
    if "experts-on-host" in knobs:
        parts.append(f"--n-cpu-moe {min(layers, int(knobs['experts-on-host']['layers']))}")
    parts += ["-nkvo"] if "kv-on-host" in knobs else []
    parts.append(f"-c {ceil(p.plan[0] * (p.context + p.output))}")
    parts += [f"-np {p.plan[0]:g}"] if p.plan[0] > 1 else []
    kv = _kv(p)[0]
    parts += [f"-fa on -ctk {kv} -ctv {kv}"] if kv else ["-fa on"] if "flash-attention" in knobs else []
    if meta["devices"] > 1:
        parts.append(f"-sm {'layer' if 'pipeline-parallel' in knobs else 'row'} -ts {','.join(['1'] * min(16, meta['devices']))}")
    return parts


def _vllm(p, knobs: dict) -> list[str]:
    meta, memory = p.runnable.meta, p.memory
    parts = [f"--max-model-len {p.context + p.output}", f"--max-num-seqs {p.plan[0]:g}"]
    ways = {"tensor-parallel": ("--tensor-parallel-size", "ways"), "pipeline-parallel": ("--pipeline-parallel-size", "stages")}
    parts += [f"{flag} {knobs[name][knob]}" for name, (flag, knob) in ways.items() if name in knobs]
    if "expert-parallel" in knobs:
        parts.append(f"--data-parallel-size {knobs['expert-parallel']['ways']} --enable-expert-parallel")
    kv = _kv(p)[1]
    parts += [f"--kv-cache-dtype {kv}"] if kv else []
    host = sum(part["weights_bytes"] for tier, part in memory.tiers.items() if tier == "host")
    parts += [f"--cpu-offload-gb {ceil(host / 2**30 / meta['devices'])}"] if host else []
    if memory.capacity_bytes:
        parts.append(f"--gpu-memory-utilization {memory.usable_bytes / memory.capacity_bytes:.2f}")
    return parts
