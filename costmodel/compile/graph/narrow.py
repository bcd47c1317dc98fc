"""Nodes made simpler by what their inputs can be: maxima, branches and comparisons that are decided within given bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from .nodes import ARITHMETIC, Graph, Node, needed

Span = tuple[float, float]
ANY: Span = (-math.inf, math.inf)
_ORDER = ("<", "<=", ">", ">=")


def narrowed(outputs: Iterable[Node], bounds: Mapping[str, Span]) -> list[Node]:
    """The same figures for inputs within `bounds` (lowest, highest), in a graph of their own.

    What is left out changes nothing within the bounds: a maximum whose larger side is known, a branch that is never taken,
    and a maximum of multiples of one non-negative quantity, which is the largest multiple of it.
    """
    return _Narrow(bounds).of(list(outputs))


class _Narrow:
    def __init__(self, bounds: Mapping[str, Span]):
        self.bounds, self.graph = bounds, Graph()
        self.made: dict[int, Node] = {}
        self.spans: dict[int, Span] = {}

    def of(self, outputs: list[Node]) -> list[Node]:
        for node in needed(outputs):
            self.made[node.id] = self.again(node)
        return [self.made[n.id] for n in outputs]

    def again(self, node: Node) -> Node:
        """A node over the simpler arguments."""
        if node.op == "const":
            return self.graph.const(node.value)
        if node.op == "input":
            return self.graph.input(node.value)
        args = [self.made[a.id] for a in node.args]
        if node.op == "sum":
            return self.graph._node("sum", tuple(args), node.value) if args[1].deps else args[0] * args[1]
        if node.op == "where":
            return self.graph.where(*args)
        if node.op in ("and", "or"):
            return self.joined(node.op, *args)
        if node.op in ("max", "min"):
            return self.extreme(node.op, *args)
        known = self.known(node.op, *args) if node.op in ARITHMETIC and len(args) == 2 else None
        return self.graph.make(node.op, *args) if known is None else self.graph.const(known)

    def joined(self, op: str, a: Node, b: Node) -> Node:
        for one, other in ((a, b), (b, a)):
            if one.op == "const":
                return other if bool(one.value) == (op == "and") else one
        return self.graph.make(op, a, b)

    def known(self, op: str, a: Node, b: Node) -> bool | None:
        """Whether a comparison holds everywhere, or nowhere; None where that depends, and for other operations."""
        if op not in _ORDER:
            return None
        if op in (">", ">="):
            a, b, op = b, a, "<" if op == ">" else "<="
        (low, high), (least, most) = self.span(a), self.span(b)
        if high < least or (op == "<=" and high <= least):
            return True
        return False if low > most or (op == "<" and low >= most) else None

    def extreme(self, op: str, a: Node, b: Node) -> Node:
        above = self.known("<=", a, b)
        if above is None and self.known("<=", b, a):
            above = False
        if above is not None:
            return b if above == (op == "max") else a
        kept = self.multiple(op, a, b)
        return self.graph.make(op, a, b) if kept is None else kept

    def multiple(self, op: str, a: Node, b: Node) -> Node | None:
        """An extreme of two multiples of one quantity that is never negative (exact, as products round upwards alike)."""
        (first, base), (second, other) = _split(a), _split(b)
        if base is not other or self.span(base)[0] < 0:
            return None
        return a if (first >= second) == (op == "max") else b

    def span(self, node: Node) -> Span:
        """Between what a node's values lie."""
        if node.id not in self.spans:
            for n in needed([node]):
                if n.id not in self.spans:
                    self.spans[n.id] = self.bound(n)
        return self.spans[node.id]

    def bound(self, node: Node) -> Span:
        if node.op == "const":
            return (node.value, node.value)
        if node.op == "input":
            return self.bounds.get(node.value, (0, math.inf) if node.value[:1] == "i" and node.value[1:].isdigit() else ANY)
        args = [self.spans[a.id] for a in node.args]
        try:
            low, high = _bound(node.op, args)
        except (ArithmeticError, ValueError):
            return ANY
        return ANY if low != low or high != high else (low, high)


def _split(node: Node) -> tuple[float, Node]:
    """A node as a number times another."""
    if node.op == "*" and node.args[0].op == "const":
        return node.args[0].value, node.args[1]
    if node.op == "*" and node.args[1].op == "const":
        return node.args[1].value, node.args[0]
    return 1, node


def _bound(op: str, args: list[Span]) -> Span:
    """Bounds of an operation from those of its arguments."""
    if op == "where":
        return min(args[1][0], args[2][0]), max(args[1][1], args[2][1])
    if op in ("+", "max", "min", "ceil", "floor", "log2", "sqrt"):
        low, high = (ARITHMETIC[op](*ends) for ends in zip(*args, strict=True))
        return low, high
    if op == "-":
        return args[0][0] - args[1][1], args[0][1] - args[1][0]
    if op == "/" and args[1][0] <= 0 <= args[1][1]:
        return ANY
    if op in ("*", "/"):
        ends = [_times(op, a, b) for a in args[0] for b in args[1]]
        return min(ends), max(ends)
    if op == "**" and args[0][0] >= 0 and args[1][0] == args[1][1] > 0:
        return args[0][0] ** args[1][0], args[0][1] ** args[1][0]
    if op in ARITHMETIC and op != "**":
        return 0, 1
    return ANY


def _times(op: str, a: float, b: float) -> float:
    if op == "*":
        return 0 if a == 0 or b == 0 else a * b
    return 0 if math.isinf(b) or a == 0 else a / b
