"""What each parameter weighs, as a table."""

from __future__ import annotations

from typing import Any

from ..sizes import scaled, seconds, short
from .inverse import amount, case_names
from .table import text_table, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..solve.invert.answers import Effect, Sensitivity
    from ..solve.shapes.unfold import Lang

TEXTS: dict[str, dict[str, Any]] = {
    "en": {
        "head": "{figure} {value}: {model} on {hardware}, {engine}",
        "columns": ["parameter", "value", "elasticity", "+{c}", "-{c}", "from"],
        "local": "elasticity: exact derivative d ln(figure) / d ln(parameter), here; +{c} and -{c} are computed again",
        "counts": "counts change by whole numbers: by {c} or, if that is less than one, by one",
        "steps": "~ the figure goes in steps there (whole passes or tokens), or has no formula: from the changed values, not a derivative",
        "bends": "* another regime holds at the changed value, so the derivative does not tell it",
        "without": "without effect here: {names}",
        "left_out": "left out, since each value is compiled: {names} (`costmodel solve` and `matrix` try them)",
        "bits": "bits are those of all weights, or of the KV cache, at unchanged shares of the bandwidth",
    },
    "ko": {
        "head": "{figure} {value}: {hardware}의 {model}, {engine}",
        "columns": ["매개변수", "값", "탄력성", "+{c}", "-{c}", "출처"],
        "local": "탄력성: 이 지점의 정확한 미분 d ln(값) / d ln(매개변수); +{c}와 -{c}는 다시 계산한 것",
        "counts": "개수는 정수로 바뀐다: {c}, 그것이 1보다 작으면 1",
        "steps": "~ 값이 계단으로 변하거나 (정수 번의 pass, 정수 토큰) 식이 없음: 미분이 아니라 바꾼 값에서 구함",
        "bends": "* 바꾼 값에서는 다른 영역이라 미분이 말해 주지 못함",
        "without": "여기서 영향 없음: {names}",
        "left_out": "값마다 컴파일하므로 제외: {names} (`costmodel solve`와 `matrix`로 시도)",
        "bits": "bits는 모든 가중치, 또는 KV 캐시의 비트이며 대역폭 비율은 그대로 둔 것",
    },
}


def sensitivity_text(found: Sensitivity, lang: Lang = "en") -> str:
    """The table, what its marks mean, and what has no row."""
    t, c = TEXTS[lang], f"{100 * found.change:g} %"
    lines = wrap(t["head"].format(figure=found.figure, value=amount(found.value, found.unit), **case_names(found, lang)), 80)
    rows = [_cells(row, _short(row, found.rows)) for row in found.rows]
    columns = [text.format(c=c) for text in t["columns"]]
    lines += ["", text_table(columns, rows, 100, (1, 2, 3, 4)), ""]
    lines += wrap(t["local"].format(c=c), 80)
    for key, there in (
        ("counts", any(r.kind == "workload" for r in found.rows)),
        ("steps", any(r.how == "steps" for r in found.rows)),
        ("bends", any(r.regime_changes for r in found.rows)),
        ("bits", any(r.kind == "bytes" for r in found.rows)),
    ):
        lines += wrap(t[key].format(c=c), 80) if there else []
    for key, names_ in (("without", found.without), ("left_out", found.left_out)):
        lines += wrap(t[key].format(names=", ".join(names_)), 80) if names_ else []
    return "\n".join(lines)


def percent(value: float | None) -> str:
    """`+9.63 %`; nothing for what cannot be changed so."""
    if value is None:
        return ""
    text = short(100 * abs(value))
    if abs(value) < 5e-6:
        return "0 %"
    return f"{'+' if value > 0 else '-'}{text if abs(value) >= 1e-4 else f'{100 * abs(value):.4f}'} %"


def value_of(row: Effect) -> str:
    """A parameter's value with its unit."""
    if row.unit == "s":
        return seconds(row.value)
    if row.unit in ("B/s", "FLOP/s"):
        return scaled(row.value, row.unit)
    return amount(row.value, row.unit) if row.unit else f"{row.value:g}"


def _short(row: Effect, rows: list[Effect]) -> str:
    """A knob by its own name, where no other row has it."""
    own = row.name.rpartition(".")[2] if row.kind == "knob" else row.name
    return own if [r.name.rpartition(".")[2] for r in rows].count(own) == 1 else row.name


def _cells(row: Effect, name: str) -> list[str]:
    mark = "~" if row.how == "steps" else ""
    ends = {way: percent(getattr(row, way)) + ("*" if way in row.regime_changes else "") for way in ("up", "down")}
    return [name, value_of(row), mark + f"{row.elasticity:+.3f}", ends["up"], ends["down"], row.where or ""]
