"""The last rewrite stage: rows, or shares of them, moved to another tier; layers are counted from the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..language.formula import Num
from ..language.problem import Mark, Problem, SpecError, suggest
from .rewrite import Step, _clash, chosen, evaluate, mark_of
from .rows import Row, number_of


class Place(NamedTuple):
    """Where part of a row lies: a share of its `what`, or `whole` of its repeats (None: the share of every repeat)."""

    what: str
    tier: str
    mode: str
    share: float
    whole: int | None
    home: bool
    mark: Mark
    of: str

    @property
    def joins(self) -> bool:
        """Whether the host computes it: what two techniques send there is there once."""
        return self.tier == "host" and self.mode == "compute"


def place_rows(rows: list[Row], steps: list[Step], dims: Mapping, model: str) -> list[str]:
    """Place the rows that each technique chooses; returns notes of what is an approximation."""
    notes: list[str] = []
    for step in steps:
        place = step.item.place
        if place is None:
            continue
        tier, mode = (_choice(step, field, valid) for field, valid in (("tier", ("host", "disk")), ("mode", ("stream", "compute"))))
        amount = {name: _amount(step, name, dims) for name in ("share", "layers", "rest")}
        for row in chosen(rows, step, model):
            share, count = _part(row, amount, dims)
            if share or row.link == "host":  # of a transfer, none is not all
                _join(row, Place(place.what, tier, mode, share, count, place.home, mark_of(step, "place"), place.of), step.use.name)
            if count is None and 0 < share < 1 and amount["layers"] is not None:
                notes.append(f"{step.use.name}: `{row.block}` holds several layers in one, so a layer counts as an equal share of it")
    return list(dict.fromkeys(notes))


def _choice(step: Step, field: str, valid: tuple) -> str:
    """The tier or mode: a word, or the value of the knob that is named."""
    name = getattr(step.item.place, field)
    value = str(step.use.values.get(name, name))
    if value not in valid:
        raise SpecError(Problem(f"place.{field}: `{value}` is not valid", mark_of(step, "place", field), suggest(value, valid)))
    return value


def _amount(step: Step, name: str, dims: Mapping) -> float | None:
    """A share in 0 … 1, or a number of layers."""
    node = getattr(step.item.place, name)
    if node is None:
        return None
    value = node if isinstance(node, (int, float)) else evaluate(step, node, dims, "place", name)
    if value < 0 or (value > 1 and name != "layers"):
        raise SpecError(Problem(f"place.{name} is {value:g}; want 0 … 1", mark_of(step, "place", name)))
    return value


def _part(row: Row, amount: dict, dims: Mapping) -> tuple[float, int | None]:
    """(share, whole repeats) of a row that moves."""
    if amount["layers"] is None:
        return amount["share"], None
    if row.span is None and row.repeat == Num(1):
        return amount["rest"], None
    repeat = number_of(row.repeat, dims, row.mark)
    low, high = (0, dims.get("L", 1)) if row.span is None else (number_of(n, dims, row.mark) for n in row.span)
    share = min(1.0, max(0.0, (amount["layers"] - low) / (high - low))) if high > low else float(amount["layers"] > low)
    if row.span is not None and repeat == 1 and high - low > 1:
        return share, None
    count = int(repeat * share + 0.5)
    return count / repeat, count


def _join(row: Row, new: Place, technique: str) -> None:
    """Add a place. What one technique moves layer by layer and another by kind of row may overlap on the host; else they clash."""
    for old in (p for p in row.place if p.of == new.of):
        same = old.what == new.what or "compute" in (old.mode, new.mode)
        if same and not (old.joins and new.joins and old.home != new.home):
            raise _clash(f"the place of {new.what}", new.mark, old.mark)
    row.place.append(new)
    row.history.append((f"{new.what}: {new.share:.3g} on {new.tier}, {new.mode} ({technique})", new.mark))
