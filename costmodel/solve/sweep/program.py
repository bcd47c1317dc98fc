"""What evaluates a piece of a sweep: emitted NumPy, or predictions one by one. Plain data, which any executor can send."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from ...language.problem import SpecError
from ..prediction import Prediction
from .figures import blank, empty, scalar

TILE = 1 << 14
"""Points that are computed at a time: few enough that what is between stays in a core's cache."""
WORKLOAD = ("prompt", "output", "context", "batch")
_FAULTS = (ArithmeticError, ValueError)


class Program(NamedTuple):
    """A compiled case. `arrays` and `scalars` are figures by emitted NumPy (`source`) and by `closed` predictions."""

    source: str | None
    inputs: tuple[str, ...]
    arrays: tuple[str, ...]
    sound: bool
    """Whether the source returns, last, where `predict` would accept the inputs."""
    closed: str | None
    scalars: tuple[str, ...]
    workload: tuple
    """Prompt, output, context and batch: a number, or the name of the axis."""


class Piece(NamedTuple):
    """A program on part of a block: `values` by axis are arrays that broadcast to `shape`, `place` is where results go."""

    program: Program
    values: dict[str, Any]
    """By axis: arrays, shaped to broadcast."""
    feeds: dict[str, str]
    """Input of the source → axis, or the part of an axis (`hw.memory.vram.capacity/usable`)."""
    shape: tuple[int, ...]
    place: Any
    invalid: Any = None
    """Where a value of an axis is refused."""


@lru_cache(maxsize=256)
def _function(source: str):
    from ...compile.graph.text import numpy_function

    return numpy_function(source)


@lru_cache(maxsize=256)
def _runnable(text: str):
    from ...compile.runnable import Runnable

    return Runnable(text)


def evaluate(piece: Piece, out: dict[str, Any], holes) -> None:
    """Fill the arrays of a block with a piece's figures; `holes` marks points to be predicted one by one in their place."""
    if piece.program.arrays:
        _by_arrays(piece, {n: out[n][piece.place] for n in piece.program.arrays}, out, holes)
    if piece.program.scalars:
        _by_points(piece, out, holes)
    if piece.invalid is not None:
        _set_holes(holes, piece.place, piece.invalid)


def _set_holes(holes, place, where) -> None:
    import numpy as np

    holes[place] |= np.broadcast_to(where, holes[place].shape)


def _by_arrays(piece: Piece, views: dict[str, Any], out: dict[str, Any], holes) -> None:
    import numpy as np

    program = piece.program
    function = _function(program.source)
    given = [piece.values[piece.feeds[name]] for name in program.inputs]
    copied = isinstance(piece.place, np.ndarray)
    marks = np.zeros(piece.shape, bool)
    for tile in tiles(piece.shape):
        found, bad = _computed(function, [_cut(a, tile) for a in given], marks[tile].shape)
        if bad is not None:
            marks[tile] |= bad
        if program.sound and found:
            marks[tile] |= ~np.asarray(found[-1], bool)
        for name, value in zip(program.arrays, found, strict=False):
            views[name][tile] = value
    if copied:
        for name in program.arrays:
            out[name][piece.place] = views[name]
    if marks.any():
        _set_holes(holes, piece.place, marks)


def _computed(function, parts: list, shape: tuple) -> tuple[tuple, Any]:
    """What a source returns, and where a value is not finite (None: nowhere); nothing and everywhere where it has no value."""
    import numpy as np

    try:
        with np.errstate(divide="raise", invalid="raise", over="raise", under="ignore"):
            return function(*parts), None
    except _FAULTS:
        pass
    try:
        with np.errstate(all="ignore"):
            found = function(*parts)
    except _FAULTS:
        return (), np.ones(shape, bool)
    finite = np.logical_and.reduce([np.broadcast_to(np.isfinite(v), shape) for v in found])
    return tuple(np.where(np.isfinite(v), v, -1) for v in found), ~finite


def _cut(array, tile: tuple):
    """The part of an array that broadcasts which falls into a tile."""
    return array[tuple(s if n > 1 else slice(None) for n, s in zip(array.shape, tile, strict=True))]


def tiles(shape: tuple[int, ...], most: int = 0):
    """Slices that cover a mesh in pieces of at most `most` points, long along the last axis and even along the others."""
    sizes, left = [1] * len(shape), most or TILE
    others = sorted(range(len(shape) - 1), key=lambda k: shape[k])
    if shape:
        sizes[-1] = min(shape[-1], left, 512 if others else left)
        left //= sizes[-1]
    for n, k in enumerate(others):
        sizes[k] = max(1, min(shape[k], int(left ** (1 / (len(others) - n)) + 1e-9)))
        left //= sizes[k]
    yield from _product(shape, sizes)


def _product(shape, sizes, done: tuple = ()):
    k = len(done)
    if k == len(shape):
        yield done
        return
    for start in range(0, shape[k], sizes[k]):
        yield from _product(shape, sizes, (*done, slice(start, min(start + sizes[k], shape[k]))))


def _by_points(piece: Piece, out: dict[str, Any], holes) -> None:
    """Figures of a piece by predictions, one point after the other; where `predict` refuses one, a hole."""
    import numpy as np

    program = piece.program
    runnable = _runnable(program.closed)
    shape = piece.shape
    axes = [np.broadcast_to(piece.values[v], shape).ravel() if isinstance(v, str) else None for v in program.workload]
    skip = None if piece.invalid is None else np.broadcast_to(piece.invalid, shape).ravel()
    count = int(np.prod(shape))
    found = {n: empty(n, count) for n in program.scalars}
    for name, values in found.items():
        values.fill(blank(name))
    refused = np.zeros(count, bool)
    for i in range(count):
        if skip is not None and skip[i]:
            continue
        workload = [int(a[i]) if a is not None else v for a, v in zip(axes, program.workload, strict=True)]
        try:
            values = figures_at(runnable, workload, program.scalars)
        except SpecError:
            refused[i] = True
            continue
        for name, value in zip(program.scalars, values, strict=True):
            found[name][i] = value
    for name, values in found.items():
        out[name][piece.place] = values.reshape(shape)
    if refused.any():
        _set_holes(holes, piece.place, refused.reshape(shape))


def figures_at(runnable, workload, names) -> list[float]:
    """Figures of one point. Raises :class:`SpecError` as `predict` does."""
    p = Prediction(runnable, *workload)
    return [scalar(p, name) for name in names]
