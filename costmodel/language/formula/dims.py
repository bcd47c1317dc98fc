"""The dimension of a formula, given the dimension of every name it may use."""

from __future__ import annotations

from collections.abc import Mapping

from ..problem import suggest
from ..units import COUNT, Dim
from .grammar import FormulaError
from .nodes import COMPARISONS, Bin, Call, Name, Neg, Node, Num
from .write import text


def dimension(node: Node, env: Mapping[str, Dim]) -> Dim:
    """Dimension of `node`. Raises :class:`FormulaError` for an unknown name or dimensions that do not fit."""
    if isinstance(node, Num):
        return COUNT
    if isinstance(node, Name):
        if node.id not in env:
            raise FormulaError(f"unknown name `{node.id}`", 1, suggest(node.id, env))
        return env[node.id]
    if isinstance(node, Neg):
        return dimension(node.operand, env)
    if isinstance(node, Bin):
        return _binary(node, env)
    return _call(node, env)


def check(node: Node, env: Mapping[str, Dim], want: Dim | tuple[Dim, ...]) -> None:
    """Raise unless the formula comes out as `want` (or one of them)."""
    got = dimension(node, env)
    wanted = (want,) if isinstance(want, Dim) else want
    if isinstance(node, Num) and node.value == 0:
        return
    if got not in wanted:
        raise FormulaError(f"the formula is a {got}; want {' or '.join(map(str, wanted))}")


def _binary(node: Bin, env) -> Dim:
    left, right = dimension(node.left, env), dimension(node.right, env)
    if node.op in ("*", "/"):
        return left.times(right, 1 if node.op == "*" else -1)
    if node.op == "**":
        if right != COUNT:
            raise FormulaError(f"the exponent `{text(node.right)}` is a {right}; want a count")
        if left == COUNT:
            return COUNT
        if not isinstance(node.right, Num):
            raise FormulaError(f"`{text(node.left)}` is a {left}; only a count takes a variable exponent")
        return Dim(*(a * int(node.right.value) for a in left))
    if node.op in ("and", "or"):
        return COUNT
    same = _same((node.left, node.right), (left, right), "compare" if node.op in COMPARISONS else "add")
    return COUNT if node.op in COMPARISONS else same


def _call(node: Call, env) -> Dim:
    dims = [dimension(a, env) for a in node.args]
    if node.fn == "where":
        return _same(node.args[1:], dims[1:], "choose between")
    if node.fn in ("log2", "sqrt"):
        if dims[0] != COUNT:
            raise FormulaError(f"`{node.fn}` takes a count, not a {dims[0]}")
        return COUNT
    return _same(node.args, dims, f"give `{node.fn}`")


def _same(nodes, dims, verb: str) -> Dim:
    known = [d for n, d in zip(nodes, dims, strict=True) if not (isinstance(n, Num) and n.value == 0)]
    first = known[0] if known else COUNT
    other = next((d for d in known if d != first), None)
    if other is not None:
        raise FormulaError(f"cannot {verb} a {first} and a {other}")
    return first
