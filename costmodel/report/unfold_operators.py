"""Level 3 of an unfolded figure: every operator, then the dims, formats, efficiencies and rates that they share."""

from __future__ import annotations

from .sections import Sections, measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..solve.shapes.unfold import OperatorsLevel
    from ..solve.shapes.unfolded_operator import Argument, Pass, Rate, UsedDim, UsedFormat

    AnyOperator = Mapping[str, Any]

UNITS = {"flops": "FLOP", "hops": ""}


def operators_section(out: Sections, data: OperatorsLevel, t: dict) -> None:
    """Operators behind each bill, then what they name, once each."""
    everything: list[AnyOperator] = []
    for group in data["operators"]:
        out.heading(f"{t['operators']}: {group['figure']}", 3)
        for line in _passes(group["passes"], t):
            out.lines(line, indent=2)
        for item in group["operators"]:
            _operator(out, item, t)
            everything.append(item)
    _dims(out, data["dims"], t)
    _formats(out, everything, t)
    _efficiencies(out, everything, t)
    _rates(out, data["rates"], t)


def _passes(passes: list[Pass], t: dict) -> list[str]:
    """`step 1 of 3: B 1, T 512, S 0, R 0`."""
    lines = []
    for item in passes:
        groups = "; ".join(", ".join(f"{k} = {v:,}" for k, v in g.items()) for g in item["groups"])
        label = t["step"].format(step=item["step"], of=item["steps"]) if item["steps"] > 1 else t["one_step"]
        part = "" if item["part"] == "model" else t["lines"].get(item["part"], item["part"]) + ", "
        times = f" ({item['times']:,} x)" if item["times"] != 1 else ""
        split = f", {t['passes'].format(passes=item['passes'])}" if item["passes"] > item["steps"] else ""
        lines.append(f"{part}{label}{times}: {groups}{split}")
    return lines


def _operator(out: Sections, item: AnyOperator, t: dict) -> None:
    """One operator: where it stands, its terms, its names, its time and what was rewritten."""
    repeat = "" if item["repeat_formula"] == "1" else f" = {item['repeat_formula']}"
    unit = "" if item["unit"] == "device" else f", {t['lines'].get(item['unit'], item['unit'])}"
    out.heading(f"{item['name']}  x{item['repeat']:,}{repeat}  {item['operator']}, {item['role']}{unit}  ({item['where']})", 4)
    rows = [[x["term"], x["formula"], measure(x["value"], UNITS.get(x["term"], "B")), x["where"]] for x in item["terms"]]
    out.entries([t["term"], t["value"], ""], [[r[0], r[2], f"= {r[1]}, {r[3]}"] for r in rows], (1,), 4)
    names = [f"{a['name']} = {_same(a)}{_number(a['value'])}" for a in item["arguments"]]
    names += [f"{h['name']} = {h['formula']}" for h in item["helpers"]]
    names += [f"{s['name']} = {_number(s['value'])}" for s in item["symbols"]]
    if names:
        out.lines(t["with"] + " " + "; ".join(names), indent=4)
    if item["formats"]:
        out.lines(t["formats"] + " " + "; ".join(_format(f, t) for f in item["formats"]), indent=4)
    if item.get("efficiencies"):
        reached = ", ".join(f"{t['lines'].get(e['of'], e['of'])} {_number(e['value'])}" for e in item["efficiencies"])
        rates = ", ".join(f"{r['name']} {measure(r['value'], r['unit'])}" for r in item["rates"])
        out.lines(f"{t['reaches']} {reached} {t['of']} {rates}", indent=4)
    if item.get("streams"):
        out.lines(
            t["streams"] + " " + ", ".join(f"{share:.4g} {key.replace('@', ' @ ')}" for key, share in item["streams"].items()), indent=4
        )
    if "expected_s" in item:
        spent = ", ".join(f"{t['lines'].get(k, k)} {measure(v, 's')}" for k, v in item["seconds"].items())
        out.lines(f"{t['takes']} {measure(item['expected_s'], 's')} ({spent}), {t['least']} {measure(item['floor_s'], 's')}", indent=4)
    for rewrite in item["rewrites"]:
        out.lines(f"{t['rewritten']} {rewrite['text']}, {rewrite['where']}", indent=4)


