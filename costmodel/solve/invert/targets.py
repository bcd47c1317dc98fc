"""What is wanted of a case: `tps=30`, `ttft=2s`, `memory=24GB`, `fits`, `compute-bound`, or any figure by its path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...language.problem import Mark, Source, problem, suggest
from ...language.units import BYTE, COUNT, SECOND, UnitError, quantity
from ..memory import spare_bytes
from ..traced import FIGURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.inverse import TargetUnit


class Target(NamedTuple):
    """A figure and what it is to be: at least `value` or at most. `of` gives it, of a prediction in numbers or formulas."""

    name: str
    of: Callable[[Any], Any]
    value: float
    least: bool
    unit: TargetUnit

    def met(self, figure: float) -> bool:
        """Whether a figure is good enough; what has no value is not."""
        return figure >= self.value if self.least else figure <= self.value


SHORT = {
    "tps": ("tps.expected", "tps.ceiling"),
    "tpot": ("tpot_s.expected", "tpot_s.floor"),
    "ttft": ("ttft_s.expected", "ttft_s.floor"),
    "e2e": ("e2e_s.expected", None),
    "itl": ("itl_mean_s", None),
    "user-tps": ("user_tps", None),
    "system-tps": ("system_tps", None),
    "memory": ("memory.total_bytes", "memory.total_bytes"),
    "kv": ("memory.kv_bytes", "memory.kv_bytes"),
    "weights": ("memory.weights_bytes", "memory.weights_bytes"),
}
"""Short name → the figure, and the floor's. `fits` and `compute-bound` stand without a value."""


def _room(p):
    spare = spare_bytes(p)
    if spare is None:
        raise problem("whether it fits a machine of unknown capacity", help="set `hw.memory.<name>.capacity`, or use `memory=24GB`")
    return spare


def quotient(over: str, under: str) -> Callable[[Any], Any]:
    """A figure over another, of a prediction in numbers or formulas."""
    return lambda p: FIGURES[over](p) / FIGURES[under](p)


BARE: dict[str, tuple[str, Callable[[Any], Any], float, TargetUnit]] = {
    "fits": ("memory left", _room, 0.0, "B"),
    "compute-bound": ("decode.compute_s / decode.memory_s", quotient("decode.compute_s", "decode.memory_s"), 1.0, ""),
}
"""Targets without a value: the figure's name, the figure, what it is to reach, its unit. Compute bound is that of R14."""
LEFT_OUT = ("decode.regime", "prefill.regime", "memory.fits")


def path_of(name: str, ceiling: bool = False, option: str = "--for") -> str:
    """The figure that a name means. Raises :class:`SpecError` for none."""
    if name in SHORT:
        path = SHORT[name][1 if ceiling else 0]
        if path is None:
            raise problem(f"`{name}` has no floor", help="leave `--ceiling` out")
        return path
    known = [n for n in FIGURES if n not in LEFT_OUT]
    if name in known:
        return name
    raise problem(
        f"no figure `{name[:60]}`",
        Mark(Source(option, name[:60]), 1, 1),
        suggest(name[:60], [*SHORT, *(BARE if option == "--for" else ()), *known]),
    )


def unit_of(path: str) -> TargetUnit:
    """`s`, `B`, `tok/s` or nothing."""
    head, last = path.partition(".")[0], path.rpartition(".")[2]
    if head.endswith("_s") or last.endswith("_s"):
        return "s"
    if last.endswith("bytes") or "bytes" in path:
        return "B"
    return "tok/s" if "tps" in path else "FLOP" if last == "flops" else ""


def read_target(text: str, ceiling: bool = False) -> Target:
    """A target from `name=value` (also `>=`, `<=`). Raises :class:`SpecError`."""
    head, equals, tail = text.partition("=")
    sign = head[-1:] if head[-1:] in "<>" else ""
    name = head.strip().rstrip("<>").strip().lower()
    if name in BARE:
        shown, of, value, unit = BARE[name]
        if equals:
            raise problem(f"`{name}` takes no value", Mark(Source("--for", text[:60]), 1, 1), f"write `--for {name}`")
        return Target(shown, of, value, True, unit)
    path = path_of(name, ceiling)
    if not equals:
        raise problem(f"`{text[:60]}` is not name=value", Mark(Source("--for", text[:60]), 1, 1), "for example `--for tps=30`")
    unit = unit_of(path)
    least = (sign or (">" if unit in ("tok/s", "") else "<")) == ">"
    return Target(path, FIGURES[path], _value(name, tail, unit), least, unit)


def _value(name: str, text: str, unit: str) -> float:
    """A value in the unit of its figure."""
    want = {"s": SECOND, "B": BYTE}.get(unit, COUNT)
    body = text.strip()
    for spelled in ("tokens/s", "tok/s", "tps", "t/s") if unit == "tok/s" else ():
        body = body.removesuffix(spelled).strip()
    mark = Mark(Source("--for", f"{name}={text}"[:80]), 1, len(name) + 2)
    try:
        value = float(quantity(body, want)) if want != COUNT else float(body.replace(",", ""))
    except UnitError as error:
        raise problem(str(error), mark, error.help or f"for example `{name}={'2 s' if want == SECOND else '24 GB'}`") from None
    except ValueError:
        raise problem(f"`{body[:40]}` is not a number", mark, f"for example `{name}=30`") from None
    if not 0 < value < 1e30:
        raise problem(f"{name}: want more than 0", mark)
    return value


__all__ = ["BARE", "SHORT", "Target", "path_of", "quotient", "read_target", "unit_of"]
