"""`quantization_config` to number formats by role."""

from __future__ import annotations

from collections.abc import Mapping


def weights_of(data: Mapping, text: Mapping, variables, found, library, extra: Mapping | None) -> tuple[dict, list[str]]:
    """The `weights` of a model document, and notes."""
    return {"format": "bf16"}, []
