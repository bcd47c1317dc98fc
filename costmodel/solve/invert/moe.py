"""When a mixture of experts loses its edge: against the same model with as many experts as a token uses, and with all of them used."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...compile.mixed import mixed_rows
from ...language.problem import SpecError
from .answers import Crossing
from .question import Question
from .search import Scan, scan, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.inverse import CrossingName, Detail

SHARE = 0.95
"""Share of the experts from which a batch counts as reading all (Huang et al. 2025, MoESD, arXiv:2505.19645, threshold tau)."""
MOST, POINTS = 4096, 48


def rows(question: Question) -> Iterator[Crossing]:
    """Crossings of the routed experts; none for a dense model."""
    from .crossings import empty

    if not any(row[3] == "expert" or (row[3] == "streamed" and _summary(question)) for row in question.base.decoder.meta["rows"]):
        return
    yield _all_read(question)
    try:
        active, total = _dense(question)
        active(1), total(1)
    except SpecError as error:
        yield empty("moe-half", "batch", {"message": error.problems[0].message}, "refused")
        return
    yield from _edges(question, active, total)


def _summary(question: Question) -> bool:
    dims = _dims(question)
    return "active_params" in dims and dims["active_params"] < dims["params"]


def _dims(question: Question) -> dict:
    from ...compile.build import program_of

    return program_of(question.library, question.model, (), tuple(s for s in question.sets if s.startswith("model."))).dims


def _dense(question: Question) -> tuple[Callable, Callable]:
    """TPOT by batch of two dense models of the same shape: with the parameters that a token uses, and with all used by every token.

    Both are the model itself with one dim changed: as many experts as are used (E = k), and all of them used (k = E).
    """
    dims = _dims(question)
    if "E" in dims and "k" in dims:
        changes = (f"model.dims.E={dims['k']:g}", f"model.dims.k={dims['E']:g}")
    else:
        changes = (f"model.dims.params={dims['active_params']:.0f}", f"model.dims.active_params={dims['params']:.0f}")

    def of(change: str) -> Callable:
        return lambda batch: question.predict(sets=(change,), batch=int(batch)).tpot_s.expected

    return of(changes[0]), of(changes[1])


def _grid() -> list[int]:
    return sorted({round(MOST ** (i / POINTS)) for i in range(POINTS + 1)})


def _row(question: Question, name: CrossingName, found: Scan, figure: Callable, met: Callable, detail: Detail) -> Crossing:
    """The first batch at which something holds, by halving."""
    from .crossings import empty

    row = empty(name, "batch", detail)
    row.unit, row.now, row.range = "sequences", question.workload["batch"], (1, MOST)
    there = [t for t in turns(found, figure, met, True) if t.enters]
    if met(found.figures[0]):
        row.value, row.found = 1, "whole"
    elif there:
        row.value, row.found, row.others = there[0].good, "whole", [t.good for t in there[1:]]
    else:
        row.found, row.reason = "none", "limit"
    return row


def _all_read(question: Question) -> Crossing:
    """The batch from which a decode step reads nearly all of the experts."""

    runnable = question.base.decoder
    table = runnable.meta["rows"]

    def read(batch) -> float:
        plan = question.predict(batch=int(batch)).plan
        rows = mixed_rows(runnable, [(plan[14], *plan[9:12])])
        return sum(of[5] * row[1] for of, row in zip(table, rows, strict=True) if of[2].startswith("expert") or of[3] == "streamed")

    most = read(10**9)
    found = scan(lambda b: read(b) / most, _grid())
    detail: Detail = {"share": SHARE, "now_read": read(question.workload["batch"]) / most}
    return _row(question, "moe-experts", found, lambda b: read(b) / most, lambda f: f >= SHARE, detail)


def _edges(question: Question, active: Callable, total: Callable) -> Iterator[Crossing]:
    """Half of the edge gone; all of it gone; and where it is smallest."""

    def own(batch) -> float:
        return question.predict(batch=int(batch)).tpot_s.expected

    def lost(batch) -> float:
        low, high = active(batch), total(batch)
        return (own(batch) - low) / (high - low) if high > low else 0.0

    def edge(batch) -> float:
        return total(batch) / own(batch)

    xs = _grid()
    half = scan(lost, xs)
    yield _row(question, "moe-half", half, lost, lambda f: f >= 0.5, {"now_lost": lost(question.workload["batch"])})
    whole = scan(edge, xs)
    row = _row(question, "moe-total", whole, edge, lambda f: f <= 1, {"now_edge": edge(question.workload["batch"])})
    least = min(whole.figures)
    row.nearest = {"value": xs[whole.figures.index(least)], "figure": least}
    yield row
