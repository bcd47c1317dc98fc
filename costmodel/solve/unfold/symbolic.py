"""A figure as a sympy expression over the workload, the model's dims, number formats and the machine's rates."""

from __future__ import annotations

from typing import Any

from ...compile.emit import ROW_TERMS, row_table
from ...compile.machine import TERM_NAMES
from ...compile.mixed import resources, row_seconds
from ...language.formula import Node, Num
from ...language.formula.fold import bind
from ...language.formula.lens import symbol, to_sympy
from ...language.problem import Mark, Source, problem
from .figures import Figure, figures, value_of
from .operators import rate_detail
from .origins import engine_origin, leaf_origin
from .symbols import Symbols, inert_max, printed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.unfold import Expression

_KINDS = {"bytes": "wksa", "bytes.weights": "w", "bytes.kv": "k", "bytes.state": "s", "bytes.activations": "a", "flops": "f"}


def expression(opened, figure: Figure, latex: bool = False) -> tuple[Expression, str]:
    """The figure's expression as `text` (sympy's own, with an inert `max`) and on request `latex`, and its symbols with values;
    the text again, in lines.

    Raises :class:`SpecError` where it has none.
    """
    import sympy

    symbols = Symbols()
    found = _expression(opened, figure, symbols)
    used = {s.name for s in found.free_symbols}
    listed = [entry for entry in symbols.listed() if entry["name"] in used]
    result: Expression = {"text": sympy.sstr(found), "symbols": listed}
    if latex:
        result["latex"] = sympy.latex(found)
    return result, printed(found)


def sympy_of(opened, figure: Figure):
    """(expression, values of its symbols) of a figure. Raises :class:`SpecError` where it has none."""
    symbols = Symbols()
    found = _expression(opened, figure, symbols)
    return found, {s: symbols.value(s.name) for s in found.free_symbols}


def _expression(opened, figure: Figure, symbols: Symbols):
    """By its formula over the expressions of its inputs, or as the sum that its bill is."""
    if figure.formula is not None:
        env = {name: _named(opened, path, symbols) for name, path in figure.inputs.items()}
        return _inert(to_sympy(figure.formula, env))
    made = _bill(opened, figure, symbols)
    if made is None:
        where, phase = Mark(Source("QUANTITY", figure.path), 1, 1), figure.path.partition(".")[0]
        several = any(len(part.passes) > 1 or len(part.steps[0]) > 1 for part in opened.parts.get(phase, ()))
        why = f"`{figure.path}` is a sum over several passes" if several else f"`{figure.path}` has no expression of its own"
        raise problem(why, where, "ask for it without `--symbolic` and `--latex`")
    return made


def _inert(found):
    import sympy

    return found.replace(sympy.Max, lambda *args: inert_max()(*args))


def _named(opened, path: str, symbols: Symbols):
    """The expression of a figure that a formula names; a value without one is a symbol."""
    import sympy

    value = value_of(opened, path)
    if path in figures():
        figure = figures()[path]
        if not value:
            return sympy.Integer(0)
        if figure.formula is not None:
            return _expression(opened, figure, symbols)
        made = _bill(opened, figure, symbols)
        if made is not None:
            return made
    if isinstance(value, int) and value in (0, 1):
        return sympy.Integer(value)
    origin = leaf_origin(opened, path)
    return symbols.add(path.replace("decoder.", "").replace(".", "_"), value, path, "" if origin is None else origin.where)


def _bill(opened, figure: Figure, symbols: Symbols):
    """The sum that a bill is, or None for what is none."""
    kind, phase = figure.bill, figure.path.partition(".")[0]
    if phase in opened.parts and kind in (*_KINDS, "seconds", "floor"):
        return _phase(opened, phase, kind, symbols)
    if kind in ("held.kv", "held.state") and not opened.prediction.plan[5] and not opened.prediction.plan[15]:
        return _held(opened, kind, symbols)
    if kind in ("stored", "stored.all"):
        return _stored(opened, kind, symbols)
    return None


