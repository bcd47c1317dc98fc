"""`costmodel evaluate`: predictions against measurements, as text, markdown or JSON (schema `costmodel/evaluation@1`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..language.problem import clean as printable
from ..sizes import short
from ..solve.errors import GROUPS, NEAR, Row, error, evaluate
from .render import environment
from .table import text_table

SHOWN = 12
"""Groups of a table in text and markdown; JSON has all."""
LISTED = 20
"""Rows of a list in text and markdown."""
TEXTS = {
    "en": {
        "title": "Predictions against measurements",
        "count": "{rows} figures: {scored} scored, {above} above the ceiling, {skipped} skipped",
        "meaning": "error = predicted / measured - 1; median and p90 are of its size, bias is its median with the sign; "
        "p90 interpolates linearly between rows; in span: share of rows between low and high",
        "none": "nothing to score",
        "phase": "phase", "rows": "rows", "n": "n", "median": "median", "near": "within {near}", "p90": "p90", "bias": "bias",
        "in_span": "in span", "all": "all", "held_out": "held out", "in_sample": "in sample",
        "class": "class", "format": "format", "engine": "engine", "kind": "kind", "family": "family",
        "by": "By {label}", "others": "{n} fewer-row groups left out (JSON has all)",
        "worst": "Worst rows (tokens/s)", "above": "Above the ceiling (tokens/s; not scored: the row's facts or the ceiling are wrong)",
        "skipped": "Skipped", "reason": "reason", "model": "model", "hardware": "hardware", "measured": "measured",
        "predicted": "predicted", "ceiling": "ceiling", "error": "error", "over": "over", "id": "row", "more": "and {n} more",
    },
    "ko": {
        "title": "예측과 측정 비교",
        "count": "측정값 {rows}개: 채점 {scored}, 천장 초과 {above}, 건너뜀 {skipped}",
        "meaning": "오차 = 예측 / 측정 - 1. 중앙값과 p90은 오차의 크기, 편향은 부호가 있는 중앙값. p90은 행 사이를 선형 보간. "
        "범위 안: 하한과 상한 사이에 든 행의 비율",
        "none": "채점할 것이 없음",
        "phase": "단계", "rows": "행", "n": "수", "median": "중앙값", "near": "{near} 이내", "p90": "p90", "bias": "편향",
        "in_span": "범위 안", "all": "전체", "held_out": "맞춤 밖", "in_sample": "맞춤 안",
        "class": "종류", "format": "포맷", "engine": "엔진", "kind": "방식", "family": "계열",
        "by": "{label}별", "others": "행이 적은 {n}개 묶음 생략 (JSON에는 전부 있음)",
        "worst": "가장 어긋난 행 (토큰/s)", "above": "천장 초과 (토큰/s, 채점하지 않음: 행의 사실이나 천장이 틀렸다)",
        "skipped": "건너뜀", "reason": "이유", "model": "모델", "hardware": "하드웨어", "measured": "측정",
        "predicted": "예측", "ceiling": "천장", "error": "오차", "over": "초과", "id": "행", "more": "그 밖에 {n}개",
    },
}  # fmt: skip
FIGURES = ("n", "median", "near", "p90", "bias", "in_span")


def render(
    rows: Iterable[Row],
    skipped: Iterable[str] | Mapping[str, int] = (),
    fmt: str = "text",
    lang: str = "en",
    *,
    by=GROUPS,
    worst: int = 10,
    columns: int = 100,
) -> str:
    """The report of result rows (see :mod:`costmodel.solve.errors`) in `text`, `markdown` or `json`."""
    rows = list(rows)
    result = evaluate(rows, skipped, worst, by)
    if fmt == "json":
        return json.dumps(as_data(rows, result), ensure_ascii=False, indent=2, allow_nan=False)
    texts = Texts(lang)
    tables = _tables(result, texts)
    facts = {
        "title": texts["title"],
        "count": texts("count", rows=result["rows"], scored=result["scored"], above=len(result["above_ceiling"]), skipped=_total(result)),
        "meaning": texts["meaning"] if result["scored"] else texts["none"],
        "columns": columns,
    }
    if fmt == "text":
        for table in tables:
            table["body"] = text_table(table["headers"], table["rows"], columns, table["right"])
    return environment().get_template(f"evaluate.{fmt}.j2").render(tables=tables, **facts)


def as_data(rows: list[Row], result: dict[str, Any]) -> dict[str, Any]:
    """The evaluation as JSON-ready data, with each row and its error."""
    from ..solve.export import clean

    listed = ("worst", "above_ceiling")
    with_errors = {key: [_with_error(row) for row in result[key]] for key in listed}
    return {"schema": "costmodel/evaluation@1"} | clean(
        {k: v for k, v in result.items() if k not in ("rows", *listed)}
        | {"count": result["rows"], "near_share": NEAR}
        | with_errors
        | {"rows": [_with_error(row) for row in rows]}
    )


def _with_error(row: Row) -> dict[str, Any]:
    return {**row, "error": error(row)}


class Texts:
    """The words of the report in one language."""

    def __init__(self, lang: str):
        self.words = TEXTS[lang]

    def __getitem__(self, key: str) -> str:
        return self.words.get(key, key)

    def __call__(self, key: str, **figures) -> str:
        """A text with figures filled in."""
        return self[key].format(**{k: f"{v:,}" if isinstance(v, int) else v for k, v in figures.items()})


def _total(result: dict) -> int:
    return sum(result["skipped"].values())


def _tables(result: dict, t: Texts) -> list[dict]:
    """Every table of the report: title, headers, rows of texts, columns aligned right, note."""
    found = []
    if result["overall"]:
        rows = [[t[r["phase"]], t[r["rows"]], *_figures(r)] for r in result["overall"]]
        found.append(_table("", [t["phase"], t["rows"], *_heads(t)], rows, range(2, 8)))
    for label, groups in result["groups"].items():
        if len({g[label] for g in groups}) > 1:
            found.append(_grouped(label, groups, t))
    if result["worst"]:
        found.append(_listed(result["worst"], t, t["worst"], "predicted", "expected"))
    if result["above_ceiling"]:
        found.append(_listed(result["above_ceiling"], t, t["above"], "ceiling", "ceiling"))
    if result["skipped"]:
        rows = [[_cut(reason, 200), f"{n:,}"] for reason, n in result["skipped"].items()]
        found.append(_table(t["skipped"], [t["reason"], t["n"]], rows, [1]))
    return found


def _table(title: str, headers: list[str], rows: list[list[str]], right, note: str = "") -> dict:
    return {"title": title, "headers": headers, "rows": rows, "right": tuple(right), "note": note}


def _grouped(label: str, groups: list[dict], t: Texts) -> dict:
    shown = []
    for phase in dict.fromkeys(g["phase"] for g in groups):
        shown += [g for g in groups if g["phase"] == phase][:SHOWN]
    rows = [[t[g["phase"]], _cut(g[label], 40), *_figures(g)] for g in shown]
    note = t("others", n=len(groups) - len(shown)) if len(shown) < len(groups) else ""
    return _table(t("by", label=t[label]), [t["phase"], t[label], *_heads(t)], rows, range(2, 8), note)


def _heads(t: Texts) -> list[str]:
    return [t("near", near=f"{NEAR:.0%}".replace("%", " %")) if key == "near" else t[key] for key in FIGURES]


def _figures(group: dict) -> list[str]:
    return [f"{group['n']:,}", *("-" if group[key] is None else percent(group[key], key == "bias") for key in FIGURES[1:])]


def percent(share: float, sign: bool = False) -> str:
    """`12.3 %`, `180 %`; with `sign` also a plus."""
    text = f"{share * 100:{'+' if sign else ''}.{0 if abs(share) >= 0.9995 else 1}f}"
    return f"{text} %"


def _listed(rows: list[Row], t: Texts, title: str, head: str, key: str) -> dict:
    """Rows one by one: which, what was measured, what `key` says, and the error (or how far above the ceiling)."""
    names = ("id", "phase", "model", "hardware", "engine", "measured", head, "error" if key == "expected" else "over")
    body = []
    for row in rows[:LISTED]:
        labels = [_cut(row.get(name)) for name in ("model", "hardware", "engine")]
        gap = error(row) if key == "expected" else row["measured"] / row["ceiling"] - 1
        body.append([_cut(row.get("id")), t[row["phase"]], *labels, short(row["measured"]), short(row[key]), percent(gap, True)])
    note = t("more", n=len(rows) - LISTED) if len(rows) > LISTED else ""
    return _table(title, [t[name] for name in names], body, (5, 6, 7), note)


def _cut(value, most: int = 26) -> str:
    text = "-" if value is None else printable(" ".join(str(value).split()))
    return text if len(text) <= most else text[: most - 1] + "…"
