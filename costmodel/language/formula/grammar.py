"""Text to nodes, by a whitelist over Python's `ast`; length, depth and size are bounded before parsing.

Grammar: numbers, names, `+ - * / **`, unary minus, parentheses, comparisons joined by `and`/`or` (inside `where`), and
calls of `min max ceil floor log2 sqrt ceil_to where`. Whole-number exponents up to 8, or one plain count expression
(whose base must lie in [0, 1], checked when values are known).
"""

from __future__ import annotations

import re
from functools import lru_cache
from keyword import iskeyword
from typing import NoReturn

from ..problem import nearest, suggest
from .nodes import COMPARISONS, FUNCTIONS, Bin, Call, Name, Neg, Node, Num

MAX_LENGTH, MAX_NODES, MAX_DEPTH, MAX_EXPONENT = 500, 200, 40, 8
_OPS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**"}
_CMP = dict(zip(("Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"), COMPARISONS, strict=True))
_TOKEN = re.compile(r"[A-Za-z_0-9.]+|\S")


class FormulaError(ValueError):
    """A formula that cannot be read: message, `column` (from 1, in the text) and `help`."""

    def __init__(self, message: str, column: int = 1, help: str | None = None):
        super().__init__(message)
        self.column, self.help = column, help


def parse(text) -> Node:
    """Nodes of a formula; numbers pass through. Raises :class:`FormulaError`."""
    if isinstance(text, bool) or not isinstance(text, (int, float, str)):
        raise FormulaError("want a formula or a number")
    return _parsed(text) if isinstance(text, str) else Num(text)


@lru_cache(maxsize=16384)
def _parsed(text: str) -> Node:
    """The nodes of a text; they are never changed, so documents with the same formula share them."""
    body = text.lstrip()
    offset = len(text) - len(body)
    if body.startswith("="):
        offset, body = offset + 1, body[1:]
    stripped = body.lstrip()
    offset += len(body) - len(stripped)
    _bound(stripped, offset)
    return _Reader(offset).read(_tree(stripped, offset))


def _bound(text: str, offset: int) -> None:
    if not text.strip():
        raise FormulaError("the formula is empty", offset + 1)
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the formula has {len(text)} characters; at most {MAX_LENGTH}", offset + 1)
    if not text.isascii():
        at = next(i for i, c in enumerate(text) if ord(c) > 127)
        raise FormulaError(f"`{text[at]}` is not allowed in a formula", offset + at + 1)
    depth = count = run = 0
    for token in _TOKEN.finditer(text):
        count += 1
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        run = run + 1 if token[0] in "+-~" else 0
        if depth > MAX_DEPTH or run > MAX_DEPTH:
            raise FormulaError(f"nested deeper than {MAX_DEPTH} levels", offset + token.start() + 1)
    if count > 2 * MAX_NODES:
        raise FormulaError(f"the formula has more than {MAX_NODES} terms", offset + 1)
    odd = re.search(r"[^A-Za-z0-9_.+\-*/()<>=!,\s^\[\]{}'\"%@:&|~]|[#\n\r]", text)
    if odd:
        raise FormulaError(
            f"`{odd[0]}` is not allowed in a formula", offset + odd.start() + 1, "write the formula on one line, without comments"
        )
    if "^" in text:
        raise FormulaError("`^` is not a power here", offset + text.index("^") + 1, "write `**`")
    for word in re.finditer(r"[A-Za-z_][A-Za-z_0-9]*", text):
        if iskeyword(word[0]) and word[0] not in ("and", "or"):
            help = "write the opposite comparison" if word[0] == "not" else "rename it, e.g. `d_in`"
            raise FormulaError(f"`{word[0]}` cannot be used in a formula", offset + word.start() + 1, help)


def _tree(text: str, offset: int):
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        column = offset + min(error.offset or 1, len(text))
        gap = re.search(r"(\d)\s*([A-Za-z_])|([A-Za-z_0-9)])\s+([A-Za-z_0-9(])", text)
        help = "write `*` between factors" if gap and not re.search(r"\b(and|or)\b", text) else None
        raise FormulaError("this is not a formula", column, help) from None
    except (RecursionError, MemoryError, ValueError):
        raise FormulaError("the formula is too deeply nested", offset + 1) from None


