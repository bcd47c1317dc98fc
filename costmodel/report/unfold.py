"""A figure unfolded, for people: the chain of formulas, bills that sum, and with level 3 every operator."""

from __future__ import annotations

import re

from .sections import Sections, bill_rows, measure
from .unfold_operators import operators_section
from .unfold_words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..solve.shapes.unfold import Expression, FigureBill, Lang, NamedInput, Rewritten, StatedAt, Step, UnfoldedFigure


def render(data: UnfoldedFigure, fmt: str, lang: Lang = "en", titles: dict | None = None, shown: str = "") -> str:
    """The data of :func:`costmodel.solve.unfold.tree.unfold` in a format; `titles` of model and hardware by language, and its
    expression in lines (`shown`)."""
    if fmt == "json":
        import json

        return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
    made = sections(data, WORDS[lang], lang, titles or {}, shown)
    return made.text() if fmt == "text" else made.markdown()


def sections(data: UnfoldedFigure, t: dict, lang: Lang, titles: dict, shown: str = "") -> Sections:
    """The report."""
    out = Sections()
    first = data["steps"][0]
    out.heading(f"{first['title'][lang]}: {measure(data['value'], data['unit'])}", 2)
    what = [titles.get(k, {}).get(lang) or data[k] for k in ("model", "hardware")]
    out.lines(f"{what[0]} {t['on']} {what[1]}; {t['engine']} {data['engine']}", t["workload"].format(**data["workload"]))
    for key in ("techniques", "sets"):
        if data[key]:
            out.lines(f"{t[key]}: {', '.join(data[key])}")
    for step in data["steps"]:
        _step(out, step, t, lang)
    if data["level"] != 1 and data["rewrites"]:
        _rewrites(out, data["rewrites"], t)
    if "symbolic" in data:
        _symbolic(out, data["symbolic"], shown, t)
    if data["level"] == 3:
        operators_section(out, data, t)
    return out


def _step(out: Sections, step: Step, t: dict, lang: Lang) -> None:
    """One figure of the chain: `path = formula = value`, the names of its formula, its bills."""
    value = measure(step["value"], step["unit"])
    formula = f" = {step['formula'] or t[_summed(step)]}" if step["formula"] or step["bills"] else ""
    out.heading(f"{step['figure']}{formula} = {value}   [{step['rule']}]", 3)
    rows = [_input(i, t, lang) for i in step["inputs"]]
    out.entries([t["symbol"], t["figure"], t["value"], ""], rows, (2,))
    if step["origin"]:
        out.lines(_origin(step["origin"], t), indent=2)
    elif not step["bills"] and not rows:
        out.lines(step["title"][lang], indent=2)
    if "resources" in step:
        found = sorted(step["resources"].items(), key=lambda item: -item[1])
        out.table([t["by"]["resource"], ""], [[t["lines"].get(n, n), measure(v, "s")] for n, v in found], (1,))
        return
    if "ends" in step:
        out.table(["", ""], [[t["at_context"].format(context=e["context"]), measure(e["value"], "s")] for e in step["ends"]], (1,))
    bills = [b for b in step["bills"] if b["by"] != "operator"] or step["bills"]
    for bill in bills:
        bill_table(out, bill, step["unit"], t)


def _summed(step: Step) -> str:
    """The word for what a figure with bills is."""
    return "longest" if "resources" in step else "floors" if step["bills"][0]["by"] == "resource" else "sum"


def bill_table(out: Sections, bill: FigureBill, unit: str, t: dict) -> None:
    """A bill: lines, shares and the total."""
    named = [(t["lines"].get(line["name"], line["name"]), line["value"]) for line in bill["lines"]]
    rows, total = bill_rows(named, unit, more=t["more"])
    table = [list(row) for row in rows] + [[t["total"], *total[1:]]]
    out.table([t["by"].get(bill["by"], bill["by"]), "", ""], table, (1, 2))


def _input(item: NamedInput, t: dict, lang: Lang) -> list[str]:
    """A name of a formula: what it is, its value, where it comes from."""
    said = _origin(item["origin"], t) if item["origin"] else item["title"][lang] if item["title"] else ""
    return [item["name"], item["of"] if item["of"] != item["name"] else "", measure(item["value"], item["unit"]), said]


def _origin(origin: StatedAt, t: dict) -> str:
    """`hw.memory.dram.bandwidth, specs/hardware/ddr5.yaml:7, derived`."""
    if not origin["where"]:
        return t["kinds"].get(origin["kind"], origin["kind"]) + (f": {origin['formula']}" if origin["formula"] else "")
    kind = t["kinds"].get(origin["kind"], origin["kind"])
    parts = [origin["formula"] and f"= {origin['formula']}", origin["path"], origin["where"], kind]
    return ", ".join(p for p in parts if p)


def _rewrites(out: Sections, rewrites: list[Rewritten], t: dict) -> None:
    """What techniques did, the terms that one line of a document scales alike together."""
    merged: dict[tuple, list[str]] = {}
    for item in rewrites:
        names = item["operators"]
        shown = ", ".join(names[:3]) + (f", … ({len(names)})" if len(names) > 3 else "")
        match = re.match(r"scale (\S+) (by .*)", item["text"])
        verb, term, rest = ("scale ", match[1], " " + match[2]) if match else (item["text"], "", "")
        merged.setdefault((verb, rest, shown, item["where"]), []).append(term)
    out.heading(t["rewrites"], 3)
    lines = [
        ["; ".join(x for x in (f"{verb}{', '.join(terms)}{rest}", shown, where) if x)]
        for (verb, rest, shown, where), terms in merged.items()
    ]
    out.entries([t["rewrite"]], [["-", line[0]] for line in lines])


def _symbolic(out: Sections, found: Expression, shown: str, t: dict) -> None:
    """Expressions and what their symbols stand for."""
    out.heading(t["symbolic"], 3)
    out.block(found.get("latex") or shown)
    out.entries(
        [t["symbol"], t["value"], ""],
        [
            [
                s["name"],
                f"{s['value']:.6g}" if isinstance(s["value"], float) else f"{s['value']:,}",
                ", ".join(x for x in (s["meaning"], s["where"]) if x),
            ]
            for s in found["symbols"]
        ],
        (1,),
    )
