"""A figure unfolded: its formula and values, the figures below it, bills, operators and rewrites, as plain data."""

from __future__ import annotations

import re

from ...language.formula.write import text
from ...language.problem import problem
from ...schema.names import TERMS
from ..export import case_of, clean
from .bills import bills_of
from .figures import Figure, figures, value_of
from .operators import all_used, memory_detail, operator_detail, rate_detail, touching, used_dims
from .origins import leaf_origin, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes import unfold as form
    from ..shapes.unfolded_operator import Group, Pass, Rate


def unfold(opened, figure: Figure, level: int = 3) -> form.UnfoldedFigure:
    """The explanation of a figure down to a level (1: its formula, 2: the terms below, 3: every operator), JSON-ready.

    Raises :class:`SpecError` where the case has no such figure.
    """
    known = {**figures(), figure.path: figure}
    try:
        value = value_of(opened, figure.path)
    except (KeyError, AttributeError):
        raise problem(f"this case has no `{figure.path}`", help="lower tiers are there where something is placed in them") from None
    head, steps = _head(opened, figure, value), list(_steps(opened, figure, level).values())
    data: form.UnfoldedFigure = {**head, "level": 1, "steps": steps}
    if level > 1:
        told = rewrites(opened, {known[s["figure"]].bill for s in steps if s["bills"]})
        data = {**head, "level": 2, "steps": steps, "rewrites": told}
        if level > 2:
            data = {**head, "level": 3, "steps": steps, "rewrites": told, **_operators(opened, steps)}
    return clean(data)


def _head(opened, figure: Figure, value) -> form.FigureHead:
    """What is unfolded, and of which case."""
    case = case_of(opened.prediction)
    return {"schema": "costmodel/unfolded-figure@1", "figure": figure.path, "value": value, "unit": figure.unit, **case}


def _steps(opened, figure: Figure, level: int, found: dict[str, form.Step] | None = None) -> dict[str, form.Step]:
    """The figure and, below level 1, those that it follows from: by path, in the order of reading."""
    found = {} if found is None else found
    if figure.path in found:
        return found
    value = value_of(opened, figure.path)
    inputs = [_input(opened, name, path) for name, path in figure.inputs.items()]
    origin = None if figure.formula is not None or figure.bill else leaf_origin(opened, figure.path)
    found[figure.path] = {
        "figure": figure.path,
        "title": figure.title,
        "value": value,
        "unit": figure.unit,
        "rule": figure.rule,
        "formula": figure.text,
        "inputs": inputs,
        "origin": None if origin is None else origin.data(),
        "bills": _bills(opened, figure) if level > 1 or not figure.inputs else [],
        **_special_lines(opened, figure),
    }
    for path in figure.inputs.values() if level > 1 else ():
        below = figures().get(path)
        if below is not None and (below.formula is not None or below.bill or path == "decoding_s") and value_of(opened, path):
            _steps(opened, below, level, found)
    return found


def _input(opened, name: str, path: str) -> form.NamedInput:
    """A name of a formula: its value, and the figure that it is or the place that it comes from."""
    unit = figures()[path].unit if path in figures() else UNITS.get(path, "")
    origin = leaf_origin(opened, path)
    title = figures()[path].title if path in figures() else None
    given = None if origin is None else origin.data()
    return {"name": name, "of": path, "value": value_of(opened, path), "unit": unit, "title": title, "origin": given}


UNITS: dict[str, form.FigureUnit] = {
    "decoder.bandwidth": "B/s", "network.bandwidth": "B/s", "network.latency": "s", "output": "tok", "prompt": "tok", "context": "tok",
    "batch": "seq", "reserve": "B",
}  # fmt: skip


def _bills(opened, figure: Figure) -> list[form.FigureBill]:
    bills = bills_of(opened, figure)
    return [{"by": b.by, "lines": [{"name": n, "value": v} for n, v in b.lines]} for b in bills if b.lines]


def _special_lines(opened, figure: Figure) -> form.Special:
    """What a figure that is neither a formula nor a bill follows from."""
    head, _, tail = figure.path.partition(".")
    if tail == "floor_s" and head != "ttft_s" and figure.bill:
        steps = opened.floors(head)
        if len(steps) == 1 and opened.total(head)[7] >= max(steps[0][1].values()):  # else a pipeline overlaps: the bill says it
            return {"resources": {k: v for k, v in steps[0][1].items() if v}}
    if figure.path == "decoding_s" and opened.prediction.output > 1:
        p = opened.prediction
        last = p.context + p.output - 2
        ends: list[form.StepTime] = [{"context": c, "value": p.decode_step(c)[8] / p.tokens_out} for c in (p.context, last)]
        return {"tokens": p.output - 1, "ends": ends}
    return {}


_TERM = re.compile(r"(?:scale|replace) (\S+) |add .* to (\S+) \(")


