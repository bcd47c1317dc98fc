"""Bills: a figure as lines that sum to it, grouped by kind, role and operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...language.formula.fold import number
from ..memory import memory_steps, scratch_parts
from .opened import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.unfold import By


class Bill(NamedTuple):
    """Lines (name, amount) in groups: each group sums to the figure. `by` says what its names are: kind, role, resource, …"""

    by: By
    lines: list[tuple[str, float]]


def bills_of(opened, figure) -> list[Bill]:
    """The bills of a figure, empty where it is not a sum."""
    kind, phase = figure.bill, figure.path.partition(".")[0]
    if kind == "seconds":
        return seconds_bills(opened, phase)
    if kind == "floor":
        return [Bill("resource", floor_lines(opened, phase))]
    if kind in ("compute", "memory"):
        return rate_bills(opened, phase, kind)
    if kind in ("flops", "bytes", "link") or kind.startswith("bytes."):
        return amount_bills(opened, phase, kind)
    if kind.startswith("stored"):
        return stored_bills(opened, kind == "stored.all")
    if kind.startswith("held."):
        return [Bill("operator", held_lines(opened, kind[5:]))]
    if kind == "workspace":
        return [Bill("part", workspace_lines(opened))]
    if kind == "tier":
        return tier_bills(opened, *figure.path.split(".")[2:])
    return [Bill("part", draft_lines(opened))] if kind == "draft" else []


def grouped(pairs, order: Callable = lambda item: -abs(item[1])) -> list[tuple[str, float]]:
    """Sums of (name, amount) pairs by name, the largest first, without those of nothing."""
    sums: dict[str, float] = {}
    for name, amount in pairs:
        sums[name] = sums.get(name, 0.0) + amount
    return sorted(((n, a) for n, a in sums.items() if a), key=order)


def seconds_bills(opened, phase: str) -> list[Bill]:
    """Expected seconds of a phase by what bounds each operator, by role, and by operator."""
    works, beside = opened.works(phase), beside_lines(opened, phase)
    by_kind = [(kind, s) for w in works for kind, s in w.seconds.items()]
    by_role = [(_role(w), sum(w.seconds.values())) for w in works]
    by_name = [(w.name, sum(w.seconds.values())) for w in works]
    pairs: dict[By, list] = {"bound": by_kind, "role": by_role, "operator": by_name}
    return [Bill(by, grouped(of) + beside) for by, of in pairs.items()]


def beside_lines(opened, phase: str) -> list[tuple[str, float]]:
    """Seconds of a phase that are no operator's: fixed times, what a pipeline overlaps, and what a floor adds."""
    works, fixed = opened.works(phase), opened.fixed(phase)
    spent = sum(sum(w.seconds.values()) for w in works) + fixed
    total = opened.total(phase)[8]
    lines = [("fixed", fixed)]
    plan = opened.prediction.plan
    if phase == "prefill" and plan[8] > 1:
        overlap = spent * ((plan[7] + plan[8] - 1) / (plan[7] * plan[8]) - 1)
        lines.append(("pipeline", overlap))
        spent += overlap
    if abs(total - spent) > 1e-9 * total:
        lines.append(("held", total - spent))
    return [(name, s) for name, s in lines if s]


def floor_lines(opened, phase: str) -> list[tuple[str, float]]:
    """Floor seconds of a phase by the resource that binds each step, the longest one."""
    pairs = []
    for times, found in opened.floors(phase):
        name = max(found, key=lambda k: found[k])
        pairs.append((name, times * found[name]))
    lines = grouped(pairs)
    spent, total = sum(s for _, s in lines), opened.total(phase)[7]
    return lines + ([("pipeline", total - spent)] if abs(total - spent) > 1e-9 * total else [])


def amount_bills(opened, phase: str, kind: str) -> list[Bill]:
    """FLOPs or bytes of a phase by kind of bytes, role, and operator."""
    works = opened.works(phase)

    def amount(work) -> float:
        r = work.record
        one = {"flops": r.flops, "bytes": r.bytes, "link": r.link_bytes}.get(kind)
        return work.part.times * (getattr(r.bytes_by, kind.partition(".")[2]) if one is None else one)

    found = []
    if kind == "bytes":
        pairs = [(k, w.part.times * getattr(w.record.bytes_by, k)) for w in works for k in KINDS]
        found.append(Bill("kind", grouped(pairs)))
    if kind == "flops":
        found.append(Bill("math", grouped((w.record.math, amount(w)) for w in works)))
    found.append(Bill("role", grouped((_role(w), amount(w)) for w in works)))
    return [*found, Bill("operator", grouped((w.name, amount(w)) for w in works))]


def rate_bills(opened, phase: str, kind: str) -> list[Bill]:
    """Seconds at full rates (R14) of FLOPs by type of the maths, or of bytes that are not streamed by kind; by role and operator."""
    works = opened.works(phase)
    parts = [_computed(w) if kind == "compute" else _moved(w) for w in works]
    spent, total = sum(s for part in parts for s in part.values()), opened.total(phase)[9 if kind == "compute" else 10]
    beside = [("pipeline", total - spent)] if abs(total - spent) > 1e-9 * total else []
    by_name = [((_role(w), w.name), sum(part.values())) for w, part in zip(works, parts, strict=True)]
    first: By = "math" if kind == "compute" else "kind"
    found = [Bill(first, grouped((n, s) for part in parts for n, s in part.items()) + beside)]
    groups: dict[By, int] = {"role": 0, "operator": 1}
    return [*found, *(Bill(by, grouped((names[at], s) for names, s in by_name) + beside) for by, at in groups.items())]


