"""What a time is made of that a target does not let be shorter."""

from __future__ import annotations

from .question import Question
from .targets import Target
from .unknown import Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.inverse import Part


def remains(question: Question, quantity: Unknown, goal: Target, x) -> dict[Part, float] | None:
    """What the time at a value is made of, by exact derivatives: shares of memory, compute, links and what is fixed."""
    from ...compile.graph.evaluate import gradient, values

    try:
        formulas = question.formulas(None)
        node = formulas.graph.node(goal.of(formulas.prediction))
        point = formulas.inputs | quantity.given(x)
        slopes = gradient(node, point)
        (figure,) = values([node], point)
    except (NotImplementedError, ZeroDivisionError):
        return None
    sign = 1 if goal.unit == "tok/s" else -1
    shares: dict[Part, float] = {"memory": 0.0, "compute": 0.0, "link": 0.0}
    for name, slope in slopes.items():
        kind = _kind(name)
        if kind:
            shares[kind] += sign * slope * point[name] / figure
    latency = sum(-sign * slopes[n] * point[n] / figure for n in slopes if n.endswith("_latency"))
    shares["link"] += latency
    shares["fixed"] = max(0.0, 1 - sum(shares.values()))
    return {k: v for k, v in shares.items() if abs(v) > 5e-4}


def _kind(name: str) -> Part | None:
    plain = name.removeprefix("decode_")
    if plain in ("bw", "hram"):
        return "memory"
    if plain.startswith(("pk_", "hpk_")):
        return "compute"
    return "link" if plain in ("peer", "host", "disk", "network") else None
