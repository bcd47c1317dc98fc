"""The rewrite stages: insert/drop → format → set → replace → scale → add → place, each order-free or refused.

Inside a stage two techniques that give one thing different values are an error that names both lines; factors and
summands are applied in the order of technique names, so the order of `--technique` never changes a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from ..language.formula import FormulaError, Node, Num, names
from ..language.formula.fold import bind, number
from ..language.formula.nodes import Bin, Call, Name
from ..language.formula.write import text
from ..language.problem import Mark, Problem, SpecError, suggest
from ..library import Library
from ..schema.names import ROLES, SYMBOLS, TERMS
from .dims import JOIN
from .rows import Row, make_row
from .uses import Use

_KEYS = ("role", "op", "name", "block")


class Step(NamedTuple):
    """One rewrite of one technique in use: `item` of its document, at `position`."""

    use: Use
    position: int
    item: Any


def steps_of(uses: list[Use]) -> list[Step]:
    """All rewrites, by technique name, then by position in the document."""
    return [Step(u, i, r) for u in sorted(uses, key=lambda u: u.name) for i, r in enumerate(u.spec.doc.rewrite)]


def active(step: Step, dims) -> bool:
    """Whether the rewrite's `when` holds."""
    if step.item.when is None:
        return True
    return bool(evaluate(step, step.item.when, dims, "when"))


def evaluate(step: Step, node: Node, dims, *path):
    """A formula over knobs and dims, as a number."""
    try:
        return number(bind(node, step.use.numbers()), dims)
    except FormulaError as error:
        raise SpecError(Problem(f"{'.'.join(map(str, path))}: {error}", mark_of(step, *path), error.help)) from None


def mark_of(step: Step, *path):
    """Where a part of the rewrite stands."""
    return step.use.spec.mark("rewrite", step.position, *path)


def matches(row: Row, only) -> bool:
    """Whether a row satisfies an `only` condition."""
    if only is None:
        return True
    for key in _KEYS:
        patterns = getattr(only, key)
        patterns = (patterns,) if isinstance(patterns, str) else patterns
        if patterns and not any(fnmatchcase(getattr(row, key), p) for p in patterns):
            return False
    if only.not_ is not None:
        return not any(_listed(row, key, getattr(only.not_, key)) for key in _KEYS)
    return True


def _listed(row: Row, key: str, patterns) -> bool:
    patterns = (patterns,) if isinstance(patterns, str) else patterns
    return any(fnmatchcase(getattr(row, key), p) for p in patterns)


def chosen(rows: list[Row], step: Step, model: str) -> Iterator[Row]:
    """The rows a rewrite touches; a role pattern that no role could match is an error."""
    only = step.item.only
    if only is not None and only.role:
        patterns = (only.role,) if isinstance(only.role, str) else only.role
        roles = {r.role for r in rows} | set(ROLES)
        for pattern in patterns:
            if not any(fnmatchcase(r, pattern) for r in roles):
                raise SpecError(Problem(f"no role `{pattern}`", mark_of(step, "only", "role"), suggest(pattern, roles)))
    return (r for r in rows if matches(r, only))


def drop_and_insert(rows: list[Row], steps: list[Step], dims, library: Library, model: str) -> list[Row]:
    """Structural rewrites."""
    before = list(rows)
    for step in steps:
        if step.item.drop:
            gone = {id(r) for r in chosen(rows, step, model)}
            rows = [r for r in rows if id(r) not in gone]
    made: list[Row] = []
    for step in steps:
        insert = step.item.insert
        if insert is None:
            continue
        blocks = {r.block: (r.repeat, r.own, r.span) for r in before if fnmatchcase(r.role, insert.beside)}
        knobs = step.use.numbers()
        for block, (repeat, own, span) in blocks.items():
            for name, row in insert.rows.items():
                path = ("rewrite", step.position, "insert", "rows", name)
                new = make_row(
                    step.use.spec,
                    path,
                    block,
                    f"{step.use.name}.{name}",
                    row,
                    repeat,
                    dict(dims) | {k: v.value for k, v in knobs.items()},
                    library,
                    own,
                )
                if new is not None:
                    new.span = span
                    new.args = {a: _bound(step, n, "insert", "rows", name) for a, n in new.args.items()}
                    new.history.append((f"inserted by {step.use.name}", mark_of(step, "insert")))
                    made.append(new)
    return rows + made


def change_formats(rows: list[Row], steps: list[Step], model: str) -> None:
    """Number formats of weights, KV and activations."""
    for step in steps:
        change = step.item.format
        if change is None:
            continue
        for what, name in change:
            if name is None:
                continue
            value = str(step.use.values.get(name, name))
            mark = mark_of(step, "format", what)
            for row in chosen(rows, step, model):
                _once(
                    row.formats, what, (value, mark, 1), lambda old, new: old[0] == new[0], f"the {what} format", mark, lambda old: old[1]
                )
                row.history.append((f"{what} format {value} ({step.use.name})", mark))


def set_symbols(rows: list[Row], steps: list[Step], dims, model: str) -> None:
    """Row symbols and arguments given another formula."""
    owner: dict = {}
    for step in steps:
        for name, node in _row_level(step, "set", dims):
            mark = mark_of(step, "set", name)
            node = _bound(step, node, "set", name)
            for row in chosen(rows, step, model):
                _known(row, name, mark)
                key = (id(row), name)
                if key in owner and owner[key][0] != node:
                    raise _clash(f"`{name}`", mark, owner[key][1])
                owner[key] = (node, mark)
                _assign(row, name, node)
                row.history.append((f"set {name} = {text(node)} ({step.use.name})", mark))


