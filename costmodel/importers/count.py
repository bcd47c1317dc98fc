"""Parameters by role of a model that an importer is about to write: the architecture's rows with the dims that were found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..language.formula import FormulaError, Node, Num, names, parse
from ..language.formula.fold import bind

Env = dict[str, Any]


def params_by_role(architecture, dims: Mapping[str, Any], blocks: Mapping[str, dict], library) -> dict[str, float]:
    """Parameters of every role; what cannot be evaluated here counts as nothing (the compiler will say why)."""
    formulas: dict[str, Node] = {name: parse(value) for name, value in architecture.dims.items()}
    formulas |= {name: Num(value) for name, value in dims.items()}
    found: dict[str, float] = {}
    env = _solved(formulas)
    for block in architecture.blocks.values():
        _add(block, env, library, found)
    for own in blocks.values():
        local = _solved({**formulas, **{name: Num(value) for name, value in own["dims"].items()}})
        for source in own["like"]:
            _add(architecture.blocks[source], local, library, found)
    return found


def _solved(formulas: Mapping[str, Node]) -> Env:
    env: Env = dict(formulas)
    for _ in range(12):
        waiting = {n: v for n, v in env.items() if not isinstance(v, Num)}
        if not waiting:
            break
        env |= {n: _bound(v, env) for n, v in waiting.items()}
    return env


def _bound(node: Node, env: Mapping[str, Node]) -> Node:
    try:
        return bind(node, env)
    except FormulaError:
        return node


def _value(node: Any, env: Mapping[str, Node]) -> float:
    """A number, or 0 where there is none."""
    done = Num(node) if isinstance(node, (int, float)) else _bound(node, env)
    return done.value if isinstance(done, Num) else 0


def _add(block, env: Env, library, found: dict[str, float]) -> None:
    times = _value(block.repeat, env)
    for row in block.ops.values() if times else ():
        if row.when is None or _value(row.when, env):
            op = library.load("operator", row.op).doc
            found[row.role] = found.get(row.role, 0) + times * _params(op, row, env)


def _params(op, row, env: Env) -> float:
    args = {n: a.default for n, a in op.args.items() if not isinstance(a, str)} | dict(row.model_extra or {})
    scope: Env = {n: _bound(v if isinstance(v, Node) else parse(v), env) for n, v in args.items()}
    needed = names(op.params) if not isinstance(op.params, (int, float)) else set()
    for name in needed & op.let.keys():
        scope[name] = _bound(op.let[name], scope)
    return _value(op.params, scope)
