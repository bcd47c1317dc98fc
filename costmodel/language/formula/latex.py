"""Formulas as LaTeX, of the kind that MathML converters and MathJax read."""

from __future__ import annotations

from .nodes import COMPARISONS, Bin, Call, Name, Neg, Node, Num

_LEVEL = {"or": 1, "and": 2, "+": 4, "-": 4, "*": 5, "/": 7, "**": 7} | dict.fromkeys(COMPARISONS, 3)
_SIGN = {"*": r"\cdot", "<=": r"\le", ">=": r"\ge", "==": "=", "!=": r"\ne", "and": r"\text{ and }", "or": r"\text{ or }"}
_CALL = {
    "min": r"\min\left({0}\right)",
    "max": r"\max\left({0}\right)",
    "ceil": r"\left\lceil {0} \right\rceil",
    "floor": r"\left\lfloor {0} \right\rfloor",
    "log2": r"\log_2\left({0}\right)",
    "sqrt": r"\sqrt{{{0}}}",
}


def latex(node: Node) -> str:
    """The formula as LaTeX: fractions stand upright, `where` is a case distinction, `n_kv` has a subscript."""
    return _write(node, 0)


def symbol(name: str) -> str:
    """A name: one letter as itself, `n_kv` as a letter with a subscript, any other upright."""
    head, _, tail = name.partition("_")
    if len(head) == 1:
        return f"{head}_{{{_word(tail)}}}" if tail else head
    return _word(name)


def _word(text: str) -> str:
    return text if len(text) == 1 else r"\mathrm{" + text.replace("_", r"\_") + "}"


def _write(node: Node, outer: int) -> str:
    if isinstance(node, Num):
        return _wrap(_number(node.value), 4 if node.value < 0 else 5 if "e" in repr(node.value) else 8, outer)
    if isinstance(node, Name):
        return symbol(node.id)
    if isinstance(node, Neg):
        return _wrap("-" + _write(node.operand, 5), 4, outer)
    if isinstance(node, Bin):
        return _wrap(_binary(node, _LEVEL[node.op]), _LEVEL[node.op], outer)
    return _call(node, outer)


def _binary(node: Bin, level: int) -> str:
    if node.op == "/":
        return rf"\frac{{{_write(node.left, 0)}}}{{{_write(node.right, 0)}}}"
    if node.op == "**":
        return f"{_write(node.left, 8)}^{{{_write(node.right, 0)}}}"
    left = _write(node.left, level + (level == 3))
    right = _write(node.right, level + (node.op == "-" or level == 3))
    return f"{left} {_SIGN.get(node.op, node.op)} {right}"


def _call(node: Call, outer: int) -> str:
    args = [_write(a, 0) for a in node.args]
    if node.fn == "where":
        return _wrap(rf"\begin{{cases}} {args[1]} & \text{{if }} {args[0]} \\ {args[2]} & \text{{else}} \end{{cases}}", 0, outer)
    if node.fn == "ceil_to":
        return _wrap(rf"\left\lceil \frac{{{args[0]}}}{{{args[1]}}} \right\rceil \cdot {_write(node.args[1], 5)}", 5, outer)
    return _CALL[node.fn].format(", ".join(args))


def _number(value: int | float) -> str:
    """Decimal, with a power of ten for very large and very small ones."""
    digits, _, exponent = repr(value).partition("e")
    power = rf"10^{{{int(exponent)}}}" if exponent else ""
    return rf"{digits} \cdot {power}" if power and digits not in ("1", "1.0") else power or digits


def _wrap(out: str, level: int, outer: int) -> str:
    return rf"\left({out}\right)" if level < outer else out
