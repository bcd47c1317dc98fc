"""What an engine allocates for a run beside the weights: KV cache by kind of layer, recurrent state, scratch buffers."""

from __future__ import annotations

from typing import NamedTuple

from ..compile.formats import plain_bytes
from ..compile.program import Program
from ..compile.rows import Row
from ..language.formula.fold import number
from ..language.problem import Mark, Source, problem
from ..library import Library
from .counts import FOREVER


class Run(NamedTuple):
    """The flags of a run: tokens of context (all sequences together), tokens computed at a time, sequences, cache formats."""

    context: int
    ubatch: int = 512
    sequences: int = 1
    cache_k: str = "fp16"
    cache_v: str = "fp16"
    fused: bool = True
    gpus: int = 1
    latent: bool = True
    cpu_moe: bool = False
    gpu_layers: int | None = None
    """As llama.cpp counts them, the output matrix being one more than the layers; None: all."""


class Buffers(NamedTuple):
    """Bytes. `k` and `v` are the cache of full and sliding layers together; `latent` that of latent attention; `full` and
    `sliding` split the same bytes by kind of layer, with their cells; `conv` and `recurrent` the state of other mixers."""

    k: float
    v: float
    latent: float
    index_keys: float
    full: float
    sliding: float
    cells: int
    window_cells: int
    conv: float
    recurrent: float
    compute: float
    host: float

    @property
    def kv(self) -> float:
        """All of the KV cache, an index's keys left out."""
        return self.k + self.v + self.latent

    @property
    def state(self) -> float:
        """All recurrent state."""
        return self.conv + self.recurrent


def buffers(program: Program, run: Run, engine: str, library: Library) -> Buffers:
    """The buffers of a run. Raises :class:`SpecError` for an engine that states no rules, or an unknown cache format."""
    spec = library.load("engine", engine, mark=Mark(Source("--engine", engine), 1, 1))
    rules = spec.doc.buffers
    if rules is None:
        raise problem(f"engine `{engine}` does not say what it allocates", spec.mark("name"), "`--engine llama.cpp` does")
    names = _names(program, run)
    cells = number(rules.cells, names)
    width = {w: plain_bytes(library, f, Mark(Source(f"--cache-type-{w}", f), 1, 1)) for w, f in (("k", run.cache_k), ("v", run.cache_v))}
    out = dict.fromkeys(Buffers._fields, 0.0) | {"cells": int(cells)}
    for row in program.rows:
        _add(program, row, run, rules, {**names, "cells": cells}, width, out)
    names |= {"cells": cells, "latent": int(out["latent"] > 0)}
    for field in ("compute", "host"):
        out[field] = 4 * number(getattr(rules, field), names)
    return Buffers(**out)  # type: ignore[arg-type]


def _names(program: Program, run: Run) -> dict:
    dims = program.dims
    heads = dims.get("n_q", 1)
    head_width = dims.get("nope", 0) + dims.get("rope", 0) + dims.get("d_v", 0) if "kv_rank" in dims else 2 * dims.get("d_h", 0)
    flags = {"context": run.context, "ubatch": min(run.ubatch, run.context), "sequences": run.sequences, "fused": int(run.fused)}
    sizes = {"width": dims.get("d", dims.get("width", 0)), "vocab": dims.get("vocab", 0), "heads": heads, "head_width": head_width}
    experts = {"E": dims.get("E", 0), "k": dims.get("k", 0), "expert_host": int(run.cpu_moe)}
    partial = run.gpu_layers is not None and run.gpu_layers <= dims.get("L", 0)
    return {**flags, **sizes, **experts, "gpus": run.gpus, "latent": 0, "window": 0, "head_copy": _head(program) / 4 if partial else 0}


def _head(program: Program) -> float:
    """Bytes of the output matrix."""
    rows = [r for r in program.rows if r.op == "head"]
    return sum(program.constant(r, "stored") * program.repeat(r) for r in rows)


def _add(program: Program, row: Row, run: Run, rules, names: dict, width: dict, out: dict) -> None:
    times, arg = program.repeat(row), lambda name: number(row.resolve_arg(name, program.dims))
    if row.op in ("attention-scores", "attention-mix"):
        window = arg("window")
        sliding = window < FOREVER
        cells = number(rules.window_cells, {**names, "window": window}) if sliding else names["cells"]
        which = "k" if row.op == "attention-scores" else "v"
        size = times * arg("own") * cells * arg("kv_heads") * arg("width") * width[which]
        out[which] += size
        out["sliding" if sliding else "full"] += size
        out["window_cells"] = max(out["window_cells"], int(cells)) if sliding else out["window_cells"]
    elif row.op == "mla-attention":
        cells = names["cells"]
        if run.latent and rules.latent:
            size = times * cells * (arg("latent") + arg("rope")) * width["k"]
            out["latent"] += size
        else:
            k = times * cells * arg("heads") * (arg("nope") + arg("rope")) * width["k"]
            v = times * cells * arg("heads") * arg("d_v") * width["v"]
            out["k"], out["v"], size = out["k"] + k, out["v"] + v, k + v
        out["full"] += size
    elif row.op == "index-keys":
        out["index_keys"] += times * names["cells"] * arg("width") * width["k"]
    else:
        _state(program, row, run, times, out)


def _state(program: Program, row: Row, run: Run, times: int, out: dict) -> None:
    held = program.value(row, "holds.state", {"B": run.sequences, "T": 0, "S": 1, "M": 1, "R": 0, "H": 0})
    if not held:
        return
    window = number(row.resolve_arg("window", program.dims)) if "window" in row.let else 0
    conv = window * run.sequences * number(row.symbols["s_bytes"])
    out["conv"] += times * conv
    out["recurrent"] += times * (held - conv)
