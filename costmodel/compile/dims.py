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


def check_dims(model: Spec, dims: dict) -> None:
    """Every condition of the document's `requires` must hold. Raises :class:`SpecError` at the dim that breaks one."""
    for message, node in model.doc.requires.items():
        used = sorted(names(node))
        if any(name not in dims for name in used):
            continue  # a dim that is needed is asked for where it is used
        mark = model.mark("requires", message)
        try:
            holds = number(node, dims)
        except FormulaError:  # a division by a dim of zero, say
            holds = False
        if not holds:
            figures = ", ".join(f"{name} = {dims[name]:g}" for name in used)
            words = message.replace(",", " ").split()
            used.sort(key=lambda name: words.index(name) if name in words else len(words))
            places = sorted((model.mark("dims", name) for name in used), key=lambda m: _distance(model, m))
            raise SpecError(Problem(f"{message}; here {figures}", places[0] if places else mark))


def _distance(model: Spec, mark) -> int:
    """Overrides first, then the document itself, then its parents: who broke a condition, most likely."""
    return 0 if mark.source.name.startswith("--set") else 1 if mark.source is model.mark("name").source else 2


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
