"""A graph of operations: equal operations are one node, numbers are folded, and each node knows which inputs it depends on."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable

ARITHMETIC: dict[str, Callable] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "max": max,
    "min": min,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "sqrt": math.sqrt,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "and": lambda a, b: bool(a) and bool(b),
    "or": lambda a, b: bool(a) or bool(b),
}
"""Every operation on numbers; beside them are `const`, `input`, `where` (condition, value, other) and `sum`."""


class Node:
    """One operation. `args` are nodes; a `const` has its number and an `input` its name in `value`.

    A `sum` adds `args[1]` over its index, the input named in `value`, from 0 below `args[0]`.
    """

    __slots__ = ("args", "deps", "graph", "id", "op", "value")

    def __init__(self, graph: Graph, op: str, args: tuple, value):
        self.graph, self.op, self.args, self.value, self.id = graph, op, args, value, len(graph.nodes)
        self.deps: frozenset[str] = frozenset((value,)) if op == "input" else frozenset().union(*(a.deps for a in args))
        if op == "sum":
            self.deps -= {value}

    def __add__(self, other):
        return self.graph.make("+", self, other)

    def __radd__(self, other):
        return self.graph.make("+", other, self)

    def __sub__(self, other):
        return self.graph.make("-", self, other)

    def __rsub__(self, other):
        return self.graph.make("-", other, self)

    def __mul__(self, other):
        return self.graph.make("*", self, other)

    def __rmul__(self, other):
        return self.graph.make("*", other, self)

    def __truediv__(self, other):
        return self.graph.make("/", self, other)

    def __rtruediv__(self, other):
        return self.graph.make("/", other, self)

    def __pow__(self, other):
        return self.graph.make("**", self, other)

    def __rpow__(self, other):
        return self.graph.make("**", other, self)

    def __neg__(self):
        return self.graph.make("*", -1, self)

    def __repr__(self) -> str:
        return repr(self.value) if self.op == "const" else str(self.value) if self.op == "input" else f"<{self.op} of {sorted(self.deps)}>"

    def __bool__(self):
        raise TypeError("a node has no truth value: use `where`")


class Graph:
    """All nodes, in an order in which arguments come before what uses them."""

    def __init__(self):
        self.nodes: list[Node] = []
        self.known: dict[tuple, Node] = {}

    def _node(self, op: str, args: tuple, value=None) -> Node:
        key = (op, tuple(a.id for a in args), value, type(value))
        if key not in self.known:
            self.known[key] = node = Node(self, op, args, value)
            self.nodes.append(node)
        return self.known[key]

    def const(self, value: float) -> Node:
        """A number."""
        return self._node("const", (), value)

    def input(self, name: str) -> Node:
        """A quantity that is given when the graph is evaluated."""
        return self._node("input", (), name)

    def node(self, value) -> Node:
        """A node of this graph, from a node or a number."""
        return value if isinstance(value, Node) else self.const(value)

    def make(self, op: str, *given) -> Node:
        """An operation on nodes or numbers: folded where all are numbers, left out where it changes nothing."""
        args = tuple(map(self.node, given))
        values = [a.value for a in args if a.op == "const"]
        if len(values) == len(args):
            return self.const(ARITHMETIC[op](*values))
        kept = _unchanged(op, *args) if len(args) == 2 else None
        return self._node(op, args) if kept is None else self.node(kept)

    def where(self, condition, value, other) -> Node:
        """`value` where the condition holds, else `other`."""
        condition, value, other = map(self.node, (condition, value, other))
        if condition.op == "const":
            return value if condition.value else other
        if condition.op in (">", ">=") and condition.args == (value, other):
            return self.make("max", value, other)
        return value if value is other else self._node("where", (condition, value, other))

    def most(self, *values) -> Node:
        """The largest of several."""
        return self._extreme("max", values)

    def least(self, *values) -> Node:
        """The smallest of several."""
        return self._extreme("min", values)

    def _extreme(self, op: str, values) -> Node:
        found = self.node(values[0])
        for value in values[1:]:
            found = self.make(op, found, value)
        return found

    def sum(self, count, body: Callable[[Node], Node]) -> Node:
        """The sum of `body(i)` for i from 0 below `count`."""
        index = f"i{sum(n.op == 'sum' for n in self.nodes)}"
        count, term = self.node(count), self.node(body(self.input(index)))
        if count.op == "const" and count.value <= 0:
            return self.const(0)
        return count * term if index not in term.deps else self._node("sum", (count, term), index)


def _unchanged(op: str, a: Node, b: Node):
    """What an operation of two arguments comes to where it changes nothing; None where it does."""
    left = a.value if a.op == "const" else None
    right = b.value if b.op == "const" else None
    if op == "+":
        return b if left == 0 else a if right == 0 else None
    if op == "-":
        return a if right == 0 else None
    if op == "*":
        return 0 if left == 0 or right == 0 else b if left == 1 else a if right == 1 else None
    if op in ("/", "**"):
        return a if right == 1 else 0 if op == "/" and left == 0 else None
    return a if op in ("max", "min") and a is b else None


def total(values: Iterable) -> Node | float:
    """The sum of nodes and numbers."""
    found: Node | float = 0
    for value in values:
        found = found + value
    return found


def needed(outputs: Iterable[Node]) -> list[Node]:
    """The nodes that outputs are made of, arguments first."""
    seen: dict[int, Node] = {}
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node.id not in seen:
            seen[node.id] = node
            waiting += node.args
    return [seen[key] for key in sorted(seen)]
