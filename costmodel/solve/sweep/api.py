"""`costmodel.sweep`: reads the arguments, runs the blocks, and gathers what is kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import prod
from typing import Any, Unpack, cast

from ...api import _count
from ...language.problem import Mark, Source, problem, suggest
from .arguments import check_running, mapping, numbers, texts
from .axes import CASES, COUNTS, Axis, axis, label, techniques_of
from .blocks import BLOCK_BYTES, Plan, places_of
from .cells import Cells
from .conditions import Goal, condition, goal
from .figures import DEFAULT, check_figures, check_number, need_numpy
from .front import Front
from .options import SweepOptions
from .quantiles import Quantiles
from .reduce import Best, Counts, Histogram, Reductions
from .result import Sweep
from .run import _at, finished
from .write import columns_of, writer

MOST_KEPT = 4 * 2**30
"""Bytes of arrays that a sweep keeps in memory."""
_BASE = {"techniques": (), "engine": None, "prompt": 1024, "output": 256, "context": None, "batch": 1, "devices": 1, "sets": ()}
_OPTIONS = {
    **{"axes": None, "table": False, "figures": None, "executor": None, "library": None, "errors": "raise"},
    **{"best": (), "top": 1, "pareto": (), "quantiles": None, "histogram": None, "where": ()},
    **{"out": None, "force": False, "keep": None, "progress": None, "block_bytes": BLOCK_BYTES, "in_flight": None},
}


def sweep(model: Any, hardware: Any, **options: Unpack[SweepOptions]) -> Sweep:
    """Predict over a mesh (or, with `table=True`, a table) of values: every list or array is an axis, in the order given.

    `model`, `hardware`, `engine`, `devices`, `prompt`, `output`, `context`, `batch` as for `predict`, or lists of them;
    `techniques` as for `predict`, or a list of such tuples; `axes` maps further paths (as for `--set`, such as
    `hw.memory.dram.bandwidth`) to numbers in base units or texts; `sets`, `library` as for `predict`.

    `figures` are paths of a prediction's figures, by default :data:`DEFAULT`. `errors="nan"` leaves refused points blank.
    `executor` is any of `concurrent.futures`; at most `in_flight` blocks of about `block_bytes` are with it at once.

    `best` names goals (`"tps.expected"`, `"min:ttft_s.expected"`), of which the `top` points are found; `pareto` two or more;
    `quantiles` maps figures to ranks, `histogram` to edges; `where` are conditions (`"memory.fits"`, `"tps.expected>=20"`)
    on the points that these take. `out` writes the points (that meet `where`) to a file; `force` replaces one. With any of
    these, arrays are kept only with `keep=True`. `progress` is called with (points done, points).

    Raises :class:`costmodel.SpecError` for bad input, and for points that `predict` refuses.
    """
    need_numpy()
    return _swept(model, hardware, _checked(cast("dict", options)))


def _swept(model, hardware, options: dict) -> Sweep:
    """A sweep whose arguments are all there."""
    axes, base = read_axes(model, hardware, options)
    shape = _shape(axes, options["table"])
    if options["errors"] == "raise":
        for one in axes:
            for place in sorted(one.bad)[:1]:
                raise one.bad[place]
    return _run(axes, base, shape, options)


def _checked(options: dict) -> dict:
    for name in options:
        if name not in _BASE and name not in _OPTIONS:
            raise problem(f"sweep has no argument `{name}`", Mark(Source("sweep", name), 1, 1), suggest(name, [*_BASE, *_OPTIONS]))
    options = options | {k: v for k, v in _OPTIONS.items() if k not in options}
    check_running(options)
    if options["errors"] not in ("raise", "nan"):
        raise problem(f"errors: want `raise` or `nan`, got {options['errors']!r}")
    return options


def read_axes(model, hardware, options: dict) -> tuple[list[Axis], dict]:
    """The axes in the order given, and the fields that hold where none says otherwise. Raises :class:`SpecError`."""
    base: dict[str, Any] = {"model": None, "hardware": None, **_BASE}
    axes: list[Axis] = []
    for name, value in {"model": model, "hardware": hardware, **options}.items():
        if name == "axes":
            read = isinstance(value, list) and all(isinstance(v, Axis) for v in value)
            axes += value if read else [axis(n, v) for n, v in mapping("axes", value, "paths to lists or arrays").items()]
        elif name in COUNTS or name in CASES:
            if _is_axis(name, value):
                axes.append(axis(name, value))
            else:
                base[name] = _single(name, value)
        elif name == "sets":
            base[name] = texts(name, value)
    names = [a.name for a in axes]
    for name in names:
        if names.count(name) > 1:
            raise problem(f"axis `{name}` is given twice")
    given = {"model": model, "hardware": hardware, **options}
    for name in names:
        if given.get(name) is not None and not _is_axis(name, given[name]):
            raise problem(f"`{name}` is given twice: as an axis, and as {given[name]!r:.60}")
    for name in ("model", "hardware"):
        if base.get(name) is None and name not in names:
            raise problem(f"no {name} is given")
    return axes, base


def _is_axis(name: str, value) -> bool:
    if name == "techniques":
        return isinstance(value, (list, tuple)) and any(v is None or isinstance(v, (list, tuple)) for v in value)
    if hasattr(value, "__array__"):
        return bool(getattr(value, "ndim", 1))
    return not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")


def _single(name: str, value):
    if name == "techniques":
        return texts(name, value)
    if name == "devices":
        return axis("devices", [value]).values[0]
    if name in COUNTS and not (name == "context" and value is None):
        return _count(name, value, COUNTS[name])
    return value


def _shape(axes: list[Axis], table: bool) -> tuple[int, ...]:
    if not table:
        return tuple(len(a) for a in axes)
    sizes = {len(a) for a in axes}
    if len(sizes) != 1:
        told = ", ".join(f"{a.name} {len(a)}" for a in axes)
        raise problem(f"a table's axes are as long as each other: {told or 'none is given'}")
    return tuple(sizes)


def _reductions(options: dict, points: int) -> tuple[Reductions, dict[str, list]]:
    """All reductions, and which are which."""
    top = _count("top", options["top"], 1, 1000)
    goals = tuple(goal(t, "pareto") for t in texts("pareto", options["pareto"]))
    if goals and len({g.figure for g in goals}) < max(2, len(goals)):
        raise problem("a Pareto front compares at least two figures, each once")
    kinds: dict[str, list] = {
        "best": [Best(goal(t), top) for t in texts("best", options["best"])],
        "pareto": [Front(goals)] if goals else [],
        "quantiles": [Quantiles(*_ranked(n, r), points) for n, r in mapping("quantiles", options["quantiles"], "figures to ranks").items()],
        "histograms": [_edged(n, e) for n, e in mapping("histogram", options["histogram"], "figures to edges").items()],
    }
    where = tuple(condition(t) for t in texts("where", options["where"]))
    return Reductions(where, tuple(i for found in kinds.values() for i in found)), kinds


def _ranked(name: str, ranks) -> tuple[str, Any]:
    found = check_number(name, "quantiles")
    return found, numbers(f"quantiles of {found}", ranks)


def _edged(name: str, edges) -> Histogram:
    found = check_number(name, "histogram")
    return Histogram(found, numbers(f"histogram of {found}", edges))


def _run(axes: list[Axis], base: dict, shape: tuple[int, ...], options: dict) -> Sweep:
    from ...library import shared

    points = prod(shape)
    reductions, kinds = _reductions(options, points)
    wanted = check_figures(texts("figures", options["figures"]) or DEFAULT)
    reduced = bool(reductions.items or options["out"])
    keep = not reduced if options["keep"] is None else bool(options["keep"])
    computed = tuple(dict.fromkeys([*(wanted if keep or options["out"] or options["figures"] else ()), *reductions.figures])) or wanted
    if keep and points * 8 * len(computed) > MOST_KEPT:
        help = "ask for what you need of them (best, pareto, quantiles, out), or vary less"
        raise problem(f"{points:,} points of {len(computed)} figures are more than {MOST_KEPT >> 30} GiB of arrays", help=help)
    reductions = reductions._replace(items=(*reductions.items, Counts(computed[:1])))
    cells = Cells(base, axes, computed, options["library"] or shared(), options["table"], options["errors"] == "raise")
    plan = Plan(cells, shape, reductions, keep or bool(options["out"]), options["block_bytes"])
    result = Sweep({a.name: a.labels for a in axes}, shape, computed, options["table"], _later(axes, base, shape, options, keep))
    names = {a.name for a in axes}
    result.base = {n: label(n, v) if n in CASES else v for n, v in base.items() if n not in names}
    result.points, result.reductions, result.reduced = points, reductions, reduced
    states = _stream(plan, result, options, keep)
    _gather(plan, result, kinds, states, wanted)
    return result


def _later(axes, base, shape, options, keep: bool) -> Callable:
    """Computes figures when they are first read."""

    def more(names: tuple[str, ...]) -> dict[str, Any]:
        if not keep:
            raise problem(f"the sweep kept no arrays of `{names[0]}`", help="give keep=True")
        asked = options | {"figures": names, "best": (), "pareto": (), "quantiles": None, "histogram": None, "where": (), "out": None}
        return _run(axes, base, shape, asked | {"keep": True, "progress": None})._arrays

    return more


def _stream(plan: Plan, result: Sweep, options: dict, keep: bool) -> list:
    """Run all blocks: fill the result's arrays, write the file, join the states of reductions."""
    from .figures import empty

    out = writer(options["out"], options["force"], plan.points) if options["out"] is not None else None
    names = result.figures
    if out is not None:
        out.coded = tuple(a.name for a in plan.cells.axes)
    if keep:
        result._arrays = {n: empty(n, plan.points) for n in names}
    states, seen = None, 0
    try:
        for done in finished(plan, options["executor"], options["in_flight"], result._arrays if keep else None):
            start, end = done.block.start, done.block.start + done.block.size
            if out is not None:
                out.add(_met(plan, columns_of(plan.cells.axes, _places(plan, start, end), done.arrays or {}), done))
            states = plan.reductions.join(states, done.states or [])
            seen = end
            if options["progress"]:
                options["progress"](seen, plan.points)
    except BaseException as error:
        if out is not None:
            with suppress(OSError):
                out.stop()
            if not out.written and not isinstance(error, KeyboardInterrupt):
                out.discard()
            else:
                looked = f" (the first {seen:,} were looked at)" if plan.reductions.where else ""
                error.add_note(f"{out.written:,} of {plan.points:,} points are in {out.partial}{looked}")
        raise
    if keep:
        result._arrays = {n: a.reshape(plan.shape) for n, a in result._arrays.items()}
    if out is not None:
        out.close()
        result.file = str(out.target)
    return states or []


