"""The JSON form of a prediction."""

from typing import Literal, NotRequired, TypedDict

from ..figures import Memory, Operator, Phase, Prefill, Rates, Times, Whole
from ..units import Bytes, Speed, TokensOut
from .case import CaseData

Regime = Literal["compute", "memory", "link"]


class Tier(TypedDict):
    """Bytes in a lower tier, of all stages of a pipeline."""

    weights_bytes: Bytes
    kv_bytes: Bytes
    state_bytes: Bytes
    workspace_bytes: Bytes
    capacity_bytes: Bytes | None
    """What may be used of it; null where unknown."""
    fits: bool | None


Tiers = dict[Literal["host", "disk", "prefill machine"], Tier]


class Decode(Phase):
    """The decode step at `context`."""

    tokens_out: TokensOut
    """Tokens that a step emits for each sequence."""


class Operators(TypedDict):
    """Every operator row, by phase."""

    prefill: list[Operator]
    decode: list[Operator]


class Placement(TypedDict):
    """Where the model was put."""

    fits: bool
    """False where only the disk would do, or nothing does."""
    techniques: list[str]
    lacking_bytes: Bytes
    """What device and host lack together."""


class Change(TypedDict):
    """A single change with which the device alone would hold the model."""

    change: Literal["format", "context", "kv", "batch"]
    value: str | int
    option: str
    """As the command line takes it."""
    total_bytes: Bytes
    tps: Speed


class PredictionData(CaseData):
    """One model on one machine under one workload: `predict --format json`, `Prediction.to_dict()`."""

    schema: Literal["costmodel/prediction@1"]
    memory: Memory
    prefill: Prefill
    decode: Decode
    ttft_s: Times
    """Time to the first token; without queueing and network."""
    tpot_s: Times
    """Time per output token at `context`."""
    tps: Rates
    e2e_s: Whole
    itl_mean_s: float | None
    """Mean gap between output tokens, in seconds; null below two tokens."""
    user_tps: Speed
    """Output over end-to-end time."""
    system_tps: Speed
    """Of the whole batch."""
    not_modelled: list[str]
    assumptions: list[str]
    operators: NotRequired[Operators]
    """With `--operators`."""
    placement: NotRequired[Placement]
    """With `--must-fit`, as `flags` and `changes`."""
    flags: NotRequired[dict[str, str]]
    """Options of other programs, by program."""
    changes: NotRequired[list[Change]]
