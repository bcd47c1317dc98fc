"""Between what bounds the values of nodes lie, from the bounds of their inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .nodes import ARITHMETIC, Node

Span = tuple[float, float]
ANY: Span = (-math.inf, math.inf)


def bound(node: Node, spans: Mapping[int, Span], inputs: Mapping[str, Span]) -> Span:
    """(lowest, highest) of a node, from `spans` of its arguments by id; indices of sums are not negative."""
    if node.op == "const":
        return (node.value, node.value)
    if node.op == "input":
        return inputs.get(node.value, (0, math.inf) if node.value[:1] == "i" and node.value[1:].isdigit() else ANY)
    try:
        low, high = _bound(node.op, [spans[a.id] for a in node.args])
    except (ArithmeticError, ValueError):
        return ANY
    return ANY if low != low or high != high else (low, high)


def _bound(op: str, args: list[Span]) -> Span:
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
