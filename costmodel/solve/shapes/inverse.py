"""Parts of the JSON forms of cases asked backwards; the forms themselves are the classes of `costmodel.solve.invert.answers`."""

from typing import Literal, TypedDict, final

from ..units import Bytes, Ratio, Seconds, Share, Speed
from .case import CaseData
from .unfold import Titles

FoundUnit = Literal["B/s", "FLOP/s", "s", "B", "W", "bit", "sequences", "tokens", "layers", "devices", "share", ""]
"""Of an unknown; empty for a plain number, and for a name."""
TargetUnit = Literal["s", "B", "tok/s", "FLOP", ""]
Found = Literal["exact", "bracketed", "whole", "tried", "any", "none"]
Why = Literal["flat", "everywhere", "limit", "refused", "never", "no-matrix", "no-kv"]
Part = Literal["memory", "compute", "link", "fixed"]
Way = Literal["up", "down"]
CrossingName = Literal[
    "matrix-compute",
    "decode-compute",
    "prefill-compute",
    "kv-read",
    "kv-held",
    "speculation",
    "speculation-pays",
    "moe-experts",
    "moe-half",
    "moe-total",
]
Along = Literal["batch", "context", "prompt", "acceptance"]
Value = float | str
"""A number in the unknown's unit, or a name."""


class CaseTitles(TypedDict):
    """Of the documents."""

    model: Titles
    hardware: Titles
    engine: Titles


class AskedCase(CaseData):
    """The case that is asked."""

    titles: CaseTitles


class Aim(TypedDict):
    """What is wanted of a figure."""

    figure: str
    value: float
    least: bool
    """At least the value; else at most."""
    unit: TargetUnit


class Nearest(TypedDict):
    """What comes nearest where the target is not met: a value of the unknown and the figure there."""

    value: Value
    figure: float


class Tried(TypedDict):
    """A value for which the case was compiled."""

    value: Value
    figure: float | None
    """Null where it is refused, or has no such figure."""
    met: bool


class Relation(TypedDict):
    """The figure, or its inverse, as a sum of powers of the unknown: (coefficient, power) each."""

    inverse: bool
    terms: list[tuple[float, int]]


class Again(TypedDict):
    """The case predicted at the value."""

    how: Literal["compiled", "formulas"]
    """From its documents, or by the formulas where no document can say the value."""
    figure: float | None
    """That of the target."""
    tps: Speed
    tps_ceiling: Speed
    ttft_s: Seconds
    memory_bytes: Bytes
    usable_bytes: Bytes | None
    fits: bool | None
    beyond_context: int | None
    """The model's context where the case has a longer one; else null."""


class Allowing(TypedDict):
    """A document of the library with which the case meets the target."""

    name: str
    title: str
    value: float
    """Of the unknown."""
    figure: float
    """Predicted."""


@final
class MatrixDetail(TypedDict):
    """The matrix of `matrix-compute`."""

    block: str
    row: str
    bits: float
    """Per weight."""
    type: str
    """In which it is computed."""


@final
class NeededDetail(TypedDict):
    """Of `speculation`."""

    technique: str
    in_use: bool
    batch: int
    plain_tps: Speed
    """Without it."""


@final
class PaysDetail(TypedDict):
    """Of `speculation-pays`."""

    technique: str
    in_use: bool
    acceptance: Share
    gain: Ratio
    """Over plain decoding, at the present batch."""
    best_gain: Ratio
    best_batch: int
    pays: list[tuple[int, int | None]]
    """First and last batch of each span in which it does; null: to the largest looked at."""


@final
class ReadDetail(TypedDict):
    """Of `moe-experts`: shares of the experts that a large batch reads."""

    share: Share
    """That counts as all."""
    now_read: Share


@final
class LostDetail(TypedDict):
    """Of `moe-half`."""

    now_lost: float
    """Share of the edge that the present batch has lost."""


@final
class EdgeDetail(TypedDict):
    """Of `moe-total`."""

    now_edge: Ratio
    """TPOT of the dense model over its own."""


@final
class RefusedDetail(TypedDict):
    """Where the case that it is compared with cannot be compiled."""

    message: str


Detail = MatrixDetail | NeededDetail | PaysDetail | ReadDetail | LostDetail | EdgeDetail | RefusedDetail
