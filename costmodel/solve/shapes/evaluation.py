"""The JSON form of predictions against measurements."""

from typing import Literal, NotRequired, TypedDict

from ..units import Error, Ratio, Share, Speed


class Summary(TypedDict):
    """Errors of rows; null without rows."""

    phase: str
    n: int
    median: Ratio | None
    near: Share | None
    """Share of rows whose error is at most `near_share`."""
    p90: Ratio | None
    bias: Error | None
    in_span: Share | None
    """Null without spans."""


class Overall(Summary):
    """Of all rows, or of those that a fit has seen or not."""

    rows: Literal["all", "held_out", "in_sample"]


_Class = TypedDict("_Class", {"class": str})


class ClassGroup(Summary, _Class):
    """Of the rows of one class of hardware."""


class FormatGroup(Summary):
    """Of the rows of one number format."""

    format: str


class EngineGroup(Summary):
    """Of the rows of one engine."""

    engine: str


class KindGroup(Summary):
    """Of the rows of one kind of run."""

    kind: str


Groups = TypedDict("Groups", {"class": list[ClassGroup], "format": list[FormatGroup], "engine": list[EngineGroup], "kind": list[KindGroup]})


class MeasuredRow(_Class):
    """A measured figure beside its prediction, in tokens per second."""

    id: str
    phase: Literal["decode", "prefill"]
    measured: Speed
    expected: Speed
    low: Speed
    high: Speed
    ceiling: Speed
    family: str
    format: str
    engine: str
    model: str
    hardware: str
    kind: str
    in_sample: NotRequired[bool]
    error: Error
    """Predicted over measured, less 1."""


class EvaluationData(TypedDict):
    """Predictions against measurements: `evaluate --format json`."""

    schema: Literal["costmodel/evaluation@1"]
    scored: int
    skipped: dict[str, int]
    """Rows left out, by reason."""
    overall: list[Overall]
    groups: Groups
    worst: list[MeasuredRow]
    above_ceiling: list[MeasuredRow]
    """Not scored."""
    count: int
    near_share: Share
    rows: list[MeasuredRow]
