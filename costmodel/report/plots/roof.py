"""The roofline: both ceilings of a machine, the ridge, and where prefill, decode and operators lie under them."""

from __future__ import annotations

from textwrap import fill
from typing import NamedTuple

from ...sizes import scaled, short
from ...solve.record import reached
from .cases import facts, listed, naming
from .labels import Labels, settle
from .roofs import draw_roofs, label_roofs, machines_of, roof_handles
from .style import FAINT, INK, bare, drawing, head, ink, legend, look, new_figure, plain
from .words import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARK = {"prefill": "s", "decode": "o"}
PHASES = tuple(MARK)
NEAR = 7
"""Points of the picture (1/72 inch) within which marks are named together."""
WIDE = 44
"""Characters of a name in a line."""
NAMED = 6
"""Operators named per phase, those that take longest first."""


class Point(NamedTuple):
    """A mark: whose (`case`), which phase, where, and the name it goes by."""

    case: int
    phase: str
    x: float
    y: float
    name: str


def roofline(predictions, *, operators: bool = False, lang: str = "en") -> Figure:
    """The roofline of one or several predictions, as a matplotlib Figure.

    Axes: FLOP/byte against FLOP/s. Marks are at the expected rate of a phase (FLOPs over expected seconds), hollow ones at the rate
    attainable there (R14); `operators` adds those of the first prediction. Of each model and machine the first
    prediction counts as plain: arrows lead from it to the others.

    Raises :class:`costmodel.SpecError` without matplotlib, and for more than nine predictions.
    """
    cases = listed(predictions)
    with drawing(lang) as lang:
        t = Texts(lang)
        figure = new_figure(7.4, 5.4)
        axis = figure.subplots()
        names = naming(cases, t)
        called = _called(cases, t)
        head(figure, axis, names.title, names.lines)
        points = [p for i, case in enumerate(cases) for p in _phases(i, case, called[i])]
        small = _operators(cases[0]) if operators else []
        machines = machines_of(cases, lang)
        _limits(axis, cases, machines, [*points, *small])
        bare(axis)
        axis.set_xlabel(t("intensity"))
        axis.set_ylabel(t("rate"))
        _ticks(axis)
        roofs = draw_roofs(axis, machines)
        _marks(axis, cases, points, small)
        legend(figure, [*roof_handles(machines), *_handles(t, cases, points, small)])
        settle(figure)
        _labels(axis, cases, points, small, roofs, t)
    return figure


def _called(cases, t: Texts) -> list[str]:
    """The name of each case's marks: of plain cases what tells them from other plain ones, of others what they add to theirs."""
    plains = _plain_of(cases)
    bases = sorted(set(plains))
    called = dict(zip(bases, naming([cases[i] for i in bases], t).short, strict=True))
    for base in bases:
        own = [i for i, plain in enumerate(plains) if plain == base]
        called |= dict(zip(own[1:], naming([cases[i] for i in own], t).short[1:], strict=True))
    return [called[i] for i in range(len(cases))]


def _phases(index: int, p, name: str) -> list[Point]:
    """A mark for each phase that computes and moves anything."""
    return [Point(index, phase, *at, name) for phase in PHASES if (at := _place(getattr(p, phase)))]


def _place(record) -> tuple[float, float] | None:
    """Intensity and expected rate of a phase or operator; None where it computes or moves nothing."""
    rate = reached(record)
    return (record.intensity, rate) if record.intensity and rate else None


def _operators(p) -> list[Point]:
    """A mark for each operator of the plain prediction that computes, those that take longest first."""
    found = []
    for phase in PHASES:
        rows = sorted(p.operators[phase], key=lambda r: -r.expected_s)
        found += [Point(0, phase, *at, f"{r.block}.{r.name}") for r in rows if (at := _place(r))]
    return found


def _plain_of(cases) -> list[int]:
    """For each case the first of the same model and machine."""
    first: dict[tuple, int] = {}
    return [first.setdefault((facts(p)["model"], facts(p)["hardware"]), i) for i, p in enumerate(cases)]


def _limits(axis, cases, machines, points) -> None:
    """Axes that hold every mark, every ridge and every peak, with room for labels."""
    xs = [p.x for p in points] + [r for c in cases for r in (c.prefill.ridge, c.decode.ridge) if r]
    tops = [v for machine in machines for v in machine.peaks.values()]
    low = min(p.y for p in points)
    axis.set(
        xscale="log",
        yscale="log",
        xlim=(min(xs) / 5, max(xs) * (6 if len(machines) == 1 else 14)),
        ylim=(low / 5, max(tops + [p.y for p in points]) * 2.6),
    )


def _ticks(axis) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    axis.xaxis.set_major_locator(LogLocator(numticks=12))
    axis.yaxis.set_major_locator(LogLocator(numticks=12))
    plain(axis.xaxis)
    plain(axis.yaxis)
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scaled(value).replace(".00", "").replace(".0", "")))


def _marks(axis, cases, points, small) -> None:
    """Marks of phases (what is attainable hollow, of a single plain case) and operators, and arrows from the plain model."""
    plains = _plain_of(cases)
    shows = set(plains) == {0}
    at = {(p.case, p.phase): p for p in points}
    for p in small:
        axis.plot(p.x, p.y, MARK[p.phase], ms=3.2, mfc="white", mec=FAINT, mew=0.8, zorder=3)
    for p in points:
        colour, plain = look(p.case).colour, at.get((plains[p.case], p.phase))
        axis.plot(p.x, p.y, MARK[p.phase], ms=7, mfc=colour, mec="white", mew=0.8, zorder=4.5 if plains[p.case] == p.case else 4)
        top = getattr(cases[p.case], p.phase).attainable_flops
        if shows and p.case == 0 and top:
            axis.plot([p.x, p.x], [p.y, top], color=colour, lw=0.8, zorder=3)
            axis.plot(p.x, top, MARK[p.phase], ms=6, mfc="white", mec=colour, mew=1.2, zorder=4)
        elif plain and p.case != plain.case and _apart(axis, plain, p) > 1.5 * NEAR:
            arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.2, "shrinkA": 5, "shrinkB": 4, "mutation_scale": 9}
            axis.annotate("", xy=(p.x, p.y), xytext=(plain.x, plain.y), arrowprops=arrow, zorder=3)


