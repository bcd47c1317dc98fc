"""One prediction against another: ratios, verdicts by stated thresholds, and the reason that the figures give."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .prediction import Prediction
    from .shapes.study import MemoryVerdict, Reason, SpeedVerdict


def ratio(new: float | None, old: float | None) -> float | None:
    """new / old; None where either is missing or zero."""
    return new / old if new is not None and old else None


def memory_verdict(new, old, same: float) -> MemoryVerdict:
    """`decreased`, `kv_decreased`, `unchanged` or `increased`: bytes in the fast tier.

    KV decreases when the KV line is still there and makes up at least half of the fall.
    """
    fall = old.total_bytes - new.total_bytes
    if abs(fall) <= same * old.total_bytes:
        return "unchanged"
    if fall < 0:
        return "increased"
    return "kv_decreased" if new.kv_bytes > 0 and old.kv_bytes - new.kv_bytes >= fall / 2 else "decreased"


def speed_verdict(speed: float, same: float, much: float) -> SpeedVerdict:
    """`much_slower` (under `much`), `slower`, `unchanged` (within `same`) or `faster`."""
    if speed < much:
        return "much_slower"
    if speed < 1 - same:
        return "slower"
    return "unchanged" if speed <= 1 + same else "faster"


def reason_of(new: Prediction, old: Prediction, same: float) -> Reason:
    """The key of the reason, from what changed in the decode step, most telling first."""
    a, b = new.decode, old.decode
    fell = 1 - same
    if a.link_bytes > b.link_bytes and a.regime == "link":
        return "slow_tier"
    if any(info[4] == "host" for info in new.runnable.meta["rows"]) and a.expected_s > b.expected_s:
        return "host_computes"
    if a.flops > 10 * b.flops:
        return "recompute"
    if new.runnable.meta["model"] != old.runnable.meta["model"]:
        return "smaller_model" if new.runnable.meta["params"] < old.runnable.meta["params"] else "other_model"
    if new.plan[0] > old.plan[0] or new.plan[13] > old.plan[13]:
        return "shared_reads"
    if new.tokens_out > old.tokens_out:
        return "more_tokens" if new.runnable.draft is None else "drafted"
    return _traffic(new, old, a, b, fell)


def _traffic(new, old, a, b, fell: float) -> Reason:
    moved, kv = ratio(a.bytes_by.weights, b.bytes_by.weights), ratio(a.bytes_by.kv, b.bytes_by.kv)
    stored = ratio(new.runnable.meta["file_size"], old.runnable.meta["file_size"])
    assert moved is not None and stored is not None, "the other case moves or stores no weights"
    lost_weights, lost_kv = b.bytes_by.weights - a.bytes_by.weights, b.bytes_by.kv - a.bytes_by.kv
    if kv is not None and kv < fell and lost_kv > lost_weights:
        return "narrow_kv" if _kv_elements(new) == _kv_elements(old) else "fewer_kv"
    if moved < fell and stored > fell:
        return "active_only"
    if moved < fell:
        return "less_work" if a.flops < fell * b.flops else "fewer_bytes"
    if stored < fell:
        return "stored_only"
    if a.bytes_by.activations < fell * b.bytes_by.activations or new.prefill.bytes_by.activations < fell * old.prefill.bytes_by.activations:
        return "less_attention_traffic"
    return "nothing_moved"


def _kv_elements(p) -> float:
    """Elements of K and V that a decode step reads: bytes over the width of one."""
    return round(p.decode.bytes_by.kv / (p.runnable.meta["kv_width"] or 1))


def figures(new, old) -> dict[str, str]:
    """Numbers that a reason's text may show."""
    from ..sizes import scaled

    a, b = new.decode, old.decode
    pairs = {
        "weights": (a.bytes_by.weights, b.bytes_by.weights, "B"),
        "kv": (a.bytes_by.kv, b.bytes_by.kv, "B"),
        "bytes": (a.bytes, b.bytes, "B"),
        "flops": (a.flops, b.flops, "FLOP"),
        "stored": (new.runnable.meta["file_size"], old.runnable.meta["file_size"], "B"),
        "params": (new.runnable.meta["params"], old.runnable.meta["params"], ""),
        "link": (a.link_bytes, b.link_bytes, "B"),
        "activations": (new.prefill.bytes_by.activations, old.prefill.bytes_by.activations, "B"),
    }
    out = {f"{k}_new": scaled(x, u) for k, (x, _, u) in pairs.items()}
    out |= {f"{k}_old": scaled(y, u) for k, (_, y, u) in pairs.items()}
    return out | {"tokens": f"{new.tokens_out:.3g}", "batch": f"{new.plan[0]:g}"}
