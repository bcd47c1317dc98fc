"""Checks of a sweep's arguments that are no axes: what is of another type is one :class:`costmodel.SpecError`."""

from __future__ import annotations

from typing import Any

from ...api import _count, _each, _many, _misfit


def texts(name: str, value) -> tuple:
    """One text or several; none is nothing. Raises :class:`SpecError`."""
    return () if value is None else _each(name, _many(name, value))


def mapping(name: str, value, of: str) -> dict:
    """A mapping (`of` says of what to what); none is empty. Raises :class:`SpecError`."""
    if value is None:
        return {}
    if not hasattr(value, "keys") or not hasattr(value, "__getitem__"):
        raise _misfit(name, f"a mapping of {of}", value)
    return {key: value[key] for key in value.keys()}  # noqa: SIM118 - whatever has keys


def numbers(name: str, value) -> Any:
    """A flat array of floats, of a number or several. Raises :class:`SpecError`."""
    import numpy as np

    try:
        found = np.atleast_1d(np.asarray(value, dtype=np.float64))
        if found.ndim == 1 and not isinstance(value, (str, bytes)):
            return found
    except (TypeError, ValueError, OverflowError):
        pass
    raise _misfit(name, "a list of numbers", value)


def check_running(options: dict) -> None:
    """What says how a sweep runs, not what it finds. Raises :class:`SpecError`."""
    for name in ("table", "force", "keep"):
        if type(options[name]).__name__ not in ("bool", "bool_") and not (name == "keep" and options[name] is None):
            raise _misfit(name, "`True` or `False`", options[name])
    options["block_bytes"] = _count("block_bytes", options["block_bytes"], 1)
    if options["in_flight"] is not None:
        options["in_flight"] = _count("in_flight", options["in_flight"], 1)
    wanted = {"executor": ("submit", "one of `concurrent.futures`"), "library": ("load", "a `costmodel.Library`")}
    for name, (has, want) in (wanted | {"progress": ("__call__", "a function of (points done, points)")}).items():
        if options[name] is not None and not hasattr(options[name], has):
            raise _misfit(name, want, options[name])
