"""Predicted against measured speed, a panel for each phase."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ...language.problem import problem
from ...solve.errors import NEAR, PHASES, Row, beyond, summary
from .files import checked, save
from .style import COLOURS, MARKS, OTHER, drawing, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.figure import Figure

ABOVE = "#C00000"


def save_plot(rows: list[Row], path: str | Path) -> None:
    """Draw rows into a file, in place of one that is there.

    Raises :class:`costmodel.SpecError` for another suffix than .svg, .png or .pdf, without matplotlib, without rows, and where the
    file cannot be written.
    """
    checked(path, option="--plot")
    save(measured(rows), path, force=True)


def measured(rows: list[Row]) -> Figure:
    """Predicted against measured tokens/s of rows (see :mod:`costmodel.solve.errors`), as a matplotlib Figure.

    Raises :class:`costmodel.SpecError` without matplotlib, and where no row has both figures.
    """
    drawn = [row for row in rows if row["measured"] > 0 and row["expected"] > 0]
    if not drawn:
        raise problem("--plot: nothing to draw: no row was predicted")
    with drawing():
        from matplotlib.figure import Figure

        return _figure(Figure, drawn)


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
    axis.scatter([r["measured"] for r in above], [r["expected"] for r in above], s=70, fc="none", ec=ABOVE, marker="o", lw=1)
    axis.set_xlabel("measured, tokens/s")
    axis.set_ylabel("predicted, tokens/s")
    axis.grid(True, which="major", color="#E4E4E4", lw=0.6)
    axis.set_axisbelow(True)
    plain(axis.xaxis)
    plain(axis.yaxis)
    scored = summary([row for row in rows if not beyond(row)])
    if scored["n"]:
        told = f"{phase}: n = {scored['n']}, median error {scored['median']:.1%}, {scored['near']:.0%} within {NEAR:.0%}"
        axis.set_title(told, fontsize=9.5, loc="left")
    else:
        axis.set_title(phase, fontsize=9.5, loc="left")


def _handles(looks: dict, rows: list[Row]) -> list:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    named = [(name, look) for name, look in looks.items() if look[0] != OTHER]
    handles: list = [Line2D([], [], ls="", marker=mark, color=colour, ms=5, label=name) for name, (colour, mark) in named]
    if len(named) < len(looks):
        handles.append(Line2D([], [], ls="", marker="o", color=OTHER, ms=5, label=f"{len(looks) - len(named)} other classes"))
    handles.append(Patch(fc="#000000", alpha=0.09, label=f"within {NEAR:.0%}"))
    if any(beyond(row) for row in rows):
        handles.append(Line2D([], [], ls="", marker="o", mfc="none", mec=ABOVE, ms=8, label="measured above the ceiling"))
    return handles
