"""Graphs as source: Python over NumPy arrays, and JavaScript."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .nodes import ARITHMETIC, Node
from .order import Layout

_NUMPY = {
    "max": "maximum",
    "min": "minimum",
    "where": "where",
    "ceil": "ceil",
    "floor": "floor",
    "log2": "log2",
    "sqrt": "sqrt",
    "and": "logical_and",
    "or": "logical_or",
}


class Writer:
    """Statements and expressions of a layout; subclasses say how a language writes them."""

    def __init__(self, layout: Layout):
        self.layout = layout

    def name(self, node: Node) -> str:
        """The variable of a node that has one."""
        return f"v{node.id}"

    def expression(self, node: Node, whole: bool = False) -> str:
        """A node where it is used: its variable, or what it is made of (always the latter when `whole`)."""
        if node.op == "const":
            return self.number(node.value)
        if node.op == "input":
            return self.input(node.value)
        if not whole and self.layout.named(node):
            return self.name(node)
        if node.op == "+":
            return self.joined(self.layout.terms(node), " + ")
        if node.op in ("*", "/"):
            over, under = self.layout.factors(node)
            top = self.joined(over, " * ")
            return f"({top} / {self.joined(under, ' * ')})" if under else top
        return self.operation(node, [self.expression(a) for a in node.args])

    def joined(self, nodes: list[Node], sign: str) -> str:
        """A sum or product, smaller arrays first."""
        parts = []
        for group in self.layout.grouped(nodes):
            texts = sign.join(map(self.expression, group))
            parts.append(f"({texts})" if len(group) > 1 else texts)
        return f"({sign.join(parts)})" if len(parts) > 1 else parts[0]

    def input(self, name: str) -> str:
        """An input, or the index of a loop."""
        return name

    def number(self, value: float) -> str:
        """A number."""
        raise NotImplementedError

    def operation(self, node: Node, args: list[str]) -> str:
        """Any other operation."""
        raise NotImplementedError


class NumPy(Writer):
    """Python over NumPy arrays, where `axes` are arrays (of shapes that broadcast) and the rest numbers."""

    def number(self, value: float) -> str:
        """As Python writes it; whole numbers of counts become floats, which cannot overflow."""
        return repr(float(value)) if math.isfinite(value) else f"float('{value}')"

    def operation(self, node: Node, args: list[str]) -> str:
        """NumPy's function along axes, else Python's."""
        array = bool(self.layout.along(node) & self.layout.axes)
        op = node.op
        if op == "where":
            return f"_where({', '.join(args)})" if array else f"({args[1]} if {args[0]} else {args[2]})"
        if op in ("max", "min"):
            return f"{'_' + op if array else op}({args[0]}, {args[1]})"
        if op in ("ceil", "floor", "log2", "sqrt"):
            return f"{'_' + op if array else op}({args[0]})"
        if op in ("and", "or"):
            return f"_{op}({args[0]}, {args[1]})" if array else f"({args[0]} {op} {args[1]})"
        return f"({args[0]} {op} {args[1]})"

    def source(self, name: str, inputs: list[str]) -> str:
        """A function of the inputs that returns the outputs as a tuple."""
        lines = [f"def {name}({', '.join(inputs)}):"]
        for node in self.layout.outer():
            lines += self.loop(node) if node.op == "sum" else [f"    {self.name(node)} = {self.expression(node, True)}"]
        lines.append(f"    return ({', '.join(map(self.expression, self.layout.outputs))},)")
        return "\n".join(lines) + "\n"

    def loop(self, node: Node) -> list[str]:
        """A sum over an index: as many turns as the largest count, each counted where it is below its own."""
        count, var = self.expression(node.args[0]), self.name(node)
        several = bool(node.args[0].deps & self.layout.axes)
        body = list(self.layout.inner(node))
        lines = [f"    {var} = 0.0", f"    for {node.value} in range(_turns({count})):"]
        lines += [
            f"        {self.name(n)}_ = {self.expression(n, True)}"
            if n is body[-1]
            else f"        {self.name(n)} = {self.expression(n, True)}"
            for n in body
        ]
        added = f"{self.name(body[-1])}_"
        lines.append(f"        {var} = {var} + " + (f"_where({node.value} < {count}, {added}, 0.0)" if several else added))
        return lines


class JavaScript(Writer):
    """JavaScript over numbers."""

    def number(self, value: float) -> str:
        """A literal; JavaScript has doubles only."""
        if value == math.inf:
            return "Infinity"
        return repr(float(value)) if value >= 0 else f"({float(value)!r})"

    def input(self, name: str) -> str:
        """A field of the inputs; indices of loops are variables."""
        return name if name in self.layout.indices else f"x.{name}"

    def operation(self, node: Node, args: list[str]) -> str:
        """A function of `Math`, or an operator."""
        op = node.op
        if op == "where":
            return f"({args[0]} ? {args[1]} : {args[2]})"
        if op in ("max", "min", "ceil", "floor", "log2", "sqrt"):
            return f"Math.{op}({', '.join(args)})"
        if op == "**":
            return f"Math.pow({args[0]}, {args[1]})"
        return f"({args[0]} { {'and': '&&', 'or': '||', '==': '===', '!=': '!=='}.get(op, op) } {args[1]})"

    def source(self, outputs: Mapping[str, Node]) -> str:
        """An arrow function from an object of inputs to an object of outputs."""
        lines = ["(x) => {"]
        for node in self.layout.outer():
            lines += self.loop(node) if node.op == "sum" else [f"  const {self.name(node)} = {self.expression(node, True)};"]
        fields = ", ".join(f"{name!r}: {self.expression(node)}" for name, node in outputs.items())
        return "\n".join([*lines, f"  return {{{fields}}};", "}"])

    def loop(self, node: Node) -> list[str]:
        """A sum over an index."""
        var, i = self.name(node), node.value
        body = self.layout.inner(node)
        lines = [f"  let {var} = 0;", f"  for (let {i} = 0; {i} < {self.expression(node.args[0])}; {i}++) {{"]
        lines += [f"    const {self.name(n)}{'_' if n is body[-1] else ''} = {self.expression(n, True)};" for n in body]
        return [*lines, f"    {var} += {self.name(body[-1])}_;", "  }"]


def javascript(outputs: Mapping[str, Node]) -> str:
    """An arrow function from an object of inputs to an object of the outputs."""
    return JavaScript(Layout(outputs.values())).source(outputs)


def numpy_source(outputs: Mapping[str, Node], inputs: list[str], axes: list[str]) -> str:
    """A Python function `run(*inputs)` of NumPy arrays (`axes`) and numbers; it returns the outputs in order."""
    return NumPy(Layout(outputs.values(), axes)).source("run", inputs)


def numpy_function(source: str):
    """The function of a source that :func:`numpy_source` wrote."""
    import numpy as np

    def turns(count) -> int:
        return max(0, int(np.max(count)))

    space = {f"_{name}": getattr(np, made) for name, made in _NUMPY.items()} | {"_turns": turns}
    space |= {name: ARITHMETIC[name] for name in ("ceil", "floor", "log2", "sqrt")}
    exec(compile(source, "<costmodel sweep>", "exec"), space)  # our own emitted source, see docs/design.md
    return space["run"]
