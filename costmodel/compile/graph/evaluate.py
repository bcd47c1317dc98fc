"""The value of nodes at a point, and exact derivatives by every input (of a maximum: by the argument that is the larger)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from .nodes import ARITHMETIC, Node, needed


def values(outputs: Iterable[Node], point: Mapping[str, float]) -> list[float]:
    """The numbers of nodes where inputs have the values of `point`. A missing input is a KeyError."""
    outputs = list(outputs)
    table: dict[int, float] = {}
    _fill(needed(outputs), point, table)
    return [table[node.id] for node in outputs]


def _fill(order: list[Node], point: Mapping[str, float], table: dict[int, float]) -> None:
    indices = {n.value for n in order if n.op == "sum"}
    for node in order:
        if not node.deps & indices and node.id not in table:
            table[node.id] = _value(node, point, table)


def _value(node: Node, point: Mapping[str, float], table: dict[int, float]) -> float:
    if node.op == "const":
        return node.value
    if node.op == "input":
        return point[node.value]
    if node.op == "where":
        return table[node.args[1 if table[node.args[0].id] else 2].id]
    if node.op == "sum":
        return math.fsum(local[node.args[1].id] for local in _turns(node, point, table))
    try:
        return ARITHMETIC[node.op](*(table[a.id] for a in node.args))
    except (ZeroDivisionError, ValueError, OverflowError):
        return math.nan  # a dead branch of a `where`, or no value


def _turns(node: Node, point: Mapping[str, float], table: dict[int, float]) -> Iterator[dict[int, float]]:
    """The values of all nodes in each turn of a sum (one dict, which the next turn overwrites)."""
    inner = [n for n in needed(node.args[1:]) if node.value in n.deps]
    local, given = dict(table), dict(point)
    for index in range(int(table[node.args[0].id])):
        given[node.value] = index
        for n in inner:
            local[n.id] = _value(n, given, local)
        yield local


def gradient(output: Node, point: Mapping[str, float]) -> dict[str, float]:
    """Derivatives of a node by each of its inputs at a point. Steps (`ceil`, `floor`) count as flat."""
    order = needed([output])
    table: dict[int, float] = {}
    _fill(order, point, table)
    found: dict[str, float] = dict.fromkeys(sorted(output.deps), 0.0)
    _backward(order, {output.id: 1.0}, point, table, found)
    return found


def _backward(order: list[Node], slopes: dict[int, float], point: Mapping, table: dict, found: dict) -> None:
    for node in reversed(order):
        slope = slopes.get(node.id, 0.0)
        if not slope or not node.deps:
            continue
        if node.op == "input":
            if node.value in found:
                found[node.value] += slope
        elif node.op == "sum":
            inner = needed(node.args[1:])
            for local in _turns(node, point, table):
                _backward(inner, {node.args[1].id: slope}, point, local, found)
        else:
            for arg, part in zip(node.args, _slopes(node, [table[a.id] for a in node.args], table[node.id]), strict=True):
                if part:
                    slopes[arg.id] = slopes.get(arg.id, 0.0) + slope * part


def _slopes(node: Node, v: list[float], value: float) -> tuple[float, ...]:
    """Derivatives of an operation by its arguments."""
    op = node.op
    if op in ("+", "-"):
        return (1.0, 1.0 if op == "+" else -1.0)
    if op == "*":
        return (v[1], v[0])
    if op == "/":
        return (1 / v[1], -v[0] / v[1] ** 2)
    if op in ("max", "min"):
        first = v[0] >= v[1] if op == "max" else v[0] <= v[1]
        return (1.0, 0.0) if first else (0.0, 1.0)
    if op == "where":
        return (0.0, 1.0, 0.0) if v[0] else (0.0, 0.0, 1.0)
    if op == "**":
        by_exponent = value * math.log(v[0]) if v[0] > 0 and node.args[1].deps else 0.0
        return (v[1] * v[0] ** (v[1] - 1) if v[1] else 0.0, by_exponent)
    if op in ("sqrt", "log2"):
        return (0.5 / value,) if op == "sqrt" else (1 / (v[0] * math.log(2)),)
    return (0.0,) * len(v)
