"""Engine documents: the only place for efficiencies, fixed times and the type that the maths runs in."""

from __future__ import annotations

from pydantic import model_validator

from .common import Doc, Dtype, Formula, Ident, Part, Positive, Time, count, refuse


class Coefficient(Part):
    """A number that formulas of the engine name; `costmodel calibrate` fits it within its range."""

    value: float
    """What the formulas see."""
    low: float
    """The least that is credible."""
    high: float
    """The most that is credible."""
    prior: float | None = None
    """The value that fits are pulled towards: what was known before them (default: `value`)."""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return {"value": value, "low": value, "high": value}
        if isinstance(value, dict):
            for name, given in value.items():
                if isinstance(given, bool):
                    raise refuse(f"{name}: want a number, got {'true' if given else 'false'}")
        return value

    @model_validator(mode="after")
    def _ordered(self):
        if self.prior is not None and self.low <= self.value <= self.high and not self.low <= self.prior <= self.high:
            raise refuse(f"the prior {self.prior:g} lies outside the range {self.low:g} … {self.high:g}", "want low <= prior <= high")
        if not self.low <= self.value <= self.high:
            raise refuse(f"{self.value:g} lies outside its range {self.low:g} … {self.high:g}", "want low <= value <= high")
        return self


class Efficiency(Part):
    """Fractions of bandwidth (by kind of bytes) and of peak rate; formulas of M and `tokens`, bits and coefficients."""

    weights: Formula = None
    """Of the memory bandwidth, for weights."""
    experts: Formula = None
    """Of the routed experts' weights; default: `weights`."""
    kv: Formula = None
    """For the KV cache."""
    state: Formula = None
    """For recurrent state."""
    activations: Formula = None
    """For activations."""
    compute: Formula = None
    """Of the peak rate."""
    attention: Formula = None
    """Of the peak rate, for the products of attention; default: `compute`."""
    link: Formula = None
    """Of the link between devices."""
    host: Formula = None
    """Of the link to a lower tier, for what is streamed."""


class Overhead(Part):
    """Fixed times per pass, per layer, and more for layers of a kind: `4 us`, or `(3 + 0.1 * M) * 1e-6 * second`."""

    step: Time = None
    """Of each pass."""
    layer: Time = None
    """Of each layer of a pass."""
    moe_layer: Time = None
    """On top, of each layer with routed experts."""
    latent_layer: Time = None
    """Of each layer with latent attention (MLA)."""


class Span(Part):
    """The span that holds 80 % of comparable measurements, as multiples of the expected speed."""

    low: Positive
    """At most 1."""
    high: Positive
    """At least 1."""

    @model_validator(mode="after")
    def _ordered(self):
        if not self.low <= 1 <= self.high:
            raise refuse(f"the span {self.low:g} … {self.high:g} does not hold the expected speed (1)", "want low <= 1 <= high")
        return self


class Settings(Part):
    """What an engine states for all devices, or for one class of them."""

    coefficients: dict[Ident, Coefficient] = {}
    """Numbers that the formulas name: those of a class or format stand over the general ones."""
    efficiency: Efficiency = Efficiency()
    """Shares of the rates that are reached."""
    overhead: Overhead = Overhead()
    """Fixed times."""
    math: Dtype | None = None
    """The type that maths runs in where the weights' format has none (default fp16)."""
    fused: bool | None = None
    """Whether attention keeps its scores on the chip without being asked (as `flash-attention` does)."""
    chunk: count() | None = None  # type: ignore[valid-type]
    """Tokens of a prompt that the engine computes in one pass: weights are read once for each."""
    moe_overlap: Formula = None
    """Share of the uniform law's distinct experts that are really read."""
    span: Span | None = None
    """For decode."""
    prefill_span: Span | None = None
    """For prefill (TTFT)."""
    micro_batch: count() | None = None  # type: ignore[valid-type]
    """Tokens that an operator works on at a time: what bounds its scratch memory."""
    op_offload: count() | None = None  # type: ignore[valid-type]
    """Passes of this many tokens or more copy the weights on the host to the device and compute there."""


class Buffers(Part):
    """What an engine allocates beside the weights, as formulas of the run's flags and the model's sizes.

    Names: `context`, `ubatch` (tokens computed at a time), `sequences`, `fused` (1 with flash attention), `gpus`, `window`
    (of a sliding layer), `cells` (of a full one); the model's `width`, `vocab`, `heads`, `head_width` (K and V together),
    `E`, `k`; `latent` is 1 where latents are cached, `expert_host` 1 where experts stay on the host, `head_copy` the output
    matrix in units of 4 bytes where that stays there.
    """

    cells: Formula
    """Positions that a full-attention layer keeps."""
    window_cells: Formula
    """Positions that a layer with a window keeps."""
    compute: Formula
    """Elements of the largest scratch buffer, each of 4 bytes: an estimate."""
    host: Formula
    """The same on the host of a GPU."""
    latent: bool = True
    """Whether latent attention is cached as its latents; else as the heads' keys and values."""


class ClassSettings(Settings):
    """Settings for one hardware class, and of number formats there."""

    formats: dict[str, Settings] = {}
    """By number format or family of formats."""


class Tools(Part):
    """Which measurements an engine document is for."""

    names: tuple[str, ...]
    """Beginnings of the names of tools and backends."""
    until: str | None = None
    """Last date (`2024-12`) of the builds that the document describes."""
    rank: int = 0
    """Which of several engines that name a tool goes first: the lowest."""


class Engine(Doc, Settings):
    """An inference engine."""

    fixed: bool = False
    """A device's own efficiencies do not apply (the ideal engine)."""
    classes: dict[str, ClassSettings] = {}
    """Settings by hardware class or pattern of classes (`nvidia-*`), over the general ones; its `formats` stand over all others."""
    formats: dict[str, Settings] = {}
    """Settings by number format or family of formats, over those of a class."""
    tools: Tools | None = None
    """Which measurements this engine predicts."""
    devices: str = "tensor-parallel:ways"
    """The technique and knob by which several devices share a model, unless a technique says how."""
    buffers: Buffers | None = None
    """What is allocated beside the weights, for `inspect --context`."""
