"""The symbols of an expression: each with a value, what it means, and where the value stands."""

from __future__ import annotations

from functools import cache

from ...compile.dims import dim_mark
from ...language.formula import Name, Node, Num, names
from ...language.formula.lens import symbol
from .origins import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.unfold import ExpressionSymbol

_FORMATS = {"w_format": "weights", "kv_bytes": "kv", "a_bytes": "activations", "s_bytes": "state"}


@cache
def inert_max():
    """A function `max` that sympy leaves as it is: `sympy.Max` compares every pair of its arguments."""
    import sympy

    class max(sympy.Function):
        """The largest of its arguments, never evaluated."""

        @classmethod
        def eval(cls, *args):
            """Nothing is evaluated."""
            return None

        def _latex(self, printer, exp=None):
            inner = r"\max\left(" + ", ".join(printer._print(a) for a in self.args) + r"\right)"
            return inner if exp is None else f"{inner}^{{{exp}}}"

    return max


def printed(found) -> str:
    """The expression on one line, or a sum of several terms on a line each."""
    import sympy

    text = sympy.sstr(found)
    if len(text) <= 100:
        return text
    head, tail = (found, 1)
    if isinstance(found, sympy.Mul):
        sums = [a for a in found.args if isinstance(a, sympy.Add)]
        if len(sums) == 1:
            head, tail = sums[0], found / sums[0]
    if isinstance(found, sympy.Pow) and found.exp == -1 and isinstance(found.base, sympy.Add):
        return "1/(" + _lines(found.base) + ")"
    if not isinstance(head, sympy.Add):
        return text
    body = _lines(head)
    return f"({body})" if tail == 1 else f"({sympy.sstr(tail)})*({body})"


def _lines(total) -> str:
    import sympy

    return "\n + ".join(sympy.sstr(term) for term in total.as_ordered_terms())


class Symbols:
    """Makes symbols and remembers what they stand for; two values of one name get two names."""

    def __init__(self):
        self.known: dict[str, ExpressionSymbol] = {}

    def add(self, name: str, value, meaning: str, where: str, of: str = ""):
        """The symbol of a name and value; another one, named after `of` or numbered, where the name has another value."""
        return symbol(self.name(name, value, meaning, where, of))

    def name(self, name: str, value, meaning: str, where: str, of: str = "") -> str:
        """The same, as a name."""
        tries = [name, *([f"{name}_{of}".replace("-", "_").replace(".", "_")] if of else []), *(f"{name}_{i}" for i in range(2, 1000))]
        for tried in tries:
            known = self.known.get(tried)
            if known is None:
                self.known[tried] = {"name": tried, "value": value, "meaning": meaning, "where": where}
                return tried
            if known["value"] == value and known["meaning"] == meaning:
                return tried
        raise RuntimeError(f"too many values of `{name}`")

    def value(self, name: str):
        """The value of a symbol."""
        return self.known[name]["value"]

    def listed(self) -> list[ExpressionSymbol]:
        """Every symbol, by name."""
        return [self.known[name] for name in sorted(self.known)]

    def share(self, field: str, value: float, where: str):
        """The share of a rate that an engine reaches."""
        return self.add(f"e_{field}", value, f"share of the rate reached, {field}", where)

    def dims(self, program, node: Node) -> Node:
        """A formula whose dims are symbols of this model."""
        swap: dict[str, Node] = {}
        for name in names(node) & program.dims.keys():
            where = place(dim_mark(program.model, name))
            swap[name] = Name(self.name(name, program.dims[name], "dim", where, program.model.name))
        from ...language.formula.fold import bind

        return bind(node, swap, strict=False)

    def formats(self, row, program) -> tuple:
        """(the row with bytes per element as names, those names): what is no whole number gets a symbol of its own."""
        twin, shown = row.copy(), {}
        for key, what in _FORMATS.items():
            node = twin.symbols.get(key)
            if isinstance(node, Num) and node.value != int(node.value):
                label = f"{what[0]}_{row.formats[what][0]}".replace("-", "_").replace(".", "_")
                made = self.name(label, node.value, f"bytes per element, {what}", "", row.role.replace(".", "_"))
                twin.symbols[key] = shown[made] = Name(made)
        return twin, shown
