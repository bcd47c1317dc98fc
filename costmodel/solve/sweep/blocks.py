"""A mesh or table in blocks of bounded memory, each of which is a run of points in the order of the axes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

from ...language.problem import SpecError
from .axes import Axis
from .cells import Cells
from .figures import blank, empty
from .program import Piece, evaluate
from .reduce import Reductions
from .traces import codes_of

BLOCK_BYTES = 64 * 2**20
"""Bytes of the figures of one block, about."""


class Block(NamedTuple):
    """Points `start` to `start + size`; `ranges` are (first, end) along each axis of a mesh, or of a table's rows."""

    start: int
    size: int
    ranges: tuple[tuple[int, int], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis."""
        return tuple(end - first for first, end in self.ranges)


class Task(NamedTuple):
    """A block's work, as plain data; `keep`: the arrays are wanted, not only what reductions make of them."""

    block: Block
    figures: tuple[str, ...]
    pieces: list[Piece]
    reductions: Reductions
    keep: bool


class Done(NamedTuple):
    """What a task gives: arrays by figure (None unless kept), the states of reductions, and holes where there are any."""

    block: Block
    arrays: dict[str, Any] | None
    states: list | None
    holes: Any


def blocks_of(shape: tuple[int, ...], most: int) -> Iterator[Block]:
    """Blocks of at most `most` points: one place on the first axes, a stretch of the next, all of the rest."""
    depth, tail = len(shape), 1
    while depth and tail * shape[depth - 1] <= most:
        depth -= 1
        tail *= shape[depth]
    whole = tuple((0, n) for n in shape[depth:])
    if not depth:
        yield Block(0, tail, whole)
        return
    length, step = shape[depth - 1], max(1, most // tail)
    for count, places in enumerate(product(*(range(n) for n in shape[: depth - 1]))):
        for first in range(0, length, step):
            end = min(first + step, length)
            ranges = (*((i, i + 1) for i in places), (first, end), *whole)
            yield Block((count * length + first) * tail, (end - first) * tail, ranges)


def run(task: Task, into: dict[str, Any] | None = None) -> Done:
    """Evaluate a block (`into` arrays of its shape, or new ones); reductions too, unless there are holes, which the caller fills."""
    import numpy as np

    out = {n: empty(n, task.block.shape) for n in task.figures} if into is None else into
    if sum(prod(p.shape) for p in task.pieces) < task.block.size:
        for name, values in out.items():
            values.fill(blank(name))
    holes = np.zeros(task.block.shape, bool)
    for piece in task.pieces:
        evaluate(piece, out, holes)
    if holes.any():
        return Done(task.block, out, None, holes)
    states = task.reductions.of(task.block.start, out)
    return Done(task.block, out if task.keep else None, states, None)


class Plan:
    """Tasks of a sweep over its cells."""

    def __init__(self, cells: Cells, shape: tuple[int, ...], reductions: Reductions, keep: bool, block_bytes: int = BLOCK_BYTES):
        self.cells, self.shape, self.reductions, self.keep = cells, shape, reductions, keep
        self.points = prod(shape)
        self.most = max(1024, block_bytes // (8 * max(1, len(cells.figures) + len(cells.axes))))
        self.codes = [codes_of(a) for a in cells.compiled] if cells.table else []

    def code(self, k: int, place: int) -> int:
        """The place of a compiled axis that stands for one of a point."""
        return int(self.codes[k][place]) if self.cells.table else place

    def blank(self, name: str) -> float:
        """What stands where there is no value."""
        return blank(name)

    def blocks(self) -> list[Block] | Iterator[Block]:
        """The blocks, in order."""
        return blocks_of(self.shape, self.most)

    def tasks(self) -> Iterator[Task]:
        """The tasks, made one after the other. Raises :class:`SpecError` for a case that is refused, unless these are left blank."""
        for block in self.blocks():
            pieces = list(self._rows(block) if self.cells.table else self._mesh(block))
            yield Task(block, self.cells.figures, pieces, self.reductions, self.keep)

    def _cell(self, places: tuple[int, ...]):
        try:
            return self.cells.cell(places)
        except SpecError:
            if self.cells.refuse:
                raise
            return None

    def _mesh(self, block: Block) -> Iterator[Piece]:
        axes, compiled = self.cells.axes, self.cells.compiled
        spans = dict(zip((a.name for a in axes), block.ranges, strict=True))
        for places in product(*(range(*spans[a.name]) for a in compiled)):
            cell = self._cell(places)
            if cell is None:
                continue
            fixed = {a.name: i for a, i in zip(compiled, places, strict=True)}
            place = tuple(
                slice(fixed[a.name] - first, fixed[a.name] - first + 1) if a.name in fixed else slice(0, end - first)
                for a, (first, end) in zip(axes, block.ranges, strict=True)
            )
            shape = tuple(s.stop - s.start for s in place)
            yield self._piece(cell, place, shape, lambda name, values: self._along(name, values[slice(*spans[name])]))

    def _along(self, name: str, values):
        """Values shaped to broadcast along their axis."""
        return values.reshape([-1 if a.name == name else 1 for a in self.cells.axes])

    def _rows(self, block: Block) -> Iterator[Piece]:
        import numpy as np

        first, end = block.ranges[0]
        if not self.codes:
            yield self._piece(self._cell(()), (slice(0, end - first),), (end - first,), lambda _, v: v[first:end])
            return
        codes = np.stack([c[first:end] for c in self.codes], 1)
        kinds, which = np.unique(codes, axis=0, return_inverse=True)
        for k, places in enumerate(kinds):
            cell = self._cell(tuple(map(int, places)))
            rows = np.flatnonzero(which.ravel() == k)
            if cell is not None:
                yield self._piece(cell, rows, (len(rows),), lambda _, v, rows=rows: v[first:end][rows])

    def _piece(self, cell, place, shape, cut) -> Piece:
        """A cell's program with the values of its axes, `cut` to the block."""
        import numpy as np

        invalid, values = None, {}
        for axis in self.cells.arrays:
            numbers = axis.numbers
            if axis.bad:
                wrong = np.zeros(len(axis), bool)
                wrong[list(axis.bad)] = True
                numbers = np.where(wrong, numbers[~wrong][0] if not wrong.all() else 1.0, numbers)
                here = cut(axis.name, wrong)
                invalid = here if invalid is None else invalid | here
            values[axis.name] = cut(axis.name, numbers)
        values |= {part: cut(name, numbers) for part, (name, numbers) in cell.parts.items()}
        return Piece(cell.program, values, cell.feeds, shape, place, invalid)


def places_of(plan: Plan, flat: int) -> dict[str, int]:
    """The place along every axis of a point."""
    axes: list[Axis] = plan.cells.axes
    if plan.cells.table:
        return {a.name: flat for a in axes}
    found: dict[str, int] = {}
    for axis, size in reversed(list(zip(axes, plan.shape, strict=True))):
        flat, found[axis.name] = divmod(flat, size)
    return dict(reversed(found.items()))
