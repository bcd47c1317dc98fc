"""Where one thing comes to outweigh another: compute over memory, KV over weights, speculation over plain decoding, experts read."""

from __future__ import annotations

from collections.abc import Iterator

from ..traced import FIGURES
from . import moe, speculation
from .answers import Crossing, Crossovers
from .names import resolve
from .question import Question
from .solution import solved
from .targets import BARE, Target, quotient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.inverse import Along, CrossingName, Detail, Value, Why

ALONG: tuple[Along, ...] = ("context", "batch")


def crossings(question: Question) -> Crossovers:
    """All crossings of a case."""
    rows = [*_regimes(question), *_caches(question), *speculation.rows(question), *moe.rows(question)]
    return Crossovers(schema="costmodel/crossovers@1", **question.head, rows=rows)


def crossing(question: Question, name: CrossingName, by: Along, goal: Target, unknown: str = "", detail: Detail | None = None) -> Crossing:
    """One crossing: where a quotient reaches 1 (or a figure its target) along `by`, which `solve` calls `unknown`."""
    quantity = resolve(question, unknown or by, goal)
    quantity.least = True  # where it turns first; `others` has the rest
    answer = solved(question, quantity, goal)
    row = empty(name, by, detail)
    row.unit, row.now, row.range = quantity.unit, quantity.now, (_number(answer.range[0]), _number(answer.range[1]))
    row.value, row.crossing = None if answer.value is None else _number(answer.value), answer.crossing
    row.others, row.nearest = [_number(x) for x in answer.others], answer.nearest
    row.found, row.reason = answer.found, answer.reason
    return row


def _number(value: Value) -> float:
    """A value of an unknown that has no names."""
    if isinstance(value, str):
        raise TypeError(value)
    return value


def empty(name: CrossingName, by: Along, detail: Detail | None = None, reason: Why | None = None) -> Crossing:
    """A crossing that is at no value, or not looked for yet."""
    return Crossing(
        name=name,
        by=by,
        unit="",
        value=None,
        crossing=None,
        found="none",
        others=[],
        now=None,
        reason=reason,
        nearest=None,
        range=None,
        detail=detail,
    )


def _regimes(question: Question) -> Iterator[Crossing]:
    """Where decode and prefill turn compute bound, by all bytes of the step (R14), and a weight matrix by its own."""
    shown, of, value, unit = BARE["compute-bound"]
    bound = Target(shown, of, value, True, unit)
    yield _matrix(question)
    yield crossing(question, "decode-compute", "batch", bound)
    yield crossing(question, "decode-compute", "context", bound)
    prefill = Target("prefill.compute_s / prefill.memory_s", quotient("prefill.compute_s", "prefill.memory_s"), 1.0, True, "")
    yield crossing(question, "prefill-compute", "prompt", prefill)


def _matrix(question: Question) -> Crossing:
    """The batch at which the largest weight matrix takes as long to compute as to read: peak x bytes per weight / (2 x bandwidth)."""
    p = question.predict(batch=1)
    rows = [r for r in p.operators["decode"] if r.op == "linear" and r.unit == "device" and r.flops and not r.link_bytes]
    if not rows or p.tokens_out != 1:
        return empty("matrix-compute", "batch", reason="no-matrix")
    row = max(rows, key=lambda r: r.bytes_by.weights / r.repeat)
    rates = p.decoder.meta["rates"]
    of = next(r for r in p.decoder.meta["rows"] if (r[0], r[1]) == (row.block, row.name))
    peak = rates[f"pk_{of[6]}"] * of[7]
    value = (row.bytes_by.weights / rates["bw"]) / (row.flops / peak)
    found = empty("matrix-compute", "batch", {"block": row.block, "row": row.name, "bits": row.bits or 0, "type": of[6]})
    found.found, found.value, found.crossing = "exact", value, value
    found.unit, found.now = "sequences", question.workload["batch"]
    return found


def _caches(question: Question) -> Iterator[Crossing]:
    """Where the KV cache outweighs the weights: read in a decode step, and held in the device's memory."""
    if not question.base.decode.bytes_by.kv:
        yield empty("kv-read", "context", reason="no-kv")
        return
    read = Target("decode.bytes_by.kv / weights", quotient("decode.bytes_by.kv", "decode.bytes_by.weights"), 1.0, True, "")
    held = Target("memory.kv_bytes / weights", quotient("memory.kv_bytes", "memory.weights_bytes"), 1.0, True, "")
    for by in ALONG:
        yield crossing(question, "kv-read", by, read)
    if FIGURES["memory.weights_bytes"](question.base):
        for by in ALONG:
            yield crossing(question, "kv-held", by, held)
