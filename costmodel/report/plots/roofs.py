"""The ceilings of a roofline: bandwidths that rise, peak rates that are flat, of every machine that the cases run on."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...sizes import scaled
from .cases import title_of
from .labels import Labels
from .style import INK, ink, look


class Machine(NamedTuple):
    """What the cases use of one machine: bandwidths and peaks by name, in B/s and FLOP/s."""

    title: str
    slopes: dict[str, float]
    peaks: dict[str, float]
    case: int
    """The first case on it."""

    def top(self, slope: str) -> float:
        """The highest peak of the unit whose memory it is."""
        own = [v for k, v in self.peaks.items() if k.startswith("hpk_") == (slope == "hram")]
        return max(own or self.peaks.values())


class Roof(NamedTuple):
    """A drawn ceiling: what it says, where it runs, and whether it rises."""

    text: str
    xs: Any
    ys: Any
    rises: bool
    colour: str


def machines_of(cases, lang: str) -> list[Machine]:
    """The machines of the cases, those of prefill and decode, told apart by name and bandwidth."""
    found: dict[tuple, Machine] = {}
    for i, p in enumerate(cases):
        for runnable in (p.runnable, p.decoder):
            rates, name = runnable.meta["rates"], runnable.meta["hardware"]
            machine = found.setdefault((name, rates["bw"]), Machine(title_of(runnable.meta, "hardware", lang), {}, {}, i))
            machine.slopes.update({k: v for k, v in rates.items() if k in ("bw", "hram")})
            machine.peaks.update({k: v for k, v in rates.items() if k.startswith(("pk_", "hpk_"))})
    return list(found.values())


def draw_roofs(axis, machines: list[Machine]) -> list[Roof]:
    """Draw both kinds of ceilings of every machine, the highest of its device in full, others dotted."""
    found = []
    for machine in machines:
        own, alone = look(machine.case), len(machines) == 1
        colour, line = (INK, "-") if alone else (own.colour, own.line)
        for roof, full in _roofs_of(machine, axis.get_xlim(), colour):
            axis.plot(roof.xs, roof.ys, color=colour, lw=1.6 if full else 1.0, ls=line if full else ":", zorder=2)
            found.append(roof if alone else roof._replace(text=_whole(machine) if full and not roof.rises else ""))
    return found


def roof_handles(machines: list[Machine]) -> list:
    """The legend's lines of several machines."""
    from matplotlib.lines import Line2D

    own = [look(machine.case) for machine in machines] if len(machines) > 1 else []
    return [Line2D([], [], color=o.colour, ls=o.line, lw=1.6, label=m.title) for o, m in zip(own, machines, strict=False)]


def _roofs_of(machine: Machine, limits, colour: str):
    """(roof, whether it is drawn in full) of one machine: slopes rise to the highest peak, peaks are flat from their slope on."""
    import numpy

    x = numpy.geomspace(limits[0], limits[1], 400)
    for name, rate in machine.slopes.items():
        corner = machine.top(name) / rate
        xs = numpy.append(x[x < corner], corner)
        yield Roof(_said(name, rate), xs, xs * rate, True, colour), name == "bw"
    for name, rate in machine.peaks.items():
        corner = rate / machine.slopes["hram" if name.startswith("hpk_") else "bw"]
        xs = numpy.append(corner, x[x > corner])
        yield Roof(_said(name, rate), xs, xs * 0 + rate, False, colour), rate == machine.top("bw")


def _said(name: str, rate: float) -> str:
    """A rate as labels say it: `1.01 TB/s`, `fp16 165 TFLOP/s`, those of the host marked."""
    text = f"{name.partition('_')[2]} {scaled(rate, 'FLOP/s')}" if "pk_" in name else scaled(rate, "B/s")
    return f"host {text}" if name.startswith("h") else text


def _whole(machine: Machine) -> str:
    """All rates of a machine in one label."""
    return ", ".join(_said(k, v) for k, v in (machine.peaks | machine.slopes).items())


def label_roofs(labels: Labels, roofs: list[Roof]) -> None:
    """Ask for a label along each ceiling: above the flat ones from their right end, turned along the rising ones."""
    from math import atan2, cos, degrees, pi, sin

    for roof in roofs:
        labels.avoid(roof.xs[[0, -1]], roof.ys[[0, -1]])
    for roof in (r for r in roofs if r.text):
        if not roof.rises:
            labels.add(
                roof.text,
                roof.xs[::-8],
                roof.ys[::-8],
                colour=ink(roof.colour),
                directions=((-1, 1), (-1, -1), (0, 1), (0, -1)),
                rings=(2, 4),
                leader=False,
            )
            continue
        (x0, y0), (x1, y1) = labels.points(roof.xs[[0, -1]], roof.ys[[0, -1]])
        turn = atan2(y1 - y0, x1 - x0)
        away = [(cos(turn + side * pi / 2), sin(turn + side * pi / 2)) for side in (1, -1)]
        labels.add(
            roof.text,
            roof.xs[30:-10:6],
            roof.ys[30:-10:6],
            colour=ink(roof.colour),
            rotation=degrees(turn),
            directions=away,
            rings=(8, 10),
            leader=False,
        )
