"""A `Program`: the rows of a model under techniques, with its schedule. Seen as sympy here; bound to a machine later."""

from __future__ import annotations

from collections.abc import Mapping

from ..folders import foreign
from ..language.formula import Bin, FormulaError, Name, Node, Num, names
from ..language.formula.fold import bind, number
from ..language.problem import Problem, SpecError, suggest
from ..library import Library, Spec
from . import rewrite
from .dims import check_dims, dim_mark, read_dims, seen_by, solve_dims
from .formats import Width, role_width, width_of
from .places import place_rows
from .rows import Resolver, Row, expand_blocks, number_of
from .schedule import merge_schedules
from .uses import Use
from .weights import base_formats, inserted_formats, note_growth, widths

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sympy

PHASES = ("prefill", "decode")


class Program:
    """Rows, dims and schedule of one model under techniques; no machine yet.

    `rows` hold formulas; `dims` are numbers; `formulas` are the dims as given; `fields`, `also`, `machine` are the
    schedule; `notes` say what was assumed.
    """

    def __init__(self, model: Spec, uses: list[Use], library: Library) -> None:
        self.model, self.uses, self.library = model, uses, library
        self.notes: list[str] = []
        self.files = set(model.files)
        for use in uses:
            self.files |= set(use.spec.files)
        self.rows: list[Row] = []
        self.dims: dict[str, int | float] = {}
        self.weights_format = ""
        self.base_width: tuple[str, float] = ("", 1.0)
        self.base = model
        self.held: dict[str, float] = {}
        self._shown: dict[str, Node] | None = None
        self.formulas: dict[str, Node] = {}
        self.fields, self.also, self.machine = merge_schedules(uses)

    def term(self, row: Row, name: str, symbolic: bool = False, device: dict | None = None) -> Node:
        """A term of a row over B, T, S, R, M, H; `symbolic` keeps the model's dims as names."""
        device = device or {"sparse_load": 0, "sparse_2_4": 0}
        if symbolic:
            return row.resolve(name, {**self.shown_dims(), **device})
        return row.resolve(name, {**self.dims, **device})

    def shown_dims(self) -> dict[str, Node]:
        """Dims for display: names of those that the model or a technique gives; the architecture's defaults as what they stand for."""
        if self._shown is not None:
            return self._shown
        parents = [self.library.read(file) for file in self.model.files]
        defaults = [id(d.source) for d in parents if d.data.get("abstract") is True]
        base = read_dims(self.model)
        shown: dict[str, Node] = {}
        for name, node in self.formulas.items():
            if id(dim_mark(self.model, name).source) not in defaults or base.get(name) != node:
                shown[name] = Name(name)
        while len(shown) < len(self.formulas):
            ready = {n: bind(f, shown) for n, f in self.formulas.items() if n not in shown and names(f) <= shown.keys()}
            ready = {n: f if _plain_sum(f) else Name(n) for n, f in ready.items()}
            shown |= ready or {n: Name(n) for n in self.formulas.keys() - shown.keys()}
        self._shown = shown
        return shown

    def terms(self, row: Row, wanted: Mapping[str, str], device: dict) -> dict[str, Node]:
        """Several terms of a row, by the given keys: names that they share are resolved once."""
        resolver = Resolver(row, {**self.dims, **device})
        return {key: resolver.expand(row.terms[name]) for key, name in wanted.items()}

    def natural(self, role: str, name: str, mark, own: Spec | None = None) -> Width:
        """Width of a role in the model's own format `name`, as its `weights.roles` change it."""
        width = role_width(self.library, own or self.base, role, self.dims)
        if width is not None and width.family:
            return width
        usual = width_of(self.library, name, role, self.dims, mark)
        return usual if width is None else usual._replace(bytes=width.bytes)  # stated bytes: the format's maths

    def params(self, only: str = "*") -> int:
        """Parameters stored, over rows whose role matches."""
        from fnmatch import fnmatchcase

        total = sum(self.constant(r, "params") * self.repeat(r) for r in self.rows if fnmatchcase(r.role, only))
        return round(total)

    def active_params(self) -> int:
        """Parameters a token uses: all, less the inactive share of routed experts and what is only stored."""
        total = 0.0
        for row in self.rows:
            if row.op == "stored" and row.role in ("vision", "unused"):
                continue
            stored = self.constant(row, "params")
            if "active" in row.args:
                whole = row.resolve_arg("experts" if "experts" in row.args else "stored", self.dims)
                stored *= number(row.resolve_arg("active", self.dims)) / number(whole)
            total += stored * self.repeat(row)
        return round(total)

    def repeat(self, row: Row) -> int:
        """How many layers have the row."""
        return int(number_of(row.repeat, self.dims, row.mark))

    def value(self, row: Row, name: str, point: dict) -> int | float:
        """A term at a point (B, T, S, R, M, H). Raises :class:`SpecError` where it has no value."""
        try:
            return number(self.term(row, name), point)
        except FormulaError as error:
            raise SpecError(Problem(f"{row.block}.{row.name}: `{name}`: {error}", row.mark)) from None

    def constant(self, row: Row, name: str, device: dict | None = None) -> int | float:
        """A term that does not depend on the workload. Raises :class:`SpecError` where it does."""
        node = self.term(row, name, device=device)
        if not isinstance(node, Num):
            free = ", ".join(sorted(names(node)))
            raise SpecError(Problem(f"{row.block}.{row.name}: `{name}` is stored, so it cannot depend on {free}", row.mark))
        return node.value

    def flops(self, phase: str = "prefill", *, values: bool = False) -> sympy.Expr:
        """FLOPs of a phase as a sympy expression in B, prompt/context and the model's dims (`values`: dims as numbers)."""
        return self._sum(phase, ("flops",), values)

    def bytes(self, phase: str = "prefill", kind: str | None = None, *, values: bool = False) -> sympy.Expr:
        """Bytes of a phase as a sympy expression: of one `kind` (weights, kv, state, activations, link), or all on the device."""
        kinds = ("weights", "kv", "state", "activations")
        if kind is not None and kind not in (*kinds, "link"):
            raise ValueError(f"no kind of bytes `{kind}`: {suggest(kind, (*kinds, 'link'))}")
        return self._sum(phase, tuple(f"bytes.{k}" for k in ((kind,) if kind else kinds)), values)

    def _sum(self, phase: str, terms: tuple, values: bool):
        from .lens import phase_sum

        if phase not in PHASES:
            raise ValueError(f"no phase `{phase}`: {suggest(phase, PHASES)}")
        return phase_sum(self, phase, terms, values)