class _Reader:
    def __init__(self, offset: int):
        self.offset, self.count = offset, 0

    def fail(self, tree, message: str, help: str | None = None) -> NoReturn:
        raise FormulaError(message, self.offset + getattr(tree, "col_offset", 0) + 1, help)

    def read(self, tree, depth: int = 0) -> Node:
        self.count += 1
        if self.count > MAX_NODES:
            self.fail(tree, f"the formula has more than {MAX_NODES} terms")
        if depth > MAX_DEPTH:
            self.fail(tree, f"nested deeper than {MAX_DEPTH} levels")
        method = getattr(self, "on_" + type(tree).__name__, None)
        if method is None:
            self.fail(tree, f"{_plain(tree)} is not allowed in a formula")
        return method(tree, depth + 1)

    def on_Constant(self, tree, depth) -> Node:
        value = tree.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(tree, "only numbers and names are allowed in a formula")
        if not abs(value) <= 1e30:
            self.fail(tree, "the number is too large (at most 1e30)")
        return Num(value)

    def on_Name(self, tree, depth) -> Node:
        if tree.id.startswith("__"):
            self.fail(tree, f"`{tree.id}` is not a name of this language")
        if tree.id in FUNCTIONS:
            self.fail(tree, f"`{tree.id}` is a function", f"call it: `{tree.id}(…)`")
        return Name(tree.id)

    def on_UnaryOp(self, tree, depth) -> Node:
        kind = type(tree.op).__name__
        if kind not in ("USub", "UAdd"):
            self.fail(tree, f"{_plain(tree)} is not allowed in a formula")
        inner = self.read(tree.operand, depth)
        if kind == "UAdd":
            return inner
        return Num(-inner.value) if isinstance(inner, Num) else Neg(inner)

    def on_BinOp(self, tree, depth) -> Node:
        op = _OPS.get(type(tree.op).__name__)
        if op is None:
            self.fail(tree, "only + - * / and ** are allowed", "use `floor(a / b)` for whole division")
        left, right = self.read(tree.left, depth), self.read(tree.right, depth)
        if op == "**":
            self.exponent(tree, left, right)
        return Bin(op, left, right)

    def exponent(self, tree, base: Node, node: Node) -> None:
        from .nodes import walk

        if any(isinstance(n, Bin) and n.op == "**" for n in walk(node)):
            self.fail(tree.right, "a power in an exponent is not allowed")
        if isinstance(node, Num) and not (node.value == int(node.value) and 0 <= node.value <= MAX_EXPONENT):
            self.fail(tree.right, f"an exponent is a whole number from 0 to {MAX_EXPONENT}")
        if isinstance(node, Num) and _degree(base) * node.value > MAX_EXPONENT:
            self.fail(tree, f"powers of powers reach past {MAX_EXPONENT}")

    def on_Compare(self, tree, depth) -> Node:
        ops = [_CMP.get(type(o).__name__) for o in tree.ops]
        if len(ops) != 1 or ops[0] is None:
            self.fail(tree, "one comparison at a time, with < <= > >= == !=", "join with `and`")
        return Bin(ops[0], self.read(tree.left, depth), self.read(tree.comparators[0], depth))

    def on_BoolOp(self, tree, depth) -> Node:
        op = type(tree.op).__name__.lower()
        for value in tree.values:
            if type(value).__name__ not in ("Compare", "BoolOp"):
                self.fail(value, f"`{op}` joins comparisons", "write `a > 0`")
        node = self.read(tree.values[0], depth)
        for value in tree.values[1:]:
            node = Bin(op, node, self.read(value, depth))
        return node

    def on_Call(self, tree, depth) -> Node:
        name = getattr(tree.func, "id", None)
        if name not in FUNCTIONS:
            if name is None:
                self.fail(tree, "only the functions of this language can be called")
            self.fail(tree, f"no function `{name}`", nearest(name, FUNCTIONS) or suggest("", FUNCTIONS))
        low, high = FUNCTIONS[name]
        if tree.keywords or not low <= len(tree.args) <= high:
            self.fail(tree, f"`{name}` takes {low if low == high else f'{low} to {high}'} arguments")
        if name == "where" and type(tree.args[0]).__name__ not in ("Compare", "BoolOp"):
            self.fail(tree.args[0], "`where` starts with a comparison", "write `where(a > 0, b, c)`")
        return Call(name, tuple(self.read(a, depth) for a in tree.args))


def _degree(node: Node) -> int:
    """The product of the whole-number exponents on the deepest chain of powers."""
    from .nodes import children

    below = max((_degree(c) for c in children(node)), default=1)
    return below * int(node.right.value) if isinstance(node, Bin) and node.op == "**" and isinstance(node.right, Num) else below


def _plain(tree) -> str:
    words = {
        "Attribute": "an attribute (`a.b`)",
        "Subscript": "indexing (`a[b]`)",
        "Lambda": "`lambda`",
        "IfExp": "`if … else` (use `where`)",
        "Tuple": "a comma",
        "JoinedStr": "text",
    }
    return words.get(type(tree).__name__, f"this ({type(tree).__name__})")
