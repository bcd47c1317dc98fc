"""What memory holds, as stacked bars: weights, KV cache, state, workspace and draft model against what the device may use."""

from __future__ import annotations

from textwrap import fill
from typing import Any, NamedTuple

from ...sizes import scaled
from ...solve.prediction import Prediction
from .cases import listed, memory_word, naming, title_of
from .labels import settle
from .style import COLOURS, FAINT, HATCHES, INK, bare, drawing, head, legend, new_figure, plain
from .words import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = ("weights", "kv", "state", "workspace", "draft")
MOST_BARS = 16
WIDE = 30
"""Characters of a bar's name in a line."""
GB = 1e9
LOOKS = dict(zip(PARTS, zip((COLOURS[0], COLOURS[4], COLOURS[2], COLOURS[3], COLOURS[5]), HATCHES, strict=True), strict=True))

LACKING = "#B00000"
LIMITS: dict = {"usable": (2.0, INK, "-"), "capacity": (1.0, FAINT, (0, (2, 2)))}
"""Width, colour and line of what stands at the end of a memory."""


class Bar(NamedTuple):
    """One memory of one case, in bytes."""

    label: str
    parts: dict[str, float]
    usable: float | None
    capacity: float | None
    fits: bool | None

    @property
    def lack(self) -> float:
        """Bytes above what may be used."""
        return 0 if self.usable is None else max(0, sum(self.parts.values()) - self.usable)


def memory(predictions, contexts=(), *, lang: str = "en") -> Figure:
    """Stacked bars of what each prediction's memory holds, at each of `contexts` (default: its own), as a matplotlib Figure.

    Memory in a lower tier (host, disk) has a bar of its own below. A line stands at the usable share of each memory. Raises
    :class:`costmodel.SpecError` without matplotlib, and for more than sixteen bars.
    """
    cases = listed(_at(listed(predictions, MOST_BARS), contexts), MOST_BARS)
    with drawing(lang) as lang:
        t = Texts(lang)
        names = naming(cases, t)
        if len(cases) == 1:
            names.long[0] = title_of(cases[0].runnable.meta, "model", lang)
        bars = [bar for p, name in zip(cases, names.long, strict=True) for bar in _bars(p, name, t)]
        rows = max(bar.label.count("\n") + 1 for bar in bars)
        figure = new_figure(7.6, 1.75 + max(0.42, 0.16 * rows + 0.1) * len(bars))
        axis = figure.subplots()
        head(figure, axis, names.title, names.lines)
        _stack(axis, bars)
        _axes(axis, bars, t(memory_word(cases)))
        _totals(axis, bars, t)
        legend(figure, _handles(axis, t, bars))
        settle(figure)
    return figure


def _at(cases: list[Prediction], contexts) -> list[Prediction]:
    """The predictions at every context; those of one case stay together."""
    return [Prediction(p.runnable, p.prompt, p.output, c, p.batch) for p in cases for c in contexts] or cases


def _bars(p: Prediction, name: str, t: Texts) -> list[Bar]:
    """The device's bar, and one for each lower tier in use."""
    m = p.memory
    device = {k: getattr(m, f"{k}_bytes") for k in PARTS}
    found = [Bar(fill(name, WIDE, break_on_hyphens=False), device, m.usable_bytes, m.capacity_bytes, m.fits)]
    for tier, held in m.tiers.items():
        sizes: dict[str, Any] = {**held}
        parts = {k: sizes.get(f"{k}_bytes", 0) for k in PARTS}
        found.append(Bar(fill(f"{name}, {t(tier)}", WIDE, break_on_hyphens=False), parts, held["capacity_bytes"], None, held["fits"]))
    return found


def _stack(axis, bars: list[Bar]) -> None:
    """The bars, from above, each with a line where its usable memory ends."""
    for row, bar in enumerate(bars):
        start = 0.0
        for part in PARTS:
            size = bar.parts[part] / GB
            colour, hatch = LOOKS[part]
            if size:
                axis.barh(row, size, left=start, height=0.62, color=colour, hatch=hatch, ec="white", lw=0.6, zorder=2)
            start += size
        for key, (width, colour, style) in LIMITS.items():
            value = getattr(bar, key)
            if value is not None:
                axis.plot([value / GB] * 2, [row - 0.5, row + 0.5], color=colour, lw=width, ls=style, zorder=4)


def _axes(axis, bars: list[Bar], name: str) -> None:
    ends = [sum(b.parts.values()) for b in bars]
    usable = [b.usable for b in bars if b.usable is not None and b.usable < 6 * max(ends)]
    capacity = [b.capacity for b in bars if b.capacity is not None and b.capacity < 6 * max(ends)]
    axis.set_xlim(0, max([*ends, *usable, *capacity]) * 1.04 / GB)
    axis.set_ylim(len(bars) - 0.4, -0.6)
    axis.set_yticks(range(len(bars)), labels=[b.label for b in bars])
    axis.tick_params(axis="y", length=0)
    plain(axis.xaxis)
    bare(axis, "x")
    axis.set_xlabel(name)


def _totals(axis, bars: list[Bar], t: Texts) -> None:
    """At the right of each bar its total, and of what."""
    right = axis.twinx()
    right.set_ylim(axis.get_ylim())
    right.set_yticks(range(len(bars)), labels=[_total(bar, t) for bar in bars])
    right.tick_params(axis="y", length=0)
    for side in right.spines.values():
        side.set_visible(False)
    for bar, label in zip(bars, right.get_yticklabels(), strict=True):
        label.set(color=LACKING if bar.lack else INK, fontweight="bold" if bar.lack else "normal")


def _total(bar: Bar, t: Texts) -> str:
    text = scaled(sum(bar.parts.values()), "B")
    if bar.usable is not None:
        text = t("of", total=text, usable=scaled(bar.usable, "B"))
    return f"{text}\n{t('too_much', lack=scaled(bar.lack, 'B'))}" if bar.lack else text


def _handles(axis, t: Texts, bars: list[Bar]) -> list:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    most = axis.get_xlim()[1] * GB
    lines = [(key, drawn) for key, drawn in LIMITS.items() if any((v := getattr(b, key)) and v < most for b in bars)]
    there = [part for part in PARTS if any(b.parts[part] for b in bars)]
    return [Patch(fc=LOOKS[p][0], hatch=LOOKS[p][1], ec="white", label=t(p)) for p in there] + [
        Line2D([], [], ls=style, lw=width, color=colour, label=t(key)) for key, (width, colour, style) in lines
    ]
