"""Decode speed against the context, and against the batch: expected, the span around it, the ceiling, and where memory runs out."""

from __future__ import annotations

from math import ceil, floor, log2
from typing import Any, NamedTuple

from ...language.problem import problem
from ...solve.prediction import Prediction
from .cases import listed, naming
from .labels import Labels, settle
from .style import FAINT, INK, Look, bare, counts, drawing, head, ink, legend, logarithmic, look, new_figure, plain, tokens, wide_range
from .words import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CURVES = 6
STEPS = 6
"""Predictions per doubling."""
BANDS = 2
"""Curves whose spans are drawn as bands; of more they are bars, which do not cover one another."""


class Curve(NamedTuple):
    """Predictions of one case along the axis, and the last place at which memory holds it (None: unknown or no limit)."""

    label: str
    look: Look
    xs: list[int]
    points: list[Prediction]
    ticks: list[int]
    limit: int | None


def context(predictions, contexts: tuple[int, int] = (1024, 131072), *, lang: str = "en") -> Figure:
    """Tokens/s per user against the cached tokens, from the first to the last of `contexts`, as a matplotlib Figure.

    Each prediction is made again at every context; prompt, output and batch stay. Beyond `memory.max_context` (less the
    output) curves are dotted. Raises :class:`costmodel.SpecError` without matplotlib, for an empty range and for more than
    six predictions.
    """
    cases = listed(predictions, MOST_CURVES)
    xs, ticks = _steps(*contexts)

    def at(p: Prediction, x: int) -> Prediction:
        return Prediction(p.runnable, p.prompt, p.output, x, p.batch)

    def limit(p: Prediction) -> int | None:
        most = at(p, max(xs)).memory.max_context  # at the longest, so that the prompt does not grow with it
        return None if most is None else most - p.output

    with drawing(lang) as lang:
        t = Texts(lang)
        names = naming(cases, t, ("context",))
        curves = [_curve(p, names.long[i], look(i), xs, ticks, at, limit) for i, p in enumerate(cases)]
        figure = new_figure(7.4, 4.9)
        axis = figure.subplots()
        head(figure, axis, names.title, names.lines)
        _panel(axis, curves, "tps", t("context"), t("per_user"), True)
        legend(figure, _handles(t, curves))
        settle(figure)
        trained = {p.decoder.meta["context"] for p in cases}
        _label(axis, curves, t, trained.pop() if len(trained) == 1 else None)
    return figure


def batch(predictions, batches: tuple[int, int] = (1, 256), *, lang: str = "en") -> Figure:
    """Tokens/s per user, and of all users together, against the batch, from the first to the last of `batches`, as a Figure.

    Each prediction is made again at every batch. Beyond `memory.max_batch` curves are dotted. Raises
    :class:`costmodel.SpecError` as :func:`context` does.
    """
    cases = listed(predictions, MOST_CURVES)
    xs, ticks = _steps(*batches)

    def at(p: Prediction, x: int) -> Prediction:
        return Prediction(p.runnable, p.prompt, p.output, p.context, x)

    with drawing(lang) as lang:
        t = Texts(lang)
        names = naming(cases, t, ("batch",))
        curves = [_curve(p, names.long[i], look(i), xs, ticks, at, lambda p: p.memory.max_batch) for i, p in enumerate(cases)]
        figure = new_figure(9.6, 4.9)
        panels = figure.subplots(1, 2)
        head(figure, panels[0], names.title, names.lines)
        for axis, figures, word in zip(panels, ("tps", "system_tps"), ("per_user", "all_users"), strict=True):
            _panel(axis, curves, figures, t("batch"), t(word), False)
        legend(figure, _handles(t, curves))
        settle(figure)
        for axis in panels:
            _label(axis, curves, t)
    return figure


def _steps(first: int, last: int) -> tuple[list[int], list[int]]:
    """(places of predictions, places of marks): whole numbers, doubling from the first to the last."""
    if not 1 <= first < last:
        raise problem(f"from {first:,} to {last:,} is no range", help="give two counts, the smaller first")
    low, high = log2(first), log2(last)
    between = [2**i for i in range(ceil(low), floor(high) + 1)]
    marks = sorted({first, last, *(x for x in between if x > first * 1.3 and x * 1.3 < last)})
    fine = {round(2 ** (low + i / STEPS)) for i in range(ceil((high - low) * STEPS))}
    return sorted({x for x in fine if first <= x <= last} | set(marks)), marks


def _curve(p: Prediction, label: str, own: Look, xs, ticks, at, limit) -> Curve:
    most = limit(p)
    inside = {most} if most is not None and xs[0] < most < xs[-1] else set()
    places = sorted({*xs, *inside})
    return Curve(label, own, places, [at(p, x) for x in places], ticks, most)


def _value(p: Prediction, figures: str, which: str) -> float | None:
    """`tps` has a span and a ceiling; `system_tps` is one figure."""
    return getattr(p.tps, which) if figures == "tps" else p.system_tps if which == "expected" else None


