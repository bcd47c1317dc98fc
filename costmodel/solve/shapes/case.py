"""The JSON form of a case: what a figure or a prediction is of."""

from typing import TypedDict

from ..units import Slots, Tokens


class Workload(TypedDict):
    """What is run."""

    prompt: Tokens
    output: Tokens
    context: Tokens
    """Cached tokens that the decode step sees."""
    batch: Slots
    """Sequences at once, as techniques leave it."""
    devices: int


class CaseData(TypedDict):
    """Names, techniques, overrides, and the workload as techniques leave it."""

    model: str
    hardware: str
    engine: str
    techniques: list[str]
    """With every knob."""
    sets: list[str]
    """Overrides."""
    workload: Workload
