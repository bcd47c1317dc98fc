"""Operator rows: what a model is made of once its blocks are expanded. Terms stay formulas until a machine is known."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..language.formula import FormulaError, Node, Num, parse
from ..language.formula import names as names_of
from ..language.formula.fold import bind
from ..language.formula.nodes import Bin, Name, walk
from ..language.problem import Mark, Problem, SpecError, suggest
from ..library import Library, Spec
from ..schema.names import BOUNDS, SYMBOLS, TERMS
from .dims import seen_by
from .formats import Width

_ZERO = Num(0)
NOTHING: Mapping = MappingProxyType({})
MAX_TERMS = 4000
MAX_REPEAT = 10**6
MAX_DEPTH = 60


class Row:
    """One operator of one block.

    `terms` are formulas over args, helper names, symbols and the workload; `args` and `symbols` give those names'
    formulas; `repeat` is how many layers have the row; `weights`, `kv`, `activations` name number formats; `own` are the
    dims that the row's block sees differently.
    """

    __slots__ = (
        "args", "block", "formats", "history", "let", "link", "mark", "name", "op", "origin", "own",
        "place", "repeat", "role", "span", "symbols", "terms", "width",
    )  # fmt: skip

    def __init__(self, block: str, name: str, role: str, op: Spec, repeat: Node, args: dict, mark: Mark, own: Mapping = NOTHING):
        self.block, self.name, self.role, self.op, self.repeat = block, name, role, op.doc.name, repeat
        self.args, self.mark, self.own = args, mark, own
        self.let = dict(op.doc.let)
        self.terms = _terms(op.doc)
        self.symbols: dict[str, Node] = {}
        self.formats: dict[str, tuple] = {}
        self.width: Width | None = None
        self.place: list = []  # of `places.Place`
        self.span: tuple[Node, Node] | None = None  # the layers that the repeats are spread over
        self.link = op.doc.link
        self.history: list[tuple] = []  # (description, mark)
        self.origin = op

    def copy(self) -> Row:
        """An independent copy."""
        twin = object.__new__(Row)
        for slot in Row.__slots__:
            value = getattr(self, slot)
            setattr(twin, slot, value.copy() if isinstance(value, (dict, list)) else value)
        return twin

    def resolve(self, term: str, dims: Mapping[str, Node | int | float]) -> Node:
        """A term with every name replaced down to the values of `dims` and workload names."""
        return Resolver(self, dims).expand(self.terms[term])

    def resolve_arg(self, name: str, dims: Mapping[str, Node | int | float]) -> Node:
        """An argument of the operator, bound to dims."""
        return Resolver(self, dims).lookup(name)


class Resolver:
    """Binds the names of one row, each once; a symbol may refer to other symbols, not to itself."""

    def __init__(self, row: Row, dims: Mapping[str, Node | int | float]):
        self.row, self.dims = row, dims
        self.strict = not any(isinstance(v, tuple) for v in dims.values())  # with symbolic dims nothing is evaluated
        self.known: dict[str, Node] = {}
        self.active: list[str] = []
        self.sizes: dict[str, int] = {}
        self.size = 1

    def expand(self, node: Node) -> Node:
        """`node` with all names bound."""
        env = {n: self.lookup(n) for n in names_of(node)}
        self.size = size = sum(self.sizes.get(n.id, 1) if isinstance(n, Name) else 1 for n in walk(node))
        if size > MAX_TERMS:
            raise SpecError(Problem(f"{self.row.block}.{self.row.name}: the formulas grow past {MAX_TERMS:,} terms", self.row.mark))
        try:
            return bind(node, env, BOUNDS, self.strict)
        except FormulaError as error:
            raise SpecError(Problem(f"{self.row.block}.{self.row.name}: {error}", self.row.mark, error.help)) from None

    def lookup(self, name: str) -> Node:
        """The formula a name stands for."""
        if name in self.known:
            return self.known[name]
        if name in BOUNDS:
            return Name(name)
        if name in self.active:
            loop = " -> ".join([*self.active[self.active.index(name) :], name])
            raise SpecError(Problem(f"`set` goes in a circle: {loop}", self.row.mark))
        self.active.append(name)
        if len(self.active) > MAX_DEPTH:
            raise SpecError(Problem(f"{self.row.block}.{self.row.name}: helper formulas nest more than {MAX_DEPTH} deep", self.row.mark))
        self.size = 1
        value = self.find(name)
        self.active.pop()
        self.known[name] = value
        self.sizes[name] = self.size
        return value

    def find(self, name: str) -> Node:
        """The formula behind a name, expanded."""
        row = self.row
        if name in row.symbols:
            return self.expand(row.symbols[name])
        if name in row.args:
            return bind_dims(row.args[name], self.dims, row.mark)
        if name in row.let:
            return self.expand(row.let[name])
        if name in row.own:
            return self.expand(row.own[name])
        if name in self.dims:
            value = self.dims[name]
            return value if isinstance(value, tuple) else Num(value)
        if name in SYMBOLS:
            default = SYMBOLS[name][1]
            return self.lookup(default) if isinstance(default, str) else Num(default)
        raise SpecError(
            Problem(f"{row.block}.{row.name}: unknown name `{name}`", row.mark, suggest(name, [*row.args, *row.let, *self.dims]))
        )


def bind_dims(node: Node, dims: Mapping, mark: Mark) -> Node:
    """A formula of dims; an unknown dim is an error that names the nearest."""
    missing = [n for n in names_of(node) if n not in dims]
    if missing:
        name = sorted(missing)[0]
        if name in BOUNDS or name in SYMBOLS:
            raise SpecError(Problem(f"`{name}` is not known here: only the model's dims are", mark))
        raise SpecError(Problem(f"dim `{name}` is not given", mark, suggest(name, dims)))
    try:
        return bind(node, dims)
    except FormulaError as error:
        raise SpecError(Problem(str(error), mark, error.help)) from None


def number_of(node: Node, dims: Mapping, mark: Mark) -> int | float:
    """The value of a formula of dims."""
    value = bind_dims(node, dims, mark)
    if not isinstance(value, Num):
        raise SpecError(Problem(f"`{', '.join(sorted(names_of(value)))}` has no value here", mark))
    return value.value


def expand_blocks(model: Spec, dims: Mapping[str, int | float], library: Library) -> list[Row]:
    """Rows of all blocks that repeat at least once. Raises :class:`SpecError` for unknown operators or arguments."""
    rows: list[Row] = []
    for name, block in model.doc.blocks.items():
        rows += _like(model, name, dims, library) if block.like else _block(model, name, name, {}, block.repeat, dims, library)
    if not rows:
        raise SpecError(Problem("the model has no operators", model.mark("name"), "name an `architecture:` or write `blocks:`"))
    return rows


def _like(model: Spec, name: str, dims, library: Library) -> list[Row]:
    """The rows of other blocks, once more, with the dims that block `name` gives."""
    block, rows = model.doc.blocks[name], []
    own = seen_by(name, dims)
    if block.ops:
        raise SpecError(Problem(f"block `{name}` has `ops` and `like`", model.mark("blocks", name), "give one of the two"))
    for i, source in enumerate(block.like):
        if source not in model.doc.blocks or model.doc.blocks[source].like:
            names = [b for b, item in model.doc.blocks.items() if not item.like]
            raise SpecError(Problem(f"no block `{source}`", model.mark("blocks", name, "like", i), suggest(source, names)))
        repeat = bind(model.doc.blocks[source].repeat, own) if own else model.doc.blocks[source].repeat
        if block.repeat not in (1, Num(1)):
            repeat = Bin("*", block.repeat, repeat)
        rows += _block(model, source, f"{name}.{source}", own, repeat, dims, library)
    return rows


def _block(model: Spec, source: str, name: str, own: dict, repeat, dims, library: Library) -> list[Row]:
    """The rows of block `source` under the name `name`, its dims replaced by `own`, if it repeats at all."""
    mark = model.mark("blocks", name.partition(".")[0], "repeat")
    repeat = repeat if isinstance(repeat, tuple) else parse(repeat)
    count = number_of(repeat, dims, mark)
    if not 0 <= count <= MAX_REPEAT or count != int(count):
        raise SpecError(Problem(f"block `{name}` repeats {count:g} times; want a whole number up to {MAX_REPEAT:,}", mark))
    rows: list[Row] = []
    span = model.doc.blocks[name].span if name in model.doc.blocks else None
    span = span or model.doc.blocks[source].span
    for row_name, row in model.doc.blocks[source].ops.items() if count else ():
        made = make_row(model, ("blocks", source, "ops", row_name), name, row_name, row, repeat, dims, library, own)
        if made is not None:
            made.span = None if span is None else (bind(span[0], own), bind(span[1], own)) if own else span
            rows.append(made)
    return rows


def make_row(
    spec: Spec, path: tuple, block: str, name: str, row, repeat: Node, dims, library: Library, own: Mapping = MappingProxyType({})
) -> Row | None:
    """One row from its entry in a model or technique, or None where its `when` is zero; `own` replaces dims."""
    mark = spec.mark(*path)
    if row.when is not None and number_of(bind(row.when, own) if own else row.when, dims, spec.mark(*path, "when")) == 0:
        return None
    op = library.load("operator", row.op, mark=spec.mark(*path, "op"))
    if op.doc.abstract:
        raise SpecError(Problem(f"operator `{row.op}` is abstract", spec.mark(*path, "op")))
    args = _defaults(op.doc)
    for key, value in (row.model_extra or {}).items():
        where = spec.mark(*path, key)
        if key not in op.doc.args:
            raise SpecError(
                Problem(f"operator `{row.op}` has no argument `{key}`", spec.mark(*path, key, key=True), suggest(key, op.doc.args))
            )
        try:
            args[key] = bind(parse(value), own) if own else parse(value)
        except FormulaError as error:
            raise SpecError(Problem(f"{name}.{key}: {error}", where.shift(error.column - 1), error.help)) from None
        bind_dims(args[key], dims, where)
    missing = [a for a in op.doc.args if a not in args]
    if missing:
        raise SpecError(Problem(f"`{name}` needs `{missing[0]}` for operator `{row.op}`", mark))
    return Row(block, name, row.role, op, repeat, args, mark, own)


def _defaults(doc) -> dict[str, Node]:
    """The arguments of an operator that have a default, as formulas."""
    given: dict[str, Node | str | float] = {a: v.default for a, v in doc.args.items() if not isinstance(v, str)}
    return {a: v if isinstance(v, tuple) else parse(v) for a, v in given.items()}


def _terms(doc) -> dict[str, Node]:
    terms = {"flops": doc.flops, "params": doc.params, "hops": doc.hops}
    for group in ("bytes", "holds"):
        terms |= {f"{group}.{field}": node for field, node in getattr(doc, group)}
    for field in ("weights", "kv"):
        node = getattr(doc.floor, field)
        terms[f"floor.{field}"] = terms[f"bytes.{field}"] if node is None else node
    terms["stored"] = Bin("*", doc.params, Name("w_stored")) if doc.stored is None else doc.stored
    terms["workspace"] = terms["bytes.activations"] if doc.workspace is None else doc.workspace
    return {t: terms[t] if terms[t] is not None else _ZERO for t in TERMS}
