"""Two cases held against each other: figures, where the seconds went, and the documents, dims, rates and shares that differ."""

from __future__ import annotations

from math import log

from ...language.formula import Num
from ...language.formula.fold import number
from ..export import case_of, clean
from .bills import grouped, seconds_bills
from .figures import figures, value_of
from .opened import KINDS, Opened
from .operators import labels, points, rate_detail, used_dims
from .origins import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from ..shapes import diff as form
    from ..shapes.unfolded_operator import Located

SHOWN = (
    "tps.expected", "tps.ceiling", "tpot_s.expected", "ttft_s.expected", "e2e_s.expected", "system_tps", "decode.tokens_out",
    "decode.flops", "decode.bytes", "decode.bytes_by.weights", "decode.bytes_by.kv", "decode.bytes_by.state",
    "decode.bytes_by.activations", "decode.link_bytes", "decode.intensity", "decode.ridge", "decode.regime", "prefill.flops",
    "prefill.bytes", "prefill.link_bytes", "prefill.regime", "memory.total_bytes", "memory.weights_bytes", "memory.kv_bytes",
    "memory.state_bytes", "memory.workspace_bytes", "memory.draft_bytes", "memory.usable_bytes", "memory.fits",
)  # fmt: skip
TIMED: dict[form.Timed, str] = {"tpot_s.expected": "decode", "ttft_s.expected": "prefill"}


BILLS = ("bound", "role")
WORKLOAD: tuple[form.WorkloadField, ...] = ("prompt", "output", "context", "batch", "devices")


def compare(a: Opened, b: Opened) -> form.DiffData:
    """What differs between two cases, JSON-ready. Lines of `terms` sum to the change of their figure."""
    data: form.DiffData = {
        "schema": "costmodel/diff@1",
        "a": case_of(a.prediction),
        "b": case_of(b.prediction),
        "figures": [_figure(a, b, path) for path in SHOWN if value_of(a, path) or value_of(b, path)],
        "terms": [_terms(a, b, path) for path in TIMED],
        "given": _given(a, b),
        "dims": _dims(a, b),
        "formats": _by_role(a, b, _formats),
        "rates": _rates(a, b),
        "shares": _by_role(a, b, _shares),
    }
    return clean(data)


def _figure(a: Opened, b: Opened, path: str) -> form.ComparedFigure:
    """One figure of both, and what B is of A."""
    x, y = value_of(a, path), value_of(b, path)
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (x, y))
    figure = figures()[path]
    return {"figure": path, "title": figure.title, "unit": figure.unit, "a": x, "b": y, "ratio": y / x if numbers and x else None}


def _terms(a: Opened, b: Opened, path: form.Timed) -> form.ChangedTime:
    """Where the seconds of TPOT or TTFT went: by what bounds operators, and by role."""
    x, y = value_of(a, path), value_of(b, path)
    phase = TIMED[path]
    lines = [{bill.by: bill.lines for bill in _bills(o, phase)} for o in (a, b)]
    amounts = [_amounts(o, phase) for o in (a, b)]
    bound, role = (_merged(dict(lines[0][by]), dict(lines[1][by])) for by in BILLS)
    why = [_why(line, *(found.get(line["name"]) for found in amounts)) for line in bound]
    bills: tuple[form.BoundBill, form.RoleBill] = {"by": "bound", "lines": why}, {"by": "role", "lines": role}
    return {"figure": path, "unit": "s", "a": x, "b": y, "change": y - x, "bills": bills}


def _bills(opened: Opened, phase: str):
    """The bills of a phase's expected seconds: per token of a decode step; of a prompt with what TTFT has beside prefill."""
    each = opened.prediction.tokens_out if phase == "decode" else 1
    beside = [("draft", value_of(opened, "draft_prefill.expected_s")), ("handoff", value_of(opened, "handoff_s"))]
    for bill in seconds_bills(opened, phase):
        lines = [(name, value / each) for name, value in bill.lines]
        yield bill._replace(lines=grouped(lines + (beside if phase == "prefill" else [])))


