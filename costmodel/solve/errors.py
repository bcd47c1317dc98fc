"""How far predictions are from measurements: error, quantiles, and their summary over rows and groups of rows.

A row is a mapping with `phase`, `measured`, `expected` and, where known, `low`, `high`, `ceiling` (all tokens/s), and
labels to group by. The error of a row is `expected / measured - 1`: +0.25 predicts a quarter too fast.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
GROUPS = ("class", "format", "engine", "kind")
"""Labels that rows are grouped by."""
PHASES = ("decode", "prefill")
NEAR = 0.2
"""A prediction within this share of the measurement counts as near."""


def error(row: Row) -> float:
    """Predicted over measured, less 1."""
    return row["expected"] / row["measured"] - 1


def quantile(values: Iterable[float], share: float) -> float:
    """The value that a `share` of the values lies below: linear between order statistics, at position `(n - 1) * share`.

    This is definition 7 of Hyndman and Fan (1996), the default of NumPy and R. Raises ValueError for no values.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    position = (len(ordered) - 1) * share
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Counts and shares over rows; every figure but `n` is None without rows, `in_span` without spans.

    `median` and `p90` are of the error's size, `bias` is the median of the error with its sign, `near` the share of rows
    whose error is at most 20 %, `in_span` the share of rows between `low` and `high`.
    """
    errors = [error(row) for row in rows]
    sizes = [abs(e) for e in errors]
    spans = [row for row in rows if row.get("low") is not None and row.get("high") is not None]
    return {
        "n": len(errors),
        "median": quantile(sizes, 0.5) if sizes else None,
        "near": sum(size <= NEAR for size in sizes) / len(sizes) if sizes else None,
        "p90": quantile(sizes, 0.9) if sizes else None,
        "bias": quantile(errors, 0.5) if errors else None,
        "in_span": sum(row["low"] <= row["measured"] <= row["high"] for row in spans) / len(spans) if spans else None,
    }


def beyond(row: Row) -> bool:
    """Whether a measurement is above the ceiling: then its facts, or the ceiling, are wrong."""
    return row.get("ceiling") is not None and row["measured"] > row["ceiling"]


def evaluate(rows: Iterable[Row], skipped: Iterable[str] | Mapping[str, int] = (), worst: int = 10, by=GROUPS) -> dict[str, Any]:
    """Everything a report shows, as plain data. `skipped` are reasons, one for each row left out, or counts by reason.

    Rows above the ceiling are listed and not scored. Groups have an entry for each phase, most rows first.
    """
    every = list(rows)
    above = [row for row in every if beyond(row)]
    scored = [row for row in every if not beyond(row)]
    return {
        "rows": len(every),
        "scored": len(scored),
        "skipped": dict(sorted(Counter(skipped).items(), key=lambda item: (-item[1], item[0]))),
        "overall": _overall(scored),
        "groups": {label: _groups(scored, label) for label in by},
        "worst": sorted(scored, key=_distance, reverse=True)[:worst],
        "above_ceiling": sorted(above, key=lambda row: row["measured"] / row["ceiling"], reverse=True),
    }


def _distance(row: Row) -> float:
    """How many times too fast or too slow: halving is as bad as doubling."""
    ratio = row["expected"] / row["measured"]
    return max(ratio, 1 / ratio) if ratio else float("inf")


def _overall(rows: list[Row]) -> list[dict[str, Any]]:
    """A summary for each phase, and apart for rows that a fit has seen and has not, where there are both."""
    found = []
    for phase in _phases(rows):
        of = [row for row in rows if row["phase"] == phase]
        seen = [row for row in of if row.get("in_sample")]
        found.append({"phase": phase, "rows": "all"} | summary(of))
        if seen and len(seen) < len(of):
            held = [row for row in of if not row.get("in_sample")]
            found += [{"phase": phase, "rows": "held_out"} | summary(held), {"phase": phase, "rows": "in_sample"} | summary(seen)]
    return found


def _phases(rows: list[Row]) -> list[str]:
    there = dict.fromkeys(row["phase"] for row in rows)
    return [*(p for p in PHASES if p in there), *(p for p in there if p not in PHASES)]


def _groups(rows: list[Row], label: str) -> list[dict[str, Any]]:
    found = []
    for phase in _phases(rows):
        groups: dict[str, list[Row]] = {}
        for row in rows:
            if row["phase"] == phase:
                groups.setdefault(str(row.get(label) or "-"), []).append(row)
        named = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        found += [{"phase": phase, label: name} | summary(of) for name, of in named]
    return found
