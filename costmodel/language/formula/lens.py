"""Formulas as sympy expressions, built from the nodes (never from text)."""

from __future__ import annotations

from .nodes import ARITHMETIC, Bin, Call, Name, Neg, Node, Num


def symbol(name: str):
    """The one sympy symbol of a name: a count or size, so never negative (a chunk may have no logit rows)."""
    import sympy

    return sympy.Symbol(name, nonnegative=True)


def to_sympy(node: Node, env: dict | None = None):
    """The expression of a formula; `env` maps names to expressions, other names become symbols."""
    import sympy

    if isinstance(node, Num):
        return sympy.Integer(node.value) if isinstance(node.value, int) else sympy.Rational(repr(node.value))
    if isinstance(node, Name):
        known = (env or {}).get(node.id)
        return symbol(node.id) if known is None else known
    if isinstance(node, Neg):
        return -to_sympy(node.operand, env)
    if isinstance(node, Bin):
        return _binary(node.op, to_sympy(node.left, env), to_sympy(node.right, env))
    return _call(node, [to_sympy(a, env) for a in node.args])


def _binary(op: str, a, b):
    import sympy

    relations = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge, "==": sympy.Eq, "!=": sympy.Ne}
    if op in relations:
        return relations[op](a, b)
    if op in ("and", "or"):
        join = sympy.And if op == "and" else sympy.Or
        return join(*(x if isinstance(x, sympy.logic.boolalg.Boolean) else sympy.Ne(x, 0) for x in (a, b)))
    if op in ARITHMETIC:
        return ARITHMETIC[op](a, b)
    return a / b if op == "/" else a**b


def _call(node: Call, args):
    import sympy

    if node.fn == "where":
        condition = args[0]
        if not isinstance(condition, sympy.logic.boolalg.Boolean):
            condition = sympy.Ne(condition, 0)
        return sympy.Piecewise((args[1], condition), (args[2], True))
    if node.fn == "ceil_to":
        return sympy.ceiling(args[0] / args[1]) * args[1]
    if node.fn in ("min", "max"):
        kind = sympy.Min if node.fn == "min" else sympy.Max
        return kind(*args) if all(a.is_number for a in args) else kind(*args, evaluate=False)
    return {"ceil": sympy.ceiling, "floor": sympy.floor, "sqrt": sympy.sqrt, "log2": lambda x: sympy.log(x, 2)}[node.fn](args[0])
