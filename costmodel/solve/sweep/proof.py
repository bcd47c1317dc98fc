"""Which inputs of a compiled case stand for a path of `--set`, so that its values need not be compiled one by one.

A path is an input where it is a rate of the schema that the compiler hands on as it is (a bandwidth, a peak rate, a
latency), a coefficient or knob that stays a name, or a capacity; and where the sources compiled at its lowest and highest
value differ in these inputs alone, each of which has the very value that was set. Two host rates are the smaller of several
paths (the link and the RAM behind it); at both ends such a rate must be the one value or the other, so that it is between.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...compile.graph.nodes import Graph
from ...compile.uses import open_name
from ..traced import Traced

SHARED = (("hw", "host", "dram", "bandwidth"), ("hw", "host", "disk", "bandwidth"), ("hw", "links", "host", "bandwidth"))
"""Paths of which some rates are the smallest: at most one of them can be an input of a case."""
CAPACITIES = {"capacity", "usable", "tiers"}
_BESIDE = {"rates", "sets", "notes", "places", "titles", "techniques"}
_KNOB = re.compile(r"(knob_\w+)=[^,)]+")


def rates_of(path: tuple[str, ...]) -> tuple[str, ...]:
    """The inputs that a path may be; none where every value is compiled."""
    match path:
        case ("hw", "memory", _, "bandwidth"):
            return ("bw",)
        case ("hw", "compute", kind):
            return (f"pk_{kind}",)
        case ("hw", "host", "compute", kind):
            return (f"hpk_{kind}",)
        case ("hw", "host", "dram", "bandwidth"):
            return ("hram", "host")
        case ("hw", "host", "disk", "bandwidth"):
            return ("disk",)
        case ("hw", "links", "host", "bandwidth"):
            return ("host", "disk")
        case ("hw", "links", "peer" | "network" as link, "bandwidth"):
            return (link,)
        case ("hw", "links", "host" | "peer" | "network" as link, "latency"):
            return (f"{link}_latency",)
        case ("tech", name, knob):
            return (open_name(name, knob),)
        case ("engine", *stages, "coefficients", name):
            return (re.sub(r"\W", "_", "_".join(("k", *stages, name))),)
    return ()


def limits_of(path: tuple[str, ...]) -> tuple[str, ...]:
    """The capacities that a path decides: `usable`, `usable_host`, `usable_disk`."""
    match path:
        case ("hw", "memory", _, "capacity" | "reserve") | ("hw", "usable"):
            return ("usable",)
        case ("hw", "host", "dram" | "disk" as tier, "capacity" | "reserve"):
            return ("usable_host" if tier == "dram" else "usable_disk",)
    return ()


def inputs_of(runnable) -> dict[str, float]:
    """Every input that a case compiled with `open` leaves, with its value."""
    found: dict[str, float] = {}
    Traced(runnable, Graph(), found)
    return found


def proven(low, high, ends: Mapping[str, tuple[tuple[str, ...], float, float]]) -> dict[str, tuple[str, ...]] | None:
    """The inputs of each axis, or None where a path does more than that.

    `low` and `high` are a case compiled (`open`) at the lowest and highest values; `ends` maps axes to (path, low, high).
    """
    loose = {k for path, *_ in ends.values() if limits_of(path) for k in CAPACITIES}
    if not _alike(low, high, frozenset(_BESIDE | loose)):
        return None
    first, last = inputs_of(low), inputs_of(high)
    found: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    for axis, (path, least, most) in ends.items():
        names = tuple(n for n in rates_of(path) if n in first and first[n] != last[n])
        if any((first[n], last[n]) != (least, most) for n in names) or taken & set(names):
            return None
        if path[0] in ("tech", "engine") and not names:
            return None
        taken |= set(names)
        found[axis] = names + limits_of(path)
    return found if {n for n in first if first[n] != last[n]} == taken else None


def _alike(low, high, loose: frozenset[str]) -> bool:
    """Whether two sources differ in nothing but rates, the values of open knobs, and the facts in `loose`."""
    a, b = ({k: v for k, v in r.meta.items() if k not in loose} for r in (low, high))
    if a != b or low.children.keys() != high.children.keys() or _body(low) != _body(high):
        return False
    return all(_alike(low.children[name], high.children[name], loose) for name in low.children)


def _body(runnable) -> str:
    """The functions of a source."""
    return _KNOB.sub(r"\1", runnable.text[runnable.text.index("\ndef step(") :])
