"""When speculation pays: the acceptance that it needs at a batch, and the batches at which a given acceptance is enough."""

from __future__ import annotations

from collections.abc import Iterator

from ...language.problem import SpecError
from ..traced import FIGURES
from .answers import Crossing
from .question import Question
from .search import scan, turns
from .targets import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.inverse import NeededDetail, PaysDetail

DEFAULT = "speculative-decoding"
MOST, POINTS = 4096, 60
"""Batches are looked at up to `MOST`."""


def rows(question: Question) -> Iterator[Crossing]:
    """Crossings of speculation: of the technique in use, else of a draft model's with its defaults."""
    from .crossings import crossing, empty

    used = [name for name, _ in drafting(question)]
    try:
        drafted = question if used else with_techniques(question, (*question.techniques, DEFAULT))
        technique, knob = next(iter(drafting(drafted)))
        plain = with_techniques(question, question.without({technique}))
    except SpecError as error:
        yield empty("speculation", "acceptance", {"message": error.problems[0].message}, "refused")
        return
    text = next(t for t in drafted.base.runnable.meta["techniques"] if t.partition(":")[0] == technique)
    goal = Target("tps.expected", FIGURES["tps.expected"], plain.base.tps.expected, True, "tok/s")
    needed: NeededDetail = {"technique": text, "in_use": bool(used), "batch": question.workload["batch"], "plain_tps": goal.value}
    yield crossing(drafted, "speculation", "acceptance", goal, f"{technique}.{knob}", needed)
    yield _batch(drafted, plain, drafted.point[f"knob_{technique}_{knob}".replace("-", "_")], needed)


def with_techniques(question: Question, techniques: tuple) -> Question:
    """The same question under other techniques. Raises :class:`SpecError`."""
    return Question(
        question.model,
        question.hardware,
        library=question.own,
        engine=question.engine,
        techniques=techniques,
        devices=question.devices,
        sets=tuple(s for s in question.sets if not s.startswith("tech.") or s.split(".")[1] in set(map(question.name_of, techniques))),
        **question.workload,
    )


def drafting(question: Question) -> Iterator[tuple[str, str]]:
    """(technique, knob) of the techniques in use whose decode steps emit tokens by an acceptance rate."""
    for use in question.base.runnable.meta["techniques"]:
        name = use.partition(":")[0]
        if f"knob_{name}_acceptance".replace("-", "_") in question.point:
            yield name, "acceptance"


def _batch(drafted: Question, plain: Question, acceptance: float, needed: NeededDetail) -> Crossing:
    """Batches at which speculation is faster than plain decoding."""
    from .crossings import empty

    def gain(batch) -> float:
        work = {"batch": int(batch)}
        return drafted.predict(**work).tps.expected / plain.predict(**work).tps.expected

    xs = sorted({round(MOST ** (i / POINTS)) for i in range(POINTS + 1)})
    found = scan(gain, xs)
    there = turns(found, gain, lambda f: f > 1, True)
    starts = [*([1] if found.figures[0] > 1 else []), *(int(t.good) for t in there if t.enters)]
    ends = [*(int(t.good) for t in there if not t.enters), *([None] if found.figures[-1] > 1 else [])]
    detail: PaysDetail = {
        "technique": needed["technique"],
        "in_use": needed["in_use"],
        "acceptance": acceptance,
        "gain": gain(drafted.workload["batch"]),
        "best_gain": max(found.figures),
        "best_batch": xs[found.figures.index(max(found.figures))],
        "pays": list(zip(starts, ends, strict=True)),
    }
    row = empty("speculation-pays", "batch", detail)
    row.unit, row.now, row.range, row.found = "sequences", drafted.workload["batch"], (1, MOST), "whole"
    if not starts:
        row.found, row.reason, row.nearest = "none", "never", {"value": detail["best_batch"], "figure": detail["best_gain"]}
    elif not there:
        row.found, row.reason = "any", "everywhere"
    else:
        leaves = [t for t in there if not t.enters]
        row.value = leaves[-1].bad if leaves else there[0].good
    return row
