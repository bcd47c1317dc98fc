"""One row on the units of a machine: what the device computes, what the host computes, what is streamed."""

from __future__ import annotations

from ..language.formula import Node, Num
from ..language.formula.fold import bind
from ..language.formula.nodes import Bin, Call, Name
from ..schema.names import BOUNDS
from .rows import Row

KEPT = ("hk", "hs")
"""Terms of what stays resident: they do not depend on the pass."""


class Placed:
    """One row on one unit (`device` or `host`): bound terms, math type, efficiencies, and shares streamed from tiers."""

    __slots__ = ("bits", "eff", "math", "rate", "repeat", "row", "stored", "streams", "terms", "unit")

    def __init__(self, row: Row, unit: str, repeat: int, terms: dict, stored: dict | None = None):
        self.row, self.unit, self.repeat, self.terms = row, unit, repeat, terms
        self.math = "fp16"
        self.rate: Node = Num(1)
        self.eff: dict[str, Node] = {}
        self.streams: dict[str, float] = {}  # "weights@host": share
        self.stored: dict[str, float] = stored or {}
        self.bits = 0.0


def split(row: Row, repeat: int, terms: dict, stored: float) -> list[Placed]:
    """The row on the device and, where techniques say so, on the host; `stored` bytes per repeat."""
    computed = [p for p in row.place if p.mode == "compute"]
    if row.link == "host" and computed:
        return [crossing(row, repeat, terms, computed)]
    device = Placed(row, "device", repeat, terms, {"device": stored * repeat})
    for place in (p for p in row.place if p.mode == "stream"):
        if place.what == "weights":
            device.stored = {"device": stored * repeat * (1 - place.share), place.tier: stored * repeat * place.share}
        device.streams[f"{place.what}@{place.tier}"] = place.share
    if not computed:
        return [device]
    most = max(computed, key=lambda p: p.share)
    if most.count is not None or most.share == 1:
        count = repeat if most.count is None else most.count
        device.repeat, device.stored = repeat - count, {"device": stored * (repeat - count)}
        host = Placed(row, "host", count, terms, {"host": stored * count})
        return [p for p in (device, host) if p.repeat]
    device.terms = {k: times(1 - most.share, n) for k, n in terms.items()}
    device.stored = {"device": stored * repeat * (1 - most.share)}
    return [
        device,
        Placed(row, "host", repeat, {k: times(most.share, n) for k, n in terms.items()}, {"host": stored * repeat * most.share}),
    ]


def crossing(row: Row, repeat: int, terms: dict, computed: list) -> Placed:
    """A transfer over the host link: paid by the layers that a technique sends there, but not where they live there anyway."""
    there = max((p.share for p in computed if not p.home), default=0)
    home = max((p.share for p in computed if p.home), default=0)
    share = max(0.0, there - home)
    count = round(share * repeat)
    if abs(count - share * repeat) < 1e-9:
        return Placed(row, "device", count, terms)
    return Placed(row, "device", repeat, {k: times(share, n) for k, n in terms.items()})


def copied(host: Placed, tokens: int, at_a_time: int | None) -> list[Placed]:
    """A row on the host whose weights are copied to the device, and computed there, in passes of `tokens` or more.

    The copy is made anew for each micro-batch of `at_a_time` tokens.
    """
    if host.unit != "host" or Num(0) in (host.terms["w"], host.terms["f"]):
        return [host]
    small, large = (Bin(op, Name("M"), Num(tokens)) for op in ("<", ">="))
    moved = {k: n if k in KEPT else where(small, n) for k, n in host.terms.items()}
    on_device = {k: Num(0) if k in KEPT else where(large, n) for k, n in host.terms.items()}
    if at_a_time:
        on_device["w"] = bind(Bin("*", Call("ceil", (Bin("/", Name("M"), Num(at_a_time)),)), on_device["w"]), {}, BOUNDS)
    device = Placed(host.row, "device", host.repeat, on_device)
    device.streams["weights@host"] = 1.0
    host.terms = moved
    return [host, device]


def where(condition: Node, node: Node) -> Node:
    """`node` where the condition holds, else nothing."""
    return node if node == Num(0) else Call("where", (condition, node, Num(0)))


def times(share: float, node: Node) -> Node:
    """A share of a term."""
    return bind(Bin("*", Num(share), node), {}, BOUNDS)
