"""Where one thing comes to outweigh another: compute over memory, KV over weights, speculation over plain decoding, experts read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..record import Record
from ..traced import FIGURES
from . import moe, speculation
from .names import resolve
from .question import Question
from .solution import solved
from .targets import BARE, Target, quotient


def crossings(question: Question) -> Any:
    """All crossings of a case: `rows`, each with `by` (batch, context, prompt, acceptance), `value` or `reason`."""
    meta = question.base.runnable.meta
    rows = [*_regimes(question), *_caches(question), *speculation.rows(question), *moe.rows(question)]
    return Record(
        schema="costmodel/crossovers@1",
        model=meta["model"],
        hardware=meta["hardware"],
        titles=meta["titles"],
        engine=meta["engine"],
        techniques=meta["techniques"],
        workload={**question.workload, "context": question.base.context, "devices": meta["devices"]},
        rows=rows,
    )


def crossing(question: Question, name: str, by: str, goal: Target) -> Any:
    """One crossing: where a quotient reaches 1 (or a figure its target) along `by`."""
    quantity = resolve(question, by, goal)
    quantity.least = True  # where it turns first; `others` has the rest
    answer = solved(question, quantity, goal)
    nearest = answer.nearest if answer.found == "none" else None
    return Record(
        name=name,
        by=by,
        unit=quantity.unit,
        value=answer.value,
        crossing=answer.crossing,
        found=answer.found,
        others=answer.others,
        now=quantity.now,
        reason=answer.reason,
        nearest=nearest,
        range=answer.range,
        detail={},
    )


def missing(name: str, by: str, reason: str, **detail) -> Any:
    """A crossing that cannot be looked for."""
    return Record(
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


def _regimes(question: Question) -> Iterator[Record]:
    """Where decode and prefill turn compute bound, by all bytes of the step (R14), and a weight matrix by its own."""
    shown, of, value, unit = BARE["compute-bound"]
    bound = Target(shown, of, value, True, unit)
    yield _matrix(question)
    yield crossing(question, "decode-compute", "batch", bound)
    yield crossing(question, "decode-compute", "context", bound)
    prefill = Target("prefill.compute_s / prefill.memory_s", quotient("prefill.compute_s", "prefill.memory_s"), 1.0, True, "")
    yield crossing(question, "prefill-compute", "prompt", prefill)


def _matrix(question: Question) -> Any:
    """The batch at which the largest weight matrix takes as long to compute as to read: peak x bytes per weight / (2 x bandwidth)."""
    p = question.predict(batch=1)
    rows = [r for r in p.operators["decode"] if r.op == "linear" and r.unit == "device" and r.flops and not r.link_bytes]
    if not rows or p.tokens_out != 1:
        return missing("matrix-compute", "batch", "no-matrix")
    row = max(rows, key=lambda r: r.bytes_by.weights / r.repeat)
    rates = p.decoder.meta["rates"]
    of = next(r for r in p.decoder.meta["rows"] if (r[0], r[1]) == (row.block, row.name))
    peak = rates[f"pk_{of[6]}"] * of[7]
    value = (row.bytes_by.weights / rates["bw"]) / (row.flops / peak)
    found = missing("matrix-compute", "batch", "", block=row.block, row=row.name, bits=row.bits, type=of[6])
    found.value, found.crossing, found.found, found.unit, found.reason, found.now = (
        value,
        value,
        "exact",
        "sequences",
        None,
        question.workload["batch"],
    )
    return found


def _caches(question: Question) -> Iterator[Record]:
    """Where the KV cache outweighs the weights: read in a decode step, and held in the device's memory."""
    if not question.base.decode.bytes_by.kv:
        yield missing("kv-read", "context", "no-kv")
        return
    read = Target("decode.bytes_by.kv / weights", quotient("decode.bytes_by.kv", "decode.bytes_by.weights"), 1.0, True, "")
    held = Target("memory.kv_bytes / weights", quotient("memory.kv_bytes", "memory.weights_bytes"), 1.0, True, "")
    for by in ("context", "batch"):
        yield crossing(question, "kv-read", by, read)
    if FIGURES["memory.weights_bytes"](question.base):
        for by in ("context", "batch"):
            yield crossing(question, "kv-held", by, held)
