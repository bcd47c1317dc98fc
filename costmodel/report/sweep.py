"""What a sweep found, as text, tables, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json

from ..language.problem import problem
from ..sizes import scaled, seconds, short
from ..solve.shapes.sweep import SweepData
from .table import text_table

MOST_ROWS = 1000
"""Points that are printed where nothing else is asked."""
SHOWN = 20
"""Points of a front that the text shows, spread over it."""
_WORDS = {
    "en": {
        "points": "{n} points: {sizes}", "table": "{n} points of a table: {sizes}", "one": "one point", "held": "held: {}",
        "chosen": "{n} of {all} points meet {where}", "missing": "points without a value: {n}", "best": "best by {}",
        "front": "Pareto front by {}: {n} points", "more": "{n} of them, evenly; --format json prints all",
        "none": "no point meets the conditions",
        "exact": "quantiles", "about": "quantiles, within {} %", "histogram": "histogram of {}", "file": "{n} points written to {file}",
        "below": "below", "above": "above", "values": "{n} values, {low} to {high}",
    },
    "ko": {
        "points": "{n}개 점: {sizes}", "table": "표의 {n}개 점: {sizes}", "one": "점 하나", "held": "고정: {}",
        "chosen": "{all}개 점 중 {n}개가 조건을 만족: {where}", "missing": "값이 없는 점: {n}개", "best": "최선 ({})",
        "front": "파레토 전선 ({}): {n}개 점", "more": "고르게 고른 {n}개; 전체는 --format json", "none": "조건을 만족하는 점이 없음",
        "exact": "분위수", "about": "분위수 (오차 {} % 이내)", "histogram": "{}의 히스토그램", "file": "{n}개 점을 {file}에 저장",
        "below": "미만", "above": "초과", "values": "{n}개 값, {low} ~ {high}",
    },
}  # fmt: skip


def sweep_render(result, fmt: str, where=(), lang: str = "en", columns: int = 80) -> str:
    """The result of a sweep; without reductions and files, all of its points (at most :data:`MOST_ROWS`)."""
    if fmt == "json":
        return json.dumps(_record(result, where), ensure_ascii=False, indent=2)
    tables = _tables(result)
    if fmt == "csv":
        return "\n\n".join(_csv(rows) for _, rows in tables)
    if fmt == "markdown":
        return "\n\n".join(_markdown(rows) for _, rows in tables)
    return _text(result, where, lang, columns)


def _tables(result) -> list[tuple[str, list[dict]]]:
    """(what, rows) of everything that is a list of points."""
    found = [(figure, rows) for figure, rows in result.best.items()]
    if result.front:
        found.append(("pareto", result.pareto))
    if result.quantiles:
        rows = [{"figure": n, "rank": r, "value": v} for n, q in result.quantiles.items() for r, v in q.items()]
        found.append(("quantiles", rows))
    found += [(name, _bins(histogram)) for name, histogram in result.histograms.items()]
    if result.file and not found:
        return [("file", [{"file": result.file, "points": result.chosen}])]
    return found or [("points", all_rows(result))]


def _bins(found: dict) -> list[dict]:
    """A histogram as rows; the first and the last reach without end."""
    edges = [None, *found["edges"], None]
    counts = [found["below"], *found["counts"], found["above"]]
    return [{"from": a, "to": b, "points": n} for a, b, n in zip(edges, edges[1:], counts, strict=False)]


def check_one_table(fmt: str, options: dict) -> None:
    """Refuse, before the sweep runs, what CSV cannot hold. Raises :class:`SpecError`."""
    tables = len(options["best"]) + bool(options["pareto"]) + bool(options["quantiles"]) + len(options["histogram"])
    if fmt == "csv" and tables > 1:
        raise problem("CSV is one table", help="ask for one of --best, --pareto, --quantiles, --histogram, or use --format json")


def all_rows(result) -> list[dict]:
    """Every point that meets the conditions as a mapping of axes and figures."""
    columns = {n: [_plain(n, v) for v in c.tolist()] for n, c in result.columns().items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain(name: str, value):
    """A value of a column, None where there is none; `memory.fits` as a truth value also beside unknown ones."""
    if _known(value) is None or (value == "" and name.endswith(".regime")):
        return None
    return bool(value) if name == "memory.fits" else value


def _known(value):
    return None if isinstance(value, float) and value != value else value


def _record(result, where) -> SweepData:
    found: SweepData = {
        "schema": "costmodel/sweep@1",
        "base": dict(result.base),
        "axes": {n: [v.item() if hasattr(v, "item") else v for v in values] for n, values in result.axes.items()},
        "table": result.table,
        "points": result.points,
        "missing": result.missing,
        "where": list(where),
        "chosen": result.chosen,
        "best": result.best,
        "pareto": result.pareto,
        "exact_quantiles": result.exact_quantiles,
        "file": result.file,
        "quantiles": {n: {f"{r:g}": _known(v) for r, v in q.items()} for n, q in result.quantiles.items()},
        "histograms": result.histograms,
    }
    if not result.reduced:
        found["rows"] = [{n: _known(v) for n, v in row.items()} for row in all_rows(result)]
    return found


def _csv(rows: list[dict]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
        writer.writerows([_cell(v) for v in row.values()] for row in rows)
    return out.getvalue().rstrip("\n")


def _cell(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if _known(value) is None else value


def _markdown(rows: list[dict]) -> str:
    if not rows:
        return ""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join([*lines, *("| " + " | ".join(shown(n, row[n]) for n in names) + " |" for row in rows)])


def shown(name: str, value) -> str:
    """A value of an axis or a figure as people read it."""
    if value is None or (isinstance(value, float) and value != value):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value or "-"
    if name.startswith(("tech.", "engine.", "model.")):
        return f"{value:,.10g}"
    last = name.rpartition(".")[2]
    if name.startswith("hw.") and (last in ("bandwidth", "capacity", "reserve", "latency") or ".compute." in name):
        unit = {"bandwidth": "B/s", "capacity": "B", "reserve": "B"}.get(last, "OP/s" if last.startswith("int") else "FLOP/s")
        return seconds(value) if last == "latency" else scaled(value, unit)
    if name.endswith("_s") or "_s." in name:
        return seconds(value)
    if "bytes" in name:
        return scaled(value, "B")
    if "flops" in name:
        return scaled(value, "FLOP/s" if "attainable" in name else "FLOP")
    return f"{value:,}" if isinstance(value, int) else short(value)


def _rows_table(rows: list[dict], columns: int) -> str:
    names = list(rows[0])
    numeric = tuple(i for i, n in enumerate(names) if isinstance(rows[0][n], (int, float)))
    return text_table(_heads(names), [[shown(n, row[n]) for n in names] for row in rows], columns, numeric)


def _heads(names: list[str]) -> list[str]:
    """Paths of overrides by their last part, where no other name has it."""
    ends = [n.rpartition(".")[2] for n in names]
    long = [n.count(".") > 1 and n.startswith(("hw.", "model.", "tech.", "engine.")) for n in names]
    return [end if far and ends.count(end) == 1 else name for name, end, far in zip(names, ends, long, strict=True)]


def _text(result, where, lang: str, columns: int) -> str:
    words = _WORDS[lang]
    sizes = " × ".join(f"{n} {len(v)}" for n, v in result.axes.items())
    first = words["table" if result.table else "points"].format(n=f"{result.points:,}", sizes=sizes) if result.axes else words["one"]
    held = ", ".join(
        f"{n} {'-'.join(map(str, v)) if isinstance(v, tuple) else v}"
        for n, v in result.base.items()
        if v not in (None, (), "none", "default")
    )
    parts = ["\n".join([first, words["held"].format(held), *_axes(result, words)])]
    if where:
        parts[0] += "\n" + words["chosen"].format(n=f"{result.chosen:,}", all=f"{result.points:,}", where=", ".join(where))
    if result.missing:
        parts[0] += "\n" + words["missing"].format(n=f"{result.missing:,}")
    for figure, rows in result.best.items():
        parts.append(words["best"].format(figure) + "\n" + (_rows_table(rows, columns) if rows else words["none"]))
    if result.front:
        parts.append(_front(result, words, columns))
    parts += _distributions(result, words, columns)
    if result.file:
        parts.append(words["file"].format(n=f"{result.chosen:,}", file=result.file))
    if not result.reduced:
        rows = all_rows(result)
        parts.append(_rows_table(rows, columns) if rows else words["none"])
    return "\n\n".join(parts)


def _axes(result, words) -> list[str]:
    lines = []
    for name, values in result.axes.items():
        texts = [shown(name, v.item() if hasattr(v, "item") else v) for v in (values if len(values) <= 6 else (values[0], values[-1]))]
        if hasattr(values, "min") and len(values) > 6:
            texts = [shown(name, values.min().item()), shown(name, values.max().item())]
        said = ", ".join(texts) if len(values) <= 6 else words["values"].format(n=f"{len(values):,}", low=texts[0], high=texts[1])
        lines.append(f"  {name}: {said}")
    return lines


def _front(result, words, columns: int) -> str:
    head = words["front"].format(", ".join(result.front), n=f"{len(result.pareto):,}")
    if not result.pareto:
        return head + "\n" + words["none"]
    rows, tail = result.pareto, []
    if len(rows) > SHOWN:
        rows = [rows[round(i * (len(rows) - 1) / (SHOWN - 1))] for i in range(SHOWN)]
        tail = [words["more"].format(n=SHOWN)]
    return "\n".join([head, _rows_table(rows, columns), *tail])


def _distributions(result, words, columns: int) -> list[str]:
    parts = []
    if result.quantiles:
        from ..solve.sweep.quantiles import ERROR

        head = words["exact"] if result.exact_quantiles else words["about"].format(f"{100 * ERROR:g}")
        rows = [[n, f"{r:g}", shown(n, v)] for n, q in result.quantiles.items() for r, v in q.items()]
        parts.append(head + "\n" + text_table(["figure", "rank", "value"], rows, columns, (1, 2)))
    for name, found in result.histograms.items():
        edges = [shown(name, e) for e in found["edges"]]
        rows = [[f"{words['below']} {edges[0]}", f"{found['below']:,}"]]
        rows += [[f"{a} - {b}", f"{n:,}"] for a, b, n in zip(edges, edges[1:], found["counts"], strict=False)]
        rows.append([f"{words['above']} {edges[-1]}", f"{found['above']:,}"])
        parts.append(words["histogram"].format(name) + "\n" + text_table([name, "points"], rows, columns, (1,)))
    return parts
