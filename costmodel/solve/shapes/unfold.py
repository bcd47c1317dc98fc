"""The JSON form of an unfolded figure, one for each level; its operators are in `unfolded_operator`."""

from typing import Literal, NotRequired, TypedDict

from ..units import Seconds
from .case import CaseData
from .unfolded_operator import AmountOperator, MemoryOperator, OriginKind, Pass, Rate, TimedOperator, UsedDim

FigureUnit = Literal["B", "B/s", "FLOP", "FLOP/B", "FLOP/s", "s", "seq", "tok", "tok/s", ""]
"""Empty for a plain number, a verdict or a name."""
FigureValue = float | str | bool | None
"""In the figure's unit; null where it is unknown or undefined."""
By = Literal["bound", "role", "operator", "resource", "kind", "math", "format", "tier", "part"]
"""What the names of a bill's lines are."""
Lang = Literal["en", "ko"]
Titles = dict[Lang, str]


class StatedAt(TypedDict):
    """Where a value comes from."""

    path: str
    """As `--set` would take it; of a technique's value the technique."""
    where: str
    """File and line; empty for what no document states."""
    kind: OriginKind
    """Of the source: what the document states (empty where it states none), a default, the user, or a technique."""
    ref: str
    """What the source says of itself."""
    formula: str


class NamedInput(TypedDict):
    """A name in a formula."""

    name: str
    of: str
    """The figure or value that it stands for."""
    value: FigureValue
    unit: FigureUnit
    title: Titles | None
    origin: StatedAt | None
    """Null where another figure explains it."""


class BillLine(TypedDict):
    """A part of a figure, in the figure's unit. (Time that a pipeline overlaps is negative.)"""

    name: str
    value: float


class FigureBill(TypedDict):
    """Lines that sum to their figure."""

    by: By
    lines: list[BillLine]


class StepTime(TypedDict):
    """The time per token at a context."""

    context: int
    value: Seconds


class Special(TypedDict, total=False):
    """What a figure that is neither a formula nor a sum follows from."""

    resources: dict[str, Seconds]
    """Of a floor: the longest is the figure."""
    tokens: int
    """Of decoding: tokens after the first."""
    ends: list[StepTime]
    """Of decoding: the first and the last."""


class Step(Special):
    """One figure: a formula over `inputs`, a sum of `bills`, or a value with an `origin`."""

    figure: str
    title: Titles
    value: FigureValue
    unit: FigureUnit
    rule: str
    """Of the semantics (`docs/semantics.md`)."""
    formula: str
    """Empty for what is none."""
    inputs: list[NamedInput]
    origin: StatedAt | None
    bills: list[FigureBill]
    """Several groupings of one amount."""


class Rewritten(TypedDict):
    """What a technique did to what the figure sums."""

    text: str
    where: str
    operators: list[str]
    """That it touched; empty for dims and the schedule."""


Listed = list[TimedOperator | AmountOperator] | list[MemoryOperator]


class FigureOperators(TypedDict):
    """The operators behind the bills of a figure."""

    figure: str
    passes: list[Pass]
    """Of each program the first step and the last; empty for memory."""
    operators: Listed


class ExpressionSymbol(TypedDict):
    """A symbol of an expression."""

    name: str
    value: float
    meaning: str
    where: str


class Expression(TypedDict):
    """The figure as one expression."""

    text: str
    """As sympy writes it, with a `max` that is left as it is."""
    symbols: list[ExpressionSymbol]
    latex: NotRequired[str]
    """With `--latex`."""


class FigureHead(CaseData):
    """The figure and its case."""

    schema: Literal["costmodel/unfolded-figure@1"]
    figure: str
    value: FigureValue
    unit: FigureUnit


class FormulaLevel(FigureHead):
    """A figure and its formula: `explain --level 1 --format json`."""

    level: Literal[1]
    steps: list[Step]
    """The figure alone."""
    symbolic: NotRequired[Expression]
    """With `--symbolic` or `--latex`."""


class TermsLevel(FigureHead):
    """With the figures below it: `--level 2`."""

    level: Literal[2]
    steps: list[Step]
    """The figure first, then those that it follows from."""
    rewrites: list[Rewritten]
    symbolic: NotRequired[Expression]
    """With `--symbolic` or `--latex`."""


class Behind(TypedDict):
    """Operators behind the figures, and the dims and rates that they share."""

    operators: list[FigureOperators]
    dims: list[UsedDim]
    rates: list[Rate]


class OperatorsLevel(FigureHead, Behind):
    """With every operator: `--level 3`."""

    level: Literal[3]
    steps: list[Step]
    """The figure first, then those that it follows from."""
    rewrites: list[Rewritten]
    symbolic: NotRequired[Expression]
    """With `--symbolic` or `--latex`."""


UnfoldedFigure = FormulaLevel | TermsLevel | OperatorsLevel
"""A figure unfolded: `explain --format json`."""
