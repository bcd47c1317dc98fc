"""Quantiles of a stream: exact for few points, else within a stated share of the value.

The sketch counts values in bins that grow geometrically (DDSketch: Masson, Rim and Lee, VLDB 2019), so every quantile is
within `ERROR` of a value that has that rank, counts of blocks add up exactly, and the order of the blocks does not matter.
"""

from __future__ import annotations

import math
from typing import Any

from ...language.problem import problem

EXACT = 1 << 20
"""Points up to which all values are kept."""
ERROR = 0.001
"""Relative error of the sketch's quantiles."""
_BASE = math.log((1 + ERROR) / (1 - ERROR))
_LOW, _HIGH = (math.floor(math.log(x) / _BASE) for x in (1e-30, 1e40))
_BINS = _HIGH - _LOW + 1


class Quantiles:
    """Quantiles of one figure, by `ranks` in 0 … 1; `points` of the whole sweep decide whether they are exact."""

    def __init__(self, figure: str, ranks, points: int):
        self.figure, self.figures, self.ranks = figure, (figure,), tuple(float(r) for r in ranks)
        if not self.ranks or not all(0 <= r <= 1 for r in self.ranks):
            raise problem(f"quantiles of {figure}: want ranks from 0 to 1")
        self.exact = points <= EXACT

    def of(self, start: int, arrays, chosen) -> Any:
        """All values, or (counts of negatives, zeros, positives; least; most)."""
        import numpy as np

        from .figures import numeric

        values = numeric(self.figure, arrays[self.figure]).ravel()
        good = values == values
        good = good if chosen is None else good & chosen
        values = values if good.all() else values[good]
        if self.exact:
            return values.copy()
        counts = np.zeros(2 * _BINS + 1, np.int64)
        if not values.size:
            return counts, math.inf, -math.inf
        least, most = float(values.min()), float(values.max())
        if least > 0:
            counts[_BINS + 1 :] = _binned(values)
        else:
            counts[:_BINS] = _binned(-values[values < 0])[::-1]
            counts[_BINS] = np.count_nonzero(values == 0)
            counts[_BINS + 1 :] = _binned(values[values > 0])
        return counts, least, most

    def join(self, a, b):
        """The values of both, or the sum of the counts."""
        import numpy as np

        if self.exact:
            return np.concatenate([a, b])
        return a[0] + b[0], min(a[1], b[1]), max(a[2], b[2])

    def result(self, state) -> list[float]:
        """The quantiles: exact ones as NumPy's linear interpolation; NaN where there are no values."""
        import numpy as np

        if self.exact:
            return [float(v) for v in np.quantile(state, self.ranks)] if state.size else [math.nan] * len(self.ranks)
        counts, least, most = state
        total = np.cumsum(counts)
        if not total[-1]:
            return [math.nan] * len(self.ranks)
        found = (int(np.searchsorted(total, math.floor(r * (total[-1] - 1)), side="right")) for r in self.ranks)
        return [min(most, max(least, _middle(i))) for i in found]


def _binned(values):
    """Counts of positive values by bin."""
    import numpy as np

    places = np.log(values)
    places /= _BASE
    np.floor(places, out=places)
    return np.bincount(np.clip(places, _LOW, _HIGH).astype(np.int64) - _LOW, minlength=_BINS)


def _middle(i: int) -> float:
    """The value that stands for a bin: within the error of every value in it."""
    if i == _BINS:
        return 0.0
    sign, place = (1, i - _BINS - 1) if i > _BINS else (-1, _BINS - 1 - i)
    low = math.exp((place + _LOW) * _BASE)
    return sign * low * (1 + ERROR)
