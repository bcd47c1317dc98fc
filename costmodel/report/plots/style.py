"""How every picture looks: colours, marks, lines and hatches that also differ in grey, fonts, numbers at axes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, NamedTuple

from ...language.problem import problem
from .fonts import LATIN, hangul, readable

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F3C8D", "#8C6D31", "#4D4D4D")
"""Colours that the colour-blind can tell (Okabe and Ito 2008), and three more."""
OTHER = "#B0B0B0"
MARKS = "osD^vP<>p"
LINES = ("-", (0, (6, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (2, 1)), (0, (8, 2, 1, 2, 1, 2)), (0, (10, 3)))
HATCHES = ("", "////", "xxxx", "..", "\\\\\\\\")
INK, FAINT, GRID = "#333333", "#666666", "#E4E4E4"
EDGE = 8
"""Points between the figure's left edge and its title."""
MOST = len(COLOURS)
"""Most cases in one picture: beyond that nobody can tell them apart."""
STYLE: Any = {
    "svg.hashsalt": "costmodel",
    "svg.fonttype": "path",  # looks and measures the same everywhere, also where the reader lacks the font
    "font.size": 9,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "font.family": [LATIN],
    "text.parse_math": False,  # a `$` in a title is a dollar
    "axes.unicode_minus": False,
}


class Look(NamedTuple):
    """Colour, mark and line of one case."""

    colour: str
    mark: str
    line: Any


def ink(colour: str) -> str:
    """A colour made dark enough for small type on white."""
    return "#" + "".join(f"{int(int(colour[i : i + 2], 16) * 0.72):02X}" for i in (1, 3, 5))


def look(index: int) -> Look:
    """The look of the case at an index."""
    return Look(COLOURS[index % MOST], MARKS[index % MOST], LINES[index % len(LINES)])


@contextmanager
def drawing(lang: str = "en"):
    """Settings under which pictures are made and saved, whatever the user's own are; gives the language to draw in.

    That is English, with a warning, where Korean is asked for and no font has Hangul. Raises :class:`costmodel.SpecError`
    where matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError:
        raise problem("pictures need matplotlib", None, "pip install matplotlib") from None
    from logging import ERROR, getLogger

    log = getLogger("matplotlib.font_manager")
    before = log.level
    log.setLevel(ERROR)  # it warns where a family lacks a bold face
    try:
        spoken, note = readable(lang)
        if note:
            from warnings import warn

            warn(note, stacklevel=4)
        with _settings(matplotlib, spoken):
            yield spoken
    finally:
        log.setLevel(before)


@contextmanager
def _settings(matplotlib, lang: str):
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        if lang == "ko":
            matplotlib.rcParams["font.family"] = [hangul(), LATIN]
        yield


def new_figure(width: float, height: float):
    """An empty figure of so many inches, laid out by its contents."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    return FigureCanvasAgg(Figure(figsize=(width, height), dpi=100, layout="constrained")).figure


def bare(axis, grid: str = "both") -> None:
    """Axes without frame at the top and right, with a faint grid behind what is drawn."""
    axis.grid(True, which="major", axis=grid, color=GRID, lw=0.6)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def head(figure, axis, title: str, lines: list[str]) -> None:
    """A title, and lines below it in smaller type, wrapped to the figure's width."""
    wide = figure.get_figwidth() * 72 - 2 * EDGE
    body = [part for line in lines for part in _wrapped(figure, line, wide, 8.5)]
    top = _wrapped(figure, title, wide, 11, "bold")
    figure.suptitle("\n".join(top), x=EDGE / 72 / figure.get_figwidth(), ha="left", fontsize=11, color=INK, fontweight="bold")
    axis.set_title("\n".join(body), loc="left", fontsize=8.5, color=FAINT, linespacing=1.35)


def _wrapped(figure, text: str, points: float, size: float, weight: str = "normal") -> list[str]:
    """Lines of a text, none wider than so many points."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _wide(figure, longer, size, weight) <= points:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _wide(figure, text: str, size: float, weight: str = "normal") -> float:
    """Width of a text in points."""
    from matplotlib.font_manager import FontProperties

    renderer = figure.canvas.get_renderer()
    return renderer.get_text_width_height_descent(text, FontProperties(size=size, weight=weight), False)[0] * 72 / figure.dpi


def legend(figure, handles: list) -> None:
    """The legend below everything, in as few rows as keep it narrower than the figure."""
    if handles:
        wide = figure.get_figwidth() * 72 - 2 * EDGE
        widest = max(_wide(figure, h.get_label(), 8) for h in handles) + 40
        rows = -(-len(handles) // max(1, int(wide / widest)))
        figure.legend(handles=handles, loc="outside lower center", ncols=-(-len(handles) // rows), frameon=False, fontsize=8)


def counts(axis, values, of_tokens: bool) -> None:
    """Ticks at counts of tokens (`1k`, `2k`, `4k`) or of sequences."""
    labels = [tokens(v) if of_tokens else f"{v:,}" for v in values]
    every = _every(axis, labels)
    axis.set_ticks(list(values)[::every], labels=labels[::every])
    axis.set_tick_params(which="minor", length=0)
    _no_minor(axis)


def _every(axis, labels: list[str]) -> int:
    """Which of the ticks to name, so that fewer than ten stand and none touches the next: every so many."""
    figure, columns = axis.axes.figure, axis.axes.get_subplotspec().get_gridspec().ncols
    room = figure.get_figwidth() * 72 / columns * 0.75
    widest = max(_wide(figure, label, 9) for label in labels) + 6
    return max(1 if len(labels) < 10 else 2, -(-len(labels) * int(widest) // int(room)))


def tokens(value: float) -> str:
    """A count of tokens as the field writes it: `8k` for 8192, `1.5k`, `23,040`."""
    for step, unit in ((2**20, "M"), (1024, "k")):
        if value >= step and value % step == 0:
            return f"{value / step:,.0f}{unit}"
    return f"{value:,.0f}"


def plain(axis) -> None:
    """Numbers at an axis without powers: `10`, `1,000`."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    _no_minor(axis)


def logarithmic(axis, low: float, high: float) -> None:
    """A logarithmic axis from `low` to `high`, with numbers near enough to one another to read values by."""
    from matplotlib.ticker import LogLocator

    axis.axes.set(**{f"{axis.axis_name}scale": "log", f"{axis.axis_name}lim": (low, high)})
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,), numticks=12))
    plain(axis)


def _no_minor(axis) -> None:
    from matplotlib.ticker import NullFormatter

    axis.set_minor_formatter(NullFormatter())


def wide_range(values, factor: float = 20) -> bool:
    """Whether positive values span so much that only a logarithmic axis shows them all."""
    known = [v for v in values if v and v > 0]
    return bool(known) and max(known) > factor * min(known)