def _computed(work) -> dict[str, float]:
    """Seconds of one operator's FLOPs: over its peak, which is its ridge point times its bandwidth."""
    r = work.record
    host = " (host)" if r.unit == "host" else ""
    return {f"{r.math}{host}": work.part.times * r.flops / (r.ridge * _bandwidth(work))} if r.flops else {}


def _moved(work) -> dict[str, float]:
    """Seconds of one operator's bytes by kind, without those that a lower tier streams."""
    kept = dict.fromkeys(KINDS, 1.0)
    for key, share in work.placed.streams.items():
        kept[key.partition("@")[0]] -= share
    by = work.record.bytes_by
    return {k: work.part.times * kept[k] * getattr(by, k) / _bandwidth(work) for k in KINDS}


def _bandwidth(work) -> float:
    return work.part.runnable.meta["rates"]["hram" if work.record.unit == "host" else "bw"]


def _role(work) -> str:
    return work.placed.row.role if work.part.name == "model" else work.part.name


def stored_bills(opened, all_tiers: bool) -> list[Bill]:
    """Bytes of weights on the device (or in all tiers) by role and by number format."""
    machine = opened.machine if all_tiers else opened.decoder
    rows = [(p, sum(p.stored.values()) if all_tiers else p.stored.get("device", 0.0)) for p in machine.placed]
    by_tier = [(tier, size) for p in machine.placed for tier, size in p.stored.items()]
    found = [Bill("role", grouped((p.row.role, size) for p, size in rows)), Bill("format", grouped((_format(p), size) for p, size in rows))]
    return [Bill("tier", grouped(by_tier)), *found] if all_tiers else found


def _format(placed) -> str:
    """`q6_k + q4_k (5.292 bits)`: the formats that a row's weights are in, and the bits that a weight takes."""
    return f"{' + '.join(name for name, _ in placed.row.width.parts)} ({placed.bits:.4g} bits)"


def held_lines(opened, what: str) -> list[tuple[str, float]]:
    """KV or state bytes on the device by operator: `context + output` tokens of every sequence, and of decodes that ride along."""
    p, plan = opened.prediction, opened.prediction.plan
    if what == "kv" and plan[15]:
        return []
    groups = [(plan[0], p.context + p.output)] + ([(plan[5], plan[6])] if plan[5] else [])
    pairs = []
    for item in opened.decoder.placed:
        share = 1.0 - sum(s for key, s in item.streams.items() if key.startswith("kv@")) if what == "kv" else 1.0
        term = item.terms["hk" if what == "kv" else "hs"]
        for B, S in groups if item.unit == "device" else ():
            pairs.append((f"{item.row.block}.{item.row.name}", share * item.repeat * number(term, {"B": B, "S": S, "T": 0})))
    return grouped(pairs)


def tier_bills(opened, tier: str, what: str) -> list[Bill]:
    """Weights or KV bytes in a lower tier, of all stages of a pipeline, by role or operator."""
    p, placed = opened.prediction, opened.decoder.placed
    stages = p.decoder.meta["devices"]
    if what == "weights_bytes" and tier in ("host", "disk"):
        return [Bill("role", grouped((item.row.role, stages * item.stored.get(tier, 0.0)) for item in placed))]
    if what != "kv_bytes" or tier not in ("host", "disk") or p.plan[5] or p.plan[15]:
        return []
    env, pairs = {"B": p.plan[0], "S": p.context + p.output, "T": 0}, []
    for item in placed:
        streamed = {key: share for key, share in item.streams.items() if key.startswith("kv@")}
        share = streamed.get(f"kv@{tier}", 0.0) + (1.0 - sum(streamed.values()) if item.unit == tier else 0.0)
        pairs.append((f"{item.row.block}.{item.row.name}", stages * share * item.repeat * number(item.terms["hk"], env)))
    return [Bill("operator", grouped(pairs))]


def workspace_lines(opened) -> list[tuple[str, float]]:
    """The step that needs most: hidden vectors of its tokens, and the scratch of its busiest operator."""
    p = opened.prediction
    steps = [[scratch_parts(p.decoder, 0, *group) for group in groups] for groups in memory_steps(p, p.plan)]
    most = max(steps, key=lambda parts: sum(sum(part[:2]) for part in parts))
    pairs = []
    for hidden, scratch, point in most:
        env = dict(zip("BTSRMH", point, strict=True))
        busy = max((i for i in opened.decoder.placed if i.unit == "device"), key=lambda i: number(i.terms["ws"], env), default=None)
        name = "" if busy is None else f"{busy.row.block}.{busy.row.name}"
        pairs += [("hidden vectors", hidden), (f"scratch of {name}", scratch)]
    return grouped(pairs)


def draft_lines(opened) -> list[tuple[str, float]]:
    """A draft model's weights, KV and state."""
    p, draft = opened.prediction, opened.prediction.runnable.draft
    if not p.memory.draft_bytes:
        return []
    weights = sum(draft.meta["stored"].values())
    return [("weights", weights), ("cache", p.memory.draft_bytes - weights)]
