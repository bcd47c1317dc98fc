"""Fitting an engine's coefficients to measurements: bounded, robust, with a weak pull towards the documents' values.

Needs SciPy (extra `fit`). The residual of a row is ln(predicted / measured), so halving and doubling count alike; a soft
L1 loss keeps single wrong rows from steering; rows of a much measured machine weigh less, so that no family dominates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log
from typing import Any, NamedTuple

from ...compile.build import build
from ...importers.measurements import Measurement
from ...language.problem import SpecError, problem
from ...library import Library
from .runs import run_of
from .scores import compile_key, figures, passes, result, span_of

PULL = 1.0
"""Residual of a coefficient that moves by its whole range; one row that is wrong by half has about 0.2."""
SOFT = 0.1
"""Error beyond which a row counts linearly instead of squared."""


class Point(NamedTuple):
    """One measured figure, its compiled case, and the coefficients that it depends on: rate name → key of the fit."""

    m: Measurement
    phase: str
    measured: float
    run: Any
    runnable: Any
    keys: dict[str, str]


Coefficients = dict[str, tuple]
"""Key → (file, path in the document, coefficient). Engines that inherit a coefficient share it."""


class Points(list):
    """The points of a fit, their coefficients, and the reasons of those left out."""

    def __init__(self, points=()):
        super().__init__(points)
        self.coefficients: Coefficients = {}
        self.skipped: list[str] = []


def points_of(library: Library, rows: Iterable[Measurement], engine: str | None = None, columns: bool = False, usable=None) -> Points:
    """Compile every measured run with its coefficients left free. `usable(m, run, phase)` chooses what is kept."""
    points, built = Points(), {}
    for m in rows:
        try:
            run = run_of(library, m, engine, columns)
            key = compile_key(run.case)
            if key not in built:
                free: dict = {}
                built[key] = build(run.case, library, free), free
        except SpecError as error:
            points.skipped.append(error.problems[0].message)
            continue
        runnable, free = built[key]
        keys = {name: f"{file}:{'.'.join(path)}" for name, (file, path, _) in free.items()}
        points.coefficients |= {keys[name]: found for name, found in free.items()}
        for phase, value in figures(m).items():
            if usable is None or usable(m, run, phase):
                points.append(Point(m, phase, value, run, runnable, keys))
    return points


def predicted(point: Point, values: dict[str, float]) -> float:
    """Tokens per second of a point when the coefficients have these values."""
    mine = {name: values[key] for name, key in point.keys.items() if key in values}
    rates = point.runnable.coefs(point.runnable.meta["rates"] | mine)
    tokens, floor, seconds = passes(point.runnable, point.m, point.phase, rates)
    return tokens / max(seconds, floor)


def scored_with(points: Iterable[Point], values: dict[str, float]) -> list[dict]:
    """Result rows (see :func:`~.scores.result`) of points under other coefficients."""
    rows = []
    for point in points:
        row = result(point.m, point.run, point.runnable, point.phase, point.measured)
        low, high = span_of(point.runnable, point.phase)
        expected = predicted(point, values)
        row |= {"expected": expected, "low": expected * low, "high": min(expected * high, row["ceiling"])}
        rows.append(row)
    return rows


def above_floor(point: Point) -> bool:
    """Whether a figure beats what no engine can: then its facts are wrong, and it is not fitted."""
    tokens, floor, _ = passes(point.runnable, point.m, point.phase)
    return point.measured > 1.02 * tokens / floor


def family_of(point: Point) -> str:
    """The hardware family that a point belongs to."""
    return point.m.hw_family or point.m.hardware or ""


def fit(points: list[Point], coefficients: Coefficients, chosen=None) -> dict[str, float]:
    """Values of the coefficients that explain the points best; `chosen(key)` says which may move. Raises SpecError without SciPy.

    In stages, the plainest first: decode of one sequence, prompts, then batches and several devices. What the rows of a
    stage settle stays as it is in the next.
    """
    stages: dict[int, list[Point]] = {0: [], 1: [], 2: []}
    for point in points:
        if not above_floor(point):
            stages[1 if point.phase == "prefill" else 0 if point.run.kind == "single" else 2].append(point)
    values: dict[str, float] = {}
    loose: dict[str, float] = {}
    for rows in stages.values():
        used = sorted({k for p in rows for k in p.keys.values() if k not in values and (chosen is None or chosen(k))})
        if used:
            found, settled = _solved(rows, used, coefficients, values)
            loose |= found
            values |= {key: found[key] for key in settled}
    if not loose:
        raise problem("nothing to fit: no measurement runs on an engine with free coefficients")
    return {key: (loose | values)[key] for key in sorted(loose)}


def _solved(points: list[Point], used: list[str], coefficients: Coefficients, fixed: dict) -> tuple[dict[str, float], list[str]]:
    """Fitted values, and the keys of those that the points say more about than the pull towards the prior does."""
    try:
        from scipy.optimize import least_squares
    except ImportError:
        raise problem("fitting needs SciPy", help="pip install scipy") from None
    task = Task(points, used, [coefficients[key][2] for key in used], fixed)
    solved = least_squares(task.residuals, task.start, task.jacobian, bounds=(task.low, task.high), max_nfev=20, ftol=1e-4, xtol=1e-4)
    weight = (task.jacobian(solved.x)[: len(points)] ** 2).sum(axis=0)
    settled = [key for key, w, pull in zip(used, weight, task.pull, strict=True) if w > pull**2]
    return dict(zip(used, solved.x.tolist(), strict=True)), settled


class Task:
    """Residuals of a fit and their slopes. The soft L1 loss is in the data's residuals, so that the pull stays as stiff as it is."""

    def __init__(self, points: list[Point], used: list[str], found: list, fixed: dict[str, float]):
        import numpy as np

        self.np, self.points, self.used, self.fixed = np, points, used, fixed
        self.low, self.high = (np.array([getattr(c, side) for c in found], float) for side in ("low", "high"))
        self.prior = np.array([c.value if c.prior is None else c.prior for c in found], float)
        reach = self.high - self.low
        self.start = np.clip(self.prior, self.low + 1e-6 * reach, self.high - 1e-6 * reach)
        self.pull = PULL / reach
        members = Counter((family_of(p), p.phase) for p in points)
        weights = np.array([members[family_of(p), p.phase] ** -0.5 for p in points])
        self.weights = weights * len(points) / weights.sum()
        self.rows_of = [[i for i, p in enumerate(points) if key in p.keys.values()] for key in used]

    def errors(self, x, which=None):
        """ln(predicted / measured) of the points."""
        values = self.fixed | dict(zip(self.used, x.tolist(), strict=True))
        chosen = self.points if which is None else [self.points[i] for i in which]
        return self.np.array([log(predicted(p, values) / p.measured) for p in chosen])

    def soft(self, errors, weights):
        """Soft L1 of the errors as residuals to be squared, and the slope of that."""
        np = self.np
        root = np.sqrt(1 + (errors / SOFT) ** 2)
        size = SOFT * np.sqrt(2 * (root - 1))
        slope = np.where(size > 1e-9, np.abs(errors) / np.maximum(size, 1e-9) / root, 1.0)
        return np.sign(errors) * size * weights, slope * weights

    def residuals(self, x):
        """Softened errors, then the pull of each coefficient towards its document."""
        return self.np.concatenate([self.soft(self.errors(x), self.weights)[0], (x - self.prior) * self.pull])

    def jacobian(self, x):
        """Slopes by finite differences, over the rows that a coefficient touches."""
        np, base = self.np, self.errors(x)
        slopes = self.soft(base, self.weights)[1]
        matrix = np.zeros((len(self.points) + len(self.used), len(self.used)))
        for j, which in enumerate(self.rows_of):
            step = 1e-4 * (self.high[j] - self.low[j]) * (1 if x[j] < (self.low[j] + self.high[j]) / 2 else -1)
            moved = x.copy()
            moved[j] += step
            matrix[which, j] = (self.errors(moved, which) - base[which]) / step * slopes[which]
            matrix[len(self.points) + j, j] = self.pull[j]
        return matrix


def left_out(points: Points, chosen=None, family=family_of) -> list[dict]:
    """Result rows of every point, predicted by coefficients fitted without its family."""
    rows = []
    standing = {key: found[2].value for key, found in points.coefficients.items()}
    for name in sorted({family(p) for p in points}):
        test = [p for p in points if family(p) == name]
        keys = {k for p in test for k in p.keys.values()}
        rest = [p for p in points if family(p) != name and keys & set(p.keys.values()) and not above_floor(p)]
        rows += scored_with(test, standing | (fit(rest, points.coefficients, chosen) if rest else {}))
    return rows
