"""A model's dims as numbers: what the document gives, set and scaled by techniques, then `= formula` dims."""

from __future__ import annotations

import re

from ..language.formula import FormulaError, names, parse
from ..language.formula.fold import bind, number
from ..language.formula.nodes import Name
from ..language.problem import Problem, SpecError, suggest
from ..language.units import BYTE, UnitError, quantity
from ..library import Spec

MAX_DIMS = 300
JOIN = "__"
_NOT_WORD = re.compile(r"\W")


def read_dims(model: Spec) -> dict:
    """Dims as formulas (Node) in document order. Raises :class:`SpecError` for text that is neither."""
    if len(model.doc.dims) > MAX_DIMS:
        raise SpecError(Problem(f"{len(model.doc.dims):,} dims; at most {MAX_DIMS}", model.mark("dims")))
    found = {name: _read(name, value, model.mark("dims", name)) for name, value in model.doc.dims.items()}
    for block, item in model.doc.blocks.items():
        for name, value in item.dims.items():
            mark = model.mark("blocks", block, "dims", name)
            if name not in found:
                raise SpecError(Problem(f"dim `{name}` is not one of the model's", mark, suggest(name, found)))
            found[lifted(name, block)] = _read(name, value, mark)
        found |= _followers(found, set(item.dims), block)
    return found


def _followers(dims: dict, given: set[str], block: str) -> dict:
    """Dims computed from those that a block gives, as that block sees them."""
    own = set(given)
    for _ in range(len(dims)):
        more = {n for n, node in dims.items() if JOIN not in n and n not in own and names(node) & own}
        if not more:
            break
        own |= more
    swap = {n: Name(lifted(n, block)) for n in own}
    return {lifted(n, block): bind(dims[n], swap) for n in own - given}


def seen_by(block: str, dims) -> dict[str, Name]:
    """The dims that a block sees differently, by the model's name of each."""
    tail = lifted("", block)
    return {name.removesuffix(tail): Name(name) for name in dims if name.endswith(tail)}


def lifted(name: str, block: str) -> str:
    """The model-wide name of a dim that one block sees differently."""
    return f"{name}{JOIN}{_NOT_WORD.sub('_', block)}"


def dim_mark(model: Spec, name: str):
    """Where a dim is given: by the model, or by one block."""
    base, join, _ = name.partition(JOIN)
    for block, item in model.doc.blocks.items() if join else ():
        if base in item.dims and lifted(base, block) == name:
            return model.mark("blocks", block, "dims", base)
    return model.mark("dims", name)


def _read(name: str, value, mark):
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
    """Every condition of the document's `requires` must hold, for single blocks too.

    Raises :class:`SpecError` at the dim that breaks one.
    """
    counted = {dim for block in model.doc.blocks.values() for dim in block.dims if dim.startswith("L")}
    for message, node in model.doc.requires.items():
        used = sorted(names(node))
        if any(name not in dims or name in counted for name in used):
            continue  # a dim that is needed is asked for where it is used; layers of single blocks count elsewhere
        for block in [None, *(b for b, item in model.doc.blocks.items() if item.dims.keys() & set(used))]:
            own = {} if block is None else {n: v.id for n, v in seen_by(block, dims).items() if v.id in dims}
            _require(model, message, node, {name: own.get(name, name) for name in used}, dims)


def _require(model: Spec, message: str, node, used: dict[str, str], dims: dict) -> None:
    """One condition; `used` are its names and the dims that they stand for."""
    try:
        holds = number(node, {name: dims[real] for name, real in used.items()})
    except FormulaError:  # a division by a dim of zero, say
        holds = False
    if not holds:
        figures = ", ".join(f"{name} = {dims[real]:g}" for name, real in used.items())
        words = message.replace(",", " ").split()
        order = sorted(used, key=lambda name: words.index(name) if name in words else len(words))
        places = sorted((dim_mark(model, used[name]) for name in order), key=lambda m: _distance(model, m))
        raise SpecError(Problem(f"{message}; here {figures}", places[0] if places else model.mark("requires", message)))


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
        mark = dim_mark(model, name)
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
        if known[name] < 0:
            check_dims(model, known)  # a broken condition says more than its consequence
        _natural(known[name], name, mark)
        active.pop()
        return known[name]

    for name in formulas:
        value(name)
    return known