def _concerns(said: str, kinds: set) -> bool:
    """Whether a rewrite of one term is of a term that the bills of these kinds sum; others concern all."""
    match = _TERM.match(said)
    term = (match[1] or match[2]) if match else ""
    if term not in TERMS:
        return True
    timed = {"seconds": ("flops", "bytes.", "hops"), "floor": ("flops", "floor.", "bytes.state", "bytes.link"), "bytes": ("bytes.",)}
    timed |= {"compute": ("flops",), "memory": ("bytes.",)}
    own = {"link": ("bytes.link", "bytes.weights"), "workspace": ("workspace",), "draft": ("stored", "holds.")}
    held = {k: (k.replace("held.", "holds."),) for k in kinds if k.startswith("held.")} | dict.fromkeys(
        ("stored", "stored.all"), ("stored", "params")
    )
    return any(term.startswith((timed | own | held).get(kind, (kind,))) for kind in kinds)


def rewrites(opened, kinds: set) -> list[form.Rewritten]:
    """What techniques did to what bills of these kinds sum: each rewrite once, with its place and the operators that it touched;
    dims and fields of the schedule."""
    found: dict[tuple, form.Rewritten] = {}

    def add(said: str, where: str, operator: str = "") -> None:
        entry = found.setdefault((said, where), {"text": said, "where": where, "operators": []})
        if operator and operator not in entry["operators"]:
            entry["operators"].append(operator)

    for label, machine in (("", opened.machine), ("draft: ", opened.others.get("draft"))):
        for row in [] if machine is None else [item.row for item in machine.placed]:
            for said, mark in touching(row, all_used(row)):
                if _concerns(said, kinds):
                    add(said, place(mark), f"{label}{row.block}.{row.name}")
    for dim in used_dims(_rows(opened.machine)):
        if dim["technique"]:
            add(f"dim {dim['name']} = {dim['formula'] or dim['value']} ({dim['technique']})", dim["where"])
    for name, entry in opened.machine.program.fields.items():
        if entry.mark is not None:
            add(f"schedule {name} = {text(entry.node)} ({entry.use.name})", place(entry.mark))
    for what in ("also", "machine"):
        entry = getattr(opened.machine.program, what)
        if entry is not None:
            said = {"also": "steps of a draft model beside each decode step", "machine": f"decode on {entry.node}"}[what]
            add(f"schedule {said} ({entry.use.name})", place(entry.mark))
    return list(found.values())


def _rows(machine) -> list[tuple]:
    return [(machine, item.row) for item in machine.placed]


def _operators(opened, steps: list[form.Step]) -> form.Behind:
    """The operators behind every bill of the steps, with the dims and rates that they use."""
    found: list[form.FigureOperators] = []
    rows: list[tuple] = []
    for step in steps:
        kind = figures()[step["figure"]].bill if step["figure"] in figures() else ""
        head = step["figure"].partition(".")[0]
        amounts = {line["name"]: line["value"] for bill in step["bills"] if bill["by"] == "operator" for line in bill["lines"]}
        if head in opened.parts and kind:
            works = [w for w in opened.works(head) if w.name in amounts or kind == "floor"]
            listed: form.Listed = [operator_detail(opened, w, kind) for w in works]
            rows += [(w.part.machine, w.placed.row) for w in works]
        elif kind.startswith(("held.", "stored")):
            machine = opened.machine if kind == "stored.all" else opened.decoder
            items = [(i, v) for i in machine.placed for v in [_amount(i, kind, amounts)] if v]
            listed = [memory_detail(opened, machine, item, kind, value) for item, value in items]
            rows += [(machine, item.row) for item, _ in items]
        else:
            continue
        passes = _passes(opened, head) if head in opened.parts else []
        found.append({"figure": step["figure"], "passes": passes, "operators": listed})
    return {"operators": found, "dims": used_dims(rows), "rates": _all_rates(opened)}


def _amount(item, kind: str, amounts: dict) -> float:
    """Bytes of one placed operator in a bill of memory."""
    if kind.startswith("held."):
        return amounts.get(f"{item.row.block}.{item.row.name}", 0.0) if item.unit == "device" else 0.0
    return sum(item.stored.values()) if kind == "stored.all" else item.stored.get("device", 0.0)


def _passes(opened, phase: str) -> list[Pass]:
    """Groups of the steps of a phase; of many steps the first and the last."""
    found: list[Pass] = []
    for part in opened.parts[phase]:
        for at in sorted({0, len(part.steps) - 1}):
            groups: list[Group] = [{"B": B, "T": T, "S": S, "R": R} for B, T, S, R in part.steps[at]]
            steps, passes = len(part.steps), len(part.passes)
            found.append({"part": part.name, "times": part.times, "step": at + 1, "steps": steps, "passes": passes, "groups": groups})
    return found


def _all_rates(opened) -> list[Rate]:
    found: dict[tuple, Rate] = {}
    for machine in (opened.machine, *opened.others.values()):
        for key in machine.rates:
            detail = rate_detail(machine, key)
            found.setdefault((detail["hardware"], key), detail)
    return list(found.values())
