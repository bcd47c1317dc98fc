"""The sliders of a case: what is open in its program, how far it goes and in which unit it is shown."""

from __future__ import annotations

import math

from ...compile.machine import SCALES
from ...compile.uses import open_name, read_use
from .programs import Program

COUNTS = {"context": 2**20, "batch": 2**12, "prompt": 2**18, "output": 2**16}
"""The workload, and how far each slider goes at least."""
OCTAVES = 4
"""How far rates go: up to 16 times, down to a sixteenth."""
GIGA, TERA = 1e9, 1e12
BITS = (1.0, 32.0)
"""Least and most bits per weight."""


def controls_of(program: Program, point: dict, techniques, library) -> list[dict]:
    """Every slider of a program, in the page's order, those that are asked for most first."""
    first = [n for n in ("bw", "decode_bw") if n in program.inputs]
    found = [_count(name, point[name]) for name in ("context", "batch")]
    found += [_rate(program, name) for name in first]
    found.append({"id": "bits", "kind": "bits", "min": BITS[0], "max": BITS[1], "unit": "bit"})
    found += _knobs(program, techniques, library)
    found += [_count(name, point[name]) for name in ("prompt", "output")]
    found += _peaks(program)
    if program.meta["kv_width"]:
        scales = [[n, 1] for n in program.inputs if n.removeprefix("decode_") == "kv_scale"]
        found.append(_ratio("kv_bits", 8 * program.meta["kv_width"], "bit", 1, scales))
    return found + [_rate(program, name) for name in program.inputs if _is_rate(name) and name not in first]


def _is_rate(name: str) -> bool:
    """Whether an input is the bandwidth of a memory or a link."""
    bare = name.removeprefix("decode_")
    return bare not in (*COUNTS, *SCALES) and not bare.startswith(("pk_", "hpk_", "knob_")) and not bare.endswith("_latency")


def _count(name: str, value: float) -> dict:
    most = max(COUNTS[name], 2 ** math.ceil(math.log2(max(1, value))))
    return {
        "id": name,
        "kind": "count",
        "min": 0 if name == "context" else 1,
        "max": most,
        "value": value,
        "unit": "",
        "inputs": [[name, None]],
    }


def _ratio(name: str, value: float, unit: str, per: float, inputs: list) -> dict:
    """A slider on a logarithmic scale; what it sets are multiples of `inputs`."""
    shown = value / per
    low, high = shown / 2**OCTAVES, shown * 2**OCTAVES
    return {"id": name, "kind": "ratio", "min": low, "max": high, "value": shown, "unit": unit, "inputs": inputs}


def _rate(program: Program, name: str) -> dict:
    return _ratio(name, program.inputs[name], "GB/s", GIGA, [[name, program.inputs[name]]])


def _peaks(program: Program) -> list[dict]:
    """One slider for all peak rates of a unit; it shows the first one's."""
    found = []
    for prefix in ("pk_", "decode_pk_", "hpk_", "decode_hpk_"):
        names = [n for n in program.inputs if n.startswith(prefix)]
        if names:
            inputs = [[n, program.inputs[n]] for n in names]
            control = _ratio(prefix.rstrip("_"), program.inputs[names[0]], "TFLOP/s", TERA, inputs)
            found.append(control | {"type": names[0].removeprefix(prefix)})
    return found


def _knobs(program: Program, techniques, library) -> list[dict]:
    """Knobs that only a technique's schedule uses."""
    found = []
    for text in techniques:
        use = read_use(library, text)
        for knob, declared in use.spec.doc.knobs.items():
            name = open_name(use.name, knob)
            if name in program.inputs:
                low, high = declared.range
                kind = "count" if declared.whole and high > 100 else "whole" if declared.whole else "share"
                limits = {"min": low, "max": min(high, 2**20), "value": program.inputs[name]}
                labels = {"label": f"{use.name}: {knob}", "hint": declared.description}
                found.append({"id": name, "kind": kind, **limits, "unit": "", "inputs": [[name, None]], **labels})
    return found