def _met(plan: Plan, columns: dict, done) -> dict:
    """The rows that meet the conditions."""
    chosen = plan.reductions.chosen(done.arrays)
    if chosen is None or chosen.all():
        return columns
    return {n: (c[0][chosen], c[1]) if isinstance(c, tuple) else c[chosen] for n, c in columns.items()}


def _places(plan: Plan, start: int, end: int) -> dict:
    """The place along every axis of a run of points."""
    import numpy as np

    flat = np.arange(start, end)
    axes = plan.cells.axes
    if plan.cells.table:
        return {a.name: flat for a in axes}
    return dict(zip((a.name for a in axes), np.unravel_index(flat, plan.shape), strict=True)) if axes else {}


def _gather(plan: Plan, result: Sweep, kinds: dict[str, list], states: list, wanted: tuple[str, ...]) -> None:
    """The states of reductions as results."""
    found = dict(zip(map(id, plan.reductions.items), states, strict=True))
    _, result.missing, result.chosen = map(int, states[-1])
    names = tuple(dict.fromkeys([*plan.cells.figures, *wanted]))
    goals = {item.goal for item in kinds["best"]}
    for item in kinds["best"]:
        name = item.goal.text if item.goal._replace(least=not item.goal.least) in goals else item.goal.figure
        result.best[name] = [_record(plan, int(at), names) for at in found[id(item)][1]]
    for item in kinds["pareto"]:
        result.front = tuple(g.figure for g in item.goals)
        result.pareto = [
            _front_record(plan, item.goals, s, int(at)) for s, at in zip(found[id(item)][0].T, found[id(item)][1], strict=True)
        ]
    for item in kinds["quantiles"]:
        result.quantiles[item.figure] = dict(zip(item.ranks, item.result(found[id(item)]), strict=True))
        result.exact_quantiles = item.exact
    for item in kinds["histograms"]:
        low, *counts, high = found[id(item)].tolist()
        result.histograms[item.figure] = {"edges": item.edges.tolist(), "counts": counts, "below": low, "above": high}


def _values(plan: Plan, point: int) -> dict[str, Any]:
    """The values of the axes at a point, as plain data."""
    places = places_of(plan, point)
    found = {a.name: a.labels[places[a.name]] for a in plan.cells.axes}
    return {n: v.item() if hasattr(v, "item") else v for n, v in found.items()}


def _record(plan: Plan, point: int, names: tuple[str, ...]) -> dict[str, Any]:
    """A point's axes and figures, predicted again."""
    import numpy as np

    from .figures import shown

    values = _at(plan, point, names)[1]
    figures = {n: shown(n, np.array([int(v) if v == v and n.endswith(("fits", "regime")) else v]))[0].item() for n, v in values.items()}
    return _values(plan, point) | figures


def _front_record(plan: Plan, goals: tuple[Goal, ...], scores, point: int) -> dict[str, Any]:
    found = {g.figure: float(-s if g.least else s) for g, s in zip(goals, scores, strict=True)}
    return _values(plan, point) | {n: v == 1 if n == "memory.fits" else v for n, v in found.items()}


__all__ = ["sweep", "techniques_of"]
