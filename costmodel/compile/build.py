"""From names to a :class:`Runnable`: load documents, compile, place, emit. The cold path of a prediction."""

from __future__ import annotations

from ..language.formula import FormulaError, Num
from ..language.formula.fold import bind, number
from ..language.formula.write import python, text
from ..language.merge import parse_sets
from ..language.problem import Mark, Source, SpecError, article, problem
from ..library import Library, Spec
from .emit import Emitter, row_table
from .machine import Machine
from .program import Program, compile_program
from .proof import prove
from .runnable import Runnable
from .uses import Use, read_use, schedule_knobs, spread_of

DEFAULT_ENGINE = "rule-of-thumb"
SPREAD = "tensor-parallel:ways"
"""How several devices share a model where no engine says it."""


class Case:
    """What is compiled: model, hardware, engine and techniques (names, paths or loaded specs), devices, overrides."""

    __slots__ = ("devices", "engine", "hardware", "model", "sets", "specs", "techniques")

    def __init__(self, model, hardware, engine=None, techniques=(), devices=1, sets=()):
        self.model, self.hardware, self.engine = model, hardware, engine
        self.techniques, self.devices, self.sets = tuple(techniques), devices, tuple(sets)


def load_uses(library: Library, techniques, sets, devices: int, spread_by: str = SPREAD) -> list[Use]:
    """Techniques in use; `devices` above one adds the engine's way to spread a model unless one is given."""
    uses = [t.with_sets(sets) if isinstance(t, Use) else read_use(library, t, sets) for t in techniques]
    names = {u.name for u in uses}
    spread = next((u for u in uses if u.spec.doc.devices is not None), None)
    if devices > 1 and spread is None:
        uses.append(read_use(library, f"{spread_by}={devices}"))
    elif devices > 1 and spread is not None and _spread(spread) != devices:
        raise problem(f"{devices} devices, but `{spread.text()}` spreads the model over another number", help="give one of the two")
    for path, _, mark in sets:
        if path[0] not in {u.name for u in uses}:
            raise problem(f"technique `{path[0]}` is not in use", mark, "in use: " + (", ".join(sorted(names)) or "none"))
    return sorted(uses, key=lambda u: u.name)


def _spread(use: Use) -> int:
    """Over how many devices a technique spreads the model."""
    mark = use.spec.mark("devices")
    try:
        count = number(bind(use.spec.doc.devices, use.numbers()))
    except FormulaError as error:
        raise problem(f"devices: {error}", mark, error.help) from None
    if count < 1 or count != int(count):
        raise problem(f"devices: want a whole number, got {count:g}", mark)
    return int(count)


def load_spec(library: Library, kind: str, given, sets, option: str) -> Spec:
    """A document from a name, a path, or a spec that is already loaded."""
    if isinstance(given, Spec):
        if given.kind != kind:
            raise problem(f"this is {article(given.kind)} document; want {article(kind)}", given.mark("schema"))
        return library.with_sets(given, sets)
    name = str(given)
    return library.load(kind, name, sets, Mark(Source(option, name), 1, 1))


def _engine(library: Library, given, hardware: Spec, sets: tuple) -> Spec:
    """The engine that was asked for, else the machine's."""
    if given is None and hardware.doc.engine:
        return library.load("engine", hardware.doc.engine, sets, hardware.mark("engine"))
    return load_spec(library, "engine", DEFAULT_ENGINE if given is None else given, sets, "--engine")


def build(case: Case, library: Library, free: dict | None = None, open: bool = False) -> Runnable:
    """Compile a case. Raises :class:`SpecError`. Into `free` go the engine's coefficients, left as rates that a fit can vary.

    `open` leaves the machine's rates and the schedule's knobs so that they can be varied too (see :class:`Machine`).
    """
    return build_with_files(case, library, free, open)[0]


def build_with_files(case: Case, library: Library, free: dict | None = None, open: bool = False) -> tuple[Runnable, set]:
    """The runnable of a case, and every file that it was read from."""
    machine, others = machines_of(case, library, free, open)
    return emitted(machine, others, case.sets), machine.files.union(*(inner.files for inner in others.values()))