def _same(argument: Argument) -> str:
    """The formula of an argument before its value, where it is more than the number."""
    return "" if argument["value"] == "none" or argument["formula"] == str(argument["value"]) else f"{argument['formula']} = "


def _number(value) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _format(item: UsedFormat, t: dict) -> str:
    what = t["lines"].get(item["what"], item["what"])
    parts = [p for p in item["parts"] if p["format"] != item["format"] or len(item["parts"]) > 1]
    shares = [p["format"] if p["share"] == 1 else f"{p['share']:.3g} {p['format']}" for p in parts]
    mix = f" ({', '.join(shares)})" if parts else ""
    return f"{what} {item['format']}{mix} {item['bits']:.4g} {t['bits']}"


def _dims(out: Sections, dims: list[UsedDim], t: dict) -> None:
    if not dims:
        return
    out.heading(t["dims"], 3)
    several = len({d["model"] for d in dims}) > 1
    rows = [
        [
            (f"{d['model']}: " if several else "") + d["name"],
            _number(d["value"]),
            ", ".join(x for x in (d["formula"] and f"= {d['formula']}", d["where"], d["technique"]) if x),
        ]
        for d in dims
    ]
    out.entries([t["dims"], t["value"], ""], rows, (1,))


def _formats(out: Sections, items: Sequence[AnyOperator], t: dict) -> None:
    """Each number format once: bits, place, and where the model or technique chose it."""
    found: dict[tuple, list[str]] = {}
    for item in items:
        for f in item["formats"]:
            scale = f" x {f['factor']:.4g}" if f["factor"] not in (1, 1.0) else ""
            for p in f["parts"]:
                bits = f"{p['bits']:.4g}{scale}" if "bits" in p else f"{f['bits']:.4g}"
                found.setdefault(
                    (f["what"], f["format"], p["format"], bits), [p.get("where", ""), f["where"], f["chosen"], f.get("scaled", "")]
                )
    if not found:
        return
    out.heading(t["formats_head"], 3)
    rows = []
    for (what, name, part, bits), (where, mix, chosen, scaled) in found.items():
        label = name if name == part else f"{name}: {part}"
        said = [
            where,
            mix if mix != where else "",
            scaled and f"{t['scaled']} {scaled}",
            f"{t['chosen']} {chosen}" if chosen else t["kinds"]["default"],
        ]
        rows.append([t["lines"].get(what, what), label, f"{bits} {t['bits']}", ", ".join(x for x in said if x)])
    out.entries(["", t["formats_head"], t["bits"], ""], rows, (2,))


def _efficiencies(out: Sections, items: Sequence[AnyOperator], t: dict) -> None:
    """Each formula of the engine once, with its coefficients and their places."""
    found: dict[tuple, tuple] = {}
    for item in items:
        for e in item.get("efficiencies", ()):
            formula = (e["formula"] or f"{e['value']:.4g}") + (f" x {e['throttle']:.4g} ({t['power']})" if "throttle" in e else "")
            key = (formula, e["where"], tuple((c["name"], c["value"], c["where"]) for c in e["coefficients"]), item["unit"])
            fields = found.setdefault(key, ([], e["kind"]))[0]
            if e["setting"] not in fields:
                fields.append(e["setting"])
    if not found:
        return
    out.heading(t["efficiencies"], 3)
    for (formula, where, coefficients, unit), (fields, kind) in found.items():
        names = ", ".join(t["lines"].get(f, f) for f in fields) + ("" if unit == "device" else f" ({t['lines'].get(unit, unit)})")
        out.lines(f"{names} = {', '.join(x for x in (formula, where, t['kinds'].get(kind, kind)) if x)}", indent=2)
        for name, value, at in coefficients:
            out.lines(f"{name} = {value:g}, {at}", indent=6)


def _rates(out: Sections, rates: list[Rate], t: dict) -> None:
    out.heading(t["rates"], 3)
    several = len({r["hardware"] for r in rates}) > 1
    rows = []
    for r in rates:
        kind = t["kinds"].get(r["kind"], r["kind"])
        name = (f"{r['hardware']}: " if several else "") + r["name"]
        said = [r["path"], r["where"], f"{kind}: {r['ref']}".strip(": ")]
        rows.append([name, measure(r["value"], r["unit"]), ", ".join(x for x in said if x)])
    out.entries([t["rates"], t["value"], ""], rows, (1,))