def imported_notes(model: Spec) -> list[str]:
    """What an importer had to say of a model that comes from another program's file."""
    notes = model.doc.description.split("; ") if foreign(model.files[0]) else []
    return [n for n in notes if n and not n.startswith("GGUF file of ")]


def _plain_sum(node: Node) -> bool:
    """Whether a formula reads as well as its name: a number, a name, or a sum of them."""
    if isinstance(node, Bin):
        return node.op in "+-" and _plain_sum(node.left) and _plain_sum(node.right)
    return isinstance(node, (Num, Name))


def compile_program(model: Spec, uses: list[Use], library: Library) -> Program:
    """The program of a model under techniques. Raises :class:`SpecError`."""
    try:
        return _compiled(model, uses, library)
    except RecursionError:
        raise SpecError(Problem("the formulas refer to one another too deeply", model.mark("name"))) from None


def _compiled(model: Spec, uses: list[Use], library: Library) -> Program:
    """The recipe: stand-in → dims → expand → insert/drop → format → set → replace → scale → add → place."""
    _refuse_abstract(model)
    steps = rewrite.steps_of(uses)
    _check_conflicts(uses)
    _check_requirements(model, uses, library)
    base = model
    model = _stand_in(model, steps, library)
    program = Program(model, uses, library)
    program.files |= set(base.files)
    given = read_dims(model)
    if steps or model.doc.requires:
        natural = solve_dims(model, given)
        check_dims(model, natural)
        steps = [s for s in steps if rewrite.active(s, natural)]
    program.formulas = rewrite.scale_and_set_dims(given, steps, model.name)
    program.dims = solve_dims(model, program.formulas)
    rows = expand_blocks(model, program.dims, library)
    base_formats(program, rows, base)
    rows = rewrite.drop_and_insert(rows, steps, program.dims, library, model.name)
    inserted_formats(program, rows, base)
    rewrite.change_formats(rows, steps, model.name)
    widths(program, rows)
    note_growth(program, rows)
    rewrite.set_symbols(rows, steps, program.dims, model.name)
    rewrite.replace_terms(rows, steps, model.name)
    rewrite.scale_terms(rows, steps, program.dims, model.name)
    rewrite.add_terms(rows, steps, model.name)
    program.notes += place_rows(rows, steps, program.dims, model.name)
    program.rows = rows
    for row in rows:
        program.files |= set(row.origin.files)
    program.notes += imported_notes(base)
    for use in uses:
        program.notes += [f"{use.name}: {n}" for n in use.spec.doc.assumptions]
    if not uses:
        check_published(program)
    return program


