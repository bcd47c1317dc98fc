"""The JSON form of a judged measurement, and what it is made of."""

from typing import Literal, TypedDict

from ..judgement import Judgement
from ..units import ByteRate, Ratio, Speed

Verdict = Literal["impossible", "slow", "fast", "normal"]
Texts = dict[Literal["en", "ko"], str]
"""One text in each language."""


class FigureVerdict(TypedDict):
    """A measured figure against its prediction, in tokens per second."""

    verdict: Verdict
    measured: Speed
    expected: Speed
    low: Speed
    high: Speed
    ceiling: Speed
    ratio: Ratio
    """Measured over expected."""
    at_ceiling: bool


class Reached(TypedDict):
    """What an explanation predicts, in tokens per second."""

    expected: Speed
    low: Speed
    high: Speed
    ceiling: Speed
    ratio: Ratio | None
    """Over the measured figure; null where that is not given."""


class MachineThatAllows(TypedDict):
    """A machine of the library that would allow the figure."""

    name: str
    title: str
    bandwidth: ByteRate


class Parameter(TypedDict):
    """The free parameter of an explanation, solved."""

    name: str
    value: float | str
    least: float | None
    """What the figure needs even at the ceiling."""
    shown: str
    """How it is printed: `number`, `share` …"""
    label: Texts


class WorkloadChange(TypedDict, total=False):
    """Fields of the workload that are changed."""

    prompt: float
    output: float
    context: float | None
    batch: float
    devices: float


class Changed(TypedDict, total=False):
    """What was changed, as `predict` would be given it."""

    model: str
    hardware: str
    engine: str
    techniques: list[str]
    set: list[str]
    workload: WorkloadChange
    rates: dict[str, Ratio]
    """Multiples of rates."""
    tokens: float
    seconds: float
    measure: str


class Skipped(TypedDict):
    """An explanation that could not be evaluated."""

    name: str
    reason: str


class CheckData(Judgement):
    """A judged measurement: `check --format json`."""

    schema: Literal["costmodel/check@1"]
    model: str
