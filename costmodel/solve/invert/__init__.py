"""Cases asked backwards: the unknown from a target, crossings of two regimes, and how much each parameter weighs."""

from .api import crossovers, invert, sensitivity

__all__ = ["crossovers", "invert", "sensitivity"]
