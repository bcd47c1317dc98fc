"""Nodes of the formula tree: immutable, comparable, and ignorant of who reads them."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import NamedTuple


class Num(NamedTuple):
    """A number: int (exact) or float."""

    value: int | float


class Name(NamedTuple):
    """A symbol, bound later."""

    id: str


class Neg(NamedTuple):
    """Unary minus."""

    operand: Node


class Bin(NamedTuple):
    """`+ - * / **`, a comparison (`< <= > >= == !=`) or `and`/`or`, by `op`."""

    op: str
    left: Node
    right: Node


class Call(NamedTuple):
    """A call of one of `FUNCTIONS`."""

    fn: str
    args: tuple[Node, ...]


Node = Num | Name | Neg | Bin | Call

FUNCTIONS = {
    "min": (1, 8),
    "max": (1, 8),
    "ceil": (1, 1),
    "floor": (1, 1),
    "log2": (1, 1),
    "sqrt": (1, 1),
    "ceil_to": (2, 2),
    "where": (3, 3),
}
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
"""The operators that mean the same on numbers and on sympy expressions."""
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def children(node: Node) -> tuple:
    """The nodes directly below."""
    if isinstance(node, Bin):
        return (node.left, node.right)
    if isinstance(node, Call):
        return node.args
    return (node.operand,) if isinstance(node, Neg) else ()


def rebuild(node: Node, parts: tuple) -> Node:
    """The same node over other children."""
    if isinstance(node, Bin):
        return Bin(node.op, *parts)
    if isinstance(node, Call):
        return Call(node.fn, tuple(parts))
    return Neg(*parts) if isinstance(node, Neg) else node


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, the root first."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting += reversed(children(current))


def names(node: Node) -> set[str]:
    """The symbols a formula uses."""
    return {n.id for n in walk(node) if isinstance(n, Name)}
