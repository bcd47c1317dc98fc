"""One operator unfolded: its terms as formulas, arguments, dims, formats, efficiencies and rates, each with its place, and rewrites."""

from __future__ import annotations

from ...compile.dims import JOIN, dim_mark, read_dims
from ...compile.machine import TERM_NAMES, _special
from ...compile.tuning import FALLBACK
from ...language.formula import Name, Node, Num, names
from ...language.formula.fold import number
from ...language.formula.write import text
from ...schema.names import BOUNDS, SYMBOLS
from ..counts import FOREVER
from .opened import Work
from .origins import engine_origin, hardware_origin, place, rate_origin, stated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes import unfolded_operator as form

SHOWN = {"f": "flops", "w": "weights", "k": "kv", "s": "state", "a": "activations", "l": "link", "h": "hops"}
TERMS_OF = {
    "flops": "f", "bytes": "wksa", "bytes.weights": "w", "bytes.kv": "k", "bytes.state": "s", "bytes.activations": "a", "link": "lwk",
}  # fmt: skip
"""Terms that a bill sums, by its kind; all that a step has where it is not here."""
ELEMENTS: dict[form.What, str] = {"weights": "w_format", "kv": "kv_bytes", "state": "s_bytes", "activations": "a_bytes"}
"""What has a number format, and the row's name for it, or for the bytes of an element."""


def operator_detail(opened, work: Work, kind: str = "seconds") -> form.AmountOperator | form.TimedOperator:
    """What an operator's part in a bill of a kind follows from, as plain data."""
    item, machine = work.placed, work.part.machine
    keys = [key for key in TERMS_OF.get(kind, SHOWN) if item.terms[key] != Num(0)]
    named = _names(opened, machine, item.row, _used(item.row, [TERM_NAMES[key] for key in keys]))
    terms = [_term(work, key) for key in keys]
    found: form.AmountOperator = {**_head(item), "name": work.name, "times": work.part.times, "terms": terms, **named}
    return _timed(work, found) if kind not in TERMS_OF else found


def _timed(work: Work, found: form.AmountOperator) -> form.TimedOperator:
    """With the time that an operator takes, and what it follows from."""
    return {
        **found,
        "efficiencies": _efficiencies(work),
        "rates": _rates(work),
        "streams": dict(work.placed.streams),
        "seconds": {k: v for k, v in work.seconds.items() if v},
        "expected_s": sum(work.seconds.values()),
        "floor_s": work.part.times * work.record.floor_s,
        "bound": work.record.expected_by,
    }


def memory_detail(opened, machine, item, kind: str, value: float) -> form.MemoryOperator:
    """What an operator's part in a bill of memory follows from: `stored` (weights), `held.kv`, `held.state`."""
    name = "stored" if kind.startswith("stored") else kind.replace("held.", "holds.")
    node = item.row.terms[name]
    term: form.Stored = {"term": name, "formula": text(node), "where": place(_term_mark(item.row, name)), "value": value}
    label = f"{item.row.block}.{item.row.name}" + (" (host)" if item.unit == "host" else "")
    named = _names(opened, machine, item.row, _used(item.row, [name]))
    return {**_head(item), "name": label, "times": 1, "terms": [term], **named}


def _head(item) -> form.RowHead:
    row = item.row
    return {
        "role": row.role,
        "operator": row.op,
        "operator_where": place(row.origin.mark("name")),
        "where": place(row.mark),
        "unit": item.unit,
        "repeat": item.repeat,
        "repeat_formula": text(row.repeat),
    }


def _names(opened, machine, row, used: set) -> form.RowNames:
    return {
        "arguments": _arguments(machine, row, used),
        "helpers": [{"name": n, "formula": text(v), "where": place(row.origin.mark("let", n))} for n, v in row.let.items() if n in used],
        "symbols": _symbols(machine, row, used),
        "formats": _formats(opened, machine, row, used),
        "rewrites": [{"text": said, "where": place(mark)} for said, mark in touching(row, used)],
    }


def touching(row, used: set) -> list[tuple]:
    """The rewrites of a row, less changes of formats that it does not use."""
    idle = tuple(f"{what} format " for what, symbol in ELEMENTS.items() if symbol not in used)
    return [(said, mark) for said, mark in row.history if not said.startswith(idle)]


def _term_mark(row, name: str):
    """Where a term stands in the operator's document: `stored` where none is given is its parameters."""
    return row.origin.mark(*(("params",) if name == "stored" and row.origin.doc.stored is None else name.split(".")))


def points(part) -> list[dict]:
    """B, T, S, R, M, H of every group of every step of a part."""
    found = []
    for groups in part.steps:
        M, H = sum(B * T for B, T, _, _ in groups), sum(B * R for B, _, _, R in groups)
        found += [{"B": B, "T": T, "S": S, "R": R, "M": M, "H": H} for B, T, S, R in groups]
    return found