def check_published(program: Program) -> None:
    """The document's `checks` against what its blocks sum to. Raises :class:`SpecError` with both figures."""
    for name in ("params", "active_params"):
        text = getattr(program.model.doc.checks, name)
        if text is None:
            continue
        mark = program.model.mark("checks", name)
        head, _, tail = str(text).partition("+-")
        try:
            want, tolerance = float(head), float(tail.strip().rstrip("%") or 0) / 100
        except ValueError:
            raise SpecError(Problem(f"checks.{name}: `{text}` is not a check", mark, "write `8.03e9 +- 0.5%`")) from None
        got = program.params() if name == "params" else program.active_params()
        if not (want < 1e18 and 0 <= tolerance < 1):
            raise SpecError(Problem(f"checks.{name}: `{text}` is not a check", mark, "write `8.03e9 +- 0.5%`"))
        if abs(got - want) > tolerance * want + 0.5:
            raise SpecError(
                Problem(
                    f"checks.{name}: the blocks sum to {got:,}, not {want:,.0f} +- {tolerance:.2%}",
                    mark,
                    "a dim is wrong, or the figure is",
                )
            )


def _refuse_abstract(model: Spec) -> None:
    if model.doc.abstract:
        raise SpecError(
            Problem(
                f"model `{model.name}` is abstract: a parent for others",
                model.mark("abstract"),
                "name a model that has it as `architecture:`",
            )
        )


def _check_conflicts(uses: list[Use]) -> None:
    seen: dict[str, Use] = {}
    for use in uses:
        if use.name in seen:
            raise SpecError(Problem(f"technique `{use.name}` is given twice", use.spec.mark("name")))
        seen[use.name] = use
    for use in uses:
        for i, other in enumerate(use.spec.doc.conflicts):
            if other in seen:
                place = ((seen[other].spec.mark("name"), "and here"),)
                raise SpecError(Problem(f"`{use.name}` and `{other}` cannot be combined", use.spec.mark("conflicts", i), None, place))


def _check_requirements(model: Spec, uses: list[Use], library: Library) -> None:
    dims: dict | None = None
    roles: set[str] = set()
    for use in uses:
        needs = use.spec.doc.requires
        if needs.dims or needs.roles or needs.conditions:
            if dims is None:
                dims = solve_dims(model, read_dims(model))
                roles = {r.role for r in expand_blocks(model, dims, library)}
            _model_needs(model, use, needs, dims, roles)


def _model_needs(model: Spec, use: Use, needs, dims: dict, roles: set) -> None:
    from fnmatch import fnmatchcase

    for i, name in enumerate(needs.dims):
        if name not in dims:
            mark = use.spec.mark("requires", "dims", i)
            place = ((model.mark("dims"), "the model's dims"),)
            raise SpecError(Problem(f"`{use.name}` needs dim `{name}`, which {model.name} does not have", mark, None, place))
    for i, pattern in enumerate(needs.roles):
        if not any(fnmatchcase(r, pattern) for r in roles):
            mark = use.spec.mark("requires", "roles", i)
            help, place = "the model has: " + ", ".join(sorted(roles)), ((model.mark("name"), "the model"),)
            raise SpecError(Problem(f"`{use.name}` needs a row of role `{pattern}`, which {model.name} does not have", mark, help, place))
    for message, node in needs.conditions.items():
        _condition(model, use, message, node, dims)


def _condition(model: Spec, use: Use, message: str, node: Node, dims: dict) -> None:
    """A condition of a technique over the model's dims (and those of single blocks) and its own knobs.

    Raises an error that names all of their places.
    """
    for block in [None, *(b for b, item in model.doc.blocks.items() if names(node) & set(item.dims))]:
        seen = dims if block is None else {**dims, **{n: dims[v.id] for n, v in seen_by(block, dims).items()}}
        _holds(model, use, message, node, seen)


def _holds(model: Spec, use: Use, message: str, node: Node, dims: dict) -> None:
    mark = use.spec.mark("requires", "conditions", message)
    env = {**dims, **{k: v.value for k, v in use.numbers().items()}}
    used = names(node)
    lacking = [n for n in used if n not in env]
    if lacking:
        raise SpecError(Problem(f"`{use.name}` needs dim `{lacking[0]}`", mark, suggest(lacking[0], env)))
    try:
        holds = number(node, env)
    except FormulaError as error:
        raise SpecError(Problem(f"`{use.name}`: {error}", mark, error.help)) from None
    if not holds:
        places = tuple((model.mark("dims", n), f"{n} = {dims[n]:g}") for n in used if n in model.doc.dims)
        knobs = tuple((use.marks[n], f"{n} = {use.values[n]}") for n in used if n in use.marks)
        raise SpecError(Problem(f"`{use.name}`: {message}", mark, None, places + knobs))


def _stand_in(model: Spec, steps: list, library: Library) -> Spec:
    chosen = None
    for step in steps:
        name = step.item.model
        if name is None:
            continue
        mark = rewrite.mark_of(step, "model")
        other = library.load("model", str(step.use.values.get(name, name)), mark=step.use.marks.get(name, mark))
        if chosen is not None and chosen[0].name != other.name:
            raise rewrite._clash("the model", mark, chosen[1])
        chosen = (other, mark)
    if chosen is None:
        return model
    _refuse_abstract(chosen[0])
    return chosen[0]
