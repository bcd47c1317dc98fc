"""A graph of one variable as exact algebra: near a point it is a quotient of polynomials with rational coefficients.

Which argument of a maximum is the larger, which branch of a `where` holds and what a `floor` comes to is decided at the point;
these decisions are kept and checked again where the quotient is solved. Numbers of the graph are taken as the exact binary
fractions that they are. sympy does the arithmetic; no text is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from .evaluate import _turns, values
from .nodes import ARITHMETIC, Node, needed

MOST_POWER = 64
"""The largest exponent that is multiplied out."""
COMPARED = {"<", "<=", ">", ">=", "==", "!="}
WIDTH = Fraction(1, 10**30)
"""A root of a polynomial of higher degree is isolated to this share of itself."""


class Piece(NamedTuple):
    """A node near a point: `over / under`, polynomials in `variable`, and what must hold for it to be that."""

    over: Any
    under: Any
    variable: Any
    holds: tuple

    def at(self, x: Fraction) -> Fraction:
        """The exact value."""
        return _number(self.over, x) / _number(self.under, x)

    def valid(self, x: Fraction) -> bool:
        """Whether the decisions of this piece are those at `x`. Ties are."""
        return all(_holds(op, _number(a.numer, x), _number(a.denom, x)) for op, a in self.holds)


class Root(NamedTuple):
    """Where a piece meets a target: the number, the polynomial's degree, and its coefficients (highest power first)."""

    value: float
    degree: int
    exact: Any


def piece(output: Node, point: Mapping[str, float]) -> Piece:
    """The piece that a node of one input is at a point. Raises NotImplementedError where it is no quotient of polynomials."""
    if len(output.deps) > 1:
        raise NotImplementedError(f"algebra of {', '.join(sorted(output.deps))}")
    from sympy import QQ
    from sympy.polys.fields import field

    made = _Maker(field("x", QQ), next(iter(output.deps), ""), point)
    found = made.of(output)
    return Piece(found.numer, found.denom, made.x.numer, tuple(made.holds))


