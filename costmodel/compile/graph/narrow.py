"""Nodes made simpler by what their inputs can be: decided maxima, branches and comparisons; sums and products collected."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from .nodes import Graph, Node, needed
from .spans import Span, bound

_ORDER = ("<", "<=", ">", ">=")
_STEPS = ("ceil", "floor", "<", "<=", ">", ">=", "==", "!=")
_SMALL = 2
"""Terms of a sum that is written out wherever it is used."""

Form = tuple[float, tuple[tuple[int, int], ...]]
"""A product: its number, and (node, exponent) of what it multiplies."""


def narrowed(outputs: Iterable[Node], bounds: Mapping[str, Span]) -> list[Node]:
    """The same figures for inputs within `bounds` (lowest, highest), in a graph of their own, of fewer operations.

    What is left out changes nothing within the bounds: a maximum whose larger side is known, a branch that is never taken.
    Terms of a sum that are multiples of one product become one, so that results differ in the last digits; what decides a
    step (`floor`, a comparison) is computed as it was, unless the comparison is a figure itself.
    """
    return _Narrow(bounds, list(outputs)).all()


class _Narrow:
    def __init__(self, bounds: Mapping[str, Span], outputs: list[Node]):
        self.bounds, self.graph, self.outputs = bounds, Graph(), outputs
        self.order = needed(outputs)
        self.exact = self.decisive()
        self.uses = Counter(a.id for n in self.order for a in n.args) + Counter(n.id for n in outputs)
        self.used: Counter = Counter()  # uses of the new nodes
        self.made: dict[int, Node] = {}
        self.spans: dict[int, Span] = {}
        self.forms: dict[int, Form] = {}
        self.terms: dict[int, tuple[float, dict[int, float]]] = {}

    def decisive(self) -> set[int]:
        """Nodes that decide a step: they stay as they are, to the last digit."""
        flags = {n.id for o in self.outputs for n in _flags(o)}
        roots = [a for n in self.order if n.op in _STEPS and n.id not in flags for a in n.args]
        return {n.id for n in needed(roots)}

    def all(self) -> list[Node]:
        """The outputs, made again."""
        for node in self.order:
            new = self.made[node.id] = self.again(node)
            self.used[new.id] += self.uses[node.id]
        return [self.made[n.id] for n in self.outputs]

    def again(self, node: Node) -> Node:
        """A node over the simpler arguments."""
        if node.op == "const":
            return self.graph.const(node.value if isinstance(node.value, bool) else float(node.value))
        if node.op == "input":
            return self.graph.input(node.value)
        args = [self.made[a.id] for a in node.args]
        if node.op == "sum":
            return self.graph._node("sum", tuple(args), node.value) if node.value in args[1].deps else self.product(args[0], args[1], 1)
        if node.op == "where":
            return self.graph.where(*args)
        if node.op in ("and", "or"):
            return self.joined(node.op, *args)
        if node.op in ("max", "min"):
            return self.extreme(node.op, *args)
        if node.op in ("+", "-", "*", "/") and node.id not in self.exact:
            return self.collected(node.op, *args)
        known = self.known(node.op, *args) if node.op in _ORDER else None
        return self.graph.make(node.op, *args) if known is None else self.graph.const(known)

    def collected(self, op: str, a: Node, b: Node) -> Node:
        """A sum, difference, product or quotient."""
        if op in "*/":
            return self.product(a, b, 1 if op == "*" else -1)
        return self.total(a, b, 1 if op == "+" else -1)

    def joined(self, op: str, a: Node, b: Node) -> Node:
        """A conjunction or disjunction, without a side that is known."""
        for one, other in ((a, b), (b, a)):
            if one.op == "const":
                return other if bool(one.value) == (op == "and") else one
        return self.graph.make(op, a, b)

    def known(self, op: str, a: Node, b: Node) -> bool | None:
        """Whether a comparison holds everywhere, or nowhere; None where that depends."""
        if op in (">", ">="):
            a, b, op = b, a, "<" if op == ">" else "<="
        (low, high), (least, most) = self.span(a), self.span(b)
        if high < least or (op == "<=" and high <= least):
            return True
        return False if low > most or (op == "<" and low >= most) else None

    def span(self, node: Node) -> Span:
        """Between what a node's values lie."""
        if node.id not in self.spans:
            for n in needed([node]):
                if n.id not in self.spans:
                    self.spans[n.id] = bound(n, self.spans, self.bounds)
        return self.spans[node.id]

    def extreme(self, op: str, a: Node, b: Node) -> Node:
        """The largest or smallest of all arguments of nested ones, without those that never are."""
        kept: list[Node] = []
        for node in (*self.inner(op, a), *self.inner(op, b)):
            if not any(self.beaten(op, node, other) for other in kept):
                kept = [other for other in kept if not self.beaten(op, other, node)] + [node]
        found = kept[0]
        for node in kept[1:]:
            found = self.graph.make(op, found, node)
        return found

    def inner(self, op: str, node: Node) -> list[Node]:
        """What a maximum (minimum) of maxima compares, where these are used nowhere else."""
        return [n for a in node.args for n in self.inner(op, a)] if node.op == op and self.used[node.id] <= 1 else [node]

    def beaten(self, op: str, node: Node, other: Node) -> bool:
        """Whether `other` is always at least as large (small) as `node`."""
        low, high = (node, other) if op == "max" else (other, node)
        if self.known("<=", low, high):
            return True
        (first, base), (second, same) = self.form(low), self.form(high)
        return base == same and first <= second and self.span(self.core(base))[0] >= 0

    def form(self, node: Node) -> Form:
        """A node as a product."""
        if node.op == "const":
            return node.value, ()
        return self.forms.get(node.id, (1, ((node.id, 1),)))

    def product(self, a: Node, b: Node, sign: int) -> Node:
        """A product (`sign` 1) or quotient (-1), as a number times powers of nodes."""
        (first, left), (second, right) = self.form(a), self.form(b)
        powers = Counter(dict(left))
        for base, power in right:
            if powers[base] * power * sign < 0 and self.span(self.graph.nodes[base])[0] <= 0:
                return self.graph.make("*" if sign > 0 else "/", a, b)  # 0 ÷ 0 stays what it is
            powers[base] += sign * power
        if sign < 0 and not second:
            return self.graph.make("/", a, b)
        number = first * second if sign > 0 else first / second
        return self.scaled(number, tuple(sorted((k, v) for k, v in powers.items() if v)))

    def scaled(self, number: float, base: tuple) -> Node:
        """The node of a product."""
        if not number or not base or not math.isfinite(number):
            return self.graph.const(number)
        node = self.graph.make("*", number, self.core(base))
        self.forms.setdefault(node.id, (number, base))
        return node

    def core(self, base: tuple) -> Node:
        """What a product multiplies; divisors as reciprocals, which many products share."""
        nodes = self.graph.nodes
        factors = [nodes[k] if v > 0 else self.graph.make("/", 1.0, nodes[k]) for k, v in base for _ in range(abs(v))]
        factors.sort(key=lambda n: (len(n.deps), n.id))
        found = self.graph.const(1.0)
        for node in factors:
            found = self.graph.make("*", found, node)
        if base:
            self.forms.setdefault(found.id, (1, base))
        return found

    def addends(self, node: Node) -> tuple[float, dict[int, float]]:
        """A node as a number and multiples of products, by the id of these."""
        number, base = self.form(node)
        if not base:
            return number, {}
        inner = base[0][0] if len(base) == 1 and base[0][1] == 1 else -1
        if inner in self.terms and ((self.used[inner] <= 1 and self.used[node.id] <= 1) or len(self.terms[inner][1]) < _SMALL):
            constant, terms = self.terms[inner]
            return number * constant, {k: number * v for k, v in terms.items()}
        return 0, {self.core(base).id: number}

    def total(self, a: Node, b: Node, sign: int) -> Node:
        """A sum (`sign` 1) or difference (-1), as a number and multiples of products."""
        (constant, terms), (more, others) = self.addends(a), self.addends(b)
        terms = dict(terms)
        for key, number in others.items():
            terms[key] = terms.get(key, 0) + sign * number
        constant += sign * more
        terms = {k: v for k, v in terms.items() if v}
        found = self.graph.const(constant)
        for key, number in terms.items():
            found = self.graph.make("+", found, self.scaled(number, self.form(self.graph.nodes[key])[1]))
        if len(terms) + bool(constant) > 1:
            self.terms.setdefault(found.id, (constant, terms))
        return found


def _flags(node: Node) -> list[Node]:
    """The comparisons that alone tell which number a figure is, where it is one of a few."""
    if node.op in ("and", "or"):
        return [n for a in node.args for n in _flags(a)]
    if node.op == "where" and all(a.op in ("const", "where") for a in node.args[1:]):
        return [n for a in node.args for n in _flags(a)]
    return [node] if node.op in _ORDER else []
