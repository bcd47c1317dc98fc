"""Memory against speed: what each case takes and gives, and which of them nothing else beats in both."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from ...language.problem import clean, problem
from ...sizes import scaled
from ..study import factor
from ..words import Words
from .cases import WORKLOAD, facts, listed, memory_word, naming, title_of
from .fonts import drawable
from .labels import RINGS, Labels, settle
from .style import COLOURS, FAINT, INK, MARKS, bare, drawing, head, ink, legend, logarithmic, look, new_figure, plain, wide_range
from .words import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 60
MANY = 24
"""Points beyond which labels are small, and left out where there is no room nearby."""
GB = 1e9


class Point(NamedTuple):
    """One case: memory and speed in the figure's units, whether it may stand in the front, and the group whose look it takes."""

    label: str
    x: float
    y: float
    counts: bool
    group: int = 0
    rivals: tuple = ()
    """What it competes with: points of the same machine and workload."""


def front(points: list[Point]) -> list[Point]:
    """The points that count and that no other such point beats: less memory at no less speed, or more speed at no more memory."""
    best: list[Point] = []
    for p in sorted((p for p in points if p.counts), key=lambda p: (p.x, -p.y)):
        if not best or p.y > best[-1].y:
            best.append(p)
    return best


def pareto(predictions, *, lang: str = "en") -> Figure:
    """Memory of the device against tokens/s per user, both of predictions, with their Pareto front, as a matplotlib Figure.

    Models, formats and techniques compete on the same machine under the same workload; what does not fit is hollow and in no
    front. Raises :class:`costmodel.SpecError` without matplotlib, and for more than sixty predictions.
    """
    cases = listed(predictions, MOST_POINTS)
    with drawing(lang) as lang:
        t = Texts(lang)
        names = naming(cases, t)
        field, groups = _groups(cases, lang)
        short = naming(cases, t, (field,)).short if field else names.short
        at = [facts(p)[field] if field else "" for p in cases]
        order = list(dict.fromkeys(at))
        points = [
            Point(
                label,
                p.memory.total_bytes / GB,
                p.tps.expected,
                p.memory.fits is not False,
                order.index(key),
                _rivals(p),
            )
            for p, label, key in zip(cases, short, at, strict=True)
        ]
        figure, axis = _figure(names.title, names.lines)
        usable = cases[0].memory.usable_bytes
        _scaled(axis, points, usable if all(p.memory.usable_bytes == usable for p in cases) else None, memory_word(cases), t)
        _finish(figure, axis, points, t, groups if len(groups) > 1 else [], t("too_large"))
    return figure


def savings(study, result: dict, *, lang: str = "en") -> Figure:
    """A study of memory against speed: each row's ratios to the study's baseline, with the Pareto front, as a matplotlib Figure.

    `study` is its document and `result` what :func:`costmodel.solve.views.run_study` makes of it. Rows with a baseline of
    their own are hollow and not in the front. Raises :class:`costmodel.SpecError` without matplotlib, and for another view.
    """
    if result["view"] != "memory-vs-speed":
        raise problem(f"study `{study.name}` has no memory and speed of its rows", help="want one of view memory-vs-speed or grid")
    with drawing(lang) as lang:
        t, words = Texts(lang), Words(study, lang)
        points = [Point(t("baseline"), 1, 1, True), *_rows(study, result, words)]
        base = result["baseline"]
        load = ", ".join(
            f"{clean(str(v))}" for v in (base["model"], base["hardware"], base["engine"], *base["techniques"], *base["set"]) if v
        )
        figure, axis = _figure(words.pick(study.title) if study.title else study.name, [f"{t('baseline')}: {load}"])
        _ratios(axis, points, t)
        _finish(figure, axis, points, t, [], t("other_baseline"))
    return figure


def _rows(study, result: dict, words: Words) -> list[Point]:
    """A point for each row, or for each of its variants."""
    titles = {row.name: words.pick(row.title) for row in study.rows}
    points = []
    for row in result["rows"]:
        own = row["against"] == result["baseline"]
        title = titles[row["technique"]]
        several = sum(v["votes"] for v in row["variants"]) > 1
        for v in row["variants"] or [row | {"name": title, "votes": True}]:
            name = (v["name"] if several else title) if v["votes"] else f"{row['technique']}: {v['name']}"
            if v["memory_ratio"] and v["speed_ratio"]:
                points.append(Point(name if drawable(name) else row["technique"], v["memory_ratio"], v["speed_ratio"], own))
    return points


def _rivals(p) -> tuple:
    """Machine and workload."""
    asked = facts(p)
    return tuple(asked[k] for k in ("hardware", "engine", *WORKLOAD))


def _groups(cases, lang: str) -> tuple[str, list[str]]:
    """The field by which points differ in colour and mark, where more than one field varies, and the names of its values."""
    asked = [facts(p) for p in cases]
    vary = [k for k in asked[0] if len({a[k] for a in asked}) > 1]
    field = next((k for k in ("hardware", "model", "context", "batch", "techniques", "sets") if k in vary), "")
    if len(vary) < 2 or not field or len({a[field] for a in asked}) > len(MARKS):
        return "", []
    titled = field in ("hardware", "model")
    names = {a[field]: title_of(p.runnable.meta, field, lang) if titled else "" for p, a in zip(cases, asked, strict=True)}
    if not titled:
        t = Texts(lang)
        firsts = [next(p for p, a in zip(cases, asked, strict=True) if a[field] == value) for value in names]
        others = tuple(k for k in asked[0] if k != field)
        names = dict(zip(names, naming(firsts, t, others).short, strict=True))
    return field, list(names.values())


