"""What a model holds: parameters by kind, KV bytes per token by kind of layer, state, stored and streamed bytes."""

from __future__ import annotations

from typing import Any

from ..compile.program import Program
from ..language.formula.fold import number

_TOKEN = {"B": 1, "T": 1, "S": 0, "M": 1, "R": 1, "H": 1}
_CACHED = {"B": 1, "T": 0, "S": 1, "M": 1, "R": 0, "H": 0}
FOREVER = 10**15
"""A window from which on a layer counts as full attention: the default of the attention operators."""


def counts(program: Program) -> dict[str, Any]:
    """Counts of a program without techniques: parameters, and bytes per token, sequence and file. Raises :class:`SpecError`."""
    kv = {"full": 0.0, "sliding": 0.0, "index": 0.0}
    windows: set[float] = set()
    state = stored = streamed = 0.0
    for row in program.rows:
        times = program.repeat(row)
        window = number(row.resolve_arg("window", program.dims)) if "window" in row.args else FOREVER
        held = times * program.value(row, "holds.kv", _CACHED)
        capped = window < FOREVER and times * program.value(row, "holds.kv", {**_CACHED, "S": 2 * window}) < 1.5 * window * held
        kind = "index" if row.role == "attn.index" else "sliding" if capped else "full"
        kv[kind] += held
        if held and kind == "sliding":
            windows.add(window)
        state += times * program.value(row, "holds.state", _CACHED)
        stored += times * program.constant(row, "stored")
        streamed += times * program.value(row, "floor.weights", _TOKEN)
    total, vision = program.params(), program.params("vision")
    tied = program.dims.get("tied")
    return {
        "params": total,
        "text_params": total - vision,
        "active_params": program.active_params(),
        "embedding_params": program.params("embed") or (program.params("head") if tied else 0),
        "kv_bytes_per_token": kv["full"] + kv["sliding"],
        "kv_full_bytes_per_token": kv["full"],
        "kv_sliding_bytes_per_token": kv["sliding"],
        "window": max(windows, default=None),
        "index_bytes_per_token": kv["index"],
        "state_bytes": state,
        "weights_bytes": _whole(stored),
        "streamed_bytes_per_token": _whole(streamed),
    }


def _whole(value: float) -> float:
    """A sum of bytes without the rounding of its terms."""
    near = round(value)
    return near if abs(value - near) <= 1e-9 * max(1.0, value) else value
