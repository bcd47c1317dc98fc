"""Sensitivities as a tornado chart: bars of what ± a change of each parameter makes of the figure. Needs matplotlib."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from ..language.problem import problem
from .importing import is_there
from .inverse import amount
from .sensitivity import percent, value_of

SUFFIXES = (".svg", ".png", ".pdf")
UP, DOWN = "#0072B2", "#E69F00"
MOST = 18
LEAST = 1e-4
"""Changes below are not drawn."""
HANGUL = (
    "Noto Sans CJK KR",
    "Noto Sans KR",
    "NanumGothic",
    "Malgun Gothic",
    "Apple SD Gothic Neo",
    "NanumBarunGothic",
    "NanumSquare",
    "NanumSquareRound",
    "Noto Sans CJK JP",
)
TEXTS = {
    "en": {
        "axis": "change of {figure}, %",
        "up": "parameter +{c}",
        "down": "parameter -{c}",
        "more": "{n} smaller ones are not shown",
        "counts": "counts change by at least one",
    },
    "ko": {
        "axis": "{figure}의 변화, %",
        "up": "매개변수 +{c}",
        "down": "매개변수 -{c}",
        "more": "더 작은 {n}개는 생략",
        "counts": "개수는 적어도 1 변함",
    },
}


def save_tornado(found, path: str | Path, lang: str = "en", force: bool = False) -> None:
    """Draw sensitivities into a file. Raises :class:`SpecError` for another suffix, a file that is there, and without matplotlib."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise problem(f"--plot: `{target.name[:80]}`: want a name that ends in .svg, .png or .pdf")
    if is_there(target) and not force:
        raise problem(f"`{target}` is there already", help="--force replaces it")
    if not found.rows:
        raise problem("--plot: nothing to draw: no parameter has an effect")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise problem("--plot needs matplotlib", None, "pip install 'costmodel[plot]'") from None
    family = _family() if lang == "ko" else None
    fonts = [*([family] if family else []), "DejaVu Sans"]
    style: Any = {"svg.hashsalt": "costmodel", "font.size": 9, "font.family": fonts, "axes.unicode_minus": False}
    with matplotlib.rc_context(style):
        figure = draw(Figure, found, lang if lang != "ko" or family else "en")
        kind = target.suffix.lower()[1:]
        stamp: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
        try:
            figure.savefig(target, format=kind, dpi=150, metadata=stamp)
        except OSError as error:
            raise problem(f"cannot write `{str(path)[:200]}`: {error.strerror or error}") from None


def _family() -> str | None:
    """An installed font that has Hangul; matplotlib's list of fonts may be older than the font."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {entry.name for entry in fontManager.ttflist}
    if not known & set(HANGUL):
        for file in findSystemFonts():
            if any(name.replace(" ", "") in Path(file).stem for name in HANGUL) or "NotoSansCJK" in file:
                with suppress(OSError, RuntimeError):
                    fontManager.addfont(file)
        known = {entry.name for entry in fontManager.ttflist}
    return next((name for name in HANGUL if name in known), None)


def draw(make, found, lang: str = "en"):
    """The chart as a matplotlib figure: the weightiest parameter on top, each end's change beside its bar."""
    rows = [r for r in found.rows if max(abs(r[k] or 0.0) for k in ("up", "down")) >= LEAST][:MOST] or found.rows[:MOST]
    t, c = TEXTS[lang], f"{100 * found.change:g} %"
    figure = make(figsize=(8.2, 1.5 + 0.3 * len(rows)), layout="constrained")
    axis = figure.subplots()
    for key, colour in (("up", UP), ("down", DOWN)):
        widths = [100 * (row[key] or 0.0) for row in rows]
        axis.barh(range(len(rows)), widths, color=colour, height=0.62, label=t[key].format(c=c))
    widest = max(100 * abs(row[key] or 0.0) for row in rows for key in ("up", "down"))
    _values(axis, rows, widest)
    axis.set_yticks(range(len(rows)), [f"{row['name']}  ({value_of(row)})" for row in rows])
    axis.set(ylim=(len(rows) - 0.4, -0.6), xlabel=t["axis"].format(figure=found.figure), xlim=(-1.32 * widest, 1.32 * widest))
    axis.axvline(0, color="#444444", lw=0.8)
    axis.grid(axis="x", color="#E4E4E4", lw=0.6)
    axis.set_axisbelow(True)
    axis.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    names = {k: found.titles[k][lang] for k in ("model", "hardware", "engine")}
    title = f"{names['model']}, {names['hardware']}, {names['engine']}\n{found.figure} {amount(found.value, found.unit)}"
    axis.set_title(title, fontsize=9.5, loc="left")
    notes = [t["counts"]] if any(row["kind"] == "workload" for row in rows) else []
    notes += [t["more"].format(n=len(found.rows) - len(rows))] if len(found.rows) > len(rows) else []
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8.5, title="; ".join(notes) or None, title_fontsize=8)
    return figure


def _values(axis, rows: list[dict], widest: float) -> None:
    """Each change at the end of its bar; where both lie on one side, the larger alone."""
    for y, row in enumerate(rows):
        ends = [(row[key], key) for key in ("up", "down") if row[key]]
        if len(ends) == 2 and (ends[0][0] > 0) == (ends[1][0] > 0):
            ends = [max(ends, key=lambda end: abs(end[0]))]
        for value, _ in ends:
            side = 1 if value > 0 else -1
            axis.text(100 * value + side * 0.012 * widest, y, percent(value), va="center", ha="left" if side > 0 else "right", fontsize=7.5)
