"""Per operator: FLOPs, bytes by kind, intensity, ridge, regime, floor and expected time of one step of a phase."""

from __future__ import annotations

from ..compile.mixed import mixed_rows, row_seconds
from .record import Record, attainable
from .steps import prefill_groups

KINDS = ("weights", "kv", "state", "activations")


def operators_of(prediction) -> dict:
    """Records of every row, for all prefill steps together and for the decode step."""
    plan = prediction.plan
    decode = [[(plan[0], plan[9], plan[10], plan[11])]]
    return {"prefill": _table(prediction.runnable, prefill_groups(plan)), "decode": _table(prediction.decoder, decode)}


def _table(runnable, steps) -> list[Record]:
    records = []
    rates = runnable.meta["rates"]
    evaluated = [(mixed_rows(runnable, groups), sum(B * T for B, T, _, _ in groups)) for groups in steps]
    for index, info in enumerate(runnable.meta["rows"]):
        rows = [(rows[index], M) for rows, M in evaluated]
        records.append(_record(info, rows, rates))
    return records


def _record(info, rows, rates) -> Record:
    block, name, role, op, unit, repeat, math, rate, _, _, bits = info
    total = [repeat * sum(row[i] for row, _ in rows) for i in range(8)]
    seconds = repeat * sum(row_seconds(info, row, rates, M)[0] for row, M in rows)
    bandwidth = rates["hram" if unit == "host" else "bw"]
    peak = rates.get(("hpk_" if unit == "host" else "pk_") + math, 0) * rate
    size = sum(total[1:5])
    compute = total[0] / peak if total[0] else 0.0
    low = (total[6] + total[7] + total[3]) / bandwidth
    parts = [row_seconds(info, row, rates, M) for row, M in rows]
    slow = repeat * sum(p[3] for p in parts)
    regime = "compute" if compute >= size / bandwidth else "memory"
    if slow > max(compute, size / bandwidth):
        regime = "link"
    return Record(
        block=block,
        name=name,
        role=role,
        op=op,
        unit=unit,
        repeat=repeat,
        math=math,
        bits=bits,
        flops=total[0],
        bytes=size,
        bytes_by=Record(**dict(zip(KINDS, total[1:5], strict=True))),
        link_bytes=total[5],
        intensity=total[0] / size if size else None,
        ridge=peak / bandwidth if peak else None,
        attainable_flops=attainable(total[0], size, compute, bandwidth),
        regime=regime,
        floor_s=max(compute, low),
        expected_s=seconds,
    )
