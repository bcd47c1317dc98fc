"""The JSON forms of a study's tables, one for each view."""

from typing import Literal, NotRequired, TypedDict

from ..units import ByteRate, Bytes, FlopRate, Intensity, Ratio, Seconds, Share, Slots, Speed, Tokens
from .prediction import Regime

MemoryVerdict = Literal["decreased", "kv_decreased", "unchanged", "increased"]
SpeedVerdict = Literal["much_slower", "slower", "unchanged", "faster"]
Helps = Literal["neither", "both", "prefill", "decode", "decode_throughput"]
Reason = Literal[
    "active_only", "drafted", "fewer_bytes", "fewer_kv", "host_computes", "less_attention_traffic", "less_work", "more_tokens",
    "narrow_kv", "nothing_moved", "other_model", "recompute", "shared_reads", "slow_tier", "smaller_model", "stored_only",
]  # fmt: skip
Matrix = Literal["costmodel/matrix@1"]
Shown = dict[str, str]
"""Numbers that a reason's text may show, as texts."""


class GivenWorkload(TypedDict, total=False):
    """The fields of a workload that are given."""

    prompt: Tokens
    output: Tokens
    context: Tokens
    batch: int
    devices: int


class Setting(TypedDict):
    """A case as `predict` takes it."""

    model: str
    hardware: str
    engine: str | None
    """Null: the machine's own."""
    techniques: list[str]
    workload: GivenWorkload
    set: list[str]


class Base(TypedDict):
    """The baseline of a grid: null where an axis gives it."""

    model: str | None
    hardware: str | None
    engine: str | None
    techniques: list[str]
    workload: GivenWorkload
    set: list[str]


class Compared(TypedDict):
    """What a case gives against another, and why."""

    memory_ratio: Ratio | None
    kv_ratio: Ratio | None
    """Null where there is none to compare with."""
    speed_ratio: Ratio | None


class MemorySpeedVariant(Compared):
    """One way to use a technique."""

    name: str
    techniques: list[str]
    memory: MemoryVerdict
    speed: SpeedVerdict
    total_bytes: Bytes
    tps: Speed
    fits: bool | None
    reason_key: Reason
    reason: str
    figures: Shown
    votes: bool
    """False for a variant that is printed only."""


class MemorySpeedRow(Compared):
    """A technique against its baseline; a verdict is null where variants disagree."""

    technique: str
    against: Setting
    memory: MemoryVerdict | None
    speed: SpeedVerdict | None
    reason_key: Reason | None
    reason: str
    total_bytes: Bytes | None
    tps: Speed | None
    fits: bool | None
    figures: Shown | None
    memory_ratio_range: NotRequired[tuple[Ratio, Ratio]]
    speed_ratio_range: NotRequired[tuple[Ratio, Ratio]]
    variants: list[MemorySpeedVariant]


class MemorySpeedTable(TypedDict):
    """Memory and speed of techniques."""

    schema: Matrix
    study: str
    view: Literal["memory-vs-speed"]
    baseline: Setting
    rows: list[MemorySpeedRow]


class PhaseGain(TypedDict):
    """Which phase a technique mainly helps; ratios are speed-ups of expected times."""

    helps: Helps
    prefill_ratio: Ratio
    decode_ratio: Ratio
    reason_key: Reason
    reason: str
    figures: Shown


class TechniqueVariant(PhaseGain):
    """One way to use a technique."""

    name: str


class TechniqueRow(TypedDict):
    """A technique; `helps` is null where variants disagree, the other figures are those of the first."""

    technique: str
    against: Setting
    helps: Helps | None
    prefill_ratio: Ratio
    decode_ratio: Ratio
    reason_key: Reason
    reason: str
    figures: Shown
    variants: list[TechniqueVariant]


class TechniquesTable(TypedDict):
    """Phases that techniques help."""

    schema: Matrix
    study: str
    view: Literal["techniques"]
    baseline: Setting
    rows: list[TechniqueRow]


class PhaseRow(TypedDict):
    """One phase of the same case."""

    phase: Literal["prefill", "decode"]
    tokens: float
    """Tokens that a pass works on, of each sequence."""
    operation: Literal["gemm", "gemv"]
    intensity: Intensity
    ridge: Intensity
    level: Literal["high", "low"]
    bound: Regime
    decides: Literal["ttft", "tpot"]
    faster_with: Literal["flops", "bytes"]
    gain_flops: Ratio
    """Speed-up of the floor with twice the peak rates."""
    gain_bytes: Ratio
    """Likewise with twice the bandwidth."""


class PhasesTable(TypedDict):
    """Prefill against decode."""

    schema: Matrix
    study: str
    view: Literal["phases"]
    baseline: Setting
    rows: list[PhaseRow]


class MachineRow(TypedDict):
    """A machine's figures."""

    hardware: str
    title: dict[Literal["en", "ko"], str]
    bandwidth: ByteRate
    capacity: Bytes | None
    compute: dict[str, FlopRate]
    """Peak rates by number format."""
    source: Literal["datasheet", "paper", "measured", "derived", "assumed"] | None
    """Of the bandwidth."""


class HardwareTable(TypedDict):
    """Machines side by side."""

    schema: Matrix
    study: str
    view: Literal["hardware"]
    baseline: None
    rows: list[MachineRow]


class CeilingRow(TypedDict):
    """A model's decode ceiling, in tokens per second."""

    model: str
    title: dict[Literal["en", "ko"], str]
    file_size: Bytes
    ceiling: Speed
    """Bandwidth over file size."""
    about: Speed
    """The engine's share of it."""
    share: Share
    exact_ceiling: Speed
    expected: Speed
    regime: Regime


class CeilingTable(TypedDict):
    """Decode ceilings of models on one machine."""

    schema: Matrix
    study: str
    view: Literal["decode-ceiling"]
    baseline: Base
    rows: list[CeilingRow]


class Cell(TypedDict):
    """One combination of a grid."""

    model: str
    hardware: str
    engine: str
    techniques: list[str]
    prompt: Tokens
    output: Tokens
    context: Tokens
    batch: Slots
    devices: int
    total_bytes: Bytes
    fits: bool | None
    max_context: Tokens | None
    ttft_s: Seconds
    tpot_s: Seconds
    tps: Speed
    tps_ceiling: Speed
    system_tps: Speed
    prefill_regime: Regime
    decode_regime: Regime
    refused: None


class RefusedCell(TypedDict):
    """A combination that cannot be; of the workload what the grid gives."""

    model: str
    hardware: str
    engine: str | None
    techniques: list[str]
    prompt: Tokens | None
    output: Tokens | None
    context: Tokens | None
    batch: int | None
    devices: int | None
    refused: str
    """Why."""


class GridTable(TypedDict):
    """Every combination of the axes."""

    schema: Matrix
    study: str
    view: Literal["grid"]
    baseline: Base
    rows: list[Cell | RefusedCell]


MatrixData = MemorySpeedTable | TechniquesTable | PhasesTable | HardwareTable | CeilingTable | GridTable
"""A study's table: `matrix --format json`."""
