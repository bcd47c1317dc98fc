"""The functions of an emitted source, run on graph nodes in place of numbers.

The source is a small part of Python (see :mod:`costmodel.compile.emit`): assignments, sums, arithmetic, comparisons,
conditional expressions, calls of `max min ceil floor log2 sqrt`, tuples. Anything else raises ``NotImplementedError``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from .nodes import Graph, Node

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class Functions:
    """The functions of one emitted source, over the nodes of a graph."""

    def __init__(self, text: str, graph: Graph):
        self.graph = graph
        self.found = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}

    def has(self, name: str) -> bool:
        """Whether the source has a function."""
        return name in self.found

    def call(self, name: str, *given, **named) -> tuple:
        """What a function returns, as nodes. Arguments are nodes, numbers, a tuple of them, or a mapping; extra names are dropped."""
        function = self.found[name]
        arguments = [a.arg for a in function.args.args]
        scope: dict = dict(
            zip(arguments[len(arguments) - len(function.args.defaults) :], map(self._constant, function.args.defaults), strict=True)
        )
        scope |= dict(zip(arguments, given, strict=False)) | {k: v for k, v in named.items() if k in arguments}
        return _Run(self.graph, scope).body(function.body)

    def defaults(self, name: str) -> dict[str, float]:
        """The arguments of a function that have a value of their own: the knobs that were left open."""
        function = self.found[name]
        names = [a.arg for a in function.args.args][-len(function.args.defaults) :] if function.args.defaults else []
        return dict(zip(names, map(self._constant, function.args.defaults), strict=True))

    def _constant(self, node):
        return ast.literal_eval(node)


def expression(text: str, graph: Graph, scope: Mapping):
    """The node or number of one expression over named nodes and numbers."""
    return _Run(graph, dict(scope)).value(ast.parse(text, mode="eval").body)


class _Run:
    def __init__(self, graph: Graph, scope: dict):
        self.graph, self.scope = graph, scope

    def body(self, statements) -> tuple:
        for statement in statements:
            if isinstance(statement, ast.Return):
                value = self.value(statement.value)
                return value if isinstance(value, tuple) else (value,)
            if isinstance(statement, ast.Assign):
                value = self.value(statement.value)
                for target in statement.targets:
                    self.assign(target, value)
            elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
                self.scope[statement.target.id] = self.scope[statement.target.id] + self.value(statement.value)
            else:
                raise NotImplementedError(ast.unparse(statement))
        raise NotImplementedError("a function without return")

    def assign(self, target, value) -> None:
        if isinstance(target, ast.Name):
            self.scope[target.id] = value
            return
        for part, item in zip(target.elts, value, strict=True):
            self.scope[part.id] = item

    def value(self, node):
        """The node, number or tuple of an expression."""
        graph = self.graph
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.scope[node.id]
        if isinstance(node, ast.Tuple):
            return tuple(map(self.value, node.elts))
        if isinstance(node, ast.BinOp):
            return graph.make(_BINARY[type(node.op)], self.value(node.left), self.value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return graph.make("*", -1, self.value(node.operand))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return graph.make(_COMPARE[type(node.ops[0])], self.value(node.left), self.value(node.comparators[0]))
        return self.other(node)

    def other(self, node):
        graph = self.graph
        if isinstance(node, ast.BoolOp):
            op = "and" if isinstance(node.op, ast.And) else "or"
            found = self.value(node.values[0])
            for part in node.values[1:]:
                found = graph.make(op, found, self.value(part))
            return found
        if isinstance(node, ast.IfExp):
            test = self.value(node.test)
            known = number(test)
            if known is not None:
                return self.value(node.body if known else node.orelse)
            return graph.where(test, self.value(node.body), self.value(node.orelse))
        if isinstance(node, ast.Subscript):
            table = self.value(node.value)
            assert isinstance(table, Mapping)
            return table[ast.literal_eval(node.slice)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            args = tuple(map(self.value, node.args))
            if node.func.id in ("max", "min"):
                return (graph.most if node.func.id == "max" else graph.least)(*args)
            return graph.make(node.func.id, *args)
        raise NotImplementedError(ast.unparse(node))


def number(node) -> float | None:
    """The number that a node is, or None where it depends on inputs."""
    if isinstance(node, Node):
        return node.value if node.op == "const" else None
    return node
