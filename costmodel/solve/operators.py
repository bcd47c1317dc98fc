"""Per operator: FLOPs, bytes by kind, intensity, ridge, regime, floor and expected time of one step of a phase."""

from __future__ import annotations

from ..compile.mixed import mixed_rows, overhead_seconds, row_seconds
from .figures import BytesBy, Operator
from .record import attainable, regime_of
from .steps import engine_passes, prefill_groups

KINDS = ("weights", "kv", "state", "activations")


def operators_of(prediction) -> dict[str, list[Operator]]:
    """Records of every row, for all prefill steps together and for the decode step."""
    return {phase: table_of(*found) for phase, found in phases_of(prediction).items()}


def overheads_of(prediction) -> dict[str, float]:
    """Seconds of each phase that are fixed times of its passes: kernel launches and the host's share."""
    return {phase: fixed_seconds(runnable, passes) for phase, (runnable, _, passes) in phases_of(prediction).items()}


def fixed_seconds(runnable, passes) -> float:
    """Fixed times of passes."""
    return sum(overhead_seconds(runnable.meta, sum(B * T for B, T, _, _ in groups)) for groups in passes)


def phases_of(prediction) -> dict:
    """Per phase (runnable, steps, passes): a prompt's steps are taken in the passes that the engine makes of them (R49)."""
    plan, runnable = prediction.plan, prediction.runnable
    decode = [[(plan[14], plan[9], plan[10], plan[11])]]
    steps = prefill_groups(plan)
    passes = [one for groups in steps for one in engine_passes(runnable, groups)]
    return {"prefill": (runnable, steps, passes), "decode": (prediction.decoder, decode, decode)}


def table_of(runnable, steps, passes) -> list[Operator]:
    """Records of every row: figures of the steps, expected times of the passes that are made of them."""
    evaluated = [_evaluated(runnable, groups) for groups in steps]
    done = evaluated if passes is steps else [_evaluated(runnable, one) for one in passes]
    records = []
    for index, info in enumerate(runnable.meta["rows"]):
        rows, parts = ([(table[index], M) for table, M in some] for some in (evaluated, done))
        records.append(_record(info, rows, parts, runnable.meta["rates"]))
    return records


def _evaluated(runnable, groups) -> tuple:
    return mixed_rows(runnable, groups), sum(B * T for B, T, _, _ in groups)


def _record(info, rows, passes, rates) -> Operator:
    block, name, role, op, unit, repeat, math, rate, _, streams, bits, by = info
    total = [repeat * sum(row[i] for row, _ in rows) for i in range(9)]
    bandwidth = rates["hram" if unit == "host" else "bw"]
    peak = rates.get(("hpk_" if unit == "host" else "pk_") + math, 0) * rate
    size = sum(total[1:5])
    shares = {key.partition("@"): share for key, share in streams.items()}
    moved = {tier: share * total[1 if what == "weights" else 2] for (what, _, tier), share in shares.items()}
    least = {tier: share * total[6 if what == "weights" else 7] for (what, _, tier), share in shares.items()}
    compute = total[0] / peak if total[0] else 0.0
    parts = [row_seconds(info, row, rates, M) for row, M in passes]
    memory = (size - sum(moved.values())) / bandwidth
    low = (total[6] + total[7] + total[3] - sum(least.values())) / bandwidth
    link = total[5] / rates[by] if total[5] else 0.0
    slow = max([link, *(size / rates[tier] for tier, size in moved.items())])
    return Operator(
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
        bytes_by=BytesBy(**dict(zip(KINDS, total[1:5], strict=True))),
        link_bytes=total[5] + sum(moved.values()),
        intensity=total[0] / size if size else None,
        ridge=peak / bandwidth if peak else None,
        attainable_flops=attainable(total[0], compute, memory),
        regime=regime_of(compute, memory, slow),
        floor_s=max([compute, low, link, *(size / rates[tier] for tier, size in least.items())]),
        expected_s=repeat * sum(part[0] for part in parts),
        expected_by=regime_of(*(sum(part[i] for part in parts) for i in (1, 2, 3))),
    )