def _panel(axis, curves: list[Curve], figures: str, across: str, up: str, of_tokens: bool) -> None:
    """Every curve of one figure, and the axes to suit them."""
    for order, curve in enumerate(curves):
        _draw(axis, curve, figures, order, len(curves))
    shown = [v for c in curves for p in c.points for k in ("low", "expected", "ceiling") if (v := _value(p, figures, k))]
    axis.set_xscale("log", base=2)
    axis.set_xlim(curves[0].xs[0] / 1.08, curves[0].xs[-1] * 1.08)
    counts(axis.xaxis, curves[0].ticks, of_tokens)
    if wide_range(shown, 12):
        logarithmic(axis.yaxis, min(shown) / 1.4, max(shown) * 1.6)
    else:
        axis.set_ylim(0, max(shown) * 1.12)
        plain(axis.yaxis)
    bare(axis)
    axis.set_xlabel(across)
    axis.set_ylabel(up)


def _draw(axis, curve: Curve, figures: str, order: int, many: int) -> None:
    """One curve: full as far as memory holds it, dotted beyond."""
    own = curve.look
    inside = [x for x in curve.xs if curve.limit is None or x <= curve.limit]
    for xs, line in ((inside, own.line), ([*inside[-1:], *curve.xs[len(inside) :]], ":")):
        axis.plot(xs, _along(curve, figures, "expected", xs), color=own.colour, lw=1.8, ls=line, zorder=3)
    for x in curve.ticks:
        y = _along(curve, figures, "expected", [x])
        axis.plot([x], y, own.mark, ms=5.5, mfc=own.colour if x in inside else "white", mec=own.colour, mew=1.1, zorder=4)
    if figures == "tps":
        axis.plot(curve.xs, _along(curve, figures, "ceiling", curve.xs), color=own.colour, lw=0.9, ls=(0, (3, 2)), zorder=2)
        _span(axis, curve, order, many)


def _span(axis, curve: Curve, order: int, many: int) -> None:
    own = curve.look
    if many <= BANDS:
        ends = [_along(curve, "tps", end, curve.xs) for end in ("low", "high")]
        axis.fill_between(curve.xs, *ends, color=own.colour, alpha=0.14, lw=0, zorder=1)
        for end in ends:
            axis.plot(curve.xs, end, color=own.colour, lw=0.5, alpha=0.6, zorder=1)
    else:
        at = [x * 1.05 ** (order - (many - 1) / 2) for x in curve.ticks]
        axis.vlines(at, *(_along(curve, "tps", end, curve.ticks) for end in ("low", "high")), color=own.colour, lw=1.0, alpha=0.7, zorder=2)


def _along(curve: Curve, figures: str, which: str, xs) -> list[Any]:
    there = dict(zip(curve.xs, curve.points, strict=True))
    return [_value(there[x], figures, which) for x in xs]


def _label(axis, curves: list[Curve], t: Texts, trained: int | None = None) -> None:
    """Where memory runs out, and the longest context that the model was made for."""
    labels = Labels(axis)
    figures = "tps" if axis.get_subplotspec().is_first_col() else "system_tps"
    high = axis.get_ylim()[1]
    for curve in curves:
        labels.keep_off(curve.ticks, _along(curve, figures, "expected", curve.ticks))
        for which in ("expected", "ceiling", "low", "high") if figures == "tps" else ("expected",):
            labels.avoid(curve.xs, _along(curve, figures, which, curve.xs))
    for curve in curves:
        if curve.limit is not None and curve.limit < curve.xs[-1]:
            x = max(curve.limit, curve.xs[0])
            y = _along(curve, figures, "expected", [x])[0]
            axis.plot([x], [y], "|", ms=16, mec=curve.look.colour, mew=1.8, zorder=5)
            text = t("memory_full", value=f"{curve.limit:,}") if curve.limit >= curve.xs[0] else t("never")
            labels.keep_off([x], [y], 6)
            labels.add(text, [x], [y], colour=ink(curve.look.colour), fontweight="bold")
    if trained and curves[0].xs[0] < trained < curves[0].xs[-1]:
        axis.axvline(trained, color=FAINT, lw=0.8, ls=(0, (1, 2)), zorder=1)
        labels.add(
            t("trained", value=tokens(trained)),
            [trained],
            [high],
            colour=FAINT,
            directions=((-1, -1), (1, -1)),
            rings=(3, 14, 25),
            leader=False,
        )
    labels.place(t)


def _handles(t: Texts, curves: list[Curve]) -> list:
    """The legend: the cases where there are several, then what lines and bands mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colour = curves[0].look.colour if len(curves) == 1 else INK
    handles: list = [Line2D([], [], color=c.look.colour, ls=c.look.line, marker=c.look.mark, ms=5.5, label=c.label) for c in curves]
    if len(curves) == 1:
        handles[0].set_label(t("expected"))
    if len(curves) <= BANDS:
        handles.append(Patch(fc=colour, alpha=0.2, label=t("span")))
    else:
        handles.append(Line2D([], [], ls="", marker="|", ms=11, color=colour, label=t("span")))
    handles.append(Line2D([], [], color=colour, lw=0.9, ls=(0, (3, 2)), label=t("ceiling")))
    if any(c.limit is not None and c.limit < c.xs[-1] for c in curves):
        handles.append(Line2D([], [], color=colour, lw=1.8, ls=":", marker="o", mfc="white", ms=5.5, label=t("too_large")))
    return handles
