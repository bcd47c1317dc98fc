"""A case compiled `open` at other values of its inputs: rates, coefficients, scales of bytes, and the schedule's knobs, as numbers."""

from __future__ import annotations

from copy import copy
from functools import partial


def input_name(prefix: str, name: str, draft: bool = False) -> str:
    """What a rate of a program is called as an input: a machine's own bear its prefix, the scales of a draft model's bytes its own;
    engine and model are those of all."""
    if name in ("w_scale", "kv_scale"):
        return f"draft_{name}" if draft else name
    return name if name.startswith("k_") else prefix + name


def varied(runnable, given: dict[str, float], prefix: str = "", draft: bool = False):
    """A copy of a runnable that was built with `open`, with inputs (named as in :class:`~.traced.Formulas`) at other values.

    Nothing is compiled. What is not given keeps its value; names that the case does not have are passed over.
    """
    rates = {name: given.get(input_name(prefix, name, draft), value) for name, value in runnable.meta["rates"].items()}
    found = copy(runnable)
    size, kv = rates["w_scale"], rates["kv_scale"]
    stored = {tier: held * size for tier, held in runnable.meta["stored"].items()}
    found.meta = {**runnable.meta, "rates": rates, "stored": stored, "file_size": runnable.meta["file_size"] * size}
    found.c = runnable.coefs(rates)
    knobs = {name: value for name, value in given.items() if name.startswith("knob_")}
    found.plan = _knobbed(runnable.plan, knobs)
    found.also = None if runnable.also is None else _knobbed(runnable.also, knobs)
    found.held = runnable.held if kv == 1 else partial(_scaled, runnable.held, kv)
    found.other = None if runnable.other is None else varied(runnable.other, given, "decode_")
    beside = "decode_" if runnable.other is not None else prefix
    found.draft = None if runnable.draft is None else varied(runnable.draft, given, beside, True)
    apart = runnable.draft_prefill is not runnable.draft
    found.draft_prefill = varied(runnable.draft_prefill, given, prefix, True) if apart else found.draft
    return found


def _knobbed(function, knobs: dict[str, float]):
    known = function.__code__.co_varnames[4 : function.__code__.co_argcount]
    used = {name: value for name, value in knobs.items() if name in known}
    return partial(function, **used) if used else function


def _scaled(held, scale: float, B, S) -> tuple:
    kv, state, host, disk, host_state = held(B, S)
    return kv * scale, state, host * scale, disk * scale, host_state