def machines_of(case: Case, library: Library, free: dict | None = None, open: bool = False) -> tuple[Machine, dict[str, Machine]]:
    """The placed program of a case, and by name those beside it: the decode machine's (`decode`), the draft model's (`draft`) and,
    where that prefills on another machine, `draft_prefill`. Raises :class:`SpecError`."""
    sets = parse_sets(case.sets)
    model = load_spec(library, "model", case.model, tuple(sets.get("model", ())), "MODEL")
    hardware = load_spec(library, "hardware", case.hardware, tuple(sets.get("hw", ())), "--hw")
    engine = _engine(library, case.engine, hardware, tuple(sets.get("engine", ())))
    uses = load_uses(
        library, case.techniques, sets.get("tech", ()), case.devices, spread_of(library, engine) if case.devices > 1 else SPREAD
    )
    for use in uses if open else ():
        use.open = schedule_knobs(use.spec)
    machine = Machine(compile_program(model, uses, library), hardware, engine, case.devices, free, open)
    if uses:
        compile_program(model, [], library)  # the base model's published figures hold, whatever a technique does to it
    return machine, _others(machine, case, library)


def emitted(machine: Machine, others: dict[str, Machine], sets: tuple = ()) -> Runnable:
    """The runnable of placed programs, proven to agree with them."""
    children = {}
    for name, inner in others.items():
        children[name] = Emitter(inner).source(describe(inner), {})
        prove(inner, children[name])
    return prove(machine, Emitter(machine).source(describe(machine, sets), children))


def _others(machine: Machine, case: Case, library: Library) -> dict[str, Machine]:
    """The other programs of a case: the decode machine's, and the draft model's on either machine."""
    others: dict[str, Machine] = {}
    program = machine.program
    other = _decode_machine(machine, library)
    if other is not None:
        others["decode"] = Machine(program, other, machine.engine, case.devices, machine.free, machine.open)
        machine.notes.append(f"decode runs on {other.doc.label()}")
    if program.also is not None:
        entry = program.also
        draft = library.load("model", entry.node["model"], mark=entry.use.marks.get("draft", entry.mark))
        shared_uses = [u for u in program.uses if u.spec.doc.draft]
        compiled = compile_program(draft, shared_uses, library)
        more = (machine.engine, case.devices, machine.free, machine.open)
        others["draft"] = Machine(compiled, other or machine.hardware, *more)
        if other is not None:
            others["draft_prefill"] = Machine(compiled, machine.hardware, *more)
        used = ", ".join(u.name for u in shared_uses) or "none of the techniques"
        machine.notes.append(f"draft model: {draft.doc.label()}, with {used}")
    return others


def _decode_machine(machine: Machine, library: Library) -> Spec | None:
    """The hardware that decodes, where it is another one."""
    entry = machine.program.machine
    if entry is None or entry.node in ("None", "same", ""):
        return None
    return library.load("hardware", entry.node, mark=entry.use.marks.get("decode", entry.mark))


def describe(machine: Machine, sets: tuple = ()) -> dict:
    """META: names, rates, memory and notes, as plain data."""
    program, hardware, engine = machine.program, machine.hardware, machine.engine
    stored = _stored(machine)
    span, prefill = machine.setting("span"), machine.setting("prefill_span")
    overhead = machine.fixed
    network = hardware.doc.links.get("network")
    embed = sum(sum(p.stored.values()) for p in machine.placed if p.row.role in ("embed", "pos"))
    return {
        "model": program.model.name,
        "hardware": hardware.name,
        "engine": engine.name,
        "techniques": [u.text() for u in program.uses],
        "sets": list(sets),
        "reads_all": not any("active" in p.row.args or p.streams or p.unit == "host" for p in machine.placed),
        "titles": {"model": _titles(program.model), "hardware": _titles(hardware), "engine": _titles(engine)},
        "class": next((c for c in hardware.lineage[1:]), hardware.name),
        "rates": dict(machine.rates),
        "stored": stored,
        "unread": embed,
        "file_size": sum(stored.values()),
        "capacity": machine.memory.capacity,
        "usable": usable_bytes(hardware, machine.memory),
        "tiers": lower_bytes(hardware),
        "network": None if network is None else (network.bandwidth, network.latency),
        "context": program.model.doc.context,
        "span": (span.low, span.high) if span is not None else (1, 1),
        "prefill_span": (prefill.low, prefill.high) if prefill is not None else (1, 1),
        "chunk": machine.setting("chunk"),
        "micro_batch": machine.setting("micro_batch"),
        "hidden": program.dims.get("d", program.dims.get("width", 0)),
        "overhead": overhead.value if isinstance(overhead, Num) else text(overhead),
        "layers": machine.layers(),
        "kv_width": _kv_width(machine),
        "devices": _devices(machine),
        "format": program.weights_format,
        "params": program.params(),
        "rows": row_table(machine),
        "notes": _notes(machine),
        "not_modelled": _not_modelled(machine),
        "places": {k: _place(e.mark) for k, e in program.fields.items() if e.mark} | {"model": _place(program.model.mark("name"))},
        "handoff": program.machine is not None,
        "draft_prefill": program.also is None or program.also.node["prefill"],
        "shares": [python(node) for tuning in machine.tunings() for node in tuning.shares],
    }


