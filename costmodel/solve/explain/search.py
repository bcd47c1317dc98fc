"""Solving an explanation's free parameter, so that the prediction meets the measured figure."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

STEPS = {True: 44, False: 4}
"""Re-predictions between the ends of the range: many where nothing is compiled again, few where each one is."""
CLOSE = {True: 1e-9, False: 0.01}


class Found(NamedTuple):
    """A value of the parameter, and the log of how far speed can be moved over its range."""

    value: Any
    reach: float


def solve_range(
    speed: Callable[[float], float], target: float, span: tuple[float, float], cheap: bool, whole: bool, ends=None
) -> Found | None:
    """The value in `span` at which `speed` meets `target`, or the end that comes closest; None where nothing moves.

    Time per token is close to linear in most parameters, so the next guess is linear in it (regula falsi, Illinois).
    `ends` are speeds at the ends that are known already.
    """
    known = ends or (None, None)
    a, b = map(float, span)
    fa, fb = (known[0] or speed(a)), (known[1] or speed(b))
    reach = abs(log(fb / fa))
    if reach < 1e-6:
        return None
    ya, yb, goal = 1 / fa, 1 / fb, 1 / target
    if not min(ya, yb) < goal < max(ya, yb):
        return Found(_whole(a if abs(log(fa / target)) <= abs(log(fb / target)) else b, whole), reach)
    ya, yb = ya - goal, yb - goal
    best, side = a, 0
    for step in range(STEPS[cheap]):
        best = (a * yb - b * ya) / (yb - ya) if step % 3 < 2 or not cheap else (a + b) / 2
        y = 1 / speed(_whole(best, whole)) - goal
        if abs(y) <= CLOSE[cheap] * goal or (whole and abs(b - a) <= 1):
            break
        if y * yb > 0:
            b, yb, ya = best, y, ya / 2 if side == 1 else ya
            side = 1
        else:
            a, ya, yb = best, y, yb / 2 if side == -1 else yb
            side = -1
    return Found(_whole(best, whole), reach)


def solve_values(speed: Callable[[Any], float], target: float, values: tuple) -> Found | None:
    """The one of some ordered values whose speed comes closest, found by halving."""
    seen: dict[int, float] = {}

    def at(i: int) -> float:
        if i not in seen:
            seen[i] = speed(values[i])
        return seen[i]

    low, high = 0, len(values) - 1
    first, last = at(low), at(high)
    reach = abs(log(last / first)) if high else 0.3
    rising = last > first
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if (at(middle) < target) == rising else (low, middle)
    best = min((low, high), key=lambda i: abs(log(at(i) / target)))
    return Found(values[best], reach)


def _whole(value: float, whole: bool) -> float | int:
    return round(value) if whole else value