def _term(work: Work, key: str) -> form.Term:
    """One term: its formula as rewritten, the same over the workload alone, its place, and its total over all steps and repeats."""
    row, name = work.placed.row, TERM_NAMES[key]
    by_kind = work.record.bytes_by.to_dict()
    if key in "lh":
        steps = points(work.part)
        value = work.placed.repeat * sum(number(work.placed.terms[key], point) for point in steps)
    else:
        value = work.record.flops if key == "f" else by_kind[SHOWN[key]]
    return {
        "term": name,
        "formula": text(row.terms[name]),
        "bound": text(work.placed.terms[key]),
        "where": place(_term_mark(row, name)),
        "value": work.part.times * value,
    }


def all_used(row) -> set[str]:
    """Every name that any term of a row uses."""
    return _used(row, list(TERM_NAMES.values()))


def _used(row, terms: list[str]) -> set[str]:
    """Every name that terms use, directly or through helpers, symbols and arguments."""
    found: set[str] = set()
    waiting = [n for term in terms for n in names(row.terms[term])]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += names(_meaning(row, name))
    return found


def _meaning(row, name: str) -> Node:
    """What a name of a row stands for; itself where it is a dim or of the workload."""
    for table in (row.symbols, row.args, row.let, row.own):
        if name in table and table[name] != Name(name):
            return table[name]
    default = SYMBOLS[name][1] if name in SYMBOLS else None
    return Name(default) if isinstance(default, str) else Name(name)


def _arguments(machine, row, used: set) -> list[form.Argument]:
    known = {**machine.program.dims, **machine.device_flags}
    values = {name: row.resolve_arg(name, known) for name in row.args if name in used}
    return [{"name": n, "formula": text(row.args[n]), "value": _plain(v)} for n, v in values.items()]


def _plain(value: Node):
    """A number, or formula text; no window is `none`."""
    return text(value) if not isinstance(value, Num) else "none" if value.value >= FOREVER else value.value


def _symbols(machine, row, used: set) -> list[form.RowSymbol]:
    """Row symbols that terms use (bytes per weight, per KV element, …) and their values."""
    known = {**machine.program.dims, **machine.device_flags}
    values = {name: row.resolve_arg(name, known) for name in sorted(used & SYMBOLS.keys())}
    return [{"name": n, "value": _plain(v)} for n, v in values.items()]


def labels(row) -> tuple:
    """The names of a row's number format that engines key settings on."""
    return () if row.width is None else row.width.labels


def used_dims(rows: list[tuple]) -> list[form.UsedDim]:
    """The dims that rows, as (machine, row), use, with value, formula and place; a technique's where one gives it."""
    found: dict[tuple, form.UsedDim] = {}
    for machine, row in rows:
        for name in (all_used(row) | names(row.repeat)) & machine.program.dims.keys():
            _add_dim(found, machine.program, name)
    return sorted(found.values(), key=lambda d: (d["model"], d["name"]))


def _add_dim(found: dict[tuple, form.UsedDim], program, name: str) -> None:
    if (program.model.name, name) in found:
        return
    node = program.formulas[name]
    before = read_dims(program.model).get(name)
    changed = next((m for m in _dim_rewrites(program, name) if before != node), None)
    where = place(changed[1]) if changed else place(dim_mark(program.model, name))
    found[program.model.name, name] = {
        "model": program.model.name,
        "name": name,
        "value": program.dims[name],
        "formula": "" if isinstance(node, Num) else text(node),
        "where": where,
        "technique": changed[0] if changed else "",
    }
    for other in names(node) & program.dims.keys():
        _add_dim(found, program, other)


def _dim_rewrites(program, name: str):
    """(technique, mark) of rewrites that set or scale a dim."""
    from fnmatch import fnmatchcase

    from ...compile.rewrite import mark_of, steps_of

    for step in steps_of(program.uses):
        for verb in ("set", "scale"):
            for key in getattr(step.item, verb):
                if step.item.only is None and fnmatchcase(name.partition(JOIN)[0], key):
                    yield step.use.text(), mark_of(step, verb, key)


def _formats(opened, machine, row, used: set) -> list[form.UsedFormat]:
    """Number formats of weights, KV, state and activations that an operator uses: document, bits, and the mix of weights."""
    return [_used_format(opened, machine, row, what, symbol) for what, symbol in ELEMENTS.items() if symbol in used]


