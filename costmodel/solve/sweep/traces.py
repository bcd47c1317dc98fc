"""Parts of a cell: the places of equal values, bounds of inputs, nodes of figures, and capacities that a path decides."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ...compile.build import lower_bytes, usable_bytes
from ...compile.machine import device_tier
from ..traced import Formulas
from .axes import Axis


def codes_of(axis: Axis):
    """Of each place of a table's axis, the first place with the same value."""
    import numpy as np

    first: dict = {}
    keys = axis.labels.tolist() if hasattr(axis.labels, "tolist") else map(_key, axis.values)
    return np.array([first.setdefault(k, i) for i, k in enumerate(keys)])


def _key(value):
    """What is equal for values that are the same to the compiler: documents of one name may differ."""
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    return (type(value).__name__, value if isinstance(value, (int, float, str)) else id(value))


def span_of(values) -> tuple[float, float]:
    """The least and the largest finite value."""
    import numpy as np

    low, high = float(values.min()), float(values.max())
    if low == low and abs(low) < np.inf and abs(high) < np.inf:
        return low, high
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if known.size else (1.0, 1.0)


def nodes_of(runnable, numbers: dict, vary: frozenset[str], figures) -> tuple[dict, list[str], Any]:
    """(nodes of figures by name, figures that have no formula, node of whether predict accepts)."""
    later = any(n.startswith(("e2e", "itl", "user")) for n in figures)
    try:
        formulas = Formulas(runnable, **numbers, vary=vary)
        sound = formulas.sound(later)
    except (NotImplementedError, ArithmeticError, ValueError):
        return {}, list(figures), None
    nodes, left = {}, []
    for name in figures:
        try:
            nodes[name] = formulas.figure(name)
        except (KeyError, NotImplementedError, ArithmeticError, ValueError):
            left.append(name)
    return nodes, left, sound


def limit_at(spec, path: tuple[str, ...], name: str, value: float) -> float:
    """Bytes that may be used of a tier where a field of the hardware has another value."""
    doc, (_, memory) = spec.doc, device_tier(spec)
    if path == ("hw", "usable"):
        return usable_bytes(SimpleNamespace(doc=SimpleNamespace(usable=value)), memory)  # type: ignore[arg-type, return-value]
    old = memory if path[1] == "memory" else getattr(doc.host, path[2])
    new = SimpleNamespace(**({"capacity": old.capacity, "reserve": old.reserve} | {path[-1]: value}))
    if path[1] == "memory":
        return usable_bytes(spec, new)  # type: ignore[return-value]
    tiers = {"dram": doc.host.dram, "disk": doc.host.disk} | {path[2]: new}
    return lower_bytes(SimpleNamespace(doc=SimpleNamespace(host=SimpleNamespace(**tiers))))[name.removeprefix("usable_")]  # type: ignore[arg-type]
