"""What cases asked backwards answer: what Python programs get, type checkers see, and the JSON Schemas are made of."""

from __future__ import annotations

from ..record import Stated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ..shapes.case import Workload
    from ..shapes.inverse import (
        Again,
        Aim,
        Allowing,
        Along,
        CaseTitles,
        CrossingName,
        Detail,
        Found,
        FoundUnit,
        Nearest,
        Part,
        Relation,
        TargetUnit,
        Tried,
        Value,
        Way,
        Why,
    )
    from ..shapes.unfold import Titles
    from ..units import Count, Share


class Answer(Stated):
    """An answer, readable as attributes."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data, as the commands print it."""
        from ..export import clean

        return clean(vars(self))


class Asked(Answer):
    """The case that is asked."""

    model: str
    hardware: str
    engine: str
    titles: CaseTitles
    techniques: list[str]
    """With every knob."""
    sets: list[str]
    """Overrides."""
    workload: Workload


class Solution(Asked):
    """The value of an unknown at which a case meets a target: `solve --format json`, `costmodel.invert`."""

    schema: Literal["costmodel/solution@1"]
    unknown: str
    title: Titles
    unit: FoundUnit
    now: Value | None
    """Of the unknown, in the case as it stands; null where it has none."""
    target: Aim
    value: Value | None
    """In the unit; null where there is none, and where every value meets the target."""
    found: Found
    """How: by algebra, halved to a bracket or to neighbouring whole numbers, each compiled; `any` value does, or `none`."""
    reason: Why | None
    """Of `any` and `none`."""
    smallest: bool | None
    """Whether the value is the smallest that meets the target, or the largest; null without one."""
    compiled: bool
    """Whether the case is compiled for each value that is tried."""
    crossing: float | None
    """The root of an exact solution, before it is rounded to a whole number."""
    degree: Count | None
    """Of the polynomial that it is a root of."""
    relation: Relation | None
    others: list[Value]
    """Where else the target is met, or begins to be."""
    range: tuple[Value, Value]
    """Looked for in."""
    points: Count
    """Values that were scanned."""
    tried: list[Tried]
    """Where `found` is `tried`."""
    check: Again | None
    """Null without a value."""
    nearest: Nearest | None
    """Where there is none."""
    remains: dict[Part, float] | None
    """Shares of the time there that rates and fixed times make up."""
    note: str
    would_do: list[Allowing]
    would_kind: Literal["hardware", "format", "link"] | None
    """Kind of the documents that were tried; null where none can say the unknown."""


class Crossing(Answer):
    """Where one thing comes to outweigh another."""

    name: CrossingName
    by: Along
    unit: FoundUnit
    value: float | None
    """Null where there is none, and where it holds at every one."""
    crossing: float | None
    """Before it is rounded to a whole number; null where it was bracketed."""
    found: Found
    others: list[float]
    """Where it turns again."""
    now: float | None
    """Of what it goes by, in the case as it stands; null where it could not be looked for."""
    reason: Why | None
    """Of `any` and `none`."""
    nearest: Nearest | None
    """Where there is none; of `moe-total` always: where the edge is smallest."""
    range: tuple[float, float] | None
    """Looked for in; null where it was not."""
    detail: Detail | None
    """By the name; null where there is no more to say."""


class Crossovers(Asked):
    """All crossings of a case: `crossovers --format json`, `costmodel.crossovers`."""

    schema: Literal["costmodel/crossovers@1"]
    rows: list[Crossing]


class Effect(Answer):
    """What a parameter does to the figure; changes are relative."""

    name: str
    """As `solve` takes it, where it does."""
    input: str
    """In the formulas."""
    kind: Literal["rate", "coefficient", "knob", "workload", "bytes"]
    unit: FoundUnit
    where: str | None
    """File and line of a coefficient of the engine."""
    of: str | None
    """Class or format that a coefficient is of, or `engine`."""
    value: float
    elasticity: float
    """d ln figure / d ln parameter, here."""
    how: Literal["derivative", "steps"]
    """Exact, or from the changed values where the figure goes in steps."""
    local: float
    """What the elasticity alone makes of the larger value."""
    up_to: float
    """The larger value."""
    down_to: float
    up: float | None
    """Change of the figure at the larger value, computed again; null where the parameter cannot have it."""
    down: float | None
    regime_changes: list[Way]
    """Ends at which another regime holds."""


class Sensitivity(Asked):
    """What each parameter weighs: `sensitivity --format json`, `costmodel.sensitivity`."""

    schema: Literal["costmodel/sensitivity@1"]
    figure: str
    value: float
    """Of the figure."""
    unit: TargetUnit
    change: Share
    """Of each parameter."""
    rows: list[Effect]
    """The weightiest first."""
    without: list[str]
    """Parameters without effect."""
    left_out: list[str]
    """Knobs for whose every value the case would be compiled."""