def _used_format(opened, machine, row, what: form.What, symbol: str) -> form.UsedFormat:
    """One of them; `symbol` is the row's name for the bytes of an element."""
    name, mark, factor = row.formats[what]
    base = machine.program.base
    size = stated(base, "weights", "size") if what == "weights" and mark is None and factor != 1 else ""
    scaled: form.Scaled = {"scaled": size} if size else {}
    return {
        "what": what,
        "format": name,
        "bits": 8 * number(row.symbols[symbol]),
        "where": _format_place(opened, name, row.role),
        **scaled,
        "parts": [_part(opened, n, s) for n, s in (row.width.parts if what == "weights" else ((name, 1),))],
        "factor": factor,
        "chosen": place(mark) if mark else stated(base, what, "format") or stated(base, what),
    }


def _format_place(opened, name: str, role: str) -> str:
    """Where a format states what a role is in: the entry of its mix, or its size."""
    spec = opened.library.load("format", name)
    field, table = ("mix", spec.doc.mix) if spec.doc.mix is not None else ("whole", spec.doc.whole)
    key = next((k for k in (role, role.partition(".")[0], "default") if k in table), None)
    return place(spec.mark("size") if key is None else spec.mark(field, key))


def _part(opened, name: str, share: float) -> form.FormatPart | form.BlockPart:
    """A format of a mix; of a block format the bits per weight, and where they stand: nothing of what a model states in bytes."""
    part: form.FormatPart = {"format": name, "share": share}
    spec = None if name[:1].isdigit() else opened.library.load("format", name)
    if spec is None or not spec.doc.block:
        return part
    return {**part, "bits": 8 * spec.doc.size / spec.doc.block, "where": place(spec.mark("size"))}


def _efficiencies(work: Work) -> list[form.Efficiency]:
    """Share of each rate that the engine reaches on this operator: formula and place, coefficients and places, value."""
    item, machine = work.placed, work.part.machine
    terms: dict[str, form.Field] = {"f": "compute", "w": "weights", "k": "kv", "s": "state", "a": "activations", "l": "link"}
    wanted = [field for key, field in terms.items() if item.terms[key] != Num(0)] + (["host"] if item.streams else [])
    if item.row.link != "peer" and "link" in wanted:
        wanted[wanted.index("link")] = "host"
    M = points(work.part)[0]["M"]
    return [_efficiency(work, machine.tuning(item.unit), field, M) for field in dict.fromkeys(wanted)]


def _efficiency(work: Work, tuning, field: form.Field, M) -> form.Efficiency:
    item, machine, formats = work.placed, work.part.machine, labels(work.placed.row)
    node = item.eff[field]
    value = node.value if isinstance(node, Num) else max(1e-6, number(node, {"M": M}))
    name = _special(field, item.row, item.row.terms["params"] != Num(0))
    entry: form.Efficiency = {
        "of": field,
        "setting": name,
        "value": min(1.0, value),
        "formula": "",
        "where": "",
        "kind": "",
        "coefficients": [],
    }
    if tuning.throttle != 1 and field not in ("link", "host"):
        entry["throttle"] = tuning.throttle
    own = next((n for n in (name, FALLBACK.get(name, name)) if n in tuning.own), None)
    if own is not None:
        found = hardware_origin(machine, "efficiency", own)
        return {**entry, "where": found.where, "kind": found.kind}
    path, formula = tuning.found("efficiency", name, formats)
    if formula is None and name in FALLBACK:
        path, formula = tuning.found("efficiency", FALLBACK[name], formats)
    if formula is None:
        return entry
    found = engine_origin(machine, *path)
    given = [(n, *tuning.coefficient(n, formats)) for n in sorted(names(formula) - BOUNDS.keys())]
    listed: list[form.Coefficient] = [
        {"name": n, "value": c.value, "where": place(tuning.engine.mark(*at))} for n, at, c in given if c is not None
    ]
    return {**entry, "formula": text(formula), "where": found.where, "kind": found.kind, "coefficients": listed}


def _rates(work: Work) -> list[form.Rate]:
    """The machine's rates that the operator runs at."""
    item, machine = work.placed, work.part.machine
    host = item.unit == "host"
    wanted = [("hpk_" if host else "pk_") + item.math] if item.terms["f"] != Num(0) else []
    wanted += ["hram" if host else "bw"] if any(item.terms[k] != Num(0) for k in "wksa") else []
    wanted += [key.partition("@")[2] for key in item.streams]
    wanted += [item.row.link] if item.terms["l"] != Num(0) else []
    wanted += [f"{item.row.link}_latency"] if item.terms["h"] != Num(0) else []
    return [rate_detail(machine, key) for key in dict.fromkeys(wanted)]


def rate_detail(machine, key: str) -> form.Rate:
    """One rate: name, value, unit, path, place and source."""
    found = rate_origin(machine, key)
    unit: form.RateUnit = "s" if key.endswith("_latency") else "FLOP/s" if "pk_" in key else "B/s"
    return {
        "name": key,
        "value": machine.rates[key],
        "unit": unit,
        "path": found.path,
        "where": found.where,
        "kind": found.kind,
        "ref": found.ref,
        "hardware": machine.hardware.name,
    }
