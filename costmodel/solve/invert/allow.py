"""What of the library would do: machines with the rate or capacity, formats with the bits, links with the bandwidth."""

from __future__ import annotations

from typing import Any, Literal

from ...language.problem import SpecError
from .question import Question
from .targets import Target
from .unknown import Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.inverse import Allowing
    from .answers import Solution

    Kind = Literal["hardware", "format", "link"]

TRIED, SHOWN = 16, 5
"""Documents predicted at most, and those that are named."""


def would_do(question: Question, quantity: Unknown, goal: Target, answer: Solution) -> tuple[list[Allowing], Kind | None]:
    """Documents of the library with which the case meets its target, each predicted; and their kind."""
    if not isinstance(answer.value, (int, float)) or (quantity.least and not answer.smallest):
        # a rate that is to be small is no reason to buy
        return [], None
    if quantity.kind == "capacity" or quantity.input == "bw" or (quantity.input or "").startswith("pk_"):
        return _machines(question, quantity, goal, answer.value), "hardware"
    if quantity.name == "bits":
        return _formats(question, goal), "format"
    if quantity.input == "peer" and not quantity.name.startswith("hw."):
        return _links(question, goal), "link"
    return [], None


def _attempt(question: Question, goal: Target, name: str, title: str, value: float, **changes) -> Allowing | None:
    try:
        found = float(goal.of(question.predict(**changes)))
    except SpecError:
        return None
    return {"name": name, "title": title, "value": value, "figure": found} if goal.met(found) else None


def _machines(question: Question, quantity: Unknown, goal: Target, value: float) -> list[Allowing]:
    """Machines of the library with at least the value, predicted from the smallest up."""
    from ...compile.machine import pick_rate

    needed = question.base.memory.total_bytes
    rows = []
    for name in question.library.names("hardware"):
        try:
            doc = question.library.load("hardware", name).doc
        except SpecError:
            continue
        if doc.abstract or len(doc.memory) != 1:
            continue
        memory = next(iter(doc.memory.values()))
        rate = pick_rate((quantity.input or "").rpartition("pk_")[2] or "fp16", doc.compute)
        there = {"capacity": memory.capacity, "bandwidth": memory.bandwidth}.get(
            "capacity" if quantity.kind == "capacity" else "bandwidth" if quantity.input == "bw" else "",
            doc.compute.get(rate) if rate else None,
        )
        roomy = memory.capacity is None or memory.capacity * doc.usable >= needed
        if there is not None and there >= value * 0.999 and roomy:
            rows.append((there, name, doc.label()))
    found: list[Allowing] = []
    for there, name, title in sorted(rows)[:TRIED]:
        other = Question.__new__(Question)
        other.__dict__ |= {**question.__dict__, "hardware": name, "sets": tuple(s for s in question.sets if not s.startswith("hw."))}
        done = _attempt(other, goal, name, title, there)
        if done:
            found.append(done)
        if len(found) == SHOWN:
            break
    return found


def _formats(question: Question, goal: Target) -> list[Allowing]:
    """Formats that meet the target, each predicted, most bits first."""
    from .paths import proposed

    found: list[Allowing] = []
    for name in proposed(question.library):
        changes: dict[str, Any] = {"sets": (f"model.weights.format={name}",)}
        try:
            meta = question.predict(**changes).runnable.meta
        except SpecError:
            continue
        title = question.library.load("format", name).doc.label()
        done = _attempt(question, goal, name, title, 8 * meta["file_size"] * meta["devices"] / meta["params"], **changes)
        if done:
            found.append(done)
    return sorted(found, key=lambda f: -f["value"])[:SHOWN]


def _links(question: Question, goal: Target) -> list[Allowing]:
    """Links of the library that meet the target, each predicted, slowest first."""
    docs = {n: question.library.load("link", n).doc for n in question.library.usable("link")}
    rows = sorted((doc.bandwidth, n) for n, doc in docs.items())
    found: list[Allowing] = []
    for there, name in rows:
        done = _attempt(question, goal, name, docs[name].label(), there, sets=(f"hw.links.peer={name}",))
        if done:
            found.append(done)
    return found[:SHOWN]
