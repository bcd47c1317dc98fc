"""Technique documents: rewrites of terms, formats, placement and schedule, with typed knobs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from .common import Doc, Expression, Formula, Ident, Part, Text, refuse
from .model import Row

VERBS = ("drop", "insert", "format", "set", "replace", "scale", "add", "place", "model")


class Knob(Part):
    """A parameter of a technique: a number with `range`, a choice (`one_of`), or a document (`model`, `hardware`)."""

    default: Any = None
    """The setting where none is given."""
    range: tuple[float, float] | None = None
    """A number from the first to the second."""
    whole: bool = False
    """Only whole numbers."""
    one_of: tuple[Any, ...] | None = None
    """The choices: numbers or texts."""
    model: str | None = None
    """The knob is a model; its default."""
    hardware: str | None = None
    """The knob is a machine; its default, or `same`: the machine that is predicted."""
    neutral: Any = None
    """The setting at which the technique changes nothing."""
    description: Text = ""
    """For information."""


class Patterns(Part):
    """Patterns (`mlp.*`) for what a row is."""

    role: tuple[str, ...] | str = ()
    """Of the row's role."""
    op: tuple[str, ...] | str = ()
    """Of its operator."""
    name: tuple[str, ...] | str = ()
    """Of its name in the block."""
    block: tuple[str, ...] | str = ()
    """Of its block."""


class Only(Patterns):
    """Which rows a rewrite touches: every given key must match one of its patterns, and none of `not`."""

    not_: Patterns | None = Field(None, alias="not")
    """Rows that are left out."""


class Insert(Part):
    """New rows, placed in every block that holds a row of role `beside`."""

    beside: str
    """A role, or a pattern of roles."""
    rows: dict[str, Row]
    """By name, as in a model's block."""


class FormatChange(Part):
    """Another number format for weights, KV or activations."""

    weights: str | None = None
    """A format's name, or the name of a knob that holds one."""
    kv: str | None = None
    """Likewise, of the KV cache."""
    activations: str | None = None
    """Likewise, of activations."""


class Place(Part):
    """Move a share of the matching rows, or the rows of the first layers, to another tier."""

    tier: str
    """`host` or `disk`, or the name of a knob that chooses one."""
    share: Formula = None
    """Share of the bytes, from 0 to 1."""
    layers: Formula = None
    """In place of `share`: how many layers, counted from the first, have their rows there."""
    rest: Formula = 0
    """With `layers`: the share of the rows that stand outside the layers."""
    home: bool = False
    """The layers themselves live there: rows of a link that others place count only the layers that do not."""
    what: Literal["weights", "kv"] = "weights"
    """Which bytes move: of the weights or of the KV cache."""
    of: Literal["device", "host"] = "device"
    """`host`: a share of what other techniques let the host hold and compute, and of nothing else."""
    mode: str = "stream"
    """`stream` over the link each pass, or `compute` on the host; or the name of a knob."""

    @model_validator(mode="after")
    def _one_measure(self):
        if (self.share is None) == (self.layers is None):
            raise refuse("want either `share` or `layers`", "`share: 1` moves all")
        return self


class Rewrite(Part):
    """One rewrite: exactly one verb, on the rows of `only`, where `when` is not zero."""

    only: Only | None = None
    """Which rows; without it the whole model."""
    when: Formula = None
    """The rewrite is made where this is not zero."""
    drop: bool = False
    """Verb: the rows are removed."""
    insert: Insert | None = None
    """Verb: new rows."""
    format: FormatChange | None = None
    """Verb: another number format."""
    set: dict[str, Expression] = {}
    """Verb: another formula for a row symbol, argument or `let` name; without `only` also for a dim."""
    replace: dict[str, Expression] = {}
    """Verb: another formula for a term (`flops`, `bytes.kv` …)."""
    scale: dict[str, Expression] = {}
    """Verb: a term, row symbol or argument is multiplied; without `only` also a dim or pattern of dims."""
    add: dict[str, Expression] = {}
    """Verb: a term gets a summand."""
    place: Place | None = None
    """Verb: another tier."""
    model: str | None = None
    """Another model stands in (the name of a model knob)."""

    @model_validator(mode="after")
    def _one_verb(self):
        verbs = [v for v in VERBS if getattr(self, v)]
        if len(verbs) != 1:
            raise refuse(f"want exactly one verb, got {' and '.join(verbs) or 'none'}", "one of " + ", ".join(VERBS))
        return self


