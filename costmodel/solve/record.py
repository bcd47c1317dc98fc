"""Small parts of the solver: named figures, properties that are evaluated once, the roofline's attainable rate."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INFINITE = 2**40
"""More tokens or sequences than any workload."""


class Record:
    """Named figures, readable as attributes and as a dict."""

    def __init__(self, **figures):
        self.__dict__.update(figures)

    def to_dict(self) -> dict:
        """Plain data."""
        return {k: v.to_dict() if isinstance(v, Record) else v for k, v in self.__dict__.items()}

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no figure `{name}`; there are: {', '.join(self.__dict__)}")

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"


class once:
    """A property that is evaluated once."""

    def __init__(self, function):
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, item, owner=None):
        if item is None:
            return self
        value = item.__dict__[self.name] = self.function(item)
        return value


def attainable(flops, size, compute, bandwidth) -> float | None:
    """FLOP/s under both ceilings of the roofline: min(peak, intensity · bandwidth)."""
    if not compute:
        return None
    return min(flops / compute, flops / size * bandwidth) if size else flops / compute
