"""What is kept of a sweep's points while they stream by: the best, the Pareto front, quantiles, histograms and counts.

A reduction makes a state of a block, and joins states; both give the same whatever the blocks and their order.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ...language.problem import Mark, Source, problem, suggest
from ...language.units import UnitError, quantity, unit
from ..traced import REGIMES
from .figures import check_figures, is_flag, numeric, smaller_is_better
from .quantiles import Quantiles

MOST_FRONT = {2: 1_000_000, 3: 50_000}
_CONDITION = re.compile(r"\s*([a-z][\w.]*)\s*(?:(>=|<=|!=|=|>|<)\s*(.+?)\s*)?\Z")
_UNITS = ("B", "s", "FLOP", "B/s", "FLOP/s")


class Goal(NamedTuple):
    """A figure and which way is better."""

    figure: str
    least: bool

    @property
    def text(self) -> str:
        """As it is given: `max:tps.expected`."""
        return f"{'min' if self.least else 'max'}:{self.figure}"

    def score(self, arrays):
        """Values of which the largest is best, flat; NaN where unknown."""
        values = numeric(self.figure, arrays[self.figure]).ravel()
        return -values if self.least else values


def goal(text: str, option: str = "best") -> Goal:
    """A goal from `tps.expected`, `max:tps.expected` or `min:ttft_s.expected`; without a word, times and bytes are small."""
    word, colon, name = str(text).partition(":")
    if not colon:
        word, name = "", word
    if word not in ("", "min", "max"):
        raise problem(f"`{text}` is not a goal", Mark(Source(option, str(text)), 1, 1), "write FIGURE, max:FIGURE or min:FIGURE")
    (name,) = check_figures((name,), option)
    return Goal(name, smaller_is_better(name) if not word else word == "min")


class Condition(NamedTuple):
    """A figure compared with a number; `op` is one of >= <= > < = !=."""

    figure: str
    op: str
    value: float

    def holds(self, arrays):
        """Where it holds; nowhere where the figure is unknown."""
        import operator

        values = arrays[self.figure]
        known = values >= 0 if is_flag(self.figure) else values == values
        test = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq, "!=": operator.ne}[self.op]
        return test(values, self.value) & known


def condition(text: str, option: str = "where") -> Condition:
    """`memory.fits`, `tps.expected>=20`, `ttft_s.expected<500 ms`, `memory.total_bytes<24 GiB`, `decode.regime=memory`."""
    mark = Mark(Source(option, str(text)), 1, 1)
    found = _CONDITION.match(str(text))
    if not found:
        raise problem(f"`{text}` is not a condition", mark, "for example `memory.fits`, `tps.expected>=20`, `ttft_s.expected<500 ms`")
    name, op, value = found.groups()
    check_figures((name,), option)
    if op is None:
        if name != "memory.fits":
            raise problem(f"`{text}` compares with nothing", mark, f"for example `{name}>=20`")
        return Condition(name, "=", 1.0)
    return Condition(name, op, _value(name, op, value, mark))


def _value(name: str, op: str, text: str, mark: Mark) -> float:
    if name.endswith(".regime"):
        if text not in REGIMES or op not in ("=", "!="):
            raise problem(f"`{text}` is no regime", mark, suggest(text, REGIMES))
        return float(REGIMES.index(text))
    if name == "memory.fits" and text in ("true", "false", "yes", "no"):
        return float(text in ("true", "yes"))
    try:
        return float(text.replace(",", ""))
    except ValueError:
        pass
    for base in _UNITS:
        try:
            return float(quantity(text, unit(base)[1]))
        except UnitError:
            continue
    raise problem(f"`{text}` is not a number", mark, "write 20, 500 ms, 24 GiB")


class Best:
    """The `count` best points of a goal; of equal ones the first."""

    def __init__(self, goal: Goal, count: int):
        self.goal, self.count, self.figures = goal, count, (goal.figure,)

    def of(self, start: int, arrays, chosen):
        """(scores, points), best first."""
        import numpy as np

        score = self.goal.score(arrays)
        known = score == score if chosen is None else chosen & (score == score)
        score = np.where(known, score, -np.inf)
        if self.count == 1:
            at = np.array([score.argmax()])
        elif self.count < score.size:
            edge = np.partition(score, score.size - self.count)[score.size - self.count]
            above = np.flatnonzero(score > edge)
            at = np.concatenate([above, np.flatnonzero(score == edge)[: self.count - above.size]])
        else:
            at = np.arange(score.size)
        at = at[known[at]]
        return self._first(score[at], at + start)

    def join(self, a, b):
        """Of two states the best."""
        import numpy as np

        return self._first(np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]]))

    def _first(self, score, at):
        import numpy as np

        order = np.lexsort((at, -score))[: self.count]
        return score[order], at[order]


class Front:
    """The points than which no other is better in every goal; of equal ones the first."""

    def __init__(self, goals: tuple[Goal, ...]):
        self.goals, self.figures = goals, tuple(g.figure for g in goals)

    def of(self, start: int, arrays, chosen):
        """(scores by goal, points)."""
        import numpy as np

        scores = np.stack([g.score(arrays) for g in self.goals])
        good = chosen
        for row in scores:
            good = row == row if good is None else good & (row == row)
        at = np.flatnonzero(good)
        return self._front(scores[:, at], at + start)

    def join(self, a, b):
        """The front of two."""
        import numpy as np

        if not a[1].size or not b[1].size:
            return b if not a[1].size else a
        return self._front(np.concatenate([a[0], b[0]], 1), np.concatenate([a[1], b[1]]))

    def _front(self, scores, at):
        scores, at = _thinned(scores, at)
        kept = _front_of_two(scores, at) if len(scores) == 2 else _front_of_many(scores, at)
        if kept.size > MOST_FRONT.get(len(scores), 20_000):
            raise problem(f"the Pareto front has more than {kept.size:,} points", help="compare fewer figures, or add a condition")
        return scores[:, kept], at[kept]


def _thinned(scores, at, rounds: int = 8):
    """Points without those that a few strong ones beat: cheap, and most of a mesh."""
    import numpy as np

    for k in range(rounds):
        if at.size < 4096:
            break
        low, high = scores.min(1), scores.max(1)
        weights = np.roll(np.linspace(1, 0.1, len(scores)), k) / np.where(high > low, high - low, 1)
        best = scores[:, (weights @ scores).argmax()]
        kept = _unbeaten(scores, best)
        scores, at = scores[:, kept], at[kept]
    return scores, at


def _unbeaten(scores, best):
    """Where a point is better than another in some goal, or its equal in all."""
    better, equal = scores[0] > best[0], scores[0] == best[0]
    for row, value in zip(scores[1:], best[1:], strict=True):
        better |= row > value
        equal &= row == value
    return better | equal


def _front_of_two(scores, at):
    """Places of the front of two goals: sorted by the first, those that raise the second."""
    import numpy as np

    order = np.lexsort((at, -scores[1], -scores[0]))
    second = scores[1][order]
    before = np.maximum.accumulate(np.concatenate([[-np.inf], second[:-1]])) if second.size else second
    return order[second > before]


def _front_of_many(scores, at):
    import numpy as np

    order = np.lexsort((at, *(-row for row in scores[::-1])))
    kept: list[int] = []
    left = order
    while left.size:
        first = left[0]
        kept.append(first)
        one = scores[:, first][:, None]
        left = left[np.logical_or.reduce(scores[:, left] > one)]
    return np.array(kept, dtype=int)


class Histogram:
    """How many points lie between edges (the last included), and how many below and above."""

    def __init__(self, figure: str, edges):
        import numpy as np

        self.figure, self.figures, self.edges = figure, (figure,), np.asarray(edges, dtype=np.float64)
        if self.edges.ndim != 1 or self.edges.size < 2 or not (np.diff(self.edges) > 0).all():
            raise problem(f"histogram of {figure}: want at least two rising edges")

    def of(self, start: int, arrays, chosen):
        """Counts: below, each bin, above."""
        import numpy as np

        values = numeric(self.figure, arrays[self.figure]).ravel()
        good = values == values
        values = values[good if chosen is None else good & chosen]
        inside = np.histogram(values, self.edges)[0]
        return np.concatenate([[(values < self.edges[0]).sum()], inside, [(values > self.edges[-1]).sum()]])

    def join(self, a, b):
        """Counts add up."""
        return a + b


class Counts:
    """Points with a value, and points that meet the conditions."""

    def __init__(self, figures: tuple[str, ...]):
        self.figures = figures

    def of(self, start: int, arrays, chosen):
        """(points, without a value, chosen)."""
        import numpy as np

        first = arrays[self.figures[0]]
        missing = int(np.count_nonzero(first < 0 if is_flag(self.figures[0]) else first != first))
        return np.array([first.size, missing, first.size if chosen is None else int(np.count_nonzero(chosen))])

    def join(self, a, b):
        """Counts add up."""
        return a + b


class Reductions(NamedTuple):
    """All reductions of a sweep, and the conditions on the points that they take."""

    where: tuple[Condition, ...]
    items: tuple[Any, ...]

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures that conditions and reductions read."""
        return tuple(dict.fromkeys([*(c.figure for c in self.where), *(f for i in self.items for f in i.figures)]))

    def chosen(self, arrays):
        """Where all conditions hold, flat; None without any."""
        if not self.where:
            return None
        held = self.where[0].holds(arrays)
        for one in self.where[1:]:
            held = held & one.holds(arrays)
        return held.ravel()

    def of(self, start: int, arrays) -> list:
        """The states of a block whose first point is `start`."""
        chosen = self.chosen(arrays)
        return [item.of(start, arrays, chosen) for item in self.items]

    def join(self, a: list | None, b: list) -> list:
        """The states of two runs of blocks, the earlier first."""
        return b if a is None else [item.join(x, y) for item, x, y in zip(self.items, a, b, strict=True)]


__all__ = ["Best", "Condition", "Counts", "Front", "Goal", "Histogram", "Quantiles", "Reductions", "condition", "goal"]