class Also(Part):
    """Steps of another model beside each decode step (a draft model)."""

    model: str
    """A model knob, or a name."""
    T: Formula = 1
    """New tokens of each step."""
    S: Formula = "context"
    """Cached tokens that it sees."""
    R: Formula = 1
    """Logit rows."""
    repeat: Formula = 1
    """Steps beside each decode step; 0: none."""
    prefill: bool = True
    """Whether that model computes the prompt, too."""


class PrefillSchedule(Part):
    """Which points prefill visits; names: prompt, output, context, batch and the knobs."""

    T: Formula = None
    """New tokens of each sequence (default `prompt`)."""
    S: Formula = None
    """Cached tokens that they see (default 0)."""
    R: Formula = None
    """Logit rows (default 1)."""
    chunk: Formula = None
    """Tokens per step; 0: the whole prompt in one."""
    ride_B: Formula = None
    """Decodes that ride along with each chunk, and their context (`ride_S`)."""
    ride_S: Formula = None
    """The context of those decodes (default `context`)."""
    parts: Formula = None
    """Micro-batches a pipeline splits the prompt into; `stages` of the pipeline."""
    stages: Formula = None
    """Stages of that pipeline."""


class DecodeSchedule(Part):
    """What one decode step is; `tokens_out` are the tokens it emits per sequence."""

    T: Formula = None
    """New tokens of each sequence (default 1)."""
    S: Formula = None
    """Cached tokens that they see (default `context`)."""
    R: Formula = None
    """Logit rows (default 1)."""
    tokens_out: Formula = None
    """Tokens that a step emits for each sequence (default 1)."""
    also: Also | None = None
    """Steps of another model beside it."""
    hardware: str | None = None
    """A hardware knob: decode runs on another machine, KV goes over its network link."""
    occupancy: Formula = None
    """Share of the batch's slots that do useful work."""
    B: Formula = None
    """Sequences of one decode pass, where the batch is split into micro-batches."""


class Schedule(Part):
    """How a technique changes the schedule."""

    batch: Formula = None
    """Sequences per step; the other fields see it as `batch`."""
    prefill: PrefillSchedule = PrefillSchedule()
    """The steps of prefill."""
    decode: DecodeSchedule = DecodeSchedule()
    """The decode step."""
    no_cache: Formula = None
    """Not zero: nothing is kept in a KV cache."""


class Requires(Part):
    """Preconditions: dims and roles of the model, features of the hardware, links, and conditions over dims."""

    dims: tuple[str, ...] = ()
    """Dims that the model must have."""
    roles: tuple[str, ...] = ()
    """Patterns, each of which a row's role must match."""
    features: tuple[str, ...] = ()
    """Features that the hardware must have."""
    links: tuple[str, ...] = ()
    """Links that the hardware must have."""
    conditions: dict[str, Expression] = {}
    """Message to formula over dims and knobs; a zero value refuses with the message."""


class Technique(Doc):
    """A technique."""

    knobs: dict[Ident, Knob] = {}
    """Parameters, by name."""
    requires: Requires = Requires()
    """Preconditions; it is refused without them."""
    conflicts: tuple[str, ...] = ()
    """Techniques that it cannot be combined with."""
    devices: Formula = None
    """How many devices the technique spreads the model over, from its knobs."""
    draft: bool = False
    """The technique also applies to a draft model (how the engine runs any model, not what the model is)."""
    rewrite: tuple[Rewrite, ...] = ()
    """Changes of rows, in order."""
    schedule: Schedule = Schedule()
    """Changes of the steps."""
    not_modelled: tuple[Text, ...] = ()
    """Printed with each prediction."""
    assumptions: tuple[Text, ...] = ()
    """Printed with each prediction."""