def _apart(axis, a: Point, b: Point) -> float:
    """Points of the picture between two marks."""
    (x0, y0), (x1, y1) = axis.transData.transform([(a.x, a.y), (b.x, b.y)])
    return ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5 * 72 / axis.figure.dpi


def _labels(axis, cases, points, small, roofs, t) -> None:
    """Everything that is named inside the axes, what matters most first."""
    labels = Labels(axis)
    plains = _plain_of(cases)
    at = {(p.case, p.phase): p for p in points}
    shown = [p for p in points if set(plains) == {0} and p.case == 0]
    tops = [(p.x, top) for p in shown if (top := getattr(cases[0], p.phase).attainable_flops)]
    labels.keep_off([p.x for p in points] + [x for x, _ in tops], [p.y for p in points] + [y for _, y in tops])
    if small:
        labels.keep_off([p.x for p in small], [p.y for p in small], 2.5)
    for p in points:
        plain = at.get((plains[p.case], p.phase))
        if plain:
            labels.avoid([plain.x, p.x], [plain.y, p.y])
    label_roofs(labels, roofs)
    _ridges(axis, labels, cases, t)
    labels.place()
    for group in [g for base in dict.fromkeys(plains) for g in _grouped(axis, [p for p in points if plains[p.case] == base])]:
        labels.add(
            _named(group, plains, len(cases), t), [group[0].x], [group[0].y], colour=ink(look(group[0].case).colour), fontweight="bold"
        )
    labels.place(t)
    for phase in PHASES:
        for group in _grouped(axis, [p for p in small if p.phase == phase])[:NAMED]:
            labels.add(_joined([p.name for p in group]), [group[0].x], [group[0].y], size=6.8, colour=FAINT)
    labels.place()


def _ridges(axis, labels: Labels, cases, t) -> None:
    """A line at every ridge, with its figure; where there is one, what bounds on either side."""
    low, high = axis.get_ylim()
    ridges = {short(r): r for p in cases for r in (p.prefill.ridge, p.decode.ridge) if r}
    for text, ridge in ridges.items():
        axis.axvline(ridge, color=FAINT, lw=0.8, ls=(0, (1, 2)), zorder=1)
        labels.avoid([ridge, ridge], [low, high])
        labels.add(
            t("ridge", value=text), [ridge], [low * 1.9], colour=FAINT, directions=((1, 0), (-1, 0)), rings=(3, 6, 12, 24), leader=False
        )
    if len(ridges) == 1:
        (ridge,) = ridges.values()
        for key, side in (("memory_bound", -1), ("compute_bound", 1)):
            labels.add(t(key), [ridge], [low * 1.2], colour=FAINT, directions=((side, 0),), rings=(3, 6, 12), leader=False)


def _grouped(axis, points: list[Point]) -> list[list[Point]]:
    """Marks of a phase that lie on one another, together; in the order in which each group's first comes."""
    groups: list[list[Point]] = []
    for p in points:
        near = next((g for g in groups if g[0].phase == p.phase and _apart(axis, g[0], p) < NEAR), None)
        if near is None:
            groups.append([p])
        else:
            near.append(p)
    return groups


def _named(group: list[Point], plains: list[int], cases: int, t) -> str:
    """The name of a mark: its phase where it is plain, else what tells its case."""
    first = group[0]
    bases = len(set(plains))
    name = first.name if plains[first.case] != first.case else t(first.phase) if bases == 1 else f"{t(first.phase)}, {first.name}"
    others = [p.name for p in group[1:]]
    return fill(t("unchanged", name=name, others=", ".join(others)), WIDE, break_on_hyphens=False) if others else name


def _joined(names: list[str]) -> str:
    """Operators by block: `mlp.gate, up, down`."""
    blocks: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        block, _, rest = name.partition(".")
        blocks.setdefault(block, []).append(rest)
    parts = [f"{block}.{', '.join(rest[:3])}" for block, rest in [*blocks.items()][:2]]
    whole = len(blocks) <= 2 and all(len(rest) <= 3 for rest in blocks.values())
    return "; ".join(parts) + ("" if whole else " …")


def _handles(t, cases, points, small) -> list:
    """The legend: what marks and arrows mean."""
    from matplotlib.lines import Line2D

    there = [phase for phase in PHASES if any(p.phase == phase for p in points)]
    handles = [Line2D([], [], ls="", marker=MARK[p], mfc=INK, mec="white", ms=7, label=t(f"{p}_expected")) for p in there]
    if set(_plain_of(cases)) == {0}:
        handles.append(Line2D([], [], ls="", marker="o", mfc="white", mec=INK, ms=6, label=t("attainable")))
    if len(set(_plain_of(cases))) < len(cases):
        handles.append(Line2D([], [], color=INK, lw=1.2, marker=">", markevery=[1], ms=4, label=t("technique")))
    if small:
        handles.append(Line2D([], [], ls="", marker="o", mfc="white", mec=FAINT, ms=3.2, label=t("operators")))
    return handles
