"""Goals and conditions written as texts: `min:ttft_s.expected`, `tps.expected>=20`, `memory.total_bytes<24 GiB`."""

from __future__ import annotations

import operator
import re
from typing import NamedTuple

from ...language.problem import Mark, Source, problem, suggest
from ...language.units import UnitError, quantity, unit
from ..record import REGIMES
from .figures import check_figures, check_number, is_flag, numeric, smaller_is_better, unit_of

_CONDITION = re.compile(r"\s*([a-z][\w.]*)\s*(?:(>=|<=|!=|=|>|<)\s*(.+?)\s*)?\Z")
_TESTS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq, "!=": operator.ne}
_HELP = {"": "write 20", "s": "write 0.5 or 500 ms", "B": "write 24 GiB", "FLOP": "write 20 GFLOP", "FLOP/s": "write 20 TFLOP/s"}


class Goal(NamedTuple):
    """A figure and which way is better."""

    figure: str
    least: bool

    @property
    def text(self) -> str:
        """As it is given: `max:tps.expected`."""
        return f"{'min' if self.least else 'max'}:{self.figure}"

    def score(self, arrays):
        """Values of which the largest is best, flat; NaN where unknown."""
        values = numeric(self.figure, arrays[self.figure]).ravel()
        return -values if self.least else values


def goal(text: str, option: str = "best") -> Goal:
    """A goal from `tps.expected`, `max:tps.expected` or `min:ttft_s.expected`; without a word, times and bytes are small."""
    word, colon, name = str(text).partition(":")
    if not colon:
        word, name = "", word
    if word not in ("", "min", "max"):
        raise problem(f"`{text}` is not a goal", Mark(Source(option, str(text)), 1, 1), "write FIGURE, max:FIGURE or min:FIGURE")
    name = check_number(name, option)
    return Goal(name, smaller_is_better(name) if not word else word == "min")


class Condition(NamedTuple):
    """A figure compared with a number; `op` is one of >= <= > < = !=."""

    figure: str
    op: str
    value: float

    def holds(self, arrays):
        """Where it holds; nowhere where the figure is unknown."""
        values = arrays[self.figure]
        known = values >= 0 if is_flag(self.figure) else values == values
        test = _TESTS[self.op]
        return test(values, self.value) & known


def condition(text: str, option: str = "where") -> Condition:
    """`memory.fits`, `tps.expected>=20`, `ttft_s.expected<500 ms`, `memory.total_bytes<24 GiB`, `decode.regime=memory`."""
    mark = Mark(Source(option, str(text)), 1, 1)
    found = _CONDITION.match(str(text))
    if not found:
        raise problem(f"`{text}` is not a condition", mark, "for example `memory.fits`, `tps.expected>=20`, `ttft_s.expected<500 ms`")
    name, op, value = found.groups()
    check_figures((name,), option)
    if op is None:
        if name != "memory.fits":
            raise problem(f"`{text}` compares with nothing", mark, f"for example `{name}>=20`")
        return Condition(name, "=", 1.0)
    return Condition(name, op, _value(name, op, value, mark))


def _value(name: str, op: str, text: str, mark: Mark) -> float:
    if name.endswith(".regime"):
        if text not in REGIMES or op not in ("=", "!="):
            raise problem(f"`{text}` is no regime", mark, suggest(text, REGIMES))
        return float(REGIMES.index(text))
    if name == "memory.fits" and text in ("true", "false", "yes", "no"):
        return float(text in ("true", "yes"))
    base = unit_of(name)
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        try:
            number = float(quantity(text, unit(base)[1])) if base else float("nan")
        except UnitError:
            number = float("nan")
    if number == number:
        return number
    raise problem(f"`{text}` is not a number" + (f" or a quantity in {base}" if base else ""), mark, _HELP[base])
