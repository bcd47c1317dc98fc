"""A model's dims as numbers: what the document gives, set and scaled by techniques, then `= formula` dims."""

from __future__ import annotations

from ..language.formula import FormulaError, names, parse
from ..language.formula.fold import number
from ..language.problem import Problem, SpecError, suggest
from ..language.units import BYTE, UnitError, quantity
from ..library import Spec

MAX_DIMS = 300


def read_dims(model: Spec) -> dict:
    """Dims as formulas (Node) in document order. Raises :class:`SpecError` for text that is neither."""
    if len(model.doc.dims) > MAX_DIMS:
        raise SpecError(Problem(f"{len(model.doc.dims):,} dims; at most {MAX_DIMS}", model.mark("dims")))
    return {name: _read(model, name, value) for name, value in model.doc.dims.items()}


def _read(model: Spec, name: str, value):
    mark = model.mark("dims", name)
    if value is None:
        raise SpecError(Problem(f"dims.{name} has no value", mark, "a number, or `= formula` of other dims"))
    if isinstance(value, str) and not value.lstrip().startswith("="):
        try:
            return parse(quantity(value, BYTE))
        except UnitError as error:
            raise SpecError(Problem(f"dims.{name}: {error}", mark, "a number, or `= formula` of other dims")) from None
    try:
        node = parse(value)
        if not names(node):
            _natural(number(node), name, mark)
        return node
    except FormulaError as error:
        raise SpecError(Problem(f"dims.{name}: {error}", mark.shift(error.column - 1), error.help)) from None


def _natural(value, name: str, mark) -> None:
    if value < 0 or value > 1e16:
        raise SpecError(Problem(f"dims.{name}: {value:g} is not a size", mark))


def solve_dims(model: Spec, formulas: dict) -> dict[str, int | float]:
    """Numbers of all dims; formulas may refer to one another in any order, not in a circle."""
    known: dict[str, int | float] = {}
    active: list[str] = []

    def value(name: str):
        if name in known:
            return known[name]
        mark = model.mark("dims", name)
        if name in active:
            raise SpecError(Problem(f"dims go in a circle: {' -> '.join([*active, name])}", mark))
        active.append(name)
        node = formulas[name]
        for other in names(node):
            if other not in formulas:
                raise SpecError(Problem(f"dims.{name}: dim `{other}` is not given", mark, suggest(other, formulas)))
            value(other)
        try:
            known[name] = number(node, known)
        except FormulaError as error:
            raise SpecError(Problem(f"dims.{name}: {error}", mark)) from None
        _natural(known[name], name, mark)
        active.pop()
        return known[name]

    for name in formulas:
        value(name)
    return known
