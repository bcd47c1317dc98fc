"""Predicted against measured speed as a picture (SVG, PNG or PDF). Needs the extra `plot`; imported where it is asked for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from ..language.problem import problem
from ..solve.errors import NEAR, PHASES, Row, beyond, summary

SUFFIXES = (".svg", ".png", ".pdf")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F3C8D", "#8C6D31", "#4D4D4D")
"""Colours that the colour-blind can tell (Okabe and Ito 2008), and three more; classes beyond them share grey."""
OTHER = "#B0B0B0"
MARKS = "osD^vP<>p"
_STYLE: Any = {
    "svg.hashsalt": "costmodel",
    "font.size": 9,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.8,
    "font.family": "DejaVu Sans",
}


def save_plot(rows: list[Row], path: str | Path) -> None:
    """Draw rows (see :mod:`costmodel.solve.errors`) into a file, a panel for each phase.

    Raises SpecError for another suffix, without matplotlib, without rows, and where the file cannot be written.
    """
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise problem(f"--plot: `{target.name[:80]}`: want a name that ends in .svg, .png or .pdf")
    drawn = [row for row in rows if row["measured"] > 0 and row["expected"] > 0]
    if not drawn:
        raise problem("--plot: nothing to draw: no row was predicted")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise problem("--plot needs matplotlib", None, "pip install 'costmodel[plot]'") from None
    with matplotlib.rc_context(_STYLE):
        figure = _figure(Figure, drawn)
        kind = target.suffix.lower()[1:]
        stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
        try:
            figure.savefig(target, format=kind, dpi=150, metadata=stamp)
        except OSError as error:
            raise problem(f"cannot write `{str(path)[:200]}`: {error.strerror or error}") from None


def _figure(make, rows: list[Row]):
    """Panels side by side, the legend below them."""
    there = dict.fromkeys(row["phase"] for row in rows)
    phases = [*(p for p in PHASES if p in there), *(p for p in there if p not in PHASES)]
    looks = _looks(rows)
    lines = -(-(len(looks) + 2) // (3 * len(phases)))
    figure = make(figsize=(5.2 * len(phases), 5.2 + 0.22 * lines), layout="constrained")
    axes = figure.subplots(1, len(phases), squeeze=False)[0]
    for axis, phase in zip(axes, phases, strict=True):
        _panel(axis, phase, [row for row in rows if row["phase"] == phase], looks)
    figure.legend(handles=_handles(looks, rows), loc="outside lower center", ncols=3 * len(phases), frameon=False, fontsize=8)
    return figure


def _looks(rows: list[Row]) -> dict[str, tuple[str, str]]:
    """Colour and mark of each class, the largest first."""
    classes = [name for name, _ in Counter(str(row.get("class") or "-") for row in rows).most_common()]
    own = {name: (COLOURS[i], MARKS[i]) for i, name in enumerate(classes[: len(COLOURS)])}
    return own | dict.fromkeys(classes[len(COLOURS) :], (OTHER, "o"))


def _panel(axis, phase: str, rows: list[Row], looks: dict) -> None:
    figures = [row[key] for row in rows for key in ("measured", "expected")]
    low, high = min(figures) / 1.6, max(figures) * 1.6
    axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
    ends = [low, high]
    axis.fill_between(ends, [x * (1 - NEAR) for x in ends], [x * (1 + NEAR) for x in ends], color="#000000", alpha=0.09, lw=0)
    axis.plot(ends, ends, color="#444444", lw=0.8)
    for name, (colour, mark) in looks.items():
        of = [row for row in rows if str(row.get("class") or "-") == name]
        axis.scatter([r["measured"] for r in of], [r["expected"] for r in of], s=16, c=colour, marker=mark, alpha=0.65, lw=0)
    above = [row for row in rows if beyond(row)]
    axis.scatter([r["measured"] for r in above], [r["expected"] for r in above], s=70, fc="none", ec="#C00000", marker="o", lw=1)
    axis.set_xlabel("measured, tokens/s")
    axis.set_ylabel("predicted, tokens/s")
    axis.grid(True, which="major", color="#E4E4E4", lw=0.6)
    axis.set_axisbelow(True)
    _plain_ticks(axis)
    scored = summary([row for row in rows if not beyond(row)])
    if scored["n"]:
        told = f"{phase}: n = {scored['n']}, median error {scored['median']:.1%}, {scored['near']:.0%} within {NEAR:.0%}"
        axis.set_title(told, fontsize=9.5, loc="left")
    else:
        axis.set_title(phase, fontsize=9.5, loc="left")


def _plain_ticks(axis) -> None:
    """`10`, `1,000`: numbers without powers."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for one in (axis.xaxis, axis.yaxis):
        one.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        one.set_minor_formatter(NullFormatter())


def _handles(looks: dict, rows: list[Row]) -> list:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    named = [(name, look) for name, look in looks.items() if look[0] != OTHER]
    handles: list = [Line2D([], [], ls="", marker=mark, color=colour, ms=5, label=name) for name, (colour, mark) in named]
    if len(named) < len(looks):
        handles.append(Line2D([], [], ls="", marker="o", color=OTHER, ms=5, label=f"{len(looks) - len(named)} other classes"))
    handles.append(Patch(fc="#000000", alpha=0.09, label=f"within {NEAR:.0%}"))
    if any(beyond(row) for row in rows):
        handles.append(Line2D([], [], ls="", marker="o", mfc="none", mec="#C00000", ms=8, label="measured above the ceiling"))
    return handles
