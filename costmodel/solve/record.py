"""Small parts of the solver: named figures, properties that are evaluated once, the roofline's attainable rate."""

from __future__ import annotations

from .either import choose, is_open, most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property as once
    from typing import Any, dataclass_transform

INFINITE = 2**40
"""More tokens or sequences than any workload."""


class Figures:
    """Named figures, readable as attributes and as a dict. Subclasses declare which."""

    def __init__(self, **figures: Any) -> None:
        self.__dict__.update(figures)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {k: v.to_dict() if isinstance(v, Figures) else v for k, v in self.__dict__.items()}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str):
            raise AttributeError(f"no figure `{name}`; there are: {', '.join(self.__dict__)}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"


if not TYPE_CHECKING:

    def dataclass_transform(**_):
        """Of `typing`, which a prediction does without."""
        return lambda cls: cls


@dataclass_transform(kw_only_default=True)
class Stated(Figures):
    """Figures whose every field a type checker wants to be given, of its type."""


class Record(Figures):
    """Figures that no class declares."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


if not TYPE_CHECKING:

    class once:
        """A property that is evaluated once. Threads that read it first at once all get the value that was there first."""

        def __init__(self, function):
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, item, owner=None):
            if item is None:
                return self
            return item.__dict__.setdefault(self.name, self.function(item))


def attainable(flops, compute, memory) -> float | None:
    """FLOP/s under both ceilings of the roofline, from the seconds that each alone would take; None without FLOPs."""
    return flops / most(compute, memory) if is_open(compute) or compute else None


def reached(record) -> float | None:
    """FLOP/s of a phase or operator at its expected time; None where it takes none."""
    return record.flops / record.expected_s if record.expected_s else None


def ridge_of(flops, moved, compute, memory) -> float | None:
    """Peak rate over bandwidth, of what does the FLOPs and what moves the bytes; None where either is missing."""
    if not is_open(compute, moved) and not (compute and moved):
        return None
    return flops / compute * memory / moved


REGIMES = ("memory", "compute", "link")


def regime_number(compute, memory, slow):
    """What takes longest, as a place in :data:`REGIMES`: a tie is compute; `link` are links and streams."""
    return choose(">", slow, most(compute, memory), 2, choose(">=", compute, memory, 1, 0))


def regime_of(compute, memory, slow) -> str:
    """What takes longest, by its name."""
    return REGIMES[regime_number(compute, memory, slow)]