class _Maker:
    def __init__(self, ring, name: str, point: Mapping[str, float]):
        self.field, self.x = ring
        self.name, self.point = name, dict(point)
        self.holds: list[tuple] = []

    def of(self, output: Node):
        order = needed([output])
        inner = {n.value for n in order if n.op == "sum"}
        table = dict(zip((n.id for n in order if not n.deps & inner), self._values(order, inner), strict=True))
        made: dict[int, Any] = {}
        self._fill([n for n in order if not n.deps & inner], table, made)
        return made[output.id]

    def _values(self, order: list[Node], inner: set) -> list[float]:
        return values([n for n in order if not n.deps & inner], self.point)

    def _fill(self, order: list[Node], table: Mapping[int, float], made: dict[int, Any]) -> None:
        """Only what the decisions leave alive: a dead branch may have no value."""
        alive = {order[-1].id} if order else set()
        for node in reversed(order):
            if node.id in alive:
                alive |= {a.id for a in self._used(node, table)}
        for node in order:
            if node.id in alive and node.id not in made:
                made[node.id] = self._one(node, table, made)

    def _used(self, node: Node, table: Mapping[int, float]) -> tuple[Node, ...]:
        if node.op == "where":
            return (node.args[0], node.args[1 if table[node.args[0].id] else 2])
        return (node.args[0],) if node.op == "sum" else node.args

    def _one(self, node: Node, table: Mapping[int, float], made: dict[int, Any]):
        op = node.op
        if op == "const":
            return self._const(node.value)
        if op == "input":
            return self.x if node.value == self.name else self._const(self.point[node.value])
        if not node.deps and op != "sum":
            return self._const(table[node.id])
        if op == "where":
            return made[node.args[1 if table[node.args[0].id] else 2].id]
        if op == "sum":
            return self._sum(node, table, made)
        return self._operation(node, [made[a.id] for a in node.args], table)

    def _operation(self, node: Node, args: list, table: Mapping[int, float]):
        op, values_ = node.op, [table[a.id] for a in node.args]
        if op in ("+", "-", "*", "/"):
            return ARITHMETIC[op](*args)
        if op in ("max", "min"):
            first = values_[0] >= values_[1] if op == "max" else values_[0] <= values_[1]
            chosen, other = args if first else args[::-1]
            self.holds.append((">=" if op == "max" else "<=", chosen - other))
            return chosen
        if op in ("floor", "ceil"):
            whole = self._const(table[node.id])
            self.holds += [(">=", args[0] - whole + (op == "ceil")), ("<=", args[0] - whole - (op == "floor"))]
            return whole
        if op in COMPARED:
            truth = ARITHMETIC[op](*values_)
            self.holds.append((op if truth else _OPPOSITE[op], args[0] - args[1]))
            return self._const(int(truth))
        if op in ("and", "or"):
            return self._const(int(bool(table[node.id])))
        if op == "**" and not node.args[1].deps and values_[1] == int(values_[1]) and abs(values_[1]) <= MOST_POWER:
            return args[0] ** int(values_[1])
        raise NotImplementedError(f"algebra of {op}")

    def _sum(self, node: Node, table: Mapping[int, float], made: dict[int, Any]):
        if node.args[0].deps:
            raise NotImplementedError("algebra of a sum whose length depends on the variable")
        inner = [n for n in needed(node.args[1:]) if node.value in n.deps]
        if any(n.op == "sum" for n in inner):
            raise NotImplementedError("algebra of a sum of sums")
        outside = [a for n in inner for a in n.args if node.value not in a.deps]
        for other in outside:
            self._fill([n for n in needed([other]) if n.id in table], table, made)
        total = self._const(0)
        for index, local in enumerate(_turns(node, self.point, dict(table))):
            self.point[node.value] = index
            turn = dict(made)
            self._fill([*(n for n in needed(node.args[1:]) if node.value not in n.deps and n.id in made), *inner], local, turn)
            total = total + turn[node.args[1].id]
        return total

    def _const(self, value: float):
        if not math.isfinite(value):
            raise NotImplementedError("algebra of a number without end")
        part = Fraction(value)
        return self.field(self.field.domain(part.numerator, part.denominator))


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _number(polynomial, x: Fraction) -> Fraction:
    """A polynomial of the ring at a number."""
    total = Fraction(0)
    for (power,), c in polynomial.terms():
        total += Fraction(int(c.numerator), int(c.denominator)) * x**power
    return total


def _holds(op: str, over: Fraction, under: Fraction) -> bool:
    """Whether `over / under` compares with 0 as `op` says; for strict comparisons ties are let pass."""
    value = over / under if under else over
    return value >= 0 if op in (">=", ">") else value <= 0 if op in ("<=", "<") else True


def roots(found: Piece, target: float, near: float) -> Root | None:
    """The root of `piece = target` that is nearest to a number, exactly. None where the piece does not depend on its variable."""
    from sympy import QQ, Poly, Symbol

    goal = Fraction(target)
    x = Symbol("x", real=True)
    equation = found.over - found.under * QQ(goal.numerator, goal.denominator)
    poly = Poly(dict(equation.terms()) or {(0,): 0}, x, domain=QQ)
    if poly.degree() < 1:
        return None
    coefficients = poly.all_coeffs()
    if poly.degree() == 1:
        value = -coefficients[1] / coefficients[0]
        return Root(float(value), 1, value)
    return _isolated(poly, near)


def _isolated(poly, near: float) -> Root | None:
    """The real root of a polynomial nearest to a number, between bounds that are closer than floats."""
    from sympy import Rational

    middle = Rational(Fraction(near))
    gap = abs(middle) / 10**6 or Rational(1, 10**9)
    square = poly.sqf_part()
    inside = square.intervals(inf=middle - gap, sup=middle + gap)
    if not inside:
        return None
    (low, high), _ = min(inside, key=lambda item: abs((item[0][0] + item[0][1]) / 2 - middle))
    if low != high:
        low, high = square.refine_root(low, high, eps=abs(middle) * Rational(WIDTH.numerator, WIDTH.denominator))
    return Root(float((low + high) / 2), poly.degree(), poly)
