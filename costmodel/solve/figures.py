"""The groups of figures of a prediction. What a class declares is what a type checker sees and what the JSON Schemas are made of."""

from __future__ import annotations

from .record import Figures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .shapes.prediction import Regime, Tiers
    from .units import Bits, Bytes, Count, FlopRate, Flops, Intensity, Seconds, Speed, Tokens


class Rates(Figures):
    """Tokens per second and user at `context`."""

    ceiling: Speed
    """What no engine can beat."""
    expected: Speed
    low: Speed
    high: Speed
    rule_of_thumb: Speed | None
    """Bandwidth over file size; null for a model without weights."""


class Times(Figures):
    """Seconds, with the span that holds 80 % of comparable measurements."""

    floor: Seconds
    """What no engine can beat."""
    expected: Seconds
    low: Seconds
    high: Seconds


class Whole(Figures):
    """Seconds of a whole request."""

    expected: Seconds
    """From request to last token, each decode step at its own context."""


class BytesBy(Figures):
    """Bytes moved, by what they are."""

    weights: Bytes
    kv: Bytes
    state: Bytes
    activations: Bytes


class Roofline(Figures):
    """Work, traffic and bound."""

    flops: Flops
    bytes: Bytes
    """Weights, KV, state and activations."""
    intensity: Intensity | None
    """FLOPs over bytes; null without bytes."""
    ridge: Intensity | None
    """Peak rate over bandwidth, of what does the work."""
    attainable_flops: FlopRate | None
    """The roofline at this intensity; null without FLOPs."""
    regime: Regime
    """What takes longest at full rates; `link` is the peer link or a stream from a lower tier."""
    floor_s: Seconds
    expected_s: Seconds
    link_bytes: Bytes
    """Sent to peers, or streamed from a lower tier."""
    bytes_by: BytesBy


class Phase(Roofline):
    """The decode step at `context`."""


class Prefill(Phase):
    """All prefill steps together."""

    steps: Count
    longest_step_s: Seconds


class Operator(Roofline):
    """All repeats of one operator row, in all steps of a phase."""

    block: str
    name: str
    role: str
    op: str
    unit: str
    """`device` or `host`."""
    repeat: Count
    math: str
    """The number format that its FLOPs run in; `none` without FLOPs."""
    bits: Bits | None
    """Bits per weight; null without weights."""
    expected_by: Regime
    """What bounds the expected time, at the rates that the engine reaches."""


class Memory(Figures):
    """Bytes of the device tier, whether they fit, and the limits that follow."""

    weights_bytes: Bytes
    kv_bytes: Bytes
    """KV cache at context and output."""
    state_bytes: Bytes
    workspace_bytes: Bytes
    """The largest scratch of any step."""
    draft_bytes: Bytes
    """A draft model and its cache."""
    total_bytes: Bytes
    capacity_bytes: Bytes | None
    usable_bytes: Bytes | None
    """The share of the capacity that a model may use."""
    fits: bool | None
    """Null where the capacity is unknown."""
    max_context: Tokens | None
    """Most tokens of a sequence at this batch; 0 where nothing fits, null where unlimited or unknown."""
    max_batch: Count | None
    """Most sequences at this context; likewise."""
    tiers: Tiers
    """What lies in lower tiers, or on the machine that only prefills."""
