"""A last look at emitted source before it is used: every row's terms at a few points, finite and not negative."""

from __future__ import annotations

from math import isfinite

from ..language.formula import FormulaError, Node
from ..language.formula.fold import number
from ..language.problem import Mark, Problem, SpecError
from .emit import ROW_TERMS
from .machine import TERM_NAMES, Machine
from .runnable import Runnable

POINTS = ((1, 1, 0, 1), (1, 1, 1000, 1), (3, 7, 1000, 1), (2, 512, 0, 0), (1, 1, 10**6, 1))
_FAULTS = (ZeroDivisionError, ValueError, OverflowError, TypeError, NameError)


def prove(machine: Machine, source: str) -> Runnable:
    """The runnable of an emitted source. Raises :class:`SpecError` with the row whose term has no value or is negative."""
    mark = machine.program.model.mark("name")
    try:
        runnable = Runnable(source)
    except (SyntaxError, RecursionError, MemoryError):
        raise SpecError(Problem("the formulas nest too deeply to be compiled", mark)) from None
    except _FAULTS as error:
        raise SpecError(Problem(f"the rates have no value: {error}", machine.hardware.mark("compute"))) from None
    _prove_efficiencies(machine)
    for B, T, S, R in POINTS:
        point = {"B": B, "T": T, "S": S, "R": R, "M": B * T, "H": B * R}
        try:
            rows = runnable.rows(B, T, S, R, B * T, B * R)
            total = runnable.step(B, T, S, R, B * T, B * R, runnable.c)
            extra = (*runnable.held(B, S), *runnable.scratch(B, T, S, R, B * T, B * R))
            good = all(_sound(v) for row in rows for v in row) and all(map(_sound, (*total, *extra)))
        except _FAULTS:
            good = False
        if not good:
            raise _fault(machine, point)
    return runnable


def _prove_efficiencies(machine: Machine) -> None:
    """An efficiency that depends on M must stay above zero."""
    overhead = machine.fixed
    free = machine.left()
    for M in (1, 2, 512, 10**6):
        if _wrong(overhead, {"M": M, **free}):
            raise SpecError(Problem(f"the fixed time of a pass {_wrong(overhead, {'M': M})} at M={M}", machine.engine.mark("overhead")))
    for item in machine.placed:
        for field, node in item.eff.items():
            for M in (1, 2, 512, 10**6):
                try:
                    good = number(node, {"M": M, **free}) > 0
                except FormulaError:
                    good = False
                if not good:
                    mark = machine.engine.mark("efficiency", field)
                    raise SpecError(Problem(f"efficiency.{field} is not positive at M={M}", mark, "want more than 0, at most 1"))


def _sound(value) -> bool:
    return isfinite(value) and value >= 0


def _fault(machine: Machine, point: dict) -> SpecError:
    """The first term that is not sound at a point, by evaluating the formulas one by one."""
    for item in machine.placed:
        for short in (*ROW_TERMS, "hk", "hs", "ws"):
            words = _wrong(item.terms[short], point)
            if words:
                where = f"{item.row.block}.{item.row.name}: `{TERM_NAMES[short]}` {words} at {_shown(point)}"
                return SpecError(Problem(where, item.row.mark, None, _history(item.row)))
    return SpecError(Problem(f"the step has no finite value at {_shown(point)}", machine.program.model.mark("name")))


def _wrong(node: Node, point: dict) -> str | None:
    try:
        value = number(node, point)
    except FormulaError as error:
        return f"has no value ({error})"
    try:
        return None if _sound(value) else f"is {value:g}"
    except OverflowError:
        return "is too large"


def _history(row) -> tuple[tuple[Mark, str], ...]:
    return tuple((mark, note) for note, mark in row.history[-3:])


def _shown(point: dict) -> str:
    return ", ".join(f"{k}={point[k]}" for k in ("B", "T", "S", "R"))
