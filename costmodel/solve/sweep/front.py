"""The Pareto front of a stream of points."""

from __future__ import annotations

from ...language.problem import problem
from .conditions import Goal

MOST = {2: 1_000_000, 3: 50_000}
"""Points of the largest front, by the number of goals; 20,000 for more."""


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
        if kept.size > MOST.get(len(scores), 20_000):
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
