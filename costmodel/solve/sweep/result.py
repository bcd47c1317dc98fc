"""What a sweep gives back: arrays under the names of a prediction's figures, and what reductions found."""

from __future__ import annotations

from typing import Any

from ...language.problem import Mark, Source, problem, suggest
from .figures import NAMES, shown


class Figures:
    """The arrays under one name of a prediction: `result.tps`, with `expected` and others below."""

    def __init__(self, result, prefix: str):
        self._result, self._prefix = result, prefix

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._result._figure(f"{self._prefix}.{name}")

    def __dir__(self):
        return sorted({n[len(self._prefix) + 1 :].split(".")[0] for n in NAMES if n.startswith(self._prefix + ".")})


class Sweep:
    """The points of a sweep, and what was kept of them.

    `axes` maps names to values, `shape` is their lengths (of a table: the number of rows), `figures` are the arrays' names.
    `r["tps.expected"]` and `r.tps.expected` are arrays of that shape; figures that were not asked for are computed when
    they are read, as long as the sweep kept its arrays. `best`, `pareto`, `quantiles` and `histograms` hold what was asked.
    """

    def __init__(self, axes: dict[str, Any], shape: tuple[int, ...], figures: tuple[str, ...], table: bool, more):
        self.axes, self.shape, self.figures, self.table = axes, shape, figures, table
        self._more = more
        self._arrays: dict[str, Any] = {}
        self.points = self.missing = self.chosen = 0
        self.best: dict[str, list[dict]] = {}
        self.pareto: list[dict] = []
        self.quantiles: dict[str, dict[float, float]] = {}
        self.exact_quantiles = True
        self.histograms: dict[str, dict] = {}
        self.file: str | None = None
        self.base: dict[str, Any] = {}
        self.reduced = False
        self.front: tuple[str, ...] = ()
        self.reductions: Any = None

    def __getitem__(self, name: str):
        if name not in NAMES:
            raise problem(f"no figure `{name}`", Mark(Source("sweep", str(name)), 1, 1), suggest(str(name), NAMES))
        return shown(name, self._array(name))

    def _array(self, name: str):
        """A figure as arrays keep it, computed where it was not asked for."""
        if name not in self._arrays:
            self._arrays |= self._more((name,))
        return self._arrays[name]

    def _figure(self, name: str):
        if name in NAMES:
            return self[name]
        if any(n.startswith(name + ".") for n in NAMES):
            return Figures(self, name)
        raise AttributeError(f"no figure `{name}`; {suggest(name, NAMES)}")

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._figure(name)

    def __dir__(self):
        return sorted({*super().__dir__(), *(n.split(".")[0] for n in NAMES)})

    def __repr__(self) -> str:
        sizes = " × ".join(f"{n} {len(v)}" for n, v in self.axes.items())
        return f"<Sweep of {self.points:,} points: {sizes or 'one'}{', a table' if self.table else ''}>"

    def columns(self) -> dict[str, Any]:
        """Flat columns of the points that meet `where`: the axes' values, then the figures that were asked for.

        They are what `pandas.DataFrame` takes.
        """
        import numpy as np

        met = self.reductions.chosen({n: self._array(n) for n in self.reductions.figures}) if self.reductions else None
        return {n: c if met is None else np.asarray(c)[met] for n, c in self._columns().items()}

    def _columns(self) -> dict[str, Any]:
        import numpy as np

        if self.table:
            found = {n: np.asarray(v) for n, v in self.axes.items()}
        else:
            grids = np.meshgrid(*(np.arange(len(v)) for v in self.axes.values()), indexing="ij")
            found = {n: np.asarray(v)[g.ravel()] for (n, v), g in zip(self.axes.items(), grids, strict=True)}
        return found | {n: self[n].ravel() for n in self.figures}