def _phase(opened, phase: str, kind: str, symbols: Symbols):
    """FLOPs, bytes or expected seconds of a phase: a sum over its parts and steps. Many steps have no one expression."""
    import sympy

    total = sympy.Integer(0)
    for part in opened.parts[phase]:
        steps = part.passes if kind == "seconds" else part.steps
        if len(steps) > 1 or len(steps[0]) > 1:
            return None
        point = _point(opened, phase, part, symbols)
        pass_ = Pass(part.machine, point, symbols, steps[0][0])
        one = pass_.seconds() if kind == "seconds" else pass_.floor() if kind == "floor" else pass_.amount(_KINDS[kind])
        total += part.times * one
    plan = opened.prediction.plan
    if kind in ("seconds", "floor") and phase == "prefill" and plan[8] > 1:
        total *= sympy.Rational(int(plan[7] + plan[8] - 1), int(plan[7] * plan[8]))
    return total


def _point(opened, phase: str, part, symbols: Symbols) -> dict:
    """B, T, S, R, M, H of a part's step: the workload's symbols where the schedule is no number."""
    p = opened.prediction
    B, T, S, R = part.steps[0][0]
    batch = symbols.add("B", B, "sequences", "")
    names = {"prompt": p.prompt, "context": p.context, "output": p.output}
    env = {n: symbols.add(n, v, n, "") for n, v in names.items()} | {"batch": batch}
    fields = part.machine.program.fields if part.name == "model" else opened.machine.program.fields
    found: dict[str, Any] = {"B": batch}
    head = "decode" if phase == "decode" else "prefill"
    for name, value in (("T", T), ("S", S), ("R", R)):
        node = opened.machine.program.also.node[name] if part.name == "draft" and head == "decode" else fields[f"{head}.{name}"].node
        made = to_sympy(node, env)
        given = {symbol(n): v for n, v in names.items()} | {batch: B}
        found[name] = made if made.xreplace(given) == value else to_sympy(Num(value))
    return found | {"M": batch * found["T"], "H": batch * found["R"]}


class Pass:
    """One pass of a placed program as expressions."""

    def __init__(self, machine, point: dict, symbols: Symbols, group: tuple):
        self.machine, self.point, self.symbols, self.group = machine, point, symbols, group

    def amount(self, keys: str):
        """Sum of terms over all operators."""
        import sympy

        total = sympy.Integer(0)
        for item in self.machine.placed:
            repeat = self.repeat(item)
            for key in keys:
                if item.terms[key] != Num(0):
                    total += repeat * self.term(item, key)
        return total

    def repeat(self, item):
        """How often an operator runs, in dims where that is what its block says."""
        program, row = self.machine.program, item.row
        if item.repeat != program.repeat(row):
            return to_sympy(Num(item.repeat))
        return to_sympy(self.symbols.dims(program, bind(row.repeat, program.shown_dims(), strict=False)))

    def term(self, item, key: str):
        """A term of an operator: over dims where that is what it is, else (a share of it, say) over the workload alone."""
        row, program = item.row, self.machine.program
        plain = program.terms(row, {key: TERM_NAMES[key]}, self.machine.device_flags)[key] if key in ROW_TERMS else item.terms[key]
        node = self.symbolic(row, key) if plain == item.terms[key] else item.terms[key]
        return to_sympy(node, self.point)

    def symbolic(self, row, key: str) -> Node:
        """A row's term over dims and its number formats as symbols."""
        program = self.machine.program
        row, shown = self.symbols.formats(row, program)
        node = row.resolve(TERM_NAMES[key], {**program.shown_dims(), **shown, **self.machine.device_flags})
        return self.symbols.dims(program, node)

    def rate(self, key: str):
        """A rate of the machine."""
        detail = rate_detail(self.machine, key)
        return self.symbols.add(key, detail["value"], detail["path"], detail["where"], of=self.machine.hardware.name)

    def share(self, item, field: str):
        """The share of a rate that the engine reaches on an operator, at this pass's tokens."""
        from ...language.formula.fold import number

        node = item.eff[field]
        B, T, _, _ = self.group
        value = node.value if isinstance(node, Num) else max(1e-6, number(node, {"M": B * T}))
        path, _ = self.machine.tuning(item.unit).found("efficiency", field, item.row.width.labels)
        where = engine_origin(self.machine, *path).where if path else ""
        return 1 if value >= 1 else self.symbols.share(field, float(value), where)

    def seconds(self):
        """Expected seconds of the pass: per operator the longest of its resources, plus link, hops and fixed times."""
        import sympy

        total = sympy.Integer(0)
        for item, info in zip(self.machine.placed, row_table(self.machine), strict=True):
            total += self.repeat(item) * self.row_seconds(item, info)
        fixed = self.machine.fixed
        if fixed == Num(0):
            return total
        value = fixed.value if isinstance(fixed, Num) else None
        return total + (to_sympy(fixed, self.point) if value is None else self.symbols.add("fixed", value, "fixed times of a pass", ""))

    def row_seconds(self, item, info: tuple):
        """Expected seconds of one operator, by the solver's own formula."""
        return row_seconds(self.info(item, info), self.terms(item), _Rates(self), None, lambda share, M: share, _longest)[0]

    def floor(self):
        """Least seconds of the pass: the longest of its resources, by the solver's own formula."""
        table = [(p, self.info(p, i)) for p, i in zip(self.machine.placed, row_table(self.machine), strict=True)]
        meta = {"rates": _Rates(self), "rows": [(*info[:5], self.repeat(p), *info[6:]) for p, info in table]}
        return _longest(*resources(meta, [self.terms(item) for item in self.machine.placed]).values())

    def terms(self, item) -> list:
        """All terms of an operator, 0 for none."""
        return [self.term(item, key) if item.terms[key] != Num(0) else 0 for key in ROW_TERMS]

    def info(self, item, info: tuple) -> tuple:
        """A row of the table in META with symbols for the shares that the operator uses."""
        wanted = {field for key, field in _SHARES.items() if item.terms[key] != Num(0)}
        if item.streams or (item.terms["l"] != Num(0) and item.row.link != "peer"):
            wanted.add("host")
        shares = {field: self.share(item, field) if field in wanted else 1 for field in item.eff}
        streams = {key: to_sympy(Num(part)) for key, part in item.streams.items()}
        return (*info[:7], to_sympy(item.rate), shares, streams, *info[10:])


