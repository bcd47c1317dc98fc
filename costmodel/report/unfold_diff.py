"""Two cases held against each other, for people."""

from __future__ import annotations

from .sections import SCALES, Sections, measure, rounded
from .unfold_words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..solve.shapes.case import CaseData
    from ..solve.shapes.diff import ChangedTime, DiffData

ALWAYS = ("tps.expected", "tpot_s.expected", "ttft_s.expected", "memory.total_bytes")


def render(data: DiffData, fmt: str, lang: str = "en") -> str:
    """The data of :func:`costmodel.solve.unfold.compare.compare` in a format."""
    if fmt == "json":
        import json

        return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
    made = sections(data, WORDS[lang], lang)
    return made.text() if fmt == "text" else made.markdown()


def sections(data: DiffData, t: dict, lang: str) -> Sections:
    """The report: the cases, the figures, where the seconds went, what differs."""
    out = Sections()
    for name, case in (("A", data["a"]), ("B", data["b"])):
        out.lines(f"{name}: {_case(case, t)}")
    if not data["given"]:
        out.lines(t["same"])
    moved = [f for f in data["figures"] if not _alike(f["a"], f["b"]) or f["figure"] in ALWAYS]
    rows = [[f["figure"], measure(f["a"], f["unit"]), measure(f["b"], f["unit"]), _ratio(f["ratio"])] for f in moved]
    out.heading(t["figures"], 3)
    out.table([t["figure"], "A", "B", "B/A"], rows, (1, 2, 3))
    same = [f["figure"] for f in data["figures"] if f not in moved]
    if same:
        out.lines(f"{t['alike']}: {', '.join(same)}", indent=2)
    for term in data["terms"]:
        _term(out, term, t)
    _differences(out, data, t)
    return out


def _case(case: CaseData, t: dict) -> str:
    w = t["workload"].format(**case["workload"])
    parts = [f"{case['model']} {t['on']} {case['hardware']}", f"{t['engine']} {case['engine']}", w]
    parts += [f"{t[key]}: {', '.join(case[key])}" for key in ("techniques", "sets") if case[key]]
    return "; ".join(parts)


def _alike(a, b) -> bool:
    """Whether two figures are the same but for the rounding of sums."""
    exact = any(isinstance(v, (str, bool)) or v is None for v in (a, b))
    return a == b if exact else abs(a - b) <= 1e-12 * max(abs(a), abs(b))


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}x"


def _term(out: Sections, term: ChangedTime, t: dict) -> None:
    """The change of TPOT or TTFT: lines that sum to it, by what bounds operators and by role."""
    out.heading(f"{t['timed'][term['figure']]}: {measure(term['a'], 's')} -> {measure(term['b'], 's')}, {_signed(term['change'])}", 3)
    for bill in term["bills"]:
        rows = _lines(bill["lines"], t, bill["by"] == "bound")
        head = [t["by"][bill["by"]], "A", "B", t["change"]] + ([t["by_amount"], t["by_rate"]] if bill["by"] == "bound" else [])
        out.table(head, rows, tuple(range(1, len(head))))


def _lines(lines: Sequence[Mapping[str, Any]], t: dict, why: bool) -> list[list[str]]:
    """Rows of one unit whose printed columns sum to their printed totals."""
    size = max((max(abs(line["a"]), abs(line["b"])) for line in lines), default=0.0)
    step, unit = next(((s, u) for s, u in SCALES["s"] if size >= s * 0.9995), SCALES["s"][-1])
    decimals = max(0, 5 - len(str(int(size / step))))
    columns = [rounded([line[key] / step * 10**decimals for line in lines]) for key in "ab"]
    columns.append([y - x for x, y in zip(*columns, strict=True)])
    rows = []
    for line, *values in zip(lines, *columns, strict=True):
        if any(values):
            split = [] if not why else ["", ""]
            if why and line.get("by_amount") is not None:
                amount = round(line["by_amount"] / step * 10**decimals)
                split = [_fixed(v, decimals, unit, True) for v in (amount, values[2] - amount)]
            rows.append([t["lines"].get(line["name"], line["name"]), *_cells(values, decimals, unit), *split])
    return [*rows, [t["total"], *_cells([sum(c) for c in columns], decimals, unit), *(["", ""] if why else [])]]


def _cells(values: list[int], decimals: int, unit: str) -> list[str]:
    return [_fixed(v, decimals, unit, i == 2) for i, v in enumerate(values)]


def _fixed(value: int, decimals: int, unit: str, sign: bool = False) -> str:
    return f"{value / 10**decimals:{'+' if sign and value else ''},.{decimals}f} {unit}"


def _signed(value: float) -> str:
    return ("-" if value < 0 else "+") + measure(abs(value), "s")


def _differences(out: Sections, data: DiffData, t: dict) -> None:
    """Documents, dims, formats, rates and shares that differ, with their places."""
    given = [[t["what"].get(g["what"], g["what"]), _show(g["a"]), _show(g["b"]), _places(g["where"])] for g in data["given"]]
    dims = [[d["name"], _show(d["a"]), _show(d["b"]), _places(d["where"])] for d in data["dims"]]
    formats = [[t["lines"].get(f["what"], f["what"]), f["a"], f["b"], ", ".join(f["roles"])] for f in data["formats"]]
    rates = [[r["name"], measure(r["a"], r["unit"]), measure(r["b"], r["unit"]), _places(r["where"])] for r in data["rates"]]
    shares = [[t["lines"].get(s["what"], s["what"]), s["a"], s["b"], ", ".join(s["roles"])] for s in data["shares"]]
    tables = (("given", given), ("dims", dims), ("formats_head", formats), ("rates", rates), ("efficiencies", shares))
    for key, rows in tables:
        if rows:
            out.heading(f"{t[key]}: {t['differ']}", 3)
            out.entries([t["symbol"], "A", "B", ""], rows, (1, 2))


def _show(value) -> str:
    if value is None or value == "":
        return "-"
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _places(places: tuple[str, str]) -> str:
    """`specs/a.yaml:3 / specs/b.yaml:4`."""
    found = list(dict.fromkeys(p for p in places if p))
    return " / ".join(found)