def allowed(capacity, hardware: Spec, memory):
    """Bytes of a device memory's capacity (a number, or a formula of it) that a model may take."""
    return capacity * hardware.doc.usable - (memory.reserve or 0)


def _stored(machine: Machine) -> dict[str, float]:
    """Bytes of weights by tier."""
    stored: dict[str, float] = {}
    for item in machine.placed:
        for tier, size in item.stored.items():
            stored[tier] = stored.get(tier, 0) + size
    return {tier: round(size, 3) for tier, size in stored.items()}  # bytes, without the rounding of their sum


def _titles(spec: Spec) -> dict:
    return {"en": spec.doc.label("en"), "ko": spec.doc.label("ko")}


def usable_bytes(hardware: Spec, memory) -> float | None:
    """Bytes of the device's memory that may be used; None where its capacity is unknown."""
    return None if memory.capacity is None else max(0, allowed(memory.capacity, hardware, memory))


def lower_bytes(hardware: Spec) -> dict:
    """Bytes that may be used of each lower tier."""
    host = hardware.doc.host
    tiers = {n: t for n, t in (("host", host.dram), ("disk", host.disk)) if t is not None}
    return {n: None if t.capacity is None else max(0, t.capacity - (t.reserve or 0)) for n, t in tiers.items()}


def _devices(machine: Machine) -> int:
    """Devices that the model is spread over: as given, or by the techniques in use."""
    total = 1
    for use in machine.program.uses:
        if use.spec.doc.devices is not None:
            total *= _spread(use)
    return max(total, machine.devices)


def _place(mark: Mark) -> tuple[str, int, int, str]:
    """A mark as plain data: file, line, column and the line's text, for messages of a cached program."""
    lines = mark.source.lines
    return mark.source.name, mark.line, mark.column, lines[mark.line - 1] if mark.line <= len(lines) else ""


def _kv_width(machine: Machine) -> float:
    """Bytes per cached element."""
    rows = [p.row for p in machine.placed if p.terms["k"] != Num(0)]
    return number(rows[0].symbols["kv_bytes"]) if rows else 0


def _notes(machine: Machine) -> list[str]:
    notes = list(machine.notes)
    for spec, what in ((machine.hardware, "hardware"), (machine.engine, "engine")):
        assumed = sorted(
            {
                k
                for k, s in spec.doc.sources.items()
                if s.kind == "assumed" and k in ("bandwidth", "capacity", "compute", "efficiency", "usable", "fp16", "int8")
            }
        )
        if assumed:
            notes.append(f"{what} {spec.name}: assumed, not sourced: {', '.join(assumed)}")
    if not any(k.startswith("compute") or k in machine.hardware.doc.compute for k in machine.hardware.doc.sources):
        notes.append(f"hardware {machine.hardware.name}: peak rates have no stated source")
    if any(p.row.op == "attention-softmax" and p.row.symbols.get("spill") is None for p in machine.placed) and not machine.fused:
        notes.append("attention is counted unfused (scores go through memory); `flash-attention` keeps them on the chip")
    return list(dict.fromkeys(notes))


def _not_modelled(machine: Machine) -> list[str]:
    limits = "thermal limits" if machine.hardware.doc.power_limit else "thermal and power limits"
    out = ["queueing and network time in TTFT", limits, "sampling and tokenisation"]
    for use in machine.program.uses:
        out += [f"{use.name}: {n}" for n in use.spec.doc.not_modelled]
    return out


def program_of(library: Library, model, techniques=(), sets=()) -> Program:
    """A program without a machine, for its formulas."""
    found = parse_sets(sets)
    spec = load_spec(library, "model", model, tuple(found.get("model", ())), "MODEL")
    return compile_program(spec, load_uses(library, techniques, found.get("tech", ()), 1), library)


__all__ = ["Case", "SpecError", "build", "build_with_files", "program_of"]
