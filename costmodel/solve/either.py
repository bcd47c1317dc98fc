"""Arithmetic that the solver does on numbers and, where formulas are wanted, on nodes of a graph alike."""

from __future__ import annotations


def _graph(*values):
    """The graph that one of the values belongs to, or None."""
    return next((v.graph for v in values if hasattr(v, "graph")), None)


def most(*values):
    """The largest."""
    graph = _graph(*values)
    return max(values) if graph is None else graph.most(*values)


def least(*values):
    """The smallest."""
    graph = _graph(*values)
    return min(values) if graph is None else graph.least(*values)


def whole(value):
    """The whole part of what is not negative."""
    graph = _graph(value)
    return int(value) if graph is None else graph.make("floor", value)


def ratio(over, under):
    """A quotient; None where a number is divided by zero."""
    return over / under if hasattr(under, "graph") or under else None


def choose(op: str, left, right, yes, no):
    """`yes` where a comparison (`>`, `>=`) holds, else `no`."""
    graph = _graph(left, right)
    if graph is not None:
        return graph.where(graph.make(op, left, right), yes, no)
    return yes if (left > right if op == ">" else left >= right) else no


def is_open(*values) -> bool:
    """Whether any is a node, of which one cannot ask whether it holds."""
    return _graph(*values) is not None


def sum_over(count, function, linear):
    """The sum of `function(i)` for i from 0 below `count`; of numbers by `linear(function, low, high)`."""
    graph = _graph(count)
    return linear(function, 0, count - 1) if graph is None else graph.sum(count, function)