def _figure(title: str, lines: list[str]):
    figure = new_figure(7.4, 5.4)
    axis = figure.subplots()
    head(figure, axis, title, lines)
    bare(axis)
    return figure, axis


def _scaled(axis, points: list[Point], usable: float | None, memory: str, t: Texts) -> None:
    """Axes in GB and tokens/s, logarithmic where the values need it, and a line where memory ends."""
    for one, values, word in ((axis.xaxis, [p.x for p in points], memory), (axis.yaxis, [p.y for p in points], "per_user")):
        low, high = min(values), max(values)
        one.set_label_text(t(word))
        if wide_range(values, 6):
            logarithmic(one, low / 1.5, high * 1.7)
            continue
        gap = 0.14 * (high - low or high)
        (axis.set_xlim if one is axis.xaxis else axis.set_ylim)(max(0, low - gap), high + gap)
        plain(one)
    if usable is not None and usable / GB < axis.get_xlim()[1] * 1.3:
        axis.set_xlim(axis.get_xlim()[0], max(axis.get_xlim()[1], usable / GB * 1.05))
        axis.axvline(usable / GB, color=INK, lw=1.6, zorder=1, label=f"{t('usable')} ({scaled(usable, 'B')})")


def _ratios(axis, points: list[Point], t: Texts) -> None:
    """Logarithmic axes of ratios, with the baseline's two lines."""
    from matplotlib.ticker import FuncFormatter

    axis.set(xscale="log", yscale="log", xlabel=t("memory_ratio"), ylabel=t("speed_ratio"))
    for one, values in ((axis.xaxis, [p.x for p in points]), (axis.yaxis, [p.y for p in points])):
        low, high = min(values) / 1.5, max(values) * 1.6
        (axis.set_xlim if one is axis.xaxis else axis.set_ylim)(low, high)
        steps = [v for v in (0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 30, 100) if low < v < high]
        one.set_ticks(steps if high / low < 30 else [v for v in steps if v in (0.001, 0.01, 0.1, 0.3, 1, 3, 10, 100)])
        one.set_major_formatter(FuncFormatter(lambda value, _: factor(value)))
        one.set_minor_locator(_none())
    axis.axvline(1, color=FAINT, lw=0.8, ls=(0, (1, 2)), zorder=1)
    axis.axhline(1, color=FAINT, lw=0.8, ls=(0, (1, 2)), zorder=1)


def _none():
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _finish(figure, axis, points: list[Point], t: Texts, groups: list[str], hollow: str) -> None:
    """Marks, fronts, legend and labels."""
    from matplotlib.lines import Line2D

    fronts = [front([p for p in points if p.rivals == k]) for k in dict.fromkeys(p.rivals for p in points)]
    fronts = [line for line in fronts if len(line) > 1 or len(fronts) == 1]
    best = [p for line in fronts for p in line]
    for p in points:
        own = look(p.group)
        fill, edge = own.colour if p.counts else "white", INK if p in best else own.colour
        axis.plot(p.x, p.y, own.mark, ms=7 if p in best else 6, mfc=fill, mec=edge, mew=1.2, zorder=4 if p in best else 3)
    for corners, line in zip(map(partial(_corners, axis), fronts), fronts, strict=True):
        axis.plot(*corners, color=look(line[0].group).colour if len(fronts) > 1 else INK, lw=1.1, ls=(0, (5, 2)), zorder=2)
    handles: list = [Line2D([], [], ls="", marker=MARKS[i], color=COLOURS[i], ms=6, label=name) for i, name in enumerate(groups)]
    if fronts:
        handles.append(Line2D([], [], color=INK, lw=1.1, ls=(0, (5, 2)), label=t("front")))
    if not all(p.counts for p in points):
        handles.append(Line2D([], [], ls="", marker="o", mfc="white", mec=INK, ms=6, label=hollow))
    handles += [line for line in axis.lines if not line.get_label().startswith("_")]
    legend(figure, handles)
    settle(figure)
    _label(axis, points, best, [_corners(axis, line) for line in fronts], t)


def _corners(axis, line: list[Point]) -> tuple[list[float], list[float]]:
    """The steps of a front: each point's speed holds until the next one's memory, and on to the right edge."""
    xs: list[float] = []
    ys: list[float] = []
    for p in line:
        xs += [p.x, p.x]
        ys += [ys[-1] if ys else p.y, p.y]
    return ([*xs, axis.get_xlim()[1]], [*ys, ys[-1]]) if line else ([], [])


def _label(axis, points: list[Point], best: list[Point], lines, t: Texts) -> None:
    """Names beside the marks, those of a front first."""
    labels = Labels(axis)
    labels.keep_off([p.x for p in points], [p.y for p in points])
    for xs, ys in lines:
        if xs:
            labels.avoid(xs, ys)
    many = len(points) > MANY
    for p in [*best, *(p for p in points if p not in best)]:
        style = {"fontweight": "bold"} if p in best else {}
        rings = RINGS[:4] if many and p not in best else RINGS
        labels.add(
            p.label,
            [p.x],
            [p.y],
            size=6.8 if many else 8,
            colour=ink(look(p.group).colour) if p.group or p in best else INK,
            rings=rings,
            **style,
        )
    labels.place(t)
