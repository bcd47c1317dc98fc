"""Formulas as text (which parses back to the same nodes) and as Python source."""

from __future__ import annotations

from .nodes import COMPARISONS, Bin, Name, Neg, Node, Num

_LEVEL = {"or": 1, "and": 2, "+": 4, "-": 4, "*": 5, "/": 5, "**": 7} | dict.fromkeys(COMPARISONS, 3)
_PYTHON = {"min": "min", "max": "max", "ceil": "ceil", "floor": "floor", "log2": "log2", "sqrt": "sqrt"}


def text(node: Node) -> str:
    """The formula in its own language."""
    return _write(node, 0, _text_call)


def python(node: Node) -> str:
    """The formula as a Python expression over its names and `ceil floor log2 sqrt` from `math`."""
    return _write(node, 0, _python_call)


def _write(node: Node, outer: int, call) -> str:
    if isinstance(node, Num):
        out = repr(node.value)
        return f"({out})" if node.value < 0 and outer > 4 else out
    if isinstance(node, Name):
        return node.id
    if isinstance(node, Neg):
        return _wrap("-" + _write(node.operand, 6, call), 5, outer)
    if isinstance(node, Bin):
        level = _LEVEL[node.op]
        left = _write(node.left, level + (node.op == "**" or level == 3), call)
        right = _write(node.right, level + (node.op != "**"), call)
        return _wrap(f"{left} {node.op} {right}", level, outer)
    return call(node, lambda n: _write(n, 0, call), outer)


def _wrap(out: str, level: int, outer: int) -> str:
    return f"({out})" if level < outer else out


def _text_call(node, write, outer: int) -> str:
    return f"{node.fn}({', '.join(map(write, node.args))})"


def _python_call(node, write, outer: int) -> str:
    args = [write(a) for a in node.args]
    if node.fn == "where":
        return f"({args[1]} if {args[0]} else {args[2]})"
    if node.fn == "ceil_to":
        return f"(ceil(({args[0]}) / ({args[1]})) * ({args[1]}))"
    return f"{_PYTHON[node.fn]}({', '.join(args)})" if len(args) > 1 or node.fn not in ("min", "max") else f"({args[0]})"
