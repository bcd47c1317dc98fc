"""Study documents: which combinations a report evaluates, and how it words them."""

from __future__ import annotations

from typing import Literal

from ..sizes import MOST_DEVICES
from .common import Doc, Part, Text, TitleField, count


class Workload(Part):
    """A workload; missing fields take the defaults of `predict`."""

    prompt: count() | None = None  # type: ignore[valid-type]
    """Prompt tokens."""
    output: count() | None = None  # type: ignore[valid-type]
    """Output tokens."""
    context: count(0) | None = None  # type: ignore[valid-type]
    """Cached tokens that a decode step sees."""
    batch: count() | None = None  # type: ignore[valid-type]
    """Sequences at once."""
    devices: count(1, MOST_DEVICES) | None = None  # type: ignore[valid-type]
    """Devices that share the model."""


class Case(Part):
    """One combination: what to predict. In a row, missing fields come from the study's baseline."""

    model: str | None = None
    """A name or path."""
    hardware: str | None = None
    """A name or path."""
    engine: str | None = None
    """A name or path; by default the machine's."""
    techniques: tuple[str, ...] | None = None
    """As for `--technique`."""
    without: tuple[str, ...] = ()
    """Techniques of what it is compared with that this case leaves out."""
    workload: Workload = Workload()
    """Tokens, sequences and devices."""
    set: tuple[str, ...] = ()
    """Overrides, as for `--set`."""


class StudyRow(Part):
    """A line of the table: a case (or variants of it that must agree) against the baseline (or its own `against`)."""

    name: str
    """Names the row in JSON, and its texts."""
    title: TitleField
    """Shown in the table."""
    case: Case = Case()
    """What differs from the baseline."""
    against: Case = Case()
    """What differs in the row's own baseline."""
    variants: dict[str, Case] = {}
    """Cases that must agree with one another, by name."""
    printed: dict[str, Case] = {}
    """Variants that are shown but have no vote."""
    metric: str | None = None
    """`system_tps`: the view `techniques` compares the tokens per second of all users."""


class Study(Doc):
    """A study."""

    view: Literal["grid", "memory-vs-speed", "phases", "hardware", "decode-ceiling", "techniques"] = "grid"
    """What is computed."""
    base: Case = Case()
    """The baseline."""
    models: tuple[str, ...] = ()
    """Axis of a grid."""
    hardware: tuple[str, ...] = ()
    """Axis of a grid."""
    engines: tuple[str, ...] = ()
    """Axis of a grid."""
    techniques: tuple[tuple[str, ...] | str, ...] = ()
    """Axis of a grid: a technique, several together as a list, or `none`."""
    workloads: tuple[Workload, ...] = ()
    """Axis of a grid."""
    rows: tuple[StudyRow, ...] = ()
    """Lines of the table."""
    thresholds: dict[str, float] = {}
    """When a ratio counts as a change."""
    texts: dict[str, TitleField] = {}
    """Words of the report: headings, verdicts, reasons."""
    notes: tuple[Text | TitleField, ...] = ()
    """Printed below the table."""
