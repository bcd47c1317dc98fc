"""Where labels go: each takes the nearest place at which it covers no other label, no mark and, if it can, no line.

Everything is measured in points (1/72 inch) as drawn, so a place holds at any resolution. Nothing is random.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, sin
from typing import Any, NamedTuple

from .style import EDGE, FAINT, INK

AROUND = tuple((cos(a * pi / 8), sin(a * pi / 8)) for a in (2, 0, 14, 6, 8, 10, 4, 12, 1, 15, 3, 5, 7, 9, 11, 13))
"""Directions in which a label may lie of what it names, the best first."""
RINGS = (5, 9, 16, 26, 40, 58, 80, 110)
"""Points between them."""
GAP = 1.5
"""Points kept free around every label."""
LINE_COST, FAR = 14.0, 13.0
"""Price of a label that lies on a line, in points of distance; distance from which a thin line leads to the label."""


class Item(NamedTuple):
    """A label that waits for its place."""

    artist: Any
    anchors: list
    """Places that it may name, in points, the best first."""
    size: tuple[float, float]
    directions: tuple
    rings: tuple
    leader: bool
    edge: bool
    """Whether rings are counted from the label's edge; else (turned texts) from its middle."""


class Labels:
    """The labels of one panel. Its size must be final: call :func:`settle` on the figure first."""

    def __init__(self, axis):
        import numpy

        self.np, self.axis, self.figure = numpy, axis, axis.figure
        self.scale = 72 / self.figure.dpi
        self.renderer = self.figure.canvas.get_renderer()
        box = axis.get_window_extent(self.renderer)
        self.room = [v * self.scale for v in (box.x0 + 1, box.y0 + 1, box.x1 - 1, box.y1 - 1)]
        self.hard: list = []
        self.lines: list = []
        self.items: list[Item] = []

    def points(self, xs, ys):
        """Data coordinates as points, n x 2."""
        pairs = self.np.column_stack([self.np.asarray(xs, float), self.np.asarray(ys, float)])
        return self.axis.transData.transform(pairs) * self.scale

    def keep_off(self, xs, ys, radius: float = 4.0) -> None:
        """Marks at data coordinates, which no label may cover."""
        self.hard += [(x - radius, y - radius, x + radius, y + radius) for x, y in self.points(xs, ys)]

    def avoid(self, xs, ys) -> None:
        """A line through data coordinates, which labels cover only where nothing else is left."""
        self.avoid_points(self.points(xs, ys))

    def avoid_points(self, corners) -> None:
        """A line through places in points."""
        for (x0, y0), (x1, y1) in pairwise(corners):
            steps = max(2, int(max(abs(x1 - x0), abs(y1 - y0)) / 3) + 1)
            t = self.np.linspace(0, 1, steps)
            self.lines += [*zip(x0 + t * (x1 - x0), y0 + t * (y1 - y0), strict=True)]

    def add(self, text: str, xs, ys, *, size=8.0, colour=INK, rotation=0.0, directions=AROUND, rings=RINGS, leader=True, **style) -> None:
        """A label for a data coordinate, or for the best of several."""
        ground = {"boxstyle": "square,pad=0.08", "fc": "white", "ec": "none", "alpha": 0.8}
        artist = self.axis.annotate(
            text, xy=(xs[0], ys[0]), xytext=(0, 0), textcoords="offset points", ha="center", va="center", fontsize=size, color=colour,
            rotation=rotation, bbox=ground, zorder=6, annotation_clip=False, **style,
        )  # fmt: skip
        box = artist.get_window_extent(self.renderer)
        wide, high = box.width * self.scale + 2 * GAP, box.height * self.scale + 2 * GAP
        anchors = [*zip(xs, ys, self.points(xs, ys), strict=True)]
        ways = directions if rotation else tuple(map(_square, directions))
        self.items.append(Item(artist, anchors, (wide, high), ways, rings, leader, not rotation))

    def place(self, t=None) -> int:
        """Give every label its place, in the order in which they were added; how many found none and were taken out.

        With words `t` the axis says so.
        """
        left = 0
        for item in self.items:
            found = self._best(item)
            if found is None:
                left += 1
                item.artist.remove()
            else:
                self._put(item, *found)
        self.items = []
        if left and t is not None:
            self.axis.set_xlabel(f"{self.axis.get_xlabel()} ({t('unlabelled', n=left)})")
        return left

    def _best(self, item: Item):
        """(anchor, centre) of the cheapest free place, None where there is none."""
        np = self.np
        wide, high = item.size
        spots = [
            (rank, anchor, x + dx * (ring + wide / 2 * item.edge), y + dy * (ring + high / 2 * item.edge), ring + order * 0.35 + rank * 1.5)
            for rank, (*_, (x, y)) in enumerate(item.anchors)
            for anchor in [item.anchors[rank]]
            for ring in item.rings
            for order, (dx, dy) in enumerate(item.directions)
        ]
        centres = np.array([(s[2], s[3]) for s in spots])
        boxes = np.column_stack([centres - np.array([wide, high]) / 2, centres + np.array([wide, high]) / 2])
        x0, y0, x1, y1 = self.room
        free = (boxes[:, 0] >= x0) & (boxes[:, 1] >= y0) & (boxes[:, 2] <= x1) & (boxes[:, 3] <= y1)
        if self.hard:
            free &= ~_meet(np, boxes, np.array(self.hard)).any(axis=1)
        if not free.any():
            return None
        cost = np.array([s[4] for s in spots]) + self._crossed(boxes)
        cost[~free] = np.inf
        best = spots[int(cost.argmin())]
        return best[1], (best[2], best[3])

    def _crossed(self, boxes):
        """The price of the lines that each box covers."""
        if not self.lines:
            return 0
        lines = self.np.array(self.lines)
        inside = (
            (lines[:, 0] > boxes[:, 0, None]) & (lines[:, 0] < boxes[:, 2, None])
            & (lines[:, 1] > boxes[:, 1, None]) & (lines[:, 1] < boxes[:, 3, None])
        )  # fmt: skip
        return self.np.minimum(inside.sum(axis=1), 6) * LINE_COST

    def _put(self, item: Item, anchor, centre) -> None:
        x, y, (px, py) = anchor
        item.artist.xy = (x, y)
        item.artist.set_position((centre[0] - px, centre[1] - py))
        wide, high = item.size
        self.hard.append((centre[0] - wide / 2, centre[1] - high / 2, centre[0] + wide / 2, centre[1] + high / 2))
        ex = min(max(px, centre[0] - wide / 2), centre[0] + wide / 2)
        ey = min(max(py, centre[1] - high / 2), centre[1] + high / 2)
        if item.leader and (ex - px) ** 2 + (ey - py) ** 2 > FAR**2:
            arrow = {"arrowstyle": "-", "lw": 0.6, "color": FAINT, "shrinkA": 0, "shrinkB": 4}
            self.axis.annotate(
                "", xy=(x, y), xytext=(ex - px, ey - py), textcoords="offset points", arrowprops=arrow, zorder=5, annotation_clip=False
            )
            self.avoid_points([(px, py), (ex, ey)])


def _square(direction) -> tuple[float, float]:
    """A direction stretched to the unit square, so that labels touch the ring with their edge."""
    dx, dy = direction
    most = max(abs(dx), abs(dy))
    return dx / most, dy / most


def _meet(np, boxes, others):
    """Whether each box (rows) meets each of the others (columns)."""
    return (
        (boxes[:, 0, None] < others[:, 2]) & (boxes[:, 2, None] > others[:, 0])
        & (boxes[:, 1, None] < others[:, 3]) & (boxes[:, 3, None] > others[:, 1])
    )  # fmt: skip


def settle(figure) -> None:
    """Lay the figure out for good, so that labels can be placed by what it looks like."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axis in figure.axes:
        box, left = axis.get_position(), EDGE / 72 / figure.get_figwidth()
        axis._left_title.set_x((left - box.x0) / box.width)
