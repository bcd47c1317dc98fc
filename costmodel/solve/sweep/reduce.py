"""What is kept of a sweep's points while they stream by: the best, histograms, counts (and see `front.py`, `quantiles.py`).

A reduction makes a state of a block, and joins states; both give the same whatever the blocks and their order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...language.problem import problem
from .conditions import Condition, Goal
from .figures import is_flag, numeric


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


class Histogram:
    """How many points lie between edges (the last included), and how many below and above."""

    def __init__(self, figure: str, edges):
        import numpy as np

        self.figure, self.figures, self.edges = figure, (figure,), np.asarray(edges, dtype=np.float64)
        if self.edges.ndim != 1 or self.edges.size < 2 or not (np.isfinite(self.edges).all() and (np.diff(self.edges) > 0).all()):
            raise problem(f"histogram of {figure}: want at least two finite, rising edges")

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