_SHARES = {"f": "compute", "w": "weights", "k": "kv", "s": "state", "a": "activations", "l": "link"}


class _Rates:
    """Rates by name as symbols, made when they are asked for."""

    def __init__(self, step: Pass):
        self.step = step

    def __getitem__(self, key: str):
        return self.step.rate(key)


def _longest(*seconds):
    """An inert `max` over what is not nothing."""
    found = [s for s in seconds if s != 0]
    return inert_max()(*found) if len(found) > 1 else found[0] if found else 0


def _held(opened, kind: str, symbols: Symbols):
    """KV or state bytes on the device, at context + output tokens."""
    p, key = opened.prediction, "hk" if kind == "held.kv" else "hs"
    tokens = symbols.add("context", p.context, "context", "") + symbols.add("output", p.output, "output", "")
    point = {"B": symbols.add("B", p.plan[0], "sequences", ""), "S": tokens, "T": 0}
    made = Pass(opened.decoder, point, symbols, (p.plan[0], 0, p.context, 0))
    total = to_sympy(Num(0))
    for item in opened.decoder.placed:
        if item.terms[key] != Num(0) and item.unit == "device":
            share = 1 - sum(to_sympy(Num(s)) for name, s in item.streams.items() if name.startswith("kv@") and key == "hk")
            plain = opened.decoder.program.terms(item.row, {key: TERM_NAMES[key]}, opened.decoder.device_flags)[key]
            node = made.symbolic(item.row, key) if plain == item.terms[key] else item.terms[key]
            total += share * made.repeat(item) * to_sympy(node, point)
    return total


def _stored(opened, kind: str, symbols: Symbols):
    """Bytes of weights on the device, or in all tiers."""
    machine = opened.machine if kind == "stored.all" else opened.decoder
    made = Pass(machine, {}, symbols, (1, 1, 0, 0))
    total = to_sympy(Num(0))
    for item in machine.placed:
        size = sum(item.stored.values()) if kind == "stored.all" else item.stored.get("device", 0)
        whole = machine.program.constant(item.row, "stored", machine.device_flags) * item.repeat
        if not size:
            continue
        share = 1 if abs(size - whole) <= 1e-9 * whole else to_sympy(Num(size / whole))
        row, shown = symbols.formats(item.row, machine.program)
        node = row.resolve("stored", {**machine.program.shown_dims(), **shown, **machine.device_flags})
        total += share * made.repeat(item) * to_sympy(symbols.dims(machine.program, node))
    return total
