"""A study's computed rows as one table: title, headings, cells, notes. Renderers turn it into text, markdown, HTML, CSV."""

from __future__ import annotations

from ..sizes import scaled, seconds, short
from .words import Words


def table_of(study, result: dict, lang: str) -> dict:
    """`{title, headers, rows, right, notes}` of a result, with all words in `lang`."""
    words = Words(study, lang)
    headers, rows, right = _VIEWS[result["view"]](study, result, words)
    notes = [words.pick(n) for n in study.notes]
    return {
        "title": words.pick(study.title) if study.title else study.name,
        "headers": headers,
        "rows": rows,
        "right": right,
        "notes": notes,
        "lang": lang,
    }


def _memory_vs_speed(study, result, words):
    titles = {r.name: words.pick(r.title) for r in study.rows}
    rows = []
    for row in result["rows"]:
        rows.append([titles[row["technique"]], _verdict(words, "memory", row), _verdict(words, "speed", row), _reason(words, row)])
        for v in row["variants"]:
            mark = "·\u00a0" + v["name"]
            rows.append([mark, _verdict(words, "memory", v), _verdict(words, "speed", v), _reason(words, v)])
    return [words(k) for k in ("technique", "memory", "speed", "reason")], rows, ()


def _verdict(words, kind: str, row: dict) -> str:
    value, ratio = row[kind], row[f"{kind}_ratio"]
    text = words(f"{kind}.{value}") if value else words("varies")
    if f"{kind}_ratio_range" in row:
        low, high = row[f"{kind}_ratio_range"]
        return f"{text} ({factor(low)}–{factor(high)})"
    return f"{text} ({factor(ratio)})"


def factor(value: float) -> str:
    """`0.50x`, `0.0042x`."""
    return f"{value:.2f}x" if value >= 0.1 else f"{value:.2g}x"


def _reason(words, row: dict) -> str:
    if row["reason_key"] is None:
        return words("varies")
    if row["figures"] is None:
        return words(f"reason.{row['reason_key']}", {}).split(":")[0]
    return words(f"reason.{row['reason_key']}", row["figures"])


def with_reasons(study, result: dict, lang: str) -> dict:
    """The result with each reason as a sentence in `lang` beside its key."""
    words = Words(study, lang)

    def filled(row: dict) -> dict:
        if "reason_key" not in row:
            return row
        out = row | {"reason": _reason(words, row)}
        return out | {"variants": [filled(v) for v in row["variants"]]} if "variants" in row else out

    return result | {"rows": [filled(r) for r in result["rows"]]}


def _techniques(study, result, words):
    titles = {r.name: words.pick(r.title) for r in study.rows}
    rows = []
    for row in result["rows"]:
        many = len(row["variants"]) > 1
        helps = words(f"helps.{row['helps']}") if row["helps"] else words("varies")
        how = words(f"reason.{row['reason_key']}", row["figures"])
        first = ["", ""] if many else [factor(row["prefill_ratio"]), factor(row["decode_ratio"])]
        rows.append([titles[row["technique"]], helps, *first, "" if many else how])
        for v in row["variants"] if many else ():
            name, how = "·\u00a0" + v["name"], words(f"reason.{v['reason_key']}", v["figures"])
            rows.append([name, words(f"helps.{v['helps']}"), factor(v["prefill_ratio"]), factor(v["decode_ratio"]), how])
    return [words(k) for k in ("technique", "helps", "prefill", "decode", "how")], rows, (2, 3)


def _phases(study, result, words):
    columns = [_phase_cells(r, words) for r in result["rows"]]
    keys = ("unit", "operation", "intensity", "bound", "decides", "faster_with")
    rows = [[words(k), *(c[i] for c in columns)] for i, k in enumerate(keys)]
    return ["", *(words(r["phase"]) for r in result["rows"])], rows, ()


def _phase_cells(r: dict, words) -> list[str]:
    shown = {"intensity": short(r["intensity"]), "ridge": short(r["ridge"]), "tokens": f"{r['tokens']:,}"}
    best = r["faster_with"]
    return [
        words("unit.many" if r["tokens"] > 1 else "unit.one", shown),
        words(f"operation.{r['operation']}"),
        words(f"level.{r['level']}", shown),
        words(f"bound.{r['bound']}"),
        words(f"decides.{r['decides']}"),
        words(f"faster_with.{best}", {"gain": f"{r['gain_' + best]:.2f}"}),
    ]


def _hardware(study, result, words):
    rows = [[words.pick(r["title"]), f"{r['bandwidth'] / 1e9:,.0f} GB/s", scaled(r["capacity"], "B")] for r in result["rows"]]
    return [words(k) for k in ("hardware", "bandwidth", "capacity")], rows, (1, 2)


def _decode_ceiling(study, result, words):
    share = f"{result['rows'][0]['share']:.0%}" if result["rows"] else ""
    rows = []
    for r in result["rows"]:
        about = words("about_value", {"value": round(r["about"])})
        rows.append(
            [
                r["model"].upper(),
                f"{r['file_size'] / 1e9:.1f} GB",
                f"{round(r['ceiling'])} tok/s",
                about,
                f"{r['exact_ceiling']:.1f} tok/s",
                words(f"bound.{r['regime']}"),
            ]
        )
    headers = [words(k) for k in ("model", "file", "ceiling")] + [words("about", {"share": share}), words("exact"), words("regime")]
    return headers, rows, (1, 2, 3, 4)


def _grid(study, result, words):
    shown = result["rows"]
    one = {k: len({str(r[k]) for r in shown}) == 1 for k in ("techniques", "prompt", "batch", "devices")}
    many = any((r["batch"] or 1) > 1 for r in shown)
    heads = [words("model"), words("hardware"), *([] if one["techniques"] else [words("technique")])]
    tail = [words("workload"), words("fits"), words("total"), "TTFT", "tok/s", *([words("all_users")] if many else []), words("regime")]
    rows = []
    for r in shown:
        start = [r["model"], r["hardware"], *([] if one["techniques"] else [", ".join(r["techniques"]) or "-"])]
        if r["refused"]:
            rows.append([*start, *[""] * (len(tail) - 1), f"{words('refused')}: {r['refused']}"])
            continue
        figures = [scaled(r["total_bytes"], "B"), seconds(r["ttft_s"]), short(r["tps"]), *([short(r["system_tps"])] if many else [])]
        fits = words({True: "yes", False: "no", None: "unknown"}[r["fits"]])
        rows.append([*start, _load(r, one), fits, *figures, words(f"regime.{r['decode_regime']}")])
    width = len(heads) + len(tail)
    return [*heads, *tail], rows, tuple(range(len(heads) + 2, width - 1))


def _load(r: dict, one: dict) -> str:
    """`c8k`, with prompt, batch and devices where they differ between rows."""
    parts = [("p", "prompt"), ("c", "context"), ("b", "batch"), ("x", "devices")]
    return " ".join(f"{n}{_tokens(r[k])}" for n, k in parts if not one.get(k, False))


def _tokens(value) -> str:
    return f"{value // 1024}k" if value and value >= 1024 and value % 1024 == 0 else f"{value:g}"


_VIEWS = {
    "memory-vs-speed": _memory_vs_speed,
    "techniques": _techniques,
    "phases": _phases,
    "hardware": _hardware,
    "decode-ceiling": _decode_ceiling,
    "grid": _grid,
}
