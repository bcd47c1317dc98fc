"""What is asked for: an input of the formulas, a capacity, or something for whose every value the case is compiled again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .question import Question
from .targets import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.inverse import FoundUnit
    from ..shapes.unfold import Titles

FAR = 1e6
"""A rate is looked for up to so many times the machine's, and down to its inverse."""


@dataclass
class Unknown:
    """A quantity that is looked for between `low` and `high`, in `unit`; `now` is its value in the case.

    `input` names it in the formulas, where it stands `scale` times as large. `changes(x)` are the arguments of
    :meth:`Question.predict` that set it. `values` are those that are tried where each is compiled. `least` says which of
    several solutions is wanted: the smallest, or the largest.
    """

    name: str
    title: Titles
    unit: FoundUnit
    now: Any
    low: float
    high: float
    least: bool
    whole: bool = False
    input: str | None = None
    scale: float = 1.0
    changes: Callable[[Any], dict] | None = None
    values: tuple | None = None
    linear: bool = False
    kind: str = "rate"
    note: str = ""
    also: dict = field(default_factory=dict)

    def figure(self, question: Question, target: Target, x) -> float:
        """The target's figure with this at `x`; NaN where the case is refused there."""
        from ...language.problem import SpecError

        try:
            if self.kind == "capacity":
                return float(self.also["of"](x))
            p = question.at(self.given(x)) if self.input else question.predict(**self.changes(x))  # type: ignore[misc]
            found = target.of(p)
            if found is None:
                self.also.setdefault("refused", f"`{target.name}` has no value")
            return float("nan") if found is None else float(found)
        except SpecError as error:
            self.also.setdefault("refused", error.problems[0].message)
            return float("nan")
        except ZeroDivisionError:  # a mean over no tokens
            self.also.setdefault("refused", f"`{target.name}` has no value")
            return float("nan")

    def given(self, x) -> dict[str, float]:
        """The input that a value is, where there is one; whole numbers stay so, as sums over them need."""
        return {self.input: x if self.whole else x * self.scale} if self.input else {}

    def grid(self, points: int) -> list:
        """Values to try, in order: those given, else spread evenly (or by equal factors) over the range, with the present one."""
        if self.values is not None:
            return list(self.values)
        span = self.high - self.low
        steps = range(points + 1)
        if self.linear:
            found = {self.low + span * i / points for i in steps}
        else:
            low = max(self.low, 1.0 if self.whole else self.high / FAR**2)  # from 0 no factor leads on
            found = {low * (self.high / low) ** (i / points) for i in steps} | {self.low, self.high}
        found = {min(self.high, max(self.low, round(x) if self.whole else x)) for x in found}
        if isinstance(self.now, (int, float)) and self.low <= self.now <= self.high:
            found.add(self.now)
        return sorted(found)
