"""When speculation pays: the acceptance that it needs at a batch, and the batches at which a given acceptance is enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...language.problem import SpecError
from ..record import Record
from ..traced import FIGURES
from .question import Question
from .search import scan, turns
from .targets import Target

DEFAULT = "speculative-decoding"
MOST, POINTS = 4096, 60
"""Batches are looked at up to `MOST`."""


def rows(question: Question) -> Iterator[Record]:
    """Crossings of speculation: of the technique in use, else of a draft model's with its defaults."""
    from .crossings import crossing, missing

    used = [name for name, _ in drafting(question)]
    try:
        drafted = question if used else with_techniques(question, (*question.techniques, DEFAULT))
        technique, knob = next(iter(drafting(drafted)))
        plain = with_techniques(question, tuple(t for t in question.techniques if str(t).partition(":")[0] != technique))
    except SpecError as error:
        yield missing("speculation", "acceptance", "refused", message=error.problems[0].message)
        return
    text = next(t for t in drafted.base.runnable.meta["techniques"] if t.partition(":")[0] == technique)
    detail = {"technique": text, "in_use": bool(used)}
    goal = Target("tps.expected", FIGURES["tps.expected"], plain.base.tps.expected, True, "tok/s")
    row = crossing(drafted, "speculation", f"{technique}.{knob}", goal)
    row.by, row.detail = "acceptance", {**detail, "batch": question.workload["batch"], "plain_tps": goal.value}
    yield row
    yield _batch(drafted, plain, drafted.point[f"knob_{technique}_{knob}".replace("-", "_")], detail)


def with_techniques(question: Question, techniques: tuple) -> Question:
    """The same question under other techniques. Raises :class:`SpecError`."""
    return Question(
        question.model,
        question.hardware,
        library=question.own,
        engine=question.engine,
        techniques=techniques,
        devices=question.devices,
        sets=tuple(
            s for s in question.sets if not s.startswith("tech.") or s.split(".")[1] in {str(t).partition(":")[0] for t in techniques}
        ),
        **question.workload,
    )


def drafting(question: Question) -> Iterator[tuple[str, str]]:
    """(technique, knob) of the techniques in use whose decode steps emit tokens by an acceptance rate."""
    for use in question.base.runnable.meta["techniques"]:
        name = use.partition(":")[0]
        if f"knob_{name}_acceptance".replace("-", "_") in question.point:
            yield name, "acceptance"


def _batch(drafted: Question, plain: Question, acceptance: float, detail: dict) -> Any:
    """Batches at which speculation is faster than plain decoding."""
    from .crossings import missing

    def gain(batch) -> float:
        work = {"batch": int(batch)}
        return drafted.predict(**work).tps.expected / plain.predict(**work).tps.expected

    xs = sorted({round(MOST ** (i / POINTS)) for i in range(POINTS + 1)})
    found = scan(gain, xs)
    there = turns(found, gain, lambda f: f > 1, True)
    row = missing("speculation-pays", "batch", "", **detail, acceptance=acceptance)
    row.unit, row.now, row.range, row.found = "sequences", drafted.workload["batch"], [1, MOST], "whole"
    row.detail |= {
        "gain": gain(drafted.workload["batch"]),
        "best_gain": max(found.figures),
        "best_batch": xs[found.figures.index(max(found.figures))],
    }
    spans = [*([1] if found.figures[0] > 1 else []), *(t.good for t in there), *([None] if found.figures[-1] > 1 else [])]
    row.detail["pays"] = [list(pair) for pair in zip(spans[::2], spans[1::2], strict=True)]
    if not spans:
        row.found, row.reason, row.nearest = "none", "never", {"value": row.detail["best_batch"], "figure": max(found.figures)}
    elif not there:
        row.found, row.reason = "any", "everywhere"
    else:
        ends = [t for t in there if not t.enters]
        row.value = ends[-1].bad if ends else there[0].good
    return row