def replace_terms(rows: list[Row], steps: list[Step], model: str) -> None:
    """Terms exchanged."""
    owner: dict = {}
    for step in steps:
        for name, node, mark in _bound_terms(step, "replace"):
            for row in chosen(rows, step, model):
                if (id(row), name) in owner and owner[id(row), name][0] != node:
                    raise _clash(f"`{name}`", mark, owner[id(row), name][1])
                owner[id(row), name] = (node, mark)
                row.terms[name] = node
                row.history.append((f"replace {name} = {text(node)} ({step.use.name})", mark))


def scale_terms(rows: list[Row], steps: list[Step], dims, model: str) -> None:
    """Terms, symbols and arguments multiplied; scaled arguments are sizes, so they are rounded up."""
    for step in steps:
        for name, node in _row_level(step, "scale", dims):
            mark = mark_of(step, "scale", name)
            factor = _factor(step, node, name)
            for row in chosen(rows, step, model):
                if factor == Num(1):
                    continue
                if name in TERMS:
                    row.terms[name] = Bin("*", factor, row.terms[name])
                else:
                    _known(row, name, mark)
                    scaled = Bin("*", factor, _current(row, name))
                    _assign(row, name, Call("ceil", (scaled,)) if name in row.args else scaled)
                row.history.append((f"scale {name} by {text(factor)} ({step.use.name})", mark))


def add_terms(rows: list[Row], steps: list[Step], model: str) -> None:
    """Summands."""
    for step in steps:
        for name, node, mark in _bound_terms(step, "add"):
            for row in chosen(rows, step, model):
                row.terms[name] = Bin("+", row.terms[name], node)
                row.history.append((f"add {text(node)} to {name} ({step.use.name})", mark))


def scale_and_set_dims(formulas: dict, steps: list[Step], model: str) -> dict:
    """Dims set or scaled by rewrites without `only`, of the model and of its blocks; scaled ones are rounded up to whole numbers."""
    out = dict(formulas)
    owner: dict = {}
    for step in steps:
        for name, node in step.item.set.items():
            if step.item.only is None and name in formulas:
                node, mark = _bound(step, node, "set", name), mark_of(step, "set", name)
                if name in owner and owner[name][0] != node:
                    raise _clash(f"dim `{name}`", mark, owner[name][1])
                owner[name] = (node, mark)
                out |= dict.fromkeys(_variants(name, formulas), node)
    for step in steps:
        scaled = {v for name in step.item.scale for v in _variants(name, formulas)}
        for name, node in step.item.scale.items():
            if step.item.only is None and (name in formulas or "*" in name):
                factor = _factor(step, node, name)
                for variant in _variants(name, formulas) if factor != Num(1) else ():
                    if not _uses(formulas, variant) & scaled:  # computed from a scaled dim: it follows by itself
                        out[variant] = Call("ceil", (Bin("*", factor, out[variant]),))
    return out


def _variants(name: str, formulas: dict) -> list[str]:
    """A dim (or all that match `L_*`), and the same as single blocks see it."""
    return [n for n in formulas if fnmatchcase(n.partition(JOIN)[0], name)]


def _uses(formulas: dict, name: str) -> set[str]:
    """Dims that a dim is computed from, directly or not."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        fresh = names(formulas[waiting.pop()]) & formulas.keys() - found
        found |= fresh
        waiting += fresh
    return found


def _bound(step: Step, node: Node, *path) -> Node:
    """A formula with the knobs' values in it; its other names stay."""
    try:
        return bind(node, step.use.numbers())
    except FormulaError as error:
        raise SpecError(Problem(f"{'.'.join(map(str, path))}: {error}", mark_of(step, *path), error.help)) from None


def _factor(step: Step, node: Node, name: str) -> Node:
    factor = _bound(step, node, "scale", name)
    if isinstance(factor, Num) and factor.value < 0:
        raise SpecError(Problem(f"scale.{name}: the factor is {factor.value:g}; want 0 or more", mark_of(step, "scale", name)))
    return factor


def _row_level(step: Step, verb: str, dims):
    for name, node in getattr(step.item, verb).items():
        if step.item.only is None and (name in dims or "*" in name):
            continue
        yield name, node


def _known(row: Row, name: str, mark) -> None:
    if name not in SYMBOLS and name not in row.args and name not in row.let:
        raise SpecError(
            Problem(
                f"`{name}` is no dim of the model, symbol, or argument of `{row.op}`", mark, suggest(name, [*SYMBOLS, *row.args, *row.let])
            )
        )


def _current(row: Row, name: str) -> Node:
    if name in row.args:
        return row.args[name]
    if name in row.let:
        return row.let[name]
    if name in row.symbols:
        return row.symbols[name]
    default = SYMBOLS[name][1]
    return Name(default) if isinstance(default, str) else Num(default)


def _assign(row: Row, name: str, node: Node) -> None:
    (row.args if name in row.args else row.let if name in row.let else row.symbols)[name] = node


def _bound_terms(step: Step, verb: str) -> Iterator[tuple[str, Node, Mark]]:
    """The terms that a verb names, with its formulas bound to the knobs and their places."""
    for name, node in getattr(step.item, verb).items():
        mark = mark_of(step, verb, name)
        if name not in TERMS:
            raise SpecError(Problem(f"no term `{name}`", mark, suggest(name, TERMS)))
        yield name, _bound(step, node, verb, name), mark


def _once(store: dict, key: str, value, same, what: str, mark, place) -> None:
    old = store.get(key)
    if old is not None and old[1] is not None and not same(old, value):
        raise _clash(what, mark, place(old))
    store[key] = value


def _clash(what: str, mark, other) -> SpecError:
    return SpecError(
        Problem(f"{what} is set by two techniques", mark, "choose one, or give one of them an `only:`", ((other, "and here"),))
    )
