"""JSON form of a sweep (`costmodel/sweep@1`)."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict, final

Setting = bool | int | float | str
"""A value of an axis: a number in base units, or a text."""
Cell = bool | int | float | str | None
"""A value of an axis or figure at a point; null where there is none."""


@final
class SweepHistogram(TypedDict):
    """Of one figure."""

    edges: list[float]
    counts: list[int]
    below: int
    """Points under the first edge."""
    above: int
    """Points over the last edge."""


class SweepData(TypedDict):
    """What `costmodel sweep --format json` prints."""

    schema: Literal["costmodel/sweep@1"]
    base: dict[str, int | str | list[str] | None]
    """What is no axis: model, hardware, techniques, engine, workload, devices, overrides."""
    axes: dict[str, list[Setting]]
    """Values of each axis, in the order of the results' dimensions."""
    table: bool
    """Whether the axes are rows of a table, not the sides of a mesh."""
    points: int
    missing: int
    """Points without a value."""
    where: list[str]
    chosen: int
    """Points that meet `where`."""
    best: dict[str, list[dict[str, Cell]]]
    """Figure → points, best first."""
    pareto: list[dict[str, Cell]]
    exact_quantiles: bool
    file: str | None
    quantiles: dict[str, dict[str, float | None]]
    """Figure → rank → value."""
    histograms: dict[str, SweepHistogram]
    rows: NotRequired[list[dict[str, Cell]]]
    """Every point that meets `where`, where nothing was reduced or written."""
