"""Study documents: which combinations a report evaluates, and how it words them."""

from __future__ import annotations

from typing import Literal

from ..sizes import MOST_DEVICES
from .common import Doc, Part, Text, TitleField, count


class Workload(Part):
    """A workload; missing fields take the defaults of `predict`."""

    prompt: count() | None = None  # type: ignore[valid-type]
    output: count() | None = None  # type: ignore[valid-type]
    context: count(0) | None = None  # type: ignore[valid-type]
    batch: count() | None = None  # type: ignore[valid-type]
    devices: count(1, MOST_DEVICES) | None = None  # type: ignore[valid-type]


class Case(Part):
    """One combination: what to predict. In a row, missing fields come from the study's baseline."""

    model: str | None = None
    hardware: str | None = None
    engine: str | None = None
    techniques: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    """Techniques of what it is compared with that this case leaves out."""
    workload: Workload = Workload()
    set: tuple[str, ...] = ()
    """Overrides, as for `--set`."""


class StudyRow(Part):
    """A line of the table: a case (or variants of it that must agree) against the baseline (or its own `against`)."""

    name: str
    title: TitleField
    case: Case = Case()
    against: Case = Case()
    variants: dict[str, Case] = {}
    printed: dict[str, Case] = {}
    """Variants that are shown but have no vote."""
    metric: str | None = None


class Study(Doc):
    """A study."""

    view: Literal["grid", "memory-vs-speed", "phases", "hardware", "decode-ceiling", "techniques"] = "grid"
    base: Case = Case()
    models: tuple[str, ...] = ()
    hardware: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    techniques: tuple[tuple[str, ...] | str, ...] = ()
    workloads: tuple[Workload, ...] = ()
    rows: tuple[StudyRow, ...] = ()
    thresholds: dict[str, float] = {}
    texts: dict[str, TitleField] = {}
    """Words of the report: headings, verdicts, reasons."""
    notes: tuple[Text | TitleField, ...] = ()
