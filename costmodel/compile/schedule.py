"""The schedule: which steps prefill and decode take, merged from all techniques in use."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..language.formula import FormulaError, Name, Node, parse
from ..language.formula.fold import bind
from ..language.problem import Mark, Problem, SpecError
from .uses import Use, open_name


class Entry(NamedTuple):
    """One field of the schedule: formula over prompt, output, context, batch; where it stands; whose it is (a default's: None)."""

    node: Any
    mark: Mark | None
    use: Any


DEFAULTS = {
    "prefill.T": "prompt",
    "prefill.S": "0",
    "prefill.R": "1",
    "prefill.chunk": "0",
    "prefill.ride_B": "0",
    "prefill.ride_S": "context",
    "prefill.parts": "1",
    "prefill.stages": "1",
    "decode.T": "1",
    "decode.S": "context",
    "decode.R": "1",
    "decode.tokens_out": "1",
    "decode.occupancy": "1",
    "decode.B": "batch",
    "batch": "batch",
    "no_cache": "0",
}


def merge_schedules(uses: list[Use]) -> tuple[dict[str, Entry], Entry | None, Entry | None]:
    """All fields, the `also` entry (another model's steps) and the decode machine, or an error naming both places."""
    fields = {k: Entry(parse(v), None, None) for k, v in DEFAULTS.items()}
    also = machine = None
    for use in sorted(uses, key=lambda u: u.name):
        schedule = use.spec.doc.schedule
        for name, node in _given(schedule):
            mark = use.spec.mark("schedule", *name.split("."))
            if name == "decode.also":
                also = _claim(also, Entry(_bound_also(node, use), mark, use), "decode.also")
            elif name == "decode.hardware":
                machine = _claim(machine, Entry(str(use.values.get(node, node)), mark, use), "decode.hardware")
            else:
                entry = Entry(_bound(node, use, mark), mark, use)
                fields[name] = _claim(fields[name] if fields[name].mark else None, entry, name)
    return fields, also, machine


def _given(schedule):
    for name in ("batch", "no_cache"):
        if getattr(schedule, name) is not None:
            yield name, getattr(schedule, name)
    for phase in ("prefill", "decode"):
        for name, node in getattr(schedule, phase):
            if node is not None:
                yield f"{phase}.{name}", node


def _bound(node: Node, use: Use, mark) -> Node:
    left = {open_name(use.name, knob): use.spec.doc.knobs[knob].range for knob in use.open}
    values = use.numbers() | {knob: Name(open_name(use.name, knob)) for knob in use.open}
    try:
        return bind(node, values, dict.fromkeys(("prompt", "output", "context", "batch"), (1, 2**40)) | left)
    except FormulaError as error:
        raise SpecError(Problem(f"{use.name}: {error}", mark, error.help)) from None


def _bound_also(also, use: Use) -> dict:
    mark = use.spec.mark("schedule", "decode", "also")
    out = {n: _bound(getattr(also, n), use, mark) for n in ("T", "S", "R", "repeat")}
    return out | {"model": str(use.values.get(also.model, also.model)), "prefill": also.prefill}


def _claim(old: Entry | None, new: Entry, name: str) -> Entry:
    if old is not None and old.node != new.node:
        raise SpecError(
            Problem(
                f"schedule.{name} is set by `{old.use.name}` and `{new.use.name}`",
                new.mark,
                "they cannot be combined",
                ((old.mark, "and here"),),
            )
        )
    return new
