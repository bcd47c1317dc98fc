"""A sweep's blocks, one after the other or on an executor, with a bounded number in flight; results come in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator

from ...language.problem import SpecError
from .blocks import Done, Plan, places_of, run
from .program import figures_at


def finished(plan: Plan, executor=None, in_flight: int | None = None, into: dict | None = None) -> Iterator[Done]:
    """Every block's result, in order, holes filled. `executor`: any of `concurrent.futures`; at most `in_flight` blocks wait.

    `into` are flat arrays of all points, which are filled.

    Raises :class:`SpecError` for a point that `predict` refuses, unless the sweep leaves those blank.
    """
    for done in _serial(plan, into) if executor is None else _sent(plan, executor, in_flight):
        filled = done if done.holes is None else _filled(plan, done)
        if into is not None and executor is not None:
            for name, values in into.items():
                _part(values, filled.block)[...] = filled.arrays[name]  # type: ignore[index]
        yield filled


def _serial(plan: Plan, into: dict | None) -> Iterator[Done]:
    for task in plan.tasks():
        yield run(task, None if into is None else {n: _part(a, task.block) for n, a in into.items()})


def _part(values, block):
    """A block's part of a flat array of all points, in the block's shape."""
    return values[block.start : block.start + block.size].reshape(block.shape)


def _sent(plan: Plan, executor, in_flight: int | None) -> Iterator[Done]:
    most = in_flight or 2 * (getattr(executor, "_max_workers", None) or os.cpu_count() or 1)
    waiting: deque = deque()
    tasks = plan.tasks()
    try:
        for task in tasks:
            waiting.append(executor.submit(run, task))
            if len(waiting) >= most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _filled(plan: Plan, done: Done) -> Done:
    """The block with every hole predicted by itself. Raises what `predict` raises, unless refused points are left blank."""
    import numpy as np

    arrays = done.arrays
    assert arrays is not None
    flat = {n: a.reshape(-1) for n, a in arrays.items()}
    for i in np.flatnonzero(done.holes):
        error, values = _at(plan, done.block.start + int(i))
        if error is not None and plan.cells.refuse:
            raise error
        for name, array in flat.items():
            array[i] = plan.blank(name) if error is not None else values[name]
    states = plan.reductions.of(done.block.start, arrays)
    return Done(done.block, arrays if plan.keep else None, states, None)


def _at(plan: Plan, point: int, names: tuple[str, ...] = ()) -> tuple[SpecError | None, dict[str, float]]:
    """What `predict` says at a point: the error, or the figures (`names`, else those of the sweep)."""
    cells, places = plan.cells, places_of(plan, point)
    names = names or cells.figures
    for axis in cells.axes:
        if places[axis.name] in axis.bad:
            return axis.bad[places[axis.name]], {}
    compiled = tuple(plan.code(k, places[a.name]) for k, a in enumerate(cells.compiled))
    workload = [int(cells.by_name[v].numbers[places[v]]) if isinstance(v, str) else v for v in cells.workload()]
    try:
        runnable = cells.closed(compiled, {n: places[n] for n in cells.open})
        return None, dict(zip(names, figures_at(runnable, workload, names), strict=True))
    except SpecError as error:
        return error, {}
