"""The unknown from the target: exactly by algebra where it allows that, else between brackets; or why there is none."""

from __future__ import annotations

import math

from ..memory import spare_by_tier
from ..traced import FIGURES
from .answers import Solution
from .names import resolve
from .question import Question
from .search import CLOSE, COMPILED, LOOSE, POINTS, Scan, Turn, best, scan, sharpened, turns
from .targets import Target, read_target
from .unknown import Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ..shapes.inverse import Again, Relation

NEAR = 1e-9
"""An exact root is taken where it is this close to the bracket."""


def solve(question: Question, unknown: str, target: str, ceiling: bool = False, suggest: bool = True) -> Solution:
    """Solve a question for an unknown. `target` is text as `--for` takes it.

    The answer's `value` is in the base unit of `unit`; `found` says how it was found: `exact` (with `relation`), `bracketed`,
    `whole` (a whole number), `tried` (values, each compiled), `any` or `none`. Raises :class:`SpecError`.
    """
    goal = read_target(target, ceiling)
    quantity = resolve(question, unknown, goal)
    answer = solved(question, quantity, goal)
    if answer.value is not None:
        answer.check = checked(question, quantity, goal, answer.value)
        if suggest:
            from .allow import would_do

            answer.would_do, answer.would_kind = would_do(question, quantity, goal, answer)
    return answer


def solved(question: Question, quantity: Unknown, goal: Target) -> Solution:
    """The answer without what is shown beside it: neither predicted again nor compared with the library."""
    figure = _figure(question, quantity, goal)
    found = scan(figure, quantity.grid(POINTS if quantity.kind != "compiled" else COMPILED))
    if quantity.kind != "compiled" and not any(map(goal.met, found.figures)):
        found = sharpened(found, figure, goal.least, quantity.whole)
    return _answer(question, quantity, goal, found, figure)


def _figure(question: Question, quantity: Unknown, goal: Target):
    known: dict = {}

    def at(x) -> float:
        if x not in known:
            known[x] = quantity.figure(question, goal, x)
        return known[x]

    return at


def _answer(question: Question, quantity: Unknown, goal: Target, found: Scan, figure) -> Solution:
    base = Solution(
        schema="costmodel/solution@1",
        **question.head,
        unknown=quantity.name,
        title=quantity.title,
        unit=quantity.unit,
        now=quantity.now,
        target={"figure": goal.name, "value": goal.value, "least": goal.least, "unit": goal.unit},
        value=None,
        found="none",
        reason=None,
        smallest=None,
        compiled=quantity.kind == "compiled",
        crossing=None,
        degree=None,
        relation=None,
        others=[],
        range=(found.xs[0], found.xs[-1]),
        points=len(found.xs),
        tried=[],
        check=None,
        nearest=None,
        remains=None,
        note=quantity.note,
        would_do=[],
        would_kind=None,
    )
    good = [x for x, f in zip(found.xs, found.figures, strict=True) if goal.met(f)]
    if not good:
        return _none(question, quantity, goal, found, base)
    if quantity.values is not None and quantity.kind == "compiled":
        return _tried(question, quantity, goal, found, base, good)
    close = LOOSE if quantity.kind == "compiled" else CLOSE
    there = turns(found, figure, goal.met, quantity.whole, close)
    if not there:
        base.found, base.value = "any", None
        base.reason = "flat" if len({f for f in found.figures if f == f}) == 1 else "everywhere"
        return base
    turn = _chosen(there, quantity.least)
    base.smallest, base.others = turn.enters, [t.good for t in there if t is not turn and t.good != turn.good]
    base.value, base.found = turn.good, "whole" if quantity.whole else "bracketed"
    if quantity.kind != "compiled":
        _exactly(question, quantity, goal, turn, base)
    return base


def _chosen(there: list[Turn], least: bool) -> Turn:
    """The smallest solution, or the largest, where there is one of that kind."""
    enters, leaves = [t for t in there if t.enters], [t for t in there if not t.enters]
    if least:  # below what leaves first it is met down to the end of the range
        return enters[0] if there[0].enters else leaves[-1]
    return enters[-1] if there[-1].enters else leaves[-1]


def _tried(question, quantity, goal, found: Scan, base: Solution, good: list) -> Solution:
    """The smallest or largest of the values that were compiled, and all that do."""
    order = found.xs
    enters = not goal.met(found.figures[0])
    base.smallest = quantity.least if len(good) == len(order) else enters if enters == goal.met(found.figures[-1]) else quantity.least
    base.value = good[0] if base.smallest else good[-1]
    base.found, base.others = "tried", [x for x in good if x != base.value]
    base.tried = [{"value": x, "figure": f if f == f else None, "met": goal.met(f)} for x, f in zip(order, found.figures, strict=True)]
    return base


