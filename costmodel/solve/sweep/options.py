"""The arguments of `costmodel.sweep` beside model and hardware, as type checkers see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Literal, TypedDict


class SweepOptions(TypedDict, total=False):
    """Every argument that a sweep takes by name; lists and arrays are axes, in the order in which they are given."""

    techniques: Any
    engine: Any
    prompt: Any
    output: Any
    context: Any
    batch: Any
    devices: Any
    sets: str | Sequence[str]
    axes: Mapping[str, Any] | None
    table: bool
    figures: str | Sequence[str] | None
    executor: Executor | None
    library: Any
    errors: Literal["raise", "nan"]
    best: str | Sequence[str]
    top: int
    pareto: Sequence[str]
    quantiles: Mapping[str, Sequence[float]] | None
    histogram: Mapping[str, Any] | None
    where: str | Sequence[str]
    out: Any
    force: bool
    keep: bool | None
    progress: Callable[[int, int], object] | None
    block_bytes: int
    in_flight: int | None
