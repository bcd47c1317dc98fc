"""Where a figure meets its target along one unknown: every change between met and not, then each closed in on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

POINTS = 160
"""Values tried where nothing is compiled for them."""
COMPILED = 24
"""Values tried where each is compiled."""
CLOSE = 1e-13
"""A bracket is closed in on until it is this share of the value; where each value is compiled, until :data:`LOOSE`."""
LOOSE = 1e-6


class Turn(NamedTuple):
    """Where the target begins to be met (`enters`) or ends: the last value on the bad side, and the first on the good."""

    bad: float
    good: float
    enters: bool


class Scan(NamedTuple):
    """Values tried and their figures."""

    xs: list
    figures: list[float]


def scan(figure: Callable[[float], float], xs: list) -> Scan:
    """The figure at every value."""
    return Scan(xs, [figure(x) for x in xs])


def turns(found: Scan, figure: Callable, met: Callable[[float], bool], whole: bool, close: float = CLOSE) -> list[Turn]:
    """Every value at which met and not met change places, in order."""
    good = [met(f) for f in found.figures]
    out = []
    for i in range(len(found.xs) - 1):
        if good[i] != good[i + 1]:
            a, b = (found.xs[i], found.xs[i + 1]) if good[i + 1] else (found.xs[i + 1], found.xs[i])
            bad, fine = _closed(figure, met, a, b, whole, close)
            out.append(Turn(bad, fine, good[i + 1]))
    return out


def _closed(figure, met, bad, good, whole: bool, close: float) -> tuple:
    """A bracket halved until its ends are neighbours."""
    while abs(good - bad) > (1 if whole else close * max(abs(good), abs(bad))):
        middle = (
            (bad + good) // 2
            if whole
            else (bad * good) ** 0.5
            if bad > 0 and good > 0 and max(bad, good) > 2 * min(bad, good)
            else (bad + good) / 2
        )
        if middle in (bad, good):
            break
        bad, good = (bad, middle) if met(figure(middle)) else (middle, good)
    return bad, good


def best(found: Scan, least: bool) -> tuple | None:
    """(value, figure) that comes closest to a target that none meets: the largest figure, or the smallest."""
    known = [(f, x) for x, f in zip(found.xs, found.figures, strict=True) if f == f and abs(f) != float("inf")]
    if not known:
        return None
    goal = max(f for f, _ in known) if least else min(f for f, _ in known)
    near = [x for f, x in known if f == goal]
    return near[0], goal


def sharpened(found: Scan, figure: Callable, least: bool, whole: bool) -> Scan:
    """The scan with the peak between its best value's neighbours, found by thirds: a target may be met there alone."""
    at = best(found, least)
    if at is None:
        return found
    i = found.xs.index(at[0])
    low, high = found.xs[max(0, i - 1)], found.xs[min(len(found.xs) - 1, i + 1)]
    sign = 1 if least else -1
    for _ in range(60):
        third = (high - low) // 3 if whole else (high - low) / 3
        if third <= (0 if whole else 1e-12 * abs(high)):
            break
        a, b = figure(low + third), figure(high - third)
        low, high = (low, high - third) if sign * a >= sign * b else (low + third, high)
    more = range(int(low), int(high) + 1) if whole and high - low < 8 else [(low + high) // 2 if whole else (low + high) / 2]
    known = dict(zip(found.xs, found.figures, strict=True)) | {x: figure(x) for x in more}
    return Scan(sorted(known), [known[x] for x in sorted(known)])
