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
from .scores import figures, passes, result

PULL = 0.25
"""Residual of a coefficient that moves by its whole range: one row counts as much as a move of a few percent."""
SOFT = 0.1
"""Error beyond which a row counts linearly instead of squared."""


class Point(NamedTuple):
    """One measured figure, its compiled case and the coefficients that it depends on."""

    m: Measurement
    phase: str
    measured: float
    run: Any
    runnable: Any
    labels: tuple[str, ...]


class Points(list):
    """The points of a fit; `coefficients` maps each label to (path in the engine document, coefficient), `skipped` are reasons."""

    def __init__(self):
        super().__init__()
        self.coefficients: dict[str, tuple] = {}
        self.skipped: list[str] = []


def points_of(library: Library, rows: Iterable[Measurement], engine: str | None = None, columns: bool = False, usable=None) -> Points:
    """Compile every measured run with its coefficients left free. `usable(m, run, phase)` chooses what is fitted."""
    points, built = Points(), {}
    for m in rows:
        try:
            run = run_of(library, m, engine, columns)
            case = run.case
            key = (case.model.files, case.hardware.files, case.engine, case.techniques, case.devices, case.sets)
            if key not in built:
                free: dict = {}
                built[key] = build(case, library, free), free
        except SpecError as error:
            points.skipped.append(error.problems[0].message)
            continue
        runnable, free = built[key]
        points.coefficients |= {f"{run.engine}:{label}": found for label, found in free.items()}
        for phase, value in figures(m).items():
            if usable is None or usable(m, run, phase):
                points.append(Point(m, phase, value, run, runnable, tuple(free)))
    return points


def rates_of(point: Point, values: dict[str, float]) -> tuple:
    """The step's coefficients when the engine's have these values."""
    mine = {label: values[f"{point.run.engine}:{label}"] for label in point.labels if f"{point.run.engine}:{label}" in values}
    return point.runnable.coefs(point.runnable.meta["rates"] | mine)


def predicted(point: Point, values: dict[str, float]) -> float:
    """Tokens per second of a point when the coefficients have these values."""
    tokens, floor, seconds = passes(point.runnable, point.m, point.phase, rates_of(point, values))
    return tokens / max(seconds, floor)


def scored_with(points: Iterable[Point], values: dict[str, float], **more) -> list[dict]:
    """Result rows (see :func:`~.scores.result`) of points under other coefficients."""
    rows = []
    for point in points:
        row = result(point.m, point.run, point.runnable, point.phase, point.measured)
        scale = predicted(point, values) / row["expected"]
        row |= {k: row[k] * scale for k in ("expected", "low")} | {"high": min(row["high"] * scale, row["ceiling"])} | more
        rows.append(row)
    return rows


def above_floor(point: Point) -> bool:
    """Whether a figure beats what no engine can: then its facts are wrong, and it is not fitted."""
    tokens, floor, _ = passes(point.runnable, point.m, point.phase)
    return point.measured > 1.02 * tokens / floor


def fit(points: list[Point], coefficients: dict[str, tuple], start: dict[str, float] | None = None) -> dict[str, float]:
    """Values of the coefficients that explain the points best. Raises SpecError without SciPy."""
    try:
        import numpy as np
        from scipy.optimize import least_squares
    except ImportError:
        raise problem("fitting needs SciPy", help="pip install 'costmodel[fit]'") from None
    points = [p for p in points if not above_floor(p)]
    used = sorted({f"{p.run.engine}:{label}" for p in points for label in p.labels})
    if not used:
        raise problem("nothing to fit: no measurement runs on an engine with free coefficients")
    index = {label: i for i, label in enumerate(used)}
    found = [coefficients[label][1] for label in used]
    low, high = (np.array([getattr(c, side) for c in found], float) for side in ("low", "high"))
    prior = np.array([(start or {}).get(label, c.value) for label, c in zip(used, found, strict=True)], float)
    members = Counter((p.m.hw_family or p.m.hardware, p.phase) for p in points)
    weights = np.array([members[p.m.hw_family or p.m.hardware, p.phase] ** -0.5 for p in points])
    weights *= len(points) / weights.sum()

    def errors(x, which=None) -> Any:
        values = dict(zip(used, x.tolist(), strict=True))
        chosen = points if which is None else [points[i] for i in which]
        return np.array([log(predicted(p, values) / p.measured) for p in chosen])

    rows_of = {
        label: [i for i, p in enumerate(points) if label.partition(":")[2] in p.labels and label.startswith(f"{p.run.engine}:")]
        for label in used
    }
    pull = PULL / (high - low)

    def residuals(x):
        return np.concatenate([errors(x) * weights, (x - prior) * pull])

    def jacobian(x):
        base = errors(x)
        matrix = np.zeros((len(points) + len(used), len(used)))
        for label, j in index.items():
            step = 1e-4 * (high[j] - low[j]) * (1 if x[j] < (low[j] + high[j]) / 2 else -1)
            moved = x.copy()
            moved[j] += step
            which = rows_of[label]
            matrix[which, j] = (errors(moved, which) - base[which]) / step * weights[which]
            matrix[len(points) + j, j] = pull[j]
        return matrix

    inside = np.clip(prior, low + 1e-6 * (high - low), high - 1e-6 * (high - low))
    solved = least_squares(residuals, inside, jacobian, bounds=(low, high), loss="soft_l1", f_scale=SOFT, max_nfev=30, ftol=1e-5, xtol=1e-5)
    return dict(zip(used, solved.x.tolist(), strict=True))


def left_out(points: Points, family, start=None, only=None) -> list[dict]:
    """Result rows of every point, predicted by coefficients fitted without its family; `family(point)` names it."""
    rows = []
    for name in sorted({family(p) for p in points}):
        test = [p for p in points if family(p) == name]
        if only is not None:
            test = [p for p in test if only(p)]
        if not test:
            continue
        classes = {p.run.engine for p in test}
        rest = [p for p in points if family(p) != name and p.run.engine in classes]
        values = {label: c.value for label, (_, c) in points.coefficients.items()}
        if rest:
            values |= fit(rest, points.coefficients, start)
        rows += scored_with(test, values)
    return rows
