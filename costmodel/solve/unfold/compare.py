"""Two cases held against each other: figures, where the seconds went, and the documents, dims, rates and shares that differ."""

from __future__ import annotations

from math import log
from typing import Any

from ...language.formula import Num
from ...language.formula.fold import number
from ..export import clean
from .bills import grouped, seconds_bills
from .figures import figures, value_of
from .opened import KINDS, Opened
from .operators import labels, points, rate_detail, used_dims
from .origins import place

SCHEMA = "costmodel/diff@1"
SHOWN = (
    "tps.expected", "tps.ceiling", "tpot_s.expected", "ttft_s.expected", "e2e_s.expected", "system_tps", "decode.tokens_out",
    "decode.flops", "decode.bytes", "decode.bytes_by.weights", "decode.bytes_by.kv", "decode.bytes_by.state",
    "decode.bytes_by.activations", "decode.link_bytes", "decode.intensity", "decode.ridge", "decode.regime", "prefill.flops",
    "prefill.bytes", "prefill.link_bytes", "prefill.regime", "memory.total_bytes", "memory.weights_bytes", "memory.kv_bytes",
    "memory.state_bytes", "memory.workspace_bytes", "memory.draft_bytes", "memory.usable_bytes", "memory.fits",
)  # fmt: skip
TIMED = {"tpot_s.expected": "decode", "ttft_s.expected": "prefill"}


def compare(a: Opened, b: Opened) -> dict[str, Any]:
    """What differs between two cases, JSON-ready. Lines of `terms` sum to the change of their figure."""
    return clean(
        {
            "schema": SCHEMA,
            "a": case_of(a),
            "b": case_of(b),
            "figures": [_figure(a, b, path) for path in SHOWN if value_of(a, path) or value_of(b, path)],
            "terms": [_terms(a, b, path) for path in TIMED],
            "given": _given(a, b),
            "dims": _dims(a, b),
            "formats": _by_role(a, b, _formats),
            "rates": _rates(a, b),
            "shares": _by_role(a, b, _shares),
        }
    )


def case_of(opened: Opened) -> dict:
    """What a case is."""
    meta, p = opened.prediction.runnable.meta, opened.prediction
    workload = {"prompt": p.prompt, "output": p.output, "context": p.context, "batch": p.plan[0], "devices": meta["devices"]}
    return {k: meta[k] for k in ("model", "hardware", "engine", "techniques", "sets")} | {"workload": workload}


def _figure(a: Opened, b: Opened, path: str) -> dict:
    """One figure of both, and what B is of A."""
    x, y = value_of(a, path), value_of(b, path)
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (x, y))
    figure = figures()[path]
    return {"figure": path, "title": figure.title, "unit": figure.unit, "a": x, "b": y, "ratio": y / x if numbers and x else None}


def _terms(a: Opened, b: Opened, path: str) -> dict:
    """Where the seconds of TPOT or TTFT went: by what bounds operators, and by role."""
    x, y = value_of(a, path), value_of(b, path)
    phase = TIMED[path]
    lines = [{bill.by: bill.lines for bill in _bills(o, phase)} for o in (a, b)]
    amounts = [_amounts(o, phase) for o in (a, b)]
    bills = []
    for by in ("bound", "role"):
        merged = _merged(dict(lines[0][by]), dict(lines[1][by]))
        if by == "bound":
            merged = [line | _why(line, *(found.get(line["name"]) for found in amounts)) for line in merged]
        bills.append({"by": by, "lines": merged})
    return {"figure": path, "unit": "s", "a": x, "b": y, "change": y - x, "bills": bills}


def _bills(opened: Opened, phase: str):
    """The bills of a phase's expected seconds: per token of a decode step; of a prompt with what TTFT has beside prefill."""
    each = opened.prediction.tokens_out if phase == "decode" else 1
    beside = [("draft", value_of(opened, "draft_prefill.expected_s")), ("handoff", value_of(opened, "handoff_s"))]
    for bill in seconds_bills(opened, phase):
        lines = [(name, value / each) for name, value in bill.lines]
        yield bill._replace(lines=grouped(lines + (beside if phase == "prefill" else [])))


def _merged(a: dict, b: dict) -> list[dict]:
    """Lines of both by name, the largest change first."""
    names = [*a, *(n for n in b if n not in a)]
    lines = [{"name": n, "a": a.get(n, 0.0), "b": b.get(n, 0.0), "change": b.get(n, 0.0) - a.get(n, 0.0)} for n in names]
    return sorted(lines, key=lambda line: -abs(line["change"]))


def _amounts(opened: Opened, phase: str) -> dict[str, float]:
    """FLOPs or bytes behind the seconds of each kind: of the operators that spend time on it."""
    each = opened.prediction.tokens_out if phase == "decode" else 1
    found = dict.fromkeys(("compute", *KINDS, "link"), 0.0)
    for work in opened.works(phase):
        r = work.record
        amount = {"compute": r.flops, **r.bytes_by.to_dict(), "link": r.link_bytes}
        for kind, seconds in work.seconds.items():
            found[kind] += work.part.times * amount[kind] / each if seconds else 0.0
    return found


