"""A pass over several groups: the same row terms as `step`, summed over groups, weights once."""

from __future__ import annotations


def mixed_rows(runnable, groups) -> list[list]:
    """Terms of every row for one pass over groups (B, T, S, R): f, w, k, s, a, l, fw, fk, h."""
    M = sum(B * T for B, T, _, _ in groups)
    H = sum(B * R for B, _, _, R in groups)
    total: list[list] = []
    for B, T, S, R in groups:
        rows = runnable.rows(B, T, S, R, M, H)
        if not total:
            total = [list(row) for row in rows]
            continue
        for row, more in zip(total, rows, strict=True):
            for i in (0, 2, 3, 4, 5, 7):  # weights (1, 6) and hops (8) are paid once per pass
                row[i] += more[i]
    return total


def row_seconds(info: tuple, row, rates, M, share=None, longest=max) -> tuple:
    """Expected seconds of one row, and its parts: (total, compute, memory, streams and link).

    `info` is a row of the table in META; `row` its terms. The formulas are those that `emit` writes into `step`. They hold for
    sympy expressions, too, given a `share` that reads an efficiency and a `longest` in place of `max`.
    """
    compute, kinds, slow, comm = row_parts(info, row, rates, M, share, longest)
    memory = sum(kinds)
    return longest(compute, memory, slow) + comm, compute, memory, slow + comm


def row_parts(info: tuple, row, rates, M, share=None, longest=max) -> tuple:
    """Expected seconds of one row's compute, of its bytes by kind (weights, KV, state, activations), of its slowest stream, and of
    its link with hops. The first three overlap, the last comes after them."""
    _, _, _, _, unit, _, math, rate, eff, streams, _, by = info
    f, w, k, s, a, link, _, _, hops = row
    host = unit == "host"
    e = {key: share(value, M) if share else fraction(value, M, rates) for key, value in eff.items()}
    bandwidth = rates["hram" if host else "bw"]
    compute = f / (e["compute"] * rates[("hpk_" if host else "pk_") + math] * rate) if f else 0
    kept = {"weights": 1, "kv": 1}
    slow = 0
    for key, part in streams.items():
        what, _, tier = key.partition("@")
        kept[what] -= part
        slow = longest(slow, part * (w if what == "weights" else k) / (e["host"] * rates[tier]))
    parts = ((w * kept["weights"], "weights"), (k * kept["kv"], "kv"), (s, "state"), (a, "activations"))
    kinds = tuple(x / (e[kind] * bandwidth) if x else 0 for x, kind in parts)
    comm = link / (e["link" if by == "peer" else "host"] * rates[by]) if link else 0
    comm += hops * rates[f"{by}_latency"] if hops else 0
    return compute, kinds, slow, comm


def fraction(value, M: float, rates: dict | None = None) -> float:
    """An efficiency: a number, or formula text over M and, in a case left open, rates."""
    if not isinstance(value, str):
        return min(1.0, value)
    from ..language.formula import parse
    from ..language.formula.fold import number

    return min(1.0, max(1e-6, number(parse(value), {**(rates or {}), "M": M})))


def mixed_step(runnable, groups):
    """Totals of one pass over several groups, as `step` returns them."""
    meta, rates = runnable.meta, runnable.meta["rates"]
    M = sum(B * T for B, T, _, _ in groups)
    totals = [0.0] * 6
    streamed = expected = host_moved = 0.0
    moved_by: dict = {}  # bytes of a link or lower tier
    table = mixed_rows(runnable, groups)

    def reached(value, M) -> float:
        """An efficiency, worked out once for all passes over as many tokens."""
        if (value, M) not in runnable.shares:
            runnable.shares[value, M] = fraction(value, M, rates)
        return runnable.shares[value, M]

    for info, row in zip(meta["rows"], table, strict=True):
        unit, repeat, streams, by = info[4], info[5], info[9], info[11]
        for i in range(6):
            totals[i] += repeat * row[i]
        kept_w = kept_k = 1.0
        if row[5]:
            moved_by[by] = moved_by.get(by, 0.0) + repeat * row[5]
        for name, share in streams.items():
            what, _, tier = name.partition("@")
            moved = row[1] if what == "weights" else row[2]
            streamed += repeat * share * moved
            moved_by[tier] = moved_by.get(tier, 0.0) + repeat * share * moved
            kept_w, kept_k = (kept_w - share, kept_k) if what == "weights" else (kept_w, kept_k - share)
        if unit == "host":
            host_moved += repeat * (kept_w * row[1] + kept_k * row[2] + row[3] + row[4])
        expected += repeat * row_seconds(info, row, rates, M, reached)[0]
    expected += overhead_seconds(meta, M)
    floors = resources(meta, table)
    floor = max(floors.values())
    memory = (sum(totals[1:5]) - streamed - host_moved) / rates["bw"]
    memory += host_moved / rates["hram"] if host_moved else 0.0
    slow = max((v / rates[t] for t, v in moved_by.items()), default=0.0)
    compute = floors["device.compute"] + floors["host.compute"]
    return (*totals, streamed, floor, max(expected, floor), compute, memory, slow)


def resources(meta: dict, table: list) -> dict[str, float]:
    """Seconds that one pass must take of each resource at full rate, with compulsory bytes alone; the longest is its floor.

    `table` are the rows' terms. Keys: `device.compute`, `device.memory`, `host.compute`, `host.memory`, and links and lower tiers
    by their rate's name.
    """
    rates = meta["rates"]
    flops: dict = {}
    tiers: dict = {}
    compulsory = host_bytes = 0
    for info, row in zip(meta["rows"], table, strict=True):
        unit, repeat, math, rate, streams, by = info[4], info[5], info[6], info[7], info[9], info[11]
        flops[unit, math] = flops.get((unit, math), 0) + repeat * row[0] / rate
        kept = [1, 1]
        if row[5]:
            tiers[by] = tiers.get(by, 0) + repeat * row[5]
        for name, share in streams.items():
            what, _, tier = name.partition("@")
            index = int(what != "weights")
            tiers[tier] = tiers.get(tier, 0) + repeat * share * row[6 + index]
            kept[index] -= share
        low = repeat * (kept[0] * row[6] + kept[1] * row[7])
        if unit == "host":
            host_bytes += low
        else:
            compulsory += low + repeat * row[3]
    found = {
        "device.compute": sum(v / rates["pk_" + m] for (u, m), v in flops.items() if u == "device" and v),
        "device.memory": compulsory / rates["bw"],
        "host.compute": sum(v / rates["hpk_" + m] for (u, m), v in flops.items() if u == "host" and v),
        "host.memory": host_bytes / rates["hram"] if host_bytes else 0,
    }
    return found | {tier: v / rates[tier] for tier, v in tiers.items()}


def overhead_seconds(meta: dict, M: float) -> float:
    """Fixed time of one pass."""
    value = meta["overhead"]
    if not isinstance(value, str):
        return value
    from ..language.formula import parse
    from ..language.formula.fold import number

    return number(parse(value), {**meta["rates"], "M": M})
