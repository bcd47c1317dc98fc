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
    range: tuple[float, float] | None = None
    whole: bool = False
    """Only whole numbers."""
    one_of: tuple[Any, ...] | None = None
    model: str | None = None
    hardware: str | None = None
    neutral: Any = None
    """The setting at which the technique changes nothing."""
    description: Text = ""


class Patterns(Part):
    """Patterns (`mlp.*`) for what a row is."""

    role: tuple[str, ...] | str = ()
    op: tuple[str, ...] | str = ()
    name: tuple[str, ...] | str = ()
    block: tuple[str, ...] | str = ()


class Only(Patterns):
    """Which rows a rewrite touches: every given key must match one of its patterns, and none of `not`."""

    not_: Patterns | None = Field(None, alias="not")


class Insert(Part):
    """New rows, placed in every block that holds a row of role `beside`."""

    beside: str
    rows: dict[str, Row]


class FormatChange(Part):
    """Another number format for weights, KV or activations."""

    weights: str | None = None
    kv: str | None = None
    activations: str | None = None


class Place(Part):
    """Move a share of the matching rows, or the rows of the first layers, to another tier."""

    tier: str
    """`host` or `disk`, or the name of a knob that chooses one."""
    share: Formula = None
    layers: Formula = None
    """In place of `share`: how many layers, counted from the first, have their rows there."""
    rest: Formula = 0
    """With `layers`: the share of the rows that stand outside the layers."""
    home: bool = False
    """The layers themselves live there: rows of a link that others place count only the layers that do not."""
    what: Literal["weights", "kv"] = "weights"
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
    when: Formula = None
    drop: bool = False
    insert: Insert | None = None
    format: FormatChange | None = None
    set: dict[str, Expression] = {}
    replace: dict[str, Expression] = {}
    scale: dict[str, Expression] = {}
    add: dict[str, Expression] = {}
    place: Place | None = None
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
    T: Formula = 1
    S: Formula = "context"
    R: Formula = 1
    repeat: Formula = 1
    prefill: bool = True


class PrefillSchedule(Part):
    """Which points prefill visits; names: prompt, output, context, batch and the knobs."""

    T: Formula = None
    S: Formula = None
    R: Formula = None
    chunk: Formula = None
    ride_B: Formula = None
    """Decodes that ride along with each chunk, and their context (`ride_S`)."""
    ride_S: Formula = None
    parts: Formula = None
    """Micro-batches a pipeline splits the prompt into; `stages` of the pipeline."""
    stages: Formula = None


class DecodeSchedule(Part):
    """What one decode step is; `tokens_out` are the tokens it emits per sequence."""

    T: Formula = None
    S: Formula = None
    R: Formula = None
    tokens_out: Formula = None
    also: Also | None = None
    hardware: str | None = None
    """A hardware knob: decode runs on another machine, KV goes over its network link."""
    occupancy: Formula = None
    """Share of the batch's slots that do useful work."""
    B: Formula = None
    """Sequences of one decode pass, where the batch is split into micro-batches."""


class Schedule(Part):
    """How a technique changes the schedule."""

    batch: Formula = None
    prefill: PrefillSchedule = PrefillSchedule()
    decode: DecodeSchedule = DecodeSchedule()
    no_cache: Formula = None
    """Not zero: nothing is kept in a KV cache."""


class Requires(Part):
    """Preconditions: dims and roles of the model, features of the hardware, links, and conditions over dims."""

    dims: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    conditions: dict[str, Expression] = {}
    """Message to formula over dims and knobs; a zero value refuses with the message."""


class Technique(Doc):
    """A technique."""

    knobs: dict[Ident, Knob] = {}
    requires: Requires = Requires()
    conflicts: tuple[str, ...] = ()
    devices: Formula = None
    """How many devices the technique spreads the model over, from its knobs."""
    draft: bool = False
    """The technique also applies to a draft model (how the engine runs any model, not what the model is)."""
    rewrite: tuple[Rewrite, ...] = ()
    schedule: Schedule = Schedule()
    not_modelled: tuple[Text, ...] = ()
    assumptions: tuple[Text, ...] = ()
