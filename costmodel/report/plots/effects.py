"""What each parameter does to a figure, as a tornado chart: bars of a change up and a change down, the weightiest on top."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from ...language.problem import problem
from ...solve.invert.answers import Effect, Sensitivity
from ..inverse import amount
from ..sensitivity import percent, value_of
from .cases import drawn_text, heading
from .labels import settle
from .style import COLOURS, FAINT, HATCHES, INK, bare, drawing, head, legend, new_figure, plain
from .words import Texts

MOST_ROWS = 18
LEAST = 1e-4
"""Changes below are not drawn."""
LOOKS = {"up": (COLOURS[0], HATCHES[0]), "down": (COLOURS[4], HATCHES[1])}
ROOM = 1.34
"""Width of the axis, in widest bars."""


def tornado(found: Sensitivity, *, lang: str = "en"):
    """The rows of :func:`costmodel.sensitivity` as a matplotlib Figure; beyond eighteen, and below 0.01 %, they are counted only.

    Raises :class:`costmodel.SpecError` without matplotlib, and where no parameter has an effect.
    """
    if not found.rows:
        raise problem("nothing to draw: no parameter has an effect")
    rows = [r for r in found.rows if _weight(r) >= LEAST][:MOST_ROWS] or found.rows[:MOST_ROWS]
    with drawing(lang) as lang:
        t = Texts(lang)
        asked: dict[str, Any] = {**found.to_dict(), **found.workload}
        title, lines = heading(asked, asked, t)
        figure = new_figure(8.2, 1.9 + 0.29 * len(rows))
        axis = figure.subplots()
        head(figure, axis, f"{title}: {found.figure} {amount(found.value, found.unit)}", [*lines, *_notes(found, rows, t)])
        _bars(axis, rows)
        _axes(axis, rows, t("change_of", figure=found.figure))
        legend(figure, _handles(found, t))
        settle(figure)
    return figure


def _weight(row: Effect) -> float:
    return max(abs(row.up or 0.0), abs(row.down or 0.0))


def _notes(found: Sensitivity, rows: list[Effect], t: Texts) -> list[str]:
    """What the bars alone do not say."""
    notes = [t("by_one")] if any(row.kind == "workload" for row in rows) else []
    notes += [t("weaker", n=len(found.rows) - len(rows))] if len(found.rows) > len(rows) else []
    return ["; ".join(notes)] if notes else []


def _bars(axis, rows: list[Effect]) -> None:
    """Both bars of each parameter, each change at the end of its bar; where both lie on one side, the larger alone."""
    widest = 100 * max(map(_weight, rows))
    for y, row in enumerate(rows):
        ends = {key: 100 * change for key, change in (("up", row.up), ("down", row.down)) if change}
        for key in sorted(ends, key=lambda k: -abs(ends[k])):
            colour, hatch = LOOKS[key]
            axis.barh(y, ends[key], height=0.62, color=colour, hatch=hatch, ec="white", lw=0.6, zorder=2)
        sides = {value > 0: value for value in sorted(ends.values(), key=abs)}
        for above, value in sides.items():
            x = value + (1 if above else -1) * 0.012 * widest
            axis.text(x, y, percent(value / 100), va="center", ha="left" if above else "right", fontsize=7.5, color=INK)
    axis.set_xlim(-ROOM * widest, ROOM * widest)


def _axes(axis, rows: list[Effect], across: str) -> None:
    names = [fill(drawn_text(f"{row.name}  ({value_of(row)})"), 44, break_on_hyphens=False) for row in rows]
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_yticks(range(len(rows)), labels=names)
    axis.tick_params(axis="y", length=0)
    axis.axvline(0, color=FAINT, lw=0.8, zorder=3)
    axis.set_xlabel(across)
    plain(axis.xaxis)
    bare(axis, "x")
    axis.spines["left"].set_visible(False)


def _handles(found: Sensitivity, t: Texts) -> list:
    from matplotlib.patches import Patch

    share, words = f"{100 * found.change:g} %", {"up": "more", "down": "less"}
    return [Patch(fc=colour, hatch=hatch, ec="white", label=t(words[key], share=share)) for key, (colour, hatch) in LOOKS.items()]