def _why(line: dict, x: float | None, y: float | None) -> dict:
    """The change of a line split into how much there is to do and how fast it goes (logarithmic mean, exact)."""
    if not (x and y and line["a"] > 0 and line["b"] > 0):
        return {"amount": [x, y], "by_amount": None, "by_rate": None}
    ratio = line["b"] / line["a"]
    mean = line["change"] / log(ratio) if abs(ratio - 1) > 1e-9 else line["a"]
    by_amount = mean * log(y / x)
    return {"amount": [x, y], "by_amount": by_amount, "by_rate": line["change"] - by_amount}


def _given(a: Opened, b: Opened) -> list[dict]:
    """What was asked for differently: documents, techniques, workload, overrides."""
    cases, found = (case_of(a), case_of(b)), []
    specs = {"model": lambda m: m.program.model, "hardware": lambda m: m.hardware, "engine": lambda m: m.engine}
    for what, spec in specs.items():
        if cases[0][what] != cases[1][what]:
            where = [place(spec(o.machine).mark("name")) for o in (a, b)]
            found.append({"what": what, "a": cases[0][what], "b": cases[1][what], "where": where})
    for what in ("techniques", "sets"):
        only = [[t for t in mine[what] if t not in other[what]] for mine, other in (cases, cases[::-1])]
        if any(only):
            found.append({"what": what, "a": ", ".join(only[0]), "b": ", ".join(only[1]), "where": ["", ""]})
    for what, value in cases[0]["workload"].items():
        if value != cases[1]["workload"][what]:
            found.append({"what": what, "a": value, "b": cases[1]["workload"][what], "where": ["", ""]})
    return found


def _dims(a: Opened, b: Opened) -> list[dict]:
    tables = [{d["name"]: d for d in used_dims([(o.machine, i.row) for i in o.machine.placed])} for o in (a, b)]
    return _differing(tables, lambda d: d["value"])


def _rates(a: Opened, b: Opened) -> list[dict]:
    tables = [{_named(o, m, k): rate_detail(m, k) for m in (o.machine, *o.others.values()) for k in m.rates} for o in (a, b)]
    return _differing(tables, lambda d: d["value"], "unit")


def _named(opened: Opened, machine, key: str) -> str:
    """A rate's name; of a second machine with that machine's."""
    return key if machine.hardware.name == opened.machine.hardware.name else f"{machine.hardware.name} {key}"


def _differing(tables: list[dict], value, *more: str) -> list[dict]:
    """Entries of two tables whose values differ, with the places of both."""
    found = []
    for name in dict.fromkeys([*tables[0], *tables[1]]):
        pair = [t.get(name) for t in tables]
        values = [None if d is None else value(d) for d in pair]
        if values[0] != values[1]:
            rest = {m: next(d[m] for d in pair if d is not None) for m in more}
            found.append({"name": name, "a": values[0], "b": values[1], "where": ["" if d is None else d["where"] for d in pair], **rest})
    return sorted(found, key=lambda d: d["name"])


def _by_role(a: Opened, b: Opened, read) -> list[dict]:
    """What `read` says of each role of both cases, where it differs, roles that are alike together."""
    tables = [read(o) for o in (a, b)]
    groups: dict[tuple, list[str]] = {}
    for key in dict.fromkeys([*tables[0], *tables[1]]):
        pair = tuple(t.get(key) for t in tables)
        if pair[0] != pair[1] and all(pair):
            groups.setdefault((key[0], *pair), []).append(key[1])
    return [{"what": what, "a": x, "b": y, "roles": roles} for (what, x, y), roles in groups.items()]


def _formats(opened: Opened) -> dict[tuple, str]:
    """(weights or KV, role) → format and bits."""
    found = {}
    for item in opened.decoder.placed:
        row = item.row
        if row.terms["params"] != Num(0):
            found["weights", row.role] = f"{labels(row)[0]}, {item.bits:.4g} bits"
        if item.terms["k"] != Num(0):
            found["kv", row.role] = f"{row.formats['kv'][0]}, {8 * number(row.symbols['kv_bytes']):.4g} bits"
    return found


def _shares(opened: Opened) -> dict[tuple, str]:
    """(kind of rate, role) → share of it that the engine reaches in decode, and the type of the maths."""
    found = {}
    M = points(opened.parts["decode"][0])[0]["M"]
    for item in opened.decoder.placed:
        for key, field in (("f", "compute"), ("w", "weights"), ("k", "kv")):
            if item.terms[key] != Num(0):
                node = item.eff[field]
                share = min(1.0, node.value if isinstance(node, Num) else max(1e-6, number(node, {"M": M})))
                where = "" if item.unit == "device" else f" ({item.unit})"
                label = f"{share:.3g} {item.math}" if field == "compute" else f"{share:.3g}"
                found[field + where, item.row.role] = label
    return found