def _merged(a: dict, b: dict) -> list[form.ChangedLine]:
    """Lines of both by name, the largest change first."""
    names = [*a, *(n for n in b if n not in a)]
    lines: list[form.ChangedLine] = [
        {"name": n, "a": a.get(n, 0.0), "b": b.get(n, 0.0), "change": b.get(n, 0.0) - a.get(n, 0.0)} for n in names
    ]
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


def _why(line: form.ChangedLine, x: float | None, y: float | None) -> form.BoundLine:
    """A line with its change split into how much there is to do and how fast it goes (logarithmic mean, exact)."""
    if not (x and y and line["a"] > 0 and line["b"] > 0):
        return {**line, "amount": (x, y), "by_amount": None, "by_rate": None}
    ratio = line["b"] / line["a"]
    mean = line["change"] / log(ratio) if abs(ratio - 1) > 1e-9 else line["a"]
    by_amount = mean * log(y / x)
    return {**line, "amount": (x, y), "by_amount": by_amount, "by_rate": line["change"] - by_amount}


def _given(a: Opened, b: Opened) -> list[form.GivenDifference]:
    """What was asked for differently: documents, techniques, workload, overrides."""
    cases = (case_of(a.prediction), case_of(b.prediction))
    found: list[form.GivenDifference] = []
    specs: dict[form.Document, Callable] = {
        "model": lambda m: m.program.model,
        "hardware": lambda m: m.hardware,
        "engine": lambda m: m.engine,
    }
    for what, spec in specs.items():
        if cases[0][what] != cases[1][what]:
            first, second = (place(spec(o.machine).mark("name")) for o in (a, b))
            found.append({"what": what, "a": cases[0][what], "b": cases[1][what], "where": (first, second)})
    lists: tuple[Literal["techniques", "sets"], ...] = ("techniques", "sets")
    for name in lists:
        only = [[t for t in mine[name] if t not in other[name]] for mine, other in (cases, cases[::-1])]
        if any(only):
            found.append({"what": name, "a": ", ".join(only[0]), "b": ", ".join(only[1]), "where": ("", "")})
    workloads = [case["workload"] for case in cases]
    for field in WORKLOAD:
        x, y = (workload[field] for workload in workloads)
        if x != y:
            found.append({"what": field, "a": x, "b": y, "where": ("", "")})
    return found


def _dims(a: Opened, b: Opened) -> list[form.Difference]:
    tables = [{d["name"]: d for d in used_dims([(o.machine, i.row) for i in o.machine.placed])} for o in (a, b)]
    return _differing(*tables)


def _rates(a: Opened, b: Opened) -> list[form.RateDifference]:
    tables = [{_named(o, m, k): rate_detail(m, k) for m in (o.machine, *o.others.values()) for k in m.rates} for o in (a, b)]
    units = {name: rate["unit"] for table in tables for name, rate in table.items()}
    return [{**found, "unit": units[found["name"]]} for found in _differing(*tables)]


def _named(opened: Opened, machine, key: str) -> str:
    """A rate's name; of a second machine with that machine's."""
    return key if machine.hardware.name == opened.machine.hardware.name else f"{machine.hardware.name} {key}"


def _differing(first: Mapping[str, Located], second: Mapping[str, Located]) -> list[form.Difference]:
    """Entries of two tables whose values differ, by name, with the places of both."""
    found: list[form.Difference] = []
    for name in sorted(first.keys() | second.keys()):
        a, b = first.get(name), second.get(name)
        x, y = a and a["value"], b and b["value"]
        if x != y:
            found.append({"name": name, "a": x, "b": y, "where": (a["where"] if a else "", b["where"] if b else "")})
    return found


def _by_role(a: Opened, b: Opened, read) -> list[form.RoleDifference]:
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
