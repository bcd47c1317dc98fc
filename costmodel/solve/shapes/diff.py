"""The JSON form of two cases held against each other."""

from typing import Literal, TypedDict

from ..units import Ratio, SignedSeconds
from .case import CaseData
from .unfold import FigureUnit, FigureValue, Titles
from .unfolded_operator import RateUnit

Places = tuple[str, str]
"""File and line of A and of B; empty for what no document states."""
Document = Literal["model", "hardware", "engine"]
WorkloadField = Literal["prompt", "output", "context", "batch", "devices"]
Timed = Literal["tpot_s.expected", "ttft_s.expected"]


class ComparedFigure(TypedDict):
    """A figure of both."""

    figure: str
    title: Titles
    unit: FigureUnit
    a: FigureValue
    b: FigureValue
    ratio: Ratio | None
    """B over A; null for what is no number, and where A is 0."""


class ChangedLine(TypedDict):
    """A part of a time in both cases. (Time that a pipeline overlaps is negative.)"""

    name: str
    a: SignedSeconds
    b: SignedSeconds
    change: SignedSeconds


class BoundLine(ChangedLine):
    """By what bounds operators. Both parts of the change sum to it; null where a case has no such time."""

    amount: tuple[float | None, float | None]
    """FLOPs or bytes behind the seconds of A and of B; null for what is no operator's."""
    by_amount: SignedSeconds | None
    """Due to more or fewer of them."""
    by_rate: SignedSeconds | None
    """Due to how fast they go."""


class BoundBill(TypedDict):
    """The change by what bounds operators."""

    by: Literal["bound"]
    lines: list[BoundLine]


class RoleBill(TypedDict):
    """The change by the role of operators."""

    by: Literal["role"]
    lines: list[ChangedLine]


class ChangedTime(TypedDict):
    """A time whose change the lines of each bill sum to."""

    figure: Timed
    unit: Literal["s"]
    a: SignedSeconds
    b: SignedSeconds
    change: SignedSeconds
    bills: tuple[BoundBill, RoleBill]


class GivenDifference(TypedDict):
    """What was asked for differently."""

    what: Document | Literal["techniques", "sets"] | WorkloadField
    a: float | str
    """Of techniques and overrides those that the other case has not."""
    b: float | str
    where: Places


class Difference(TypedDict):
    """A value that differs; null where a case has none."""

    name: str
    a: float | None
    b: float | None
    where: Places


class RateDifference(Difference):
    """A rate or latency that differs."""

    unit: RateUnit


class RoleDifference(TypedDict):
    """What differs for operators of some roles, as it is shown."""

    what: str
    a: str
    b: str
    roles: list[str]


class DiffData(TypedDict):
    """Two cases held against each other: `diff --format json`."""

    schema: Literal["costmodel/diff@1"]
    a: CaseData
    b: CaseData
    figures: list[ComparedFigure]
    terms: list[ChangedTime]
    given: list[GivenDifference]
    dims: list[Difference]
    """Of the models, where operators use them."""
    formats: list[RoleDifference]
    """Of weights and KV, by role."""
    rates: list[RateDifference]
    shares: list[RoleDifference]
    """Of rates, that engines reach in decode."""
