"""Binding names to numbers or formulas, folding constants, and the range a formula can take."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .grammar import FormulaError
from .nodes import ARITHMETIC, COMPARISONS, Bin, Call, Name, Neg, Node, Num, children, rebuild
from .write import text

INF = math.inf
Range = tuple[float, float]
_ANY: Range = (-INF, INF)


def bind(node: Node, env: Mapping[str, Node | int | float], bounds: Mapping[str, Range] | None = None, strict: bool | None = None) -> Node:
    """Replace names found in `env`, fold constants, and drop branches that `bounds` rule out.

    `bounds` gives the range of names that stay free; where they are given (unless `strict` is False), a power with a
    variable exponent must have a base in [0, 1]. Raises :class:`FormulaError` on a division by zero or a power
    whose base is not known to lie in [0, 1].
    """
    return _Binder(env, bounds or {}, bounds is not None if strict is None else strict).bind(node)


def number(node: Node, env: Mapping[str, int | float] | None = None) -> int | float:
    """The value of a formula whose names all stand in `env`."""
    done = bind(node, env or {})
    if not isinstance(done, Num):
        from .nodes import names

        raise FormulaError(f"`{', '.join(sorted(names(done)))}` has no value here")
    return done.value


class _Binder:
    def __init__(self, env: Mapping[str, Node | int | float], bounds: Mapping[str, Range], strict: bool):
        self.env, self.bounds, self.strict = env, bounds, strict

    def bind(self, node: Node) -> Node:
        if isinstance(node, Num):
            return node
        if isinstance(node, Name):
            value = self.env.get(node.id)
            if value is None:
                return node
            return value if isinstance(value, tuple) else Num(value)
        if isinstance(node, Call) and node.fn == "where":
            return self.where(node)
        parts = tuple(map(self.bind, children(node)))
        node = rebuild(node, parts)
        if all(isinstance(part, Num) for part in parts):
            return Num(_evaluate(node))
        return self.simplify(node)

    def where(self, node: Call) -> Node:
        condition = self.bind(node.args[0])
        low, high = _truth(*span(condition, self.bounds))
        if low == high:
            return self.bind(node.args[1 if low else 2])
        return Call("where", (condition, self.bind(node.args[1]), self.bind(node.args[2])))

    def simplify(self, node: Node) -> Node:
        if isinstance(node, Bin):
            return self.binary(node)
        if isinstance(node, Call) and node.fn in ("min", "max"):
            return self.extreme(node)
        return node

    def binary(self, node: Bin) -> Node:
        op, a, b = node
        one, zero = Num(1), Num(0)
        if op == "**":
            return self.power(node)
        if op == "*":
            if zero in (a, b):
                return zero
            if a == one or b == one:
                return b if a == one else a
            return _gather(a, b)
        if op == "+" and zero in (a, b):
            return b if a == zero else a
        if op in ("-", "/") and b == (zero if op == "-" else one):
            return a
        if op == "/" and isinstance(b, Num) and b.value == 0:
            raise FormulaError(f"division by zero in `{text(node)}`")
        if op == "/" and a == zero:
            return zero
        return node

    def power(self, node: Bin) -> Node:
        if isinstance(node.right, Num):
            if node.right.value == 0:
                return Num(1)
            return node.left if node.right.value == 1 else node
        low, high = span(node.left, self.bounds) if self.strict else (0, 1)
        if low < 0 or high > 1:
            raise FormulaError(
                f"the base of `{text(node)}` is not known to lie in [0, 1]",
                help="a variable exponent needs a base between 0 and 1",
            )
        return node

    def extreme(self, node: Call) -> Node:
        """Drop arguments that can never be the answer, by their ranges."""
        sign = 1 if node.fn == "max" else -1
        ranges = [tuple(sorted((sign * r[0], sign * r[1]))) for r in (span(a, self.bounds) for a in node.args)]
        kept: list[int] = []
        for i, (_, high) in enumerate(ranges):
            beaten = any(
                other[0] > high or (other[0] == high and (j < i or ranges[j][1] > high or j in kept))
                for j, other in enumerate(ranges)
                if j != i
            )
            if not beaten:
                kept.append(i)
        kept = kept or [0]
        args = tuple(node.args[i] for i in kept)
        return args[0] if len(args) == 1 else Call(node.fn, args)


def _gather(a: Node, b: Node) -> Node:
    """A product with its numeric factors in front, folded into one."""
    left, rest_a = _factor(a)
    right, rest_b = _factor(b)
    if left == 1 and right == 1:
        return Bin("*", a, b)
    rest = rest_b if rest_a is None else rest_a if rest_b is None else Bin("*", rest_a, rest_b)
    value = left * right
    return rest if value == 1 else Bin("*", Num(value), rest)


def _factor(node: Node):
    if isinstance(node, Num):
        return node.value, None
    if isinstance(node, Bin) and node.op == "*" and isinstance(node.left, Num):
        return node.left.value, node.right
    return 1, node


def _evaluate(node: Node):
    v = [c.value for c in children(node)]
    try:
        if isinstance(node, Bin):
            result = _binary(node.op, *v)
        elif isinstance(node, Call):
            result = _call(node.fn, *v)
        else:
            return -v[0]
    except ZeroDivisionError:
        raise FormulaError(f"division by zero in `{text(node)}`") from None
    except (OverflowError, ValueError):
        raise FormulaError(f"`{text(node)}` has no finite value") from None
    if isinstance(result, complex) or result != result or abs(result) > 1e60:
        raise FormulaError(f"`{text(node)}` has no finite value")
    return result


def _binary(op: str, a, b):
    if op in COMPARISONS:
        return int({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op])
    if op in ("and", "or"):
        return int(bool(a) and bool(b)) if op == "and" else int(bool(a) or bool(b))
    if op in ARITHMETIC:
        return ARITHMETIC[op](a, b)
    if op == "/":
        whole = isinstance(a, int) and isinstance(b, int) and b and a % b == 0
        return a // b if whole else a / b
    if abs(b) > 8 and not 0 <= a <= 1:
        raise OverflowError
    return a**b


def _call(fn: str, *v):
    if fn in ("min", "max"):
        return min(v) if fn == "min" else max(v)
    if fn == "ceil_to":
        return math.ceil(v[0] / v[1]) * v[1]
    return {"ceil": math.ceil, "floor": math.floor, "log2": math.log2, "sqrt": math.sqrt}[fn](v[0])


def span(node: Node, bounds: Mapping[str, Range]) -> Range:
    """Lowest and highest value a formula can take, its names within `bounds` (unknown names: any number)."""
    if isinstance(node, Num):
        return (node.value, node.value)
    if isinstance(node, Name):
        return bounds.get(node.id, _ANY)
    if isinstance(node, Neg):
        low, high = span(node.operand, bounds)
        return (-high, -low)
    try:
        low, high = _call_span(node, bounds) if isinstance(node, Call) else _bin_span(node, bounds)
    except OverflowError:
        return _ANY
    return _ANY if low != low or high != high else (low, high)


def _bin_span(node: Bin, bounds) -> Range:
    (a, b), (c, d) = span(node.left, bounds), span(node.right, bounds)
    op = node.op
    if op == "+":
        return (a + c, b + d)
    if op == "-":
        return (a - d, b - c)
    if op == "*":
        corners = [_times(x, y) for x in (a, b) for y in (c, d)]
        return (min(corners), max(corners))
    if op == "/":
        if c <= 0 <= d:
            return _ANY if a < 0 or c < 0 else (0 if d == INF else a / d if d else 0, INF)
        corners = [0.0 if abs(y) == INF else x / y for x in (a, b) for y in (c, d)]
        return (min(corners), max(corners))
    if op == "**":
        return (0, 1) if a >= 0 and b <= 1 else _ANY if a < 0 else (0, INF)
    if op in COMPARISONS:
        return _cmp_span(op, a, b, c, d)
    both = [_truth(a, b), _truth(c, d)]
    low = min(both[0][0], both[1][0]) if op == "and" else max(both[0][0], both[1][0])
    high = min(both[0][1], both[1][1]) if op == "and" else max(both[0][1], both[1][1])
    return (low, high)


def _truth(low, high) -> Range:
    if low == high == 0:
        return (0, 0)
    return (1, 1) if low > 0 or high < 0 else (0, 1)


def _times(x, y):
    return 0 if x == 0 or y == 0 else x * y


def _cmp_span(op: str, a, b, c, d) -> Range:
    if op in (">", ">="):
        return _cmp_span("<" if op == ">" else "<=", c, d, a, b)
    if op == "<":
        return (1, 1) if b < c else (0, 0) if a >= d else (0, 1)
    if op == "<=":
        return (1, 1) if b <= c else (0, 0) if a > d else (0, 1)
    equal = (1, 1) if a == b == c == d else (0, 0) if b < c or d < a else (0, 1)
    return equal if op == "==" else (1 - equal[1], 1 - equal[0])


def _call_span(node: Call, bounds) -> Range:
    spans = [span(a, bounds) for a in node.args]
    if node.fn in ("min", "max"):
        pick = min if node.fn == "min" else max
        return (pick(s[0] for s in spans), pick(s[1] for s in spans))
    if node.fn == "where":
        return (min(spans[1][0], spans[2][0]), max(spans[1][1], spans[2][1]))
    low, high = spans[0]
    if node.fn in ("ceil", "floor"):
        step = math.ceil if node.fn == "ceil" else math.floor
        first, last = (x if abs(x) == INF else step(x) for x in (low, high))
        return (first, last)
    if node.fn == "sqrt":
        return (math.sqrt(max(low, 0)), INF if high == INF else math.sqrt(max(high, 0)))
    return (0, INF) if low >= (1 if node.fn == "log2" else 0) else _ANY
