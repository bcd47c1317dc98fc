"""Values of figures and of the names that their formulas use, read from the prediction: nothing is computed twice."""

from __future__ import annotations

from typing import Any

from ..steps import handoff_bytes, handoff_seconds


def read_value(opened, path: str) -> Any:
    """The value of a figure or name. Raises KeyError for what is none."""
    head, _, tail = path.partition(".")
    if path in _PLAIN:
        return _PLAIN[path](opened, opened.prediction)
    if head in ("prefill", "decode", "draft_prefill") and tail in _TOTALS:
        return opened.total(head)[_TOTALS[tail]]
    if head in ("span", "prefill_span"):
        return opened.prediction.runnable.meta[head][tail == "high"]
    found: Any = opened.prediction
    for name in path.split("."):
        found = found[name] if isinstance(found, dict) else getattr(found, name)
    return found


_TOTALS = {"streamed_bytes": 6, "floor_s": 7, "expected_s": 8, "compute_s": 9, "memory_s": 10, "link_s": 11}
"""Places in what `step` returns."""

_PLAIN = {
    "output": lambda o, p: p.output,
    "prompt": lambda o, p: p.prompt,
    "context": lambda o, p: p.context,
    "batch": lambda o, p: p.plan[0],
    "occupancy": lambda o, p: p.plan[13],
    "stages": lambda o, p: p.plan[8],
    "decode.tokens_out": lambda o, p: p.tokens_out,
    "prefill.unstreamed_bytes": lambda o, p: p.prefill.bytes - o.total("prefill")[6],
    "decode.unstreamed_bytes": lambda o, p: p.decode.bytes - o.total("decode")[6],
    "decoder.bandwidth": lambda o, p: p.decoder.meta["rates"]["bw"],
    "file_size": lambda o, p: p.file_size,
    "stored_bytes": lambda o, p: p.runnable.meta["file_size"],
    "handoff_s": lambda o, p: handoff_seconds(p) if p.runnable.meta["handoff"] else 0.0,
    "handoff_bytes": lambda o, p: handoff_bytes(p) if p.runnable.meta["handoff"] else 0.0,
    "network.bandwidth": lambda o, p: _network(o)[0],
    "network.latency": lambda o, p: _network(o)[1],
    "decoding_s": lambda o, p: p.e2e_s.expected - p.ttft_s.expected,
    "usable_share": lambda o, p: o.decoder.hardware.doc.usable,
    "reserve": lambda o, p: o.decoder.memory.reserve or 0,
    "memory.lower_fits": lambda o, p: int(all(t["fits"] is not False for t in p.memory.tiers.values())),
}


def _network(opened) -> tuple:
    """(bandwidth, latency) of the slower of two machines' network links; nothing where there is no hand-off."""
    p = opened.prediction
    links = [r.meta["network"] for r in (p.runnable, p.decoder) if r.meta["network"]]
    return min(links) if p.runnable.meta["handoff"] and links else (1.0, 0.0)
