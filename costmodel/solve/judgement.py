"""What `check` says of a measured speed, and its explanations."""

from __future__ import annotations

from .record import Figures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .shapes.check import Changed, FigureVerdict, MachineThatAllows, Parameter, Reached, Skipped, Texts, Verdict
    from .shapes.prediction import Regime
    from .units import ByteRate, Bytes, FlopRate, Ratio, Speed


class Explanation(Figures):
    """One thing changed, predicted again."""

    name: str
    title: Texts
    look: Texts
    """Where to look."""
    parameter: Parameter | None
    plausible: bool
    change: Changed
    decode: Reached
    prefill: Reached
    fits: bool | None
    prior: Ratio
    score: Ratio


class Judgement(Figures):
    """A judged measurement."""

    verdict: Verdict
    """Of the figures that are given, the first of impossible, slow, fast, normal."""
    measured: Speed | None
    """Decode tokens per second and user."""
    ceiling: Speed
    expected: Speed
    low: Speed
    high: Speed
    rule_of_thumb: Speed | None
    bandwidth: ByteRate
    needed_by_rule: ByteRate | None
    """By file size."""
    needed_exact: ByteRate | None
    """By bytes of a step."""
    needed_flops: FlopRate | None
    regime: Regime
    peak: FlopRate | None
    causes: list[str]
    lacking_bytes: Bytes
    fits: bool | None
    usable_bytes: Bytes | None
    reads_all: bool
    """False where a step reads part of the file."""
    hardware: list[MachineThatAllows]
    decode: FigureVerdict | None
    prefill: FigureVerdict | None
    explained: bool
    explanations: list[Explanation]
    """Likeliest first."""
    skipped: list[Skipped]
