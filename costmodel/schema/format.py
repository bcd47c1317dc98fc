"""Number formats: bytes per block of weights, or a mix of formats by role."""

from __future__ import annotations

from typing import Any

from .common import Bytes, Doc, Dtype, Expression, Ident, Text


class NumberFormat(Doc):
    """A plain format (`block`, `size`) or a mix by role (`mix`)."""

    family: Text = ""
    """What an engine's `formats` key on."""
    block: int | None = None
    """Weights per block."""
    size: Bytes | None = None
    """Bytes per block, scales included."""
    math: Dtype | None = None
    """The type matrix products run in when weights and activations are both in this format."""
    activations: Bytes | None = None
    """Bytes per activation element, where the format covers activations."""
    layout: Text = ""
    """How a block is laid out; for information."""
    proposed: bool = False
    """Whether `predict --must-fit` may propose it: a whole-model format that files are published in."""
    let: dict[Ident, Expression] = {}
    """Named helper formulas over the model's dims."""
    mix: dict[str, Any] | None = None
    """Role to format, or to `{format: share, …, format: rest}`."""
    whole: dict[str, Any] = {}
    """Role overrides when a block format is used for a whole model."""
