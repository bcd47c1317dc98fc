"""Which function gives which case: `@reproduces("ridge_a10_fp16", dtype="fp16")` on `function(given, folder, **extra)`."""

from __future__ import annotations

from functools import partial

ADAPTERS: dict = {}
"""Case id to a function of the case's inputs and an empty folder, which returns the figure in SI units."""


def reproduces(*ids: str, **extra):
    """Register a function for cases; `extra` are facts of the source that the inputs do not hold (a number type, a format)."""

    def register(function):
        for case in ids:
            if case in ADAPTERS:
                raise ValueError(f"two adapters for {case}")
            ADAPTERS[case] = partial(function, **extra) if extra else function
        return function

    return register
