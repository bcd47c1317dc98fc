"""Explanation documents: why a measured figure may differ from the prediction, as a change that can be predicted again."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from .common import Doc, Expression, Formula, Ident, Part, Positive, Text, Title, TitleField, refuse

WORDS = {"model": ("smaller", "larger"), "hardware": ("host", "allowing")}
"""What a change may say in place of a document's name."""


class Free(Part):
    """The one parameter that is solved so that the prediction meets the figure: a range, or a list of values."""

    name: Ident
    """Stands for the value in formulas, and as `{name}` in texts."""
    low: Formula = None
    """The least value."""
    high: Formula = None
    """The greatest value."""
    plausible: tuple[Expression, Expression] | None = None
    """The values that happen; outside of them the explanation counts for less."""
    label: TitleField | None = None
    """What it is called in reports; by default its name."""
    neutral: Formula = None
    """The value at which nothing changes."""
    whole: bool = False
    """Only whole numbers."""
    values: tuple[Any, ...] = ()
    """Choices in place of a range, in an order in which speed only rises or only falls."""
    shown: Literal["number", "percent", "times", "seconds"] = "number"
    """How reports print it."""

    @model_validator(mode="after")
    def _range_or_values(self):
        if bool(self.values) == (self.low is not None and self.high is not None):
            raise refuse("want `low` and `high`, or `values`")
        return self


class Workload(Part):
    """Another workload, as formulas."""

    prompt: Formula = None
    """Prompt tokens."""
    output: Formula = None
    """Output tokens."""
    context: Formula = None
    """Cached tokens that a decode step sees."""
    batch: Formula = None
    """Sequences at once."""
    devices: Formula = None
    """Devices that share the model."""


class Change(Part):
    """What is different. `{name}` in texts stands for the free parameter; formulas may use it by name."""

    techniques: tuple[str, ...] = ()
    """As for `--technique`."""
    set: tuple[str, ...] = ()
    """Overrides, as for `--set`."""
    hardware: str | None = None
    """A name; `host`: the processor and RAM around the device; `allowing`: the smallest machine of the library that would do."""
    model: str | None = None
    """A name; `smaller` or `larger`: the model of the same family in the library that comes closest."""
    engine: str | None = None
    """A name."""
    workload: Workload = Workload()
    """Another workload."""
    rates: dict[Literal["memory", "compute", "link", "peer", "disk", "host_memory", "host_compute"], Expression] = {}
    """Multiples of the machine's rates."""
    seconds: Formula = None
    """Seconds added to every pass."""
    tokens: Formula = None
    """Tokens that a decode pass emits; the pass works on as many, rounded up."""
    measure: Literal["user", "total", "end_to_end"] = "user"
    """What the figure counts: one user's decode, the total over the batch, or output over the whole request's time."""


class Spread(Part):
    """Multiples of the expected speed between which 80 % of such cases lie, in place of the engine's."""

    low: Positive
    """Below the expected speed."""
    high: Positive
    """Above it."""


class Explanation(Doc):
    """One possible reason for a figure above or below the prediction."""

    look: TitleField = Title(en="")
    """What to look at, or which flag to try."""
    figure: Literal["slow", "fast", "either"] = "slow"
    """Whether it lowers or raises the figure."""
    target: Literal["decode", "prefill"] | None = None
    """The figure that the free parameter is solved for; by default decode where it was measured."""
    classes: tuple[Text, ...] = ()
    """Hardware classes where it can happen (all, if none is given)."""
    when: Formula = None
    """It applies where this is not zero."""
    prior: Formula = 1
    """How often it is the reason, against the others: 1 is common, 0.1 rare."""
    instead_of: str | None = None
    """Used only where that explanation could not be (its technique is missing, or does not apply)."""
    solve: Free | None = None
    """The free parameter."""
    change: Change
    """What is different."""
    span: Spread | None = None
    """For decode."""
    prefill_span: Spread | None = None
    """For prompt processing."""