def node_of(question: Question, quantity: Unknown, goal: Target):
    """The target's figure as a node of the unknown alone. Raises NotImplementedError where it has no formula."""
    if quantity.kind == "capacity":
        from ...compile.graph.nodes import Graph

        graph = Graph()
        return graph.node(quantity.also["of"](graph.input("capacity"))), "capacity"
    formulas = question.formulas((quantity.input,))
    return formulas.graph.node(goal.of(formulas.prediction)), quantity.input


def _exactly(question: Question, quantity: Unknown, goal: Target, turn: Turn, answer: Solution) -> None:
    """Put the root of the algebra in place of the bracket, where there is one that its decisions allow."""
    from fractions import Fraction

    from ...compile.graph.algebra import piece, roots

    try:
        node, name = node_of(question, quantity, goal)
        if name not in node.deps:
            return
        for x in (turn.good, turn.bad):
            part = piece(node, {name: x * quantity.scale})
            root = roots(part, goal.value, (turn.good + turn.bad) / 2 * quantity.scale)
            if root is not None and part.valid(Fraction(root.value)) and _between(root.value / quantity.scale, turn, quantity.whole):
                _take(quantity, goal, root, part, turn, answer)
                return
    except (NotImplementedError, ZeroDivisionError):
        return


def _between(value: float, turn: Turn, whole: bool) -> bool:
    low, high = sorted((turn.bad, turn.good))
    slack = NEAR * max(abs(low), abs(high))
    return low - slack <= value <= high + slack


def _take(quantity: Unknown, goal: Target, root, part, turn: Turn, answer: Solution) -> None:
    value = root.value / quantity.scale
    answer.crossing, answer.degree, answer.relation = value, root.degree, relation(part, quantity.scale)
    if quantity.whole:
        rounded = math.ceil(value) if turn.enters else math.floor(value)
        if rounded == turn.good:
            answer.found = "exact"
    else:
        answer.value, answer.found = value, "exact"


def relation(part, scale: float) -> Relation | None:
    """A piece, or its inverse, as a sum of powers of the unknown: None for others."""
    for inverse, (over, under) in ((False, (part.over, part.under)), (True, (part.under, part.over))):
        below = list(under.terms())
        if len(below) != 1:
            continue
        (power,), divisor = below[0]
        terms = [(float(c / divisor) * scale ** (p - power), p - power) for (p,), c in over.terms()]
        return {"inverse": inverse, "terms": sorted(terms, key=lambda t: abs(t[1]))}
    return None


def checked(question: Question, quantity: Unknown, goal: Target, value) -> Again:
    """The case predicted at a value: by documents where they can say it (`compiled`), else by the formulas."""
    from ...language.problem import SpecError

    how: Literal["compiled", "formulas"] = "compiled"
    try:
        p = None if quantity.changes is None else question.predict(**quantity.changes(value))
    except SpecError:  # of a value that no document may have
        p = None
    if p is None:
        p, how = question.at(quantity.given(value)), "formulas"
    found = goal.of(p)
    p.memory  # noqa: B018
    longest = p.runnable.meta["context"]
    return {
        "how": how,
        "figure": found,
        "tps": p.tps.expected,
        "tps_ceiling": p.tps.ceiling,
        "ttft_s": p.ttft_s.expected,
        "memory_bytes": p.memory.total_bytes,
        "usable_bytes": p.memory.usable_bytes,
        "fits": p.memory.fits,
        "beyond_context": longest if longest and p.context > longest else None,
    }


def _fullest(question: Question, quantity: Unknown, x) -> str:
    """The memory in which most is lacking at a value."""
    p = question.at(quantity.given(x)) if quantity.input else question.predict(**quantity.changes(x))  # type: ignore[misc]
    left = spare_by_tier(p)
    return f"it is the memory of the {min(left, key=lambda tier: left[tier])} that lacks"


def _none(question: Question, quantity: Unknown, goal: Target, found: Scan, base: Solution) -> Solution:
    """Why there is none, and what comes nearest."""
    at = best(found, goal.least)
    if at is None:
        base.reason = "refused"
        base.note = quantity.also.get("refused", base.note)
        return base
    base.nearest = {"value": at[0], "figure": at[1]}
    if goal.name == "memory left" and not base.note:
        base.note = _fullest(question, quantity, at[0])
    known = {f for f in found.figures if f == f}
    span = max(known) - min(known)
    base.reason = "flat" if span <= 1e-12 * abs(at[1]) else "limit"
    if quantity.kind not in ("compiled", "capacity") and goal.name in FIGURES and goal.unit in ("s", "tok/s"):
        from .remainder import remains

        base.remains = remains(question, quantity, goal, at[0])
    return base
