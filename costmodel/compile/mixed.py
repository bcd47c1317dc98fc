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


def row_seconds(info: tuple, row, rates: dict, M: float) -> tuple[float, float, float, float]:
    """Expected seconds of one row, and its parts: (total, compute, memory, streams and link).

    `info` is a row of the table in META; `row` its terms. The formulas are those that `emit` writes into `step`.
    """
    _, _, _, _, unit, _, math, rate, eff, streams, _, by = info
    f, w, k, s, a, link, _, _, hops = row
    host = unit == "host"
    e = {key: fraction(value, M) for key, value in eff.items()}
    bandwidth = rates["hram" if host else "bw"]
    compute = f / (e["compute"] * rates[("hpk_" if host else "pk_") + math] * rate) if f else 0.0
    kept = {"weights": 1.0, "kv": 1.0}
    slow = 0.0
    for key, share in streams.items():
        what, _, tier = key.partition("@")
        kept[what] -= share
        slow = max(slow, share * (w if what == "weights" else k) / (e["host"] * rates[tier]))
    parts = ((w * kept["weights"], "weights"), (k * kept["kv"], "kv"), (s, "state"), (a, "activations"))
    memory = sum(x / (e[kind] * bandwidth) for x, kind in parts if x)
    comm = link / (e["link" if by == "peer" else "host"] * rates[by]) if link else 0.0
    comm += hops * rates[f"{by}_latency"] if hops else 0.0
    return max(compute, memory, slow) + comm, compute, memory, slow + comm


def fraction(value, M: float) -> float:
    """An efficiency: a number, or formula text over M."""
    if not isinstance(value, str):
        return min(1.0, value)
    from ..language.formula import parse
    from ..language.formula.fold import number

    return min(1.0, max(1e-6, number(parse(value), {"M": M})))


def mixed_step(runnable, groups):
    """Totals of one pass over several groups, as `step` returns them."""
    meta, rates = runnable.meta, runnable.meta["rates"]
    M = sum(B * T for B, T, _, _ in groups)
    totals = [0.0] * 6
    compulsory = streamed = expected = 0.0
    flops: dict = {}
    tiers: dict = {}  # compulsory bytes of a link or lower tier
    moved_by: dict = {}  # all of them
    host_bytes = host_moved = 0.0
    for info, row in zip(meta["rows"], mixed_rows(runnable, groups), strict=True):
        unit, repeat, math, rate, streams, by = *info[4:8], info[9], info[11]
        for i in range(6):
            totals[i] += repeat * row[i]
        key = (unit, math)
        flops[key] = flops.get(key, 0.0) + repeat * row[0] / rate
        kept_w = kept_k = 1.0
        if row[5]:
            for sums in (tiers, moved_by):
                sums[by] = sums.get(by, 0.0) + repeat * row[5]
        for name, share in streams.items():
            what, _, tier = name.partition("@")
            moved, low = (row[1], row[6]) if what == "weights" else (row[2], row[7])
            streamed += repeat * share * moved
            tiers[tier] = tiers.get(tier, 0.0) + repeat * share * low
            moved_by[tier] = moved_by.get(tier, 0.0) + repeat * share * moved
            kept_w, kept_k = (kept_w - share, kept_k) if what == "weights" else (kept_w, kept_k - share)
        low = repeat * (kept_w * row[6] + kept_k * row[7])
        if unit == "host":
            host_bytes += low
            host_moved += repeat * sum(row[1:5])
        else:
            compulsory += low + repeat * row[3]
        expected += repeat * row_seconds(info, row, rates, M)[0]
    expected += overhead_seconds(meta, M)
    compute = sum(v / rates["pk_" + m] for (u, m), v in flops.items() if u == "device" and v)
    floors = [compute, compulsory / rates["bw"]] + [v / rates[t] for t, v in tiers.items()]
    if host_bytes:
        floors.append(host_bytes / rates["hram"])
    host_compute = sum(v / rates["hpk_" + m] for (u, m), v in flops.items() if u == "host" and v)
    floors.append(host_compute)
    floor = max(floors)
    memory = (sum(totals[1:5]) - streamed - host_moved) / rates["bw"]
    memory += host_moved / rates["hram"] if host_moved else 0.0
    slow = max((v / rates[t] for t, v in moved_by.items()), default=0.0)
    return (*totals, streamed, floor, max(expected, floor), compute + host_compute, memory, slow)


def overhead_seconds(meta: dict, M: float) -> float:
    """Fixed time of one pass."""
    value = meta["overhead"]
    if not isinstance(value, str):
        return value
    from ..language.formula import parse
    from ..language.formula.fold import number

    return number(parse(value), {"M": M})
