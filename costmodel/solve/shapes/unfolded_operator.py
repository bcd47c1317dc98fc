"""The JSON form of one operator of an unfolded figure, and of the dims and rates that operators share."""

from typing import Literal, NotRequired, TypedDict

from ..units import Bits, Ratio, Seconds, Share, Slots
from .prediction import Regime

OriginKind = Literal["", "datasheet", "paper", "measured", "derived", "assumed", "default", "given", "technique"]
What = Literal["weights", "kv", "state", "activations"]
Resource = Literal["compute", "weights", "kv", "state", "activations", "link"]
Field = Resource | Literal["host"]
RateUnit = Literal["B/s", "FLOP/s", "s"]
Value = float | str
"""A number; a formula where it has a value for each step only; `none` for a window that is none."""


class Stored(TypedDict):
    """A term of memory, in bytes: as rewritten, where it stands, and of all repeats."""

    term: str
    formula: str
    where: str
    value: float


class Term(Stored):
    """A term in bytes, FLOPs or hops: over all steps and repeats."""

    bound: str
    """The formula over the workload alone."""


class Argument(TypedDict):
    """What a block gives an operator."""

    name: str
    formula: str
    value: Value


class Helper(TypedDict):
    """A formula that an operator names."""

    name: str
    formula: str
    where: str


class RowSymbol(TypedDict):
    """Bytes per element and the like."""

    name: str
    value: Value


class FormatPart(TypedDict):
    """A format of a mix, and its share of the elements."""

    format: str
    share: Share


class BlockPart(FormatPart):
    """A format in blocks."""

    bits: Bits
    """Of an element, scales included."""
    where: str


class Scaled(TypedDict, total=False):
    """Of a model that states the size of its file."""

    scaled: str
    """Where: the bits are scaled to it."""


class UsedFormat(Scaled):
    """The number format of what an operator reads or writes."""

    what: What
    format: str
    bits: Bits
    where: str
    parts: list[FormatPart | BlockPart]
    factor: Ratio
    """Of the bits of the parts."""
    chosen: str
    """Where the model or a technique chose it; empty for a default."""


class Located(TypedDict):
    """A named value and its place."""

    name: str
    value: float
    where: str
    """File and line; empty for what no document states."""


class Coefficient(Located):
    """A number of an engine's formula."""


class Efficiency(TypedDict):
    """The share of a rate that the engine reaches."""

    of: Field
    setting: str
    """The engine's name for it."""
    value: Share
    formula: str
    where: str
    kind: OriginKind
    coefficients: list[Coefficient]
    throttle: NotRequired[Ratio]
    """Of a machine that slows under load."""


class Rate(Located):
    """A rate or latency of a machine."""

    unit: RateUnit
    path: str
    """As `--set` would take it."""
    kind: OriginKind
    ref: str
    hardware: str


class UsedDim(Located):
    """A dim of a model."""

    model: str
    formula: str
    """Empty for a number."""
    technique: str
    """That set it, or nothing."""


class Touched(TypedDict):
    """What a technique did to an operator."""

    text: str
    where: str


class RowHead(TypedDict):
    """Where an operator stands."""

    role: str
    operator: str
    operator_where: str
    where: str
    unit: str
    """The `device`, or `host`."""
    repeat: int
    repeat_formula: str


class RowNames(TypedDict):
    """What the terms of an operator name."""

    arguments: list[Argument]
    helpers: list[Helper]
    symbols: list[RowSymbol]
    formats: list[UsedFormat]
    rewrites: list[Touched]


class MemoryOperator(RowHead, RowNames):
    """An operator's part in a bill of memory."""

    name: str
    times: Literal[1]
    terms: list[Stored]


class AmountOperator(RowHead, RowNames):
    """An operator's part in a bill of bytes or FLOPs."""

    name: str
    times: float
    """How often its program runs."""
    terms: list[Term]


class TimedOperator(AmountOperator):
    """An operator's part in a bill of seconds, over all steps, repeats and times."""

    efficiencies: list[Efficiency]
    rates: list[Rate]
    streams: dict[str, Share]
    """Shares that come from lower tiers: `weights@host`."""
    seconds: dict[Resource, Seconds]
    """Expected, by what bounds it."""
    expected_s: Seconds
    floor_s: Seconds
    bound: Regime


class Group(TypedDict):
    """Sequences that a step works on alike: B of them, T new tokens of each, S cached ones, R logits."""

    B: Slots
    T: float
    S: float
    R: float


class Pass(TypedDict):
    """A step of a program."""

    part: Literal["model", "draft"]
    times: float
    """How often the program runs in a phase."""
    step: int
    """Which, from 1."""
    steps: int
    passes: int
    """Of the expected time: an engine may split steps."""
    groups: list[Group]
