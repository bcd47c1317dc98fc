"""What a sweep varies: counts of the workload, documents and techniques, and any path that `--set` can name."""

from __future__ import annotations

from operator import index
from typing import Any

from ...api import _each
from ...language.merge import SETTABLE
from ...language.problem import Mark, Source, SpecError, problem, suggest
from ...sizes import MOST, MOST_DEVICES, read_size
from .units import base_text, base_value, dim_of

COUNTS = {"prompt": 1, "output": 1, "context": 0, "batch": 1}
"""Counts of a workload, with the least that each may be."""
CASES = ("model", "hardware", "engine", "techniques", "devices")
"""What a case is compiled from, beside its overrides."""


class Axis:
    """One thing that varies. `values` are as given (texts, numbers, documents), `labels` are plain data for results.

    `numbers` are the values in base units where all are numbers, else None; `bad` maps the place of an invalid value to
    the error that it raises.
    """

    def __init__(self, name: str, values, labels, numbers=None):
        self.name, self.values, self.labels, self.numbers = name, values, labels, numbers
        self.bad: dict[int, SpecError] = {}

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def path(self) -> tuple[str, ...]:
        """The parts of an override's path; empty for other axes."""
        return () if self.name in COUNTS or self.name in CASES else tuple(self.name.split("."))

    def override(self, i: int) -> str:
        """The value at a place as `--set` takes it."""
        value = self.values[i]
        if isinstance(value, str):
            return f"{self.name}={value}"
        kind, *rest = self.path
        return f"{self.name}={_plain(value, dim_of(SETTABLE[kind], tuple(rest)))}"


def _plain(value, dim) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if float(value) != float(value) or abs(float(value)) == float("inf"):
        raise problem(f"{float(value)} is not a number that can be set")
    return base_text(value, dim)


def axis(name: str, values) -> Axis:
    """The axis of a name. Raises :class:`SpecError` for a name that is none, and for values that are none."""
    name = {"hw": "hardware", "technique": "techniques", "models": "model", "engines": "engine"}.get(str(name), str(name))
    listed = _listed(name, values)
    if name in COUNTS:
        return _counts(name, values, listed)
    if name in CASES:
        return _cases(name, listed)
    head, _, rest = name.partition(".")
    if head not in SETTABLE or not rest:
        known = [*COUNTS, *CASES, *(f"{h}.…" for h in SETTABLE)]
        help = suggest(name, known) if "." not in name else suggest(head, SETTABLE)
        raise problem(f"`{name[:80]}` is no axis", Mark(Source("axis", name), 1, 1), help)
    return _overrides(name, listed, dim_of(SETTABLE[head], tuple(rest.split("."))))


def _listed(name: str, values) -> Any:
    """Values as an array, where they are one, or a list."""
    if hasattr(values, "__array__"):
        import numpy as np

        if np.ma.is_masked(values):
            raise problem(f"axis `{name}` has masked values")

        listed: Any = np.asarray(values)
        if listed.ndim != 1:
            raise problem(f"axis `{name}`: want one dimension, got {listed.ndim}")
    elif isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise problem(f"axis `{name}`: want a list or an array, got {values!r:.60}")
    else:
        listed = list(values)
    if not len(listed):
        raise problem(f"axis `{name}` has no values")
    return listed


def _counts(name: str, given, listed) -> Axis:
    """A count of tokens or sequences: whole numbers as `predict` takes them, and sizes such as `8k`."""
    import numpy as np

    array = given if hasattr(given, "dtype") and given.dtype.kind in "iuf" else None
    bad: dict[int, SpecError] = {}
    if array is None:
        found = [_count(name, v, bad, i) for i, v in enumerate(listed)]
        array = np.array(found, dtype=np.float64)
    numbers = np.asarray(array, dtype=np.float64)
    if not _good(numbers, array.dtype.kind in "iu", COUNTS[name]):
        wrong = ~((numbers >= COUNTS[name]) & (numbers <= MOST) & (numbers == np.floor(numbers)))
        for i in np.flatnonzero(wrong):
            bad.setdefault(int(i), _no_count(name, array[i].item()))
    whole = not bad or bool((np.abs(numbers) <= MOST).all() and (numbers == np.floor(numbers)).all())
    labels = array if array.dtype.kind in "iu" else numbers.astype(np.int64) if whole else numbers
    made = Axis(name, listed, labels, numbers)
    made.bad = bad
    return made


def _good(numbers, whole: bool, least: int) -> bool:
    """Whether all are counts; looked at in parts, so that long tables take no memory."""
    import numpy as np

    if not (numbers.min() >= least and numbers.max() <= MOST):
        return False
    parts = () if whole else (numbers[i : i + 65536] for i in range(0, len(numbers), 65536))
    return all((np.floor(part) == part).all() for part in parts)


def _count(name: str, value, bad: dict, place: int) -> float:
    try:
        if isinstance(value, str):
            return read_size(value)
        if isinstance(value, bool):
            raise TypeError
        return value if isinstance(value, float) else float(index(value))
    except (TypeError, ValueError, OverflowError):
        bad[place] = _no_count(name, value)
        return float("nan")


def _no_count(name: str, value) -> SpecError:
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return problem(f"{name}: want a whole number from {COUNTS[name]} to {MOST:,}, got {value!r:.60}")


def _cases(name: str, listed) -> Axis:
    values = [_case(name, v) for v in (listed.tolist() if hasattr(listed, "tolist") else listed)]
    return Axis(name, values, [label(name, v) for v in values])


def _case(name: str, value):
    """One document, device count or set of techniques (`a+b` are two, `none` is none)."""
    if name == "devices":
        from ...api import _count as whole

        return whole("devices", read_size(value) if isinstance(value, str) and value.strip().isdigit() else value, 1, MOST_DEVICES)
    if name == "techniques":
        return _each("techniques", techniques_of(value))
    return value


def techniques_of(value) -> tuple:
    """A set of techniques, as `predict` takes it: of a text (`int4+kv-int8`, `none`), a technique, or several."""
    if value is None or (isinstance(value, str) and value.strip() in ("", "none")):
        return ()
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split("+") if part.strip())
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def label(name: str, value):
    """What stands for a value in results: a text, or a number."""
    if name == "techniques":
        return "+".join(v if isinstance(v, str) else getattr(v, "name", str(v)) for v in value) or "none"
    return value if isinstance(value, (int, str)) else "default" if value is None else getattr(value, "name", str(value))


def _overrides(name: str, listed, dim) -> Axis:
    import numpy as np

    if hasattr(listed, "dtype") and listed.dtype.kind in "iuf":
        numbers = np.asarray(listed, dtype=np.float64)
        return Axis(name, _Numbers(listed), np.asarray(listed), numbers if np.isfinite(numbers).all() else None)
    values = [v.item() if hasattr(v, "item") else v for v in listed]
    found = [_number(v, dim, name) for v in values]
    if any(n is None for n in found):
        return Axis(name, values, [str(v) for v in values])
    known = np.array(found, dtype=np.float64)
    return Axis(name, values, known, known)


class _Numbers:
    """The items of an array as Python numbers, made when they are asked for."""

    def __init__(self, array):
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, i):
        return self.array[i].item()


def _number(value, dim, name: str) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if not isinstance(value, str):
        number = _float(name, value)
        return number if number == number and abs(number) < float("inf") else None
    if dim is not None:
        return base_value(value, dim)
    try:
        return float(value) if name.startswith(("tech.", "engine.", "model.dims.")) else None
    except ValueError:
        return None


def _float(name: str, value) -> float:
    """A number of any kind. Raises :class:`SpecError` for what is none."""
    try:
        if isinstance(value, (bytes, bytearray)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise problem(f"axis `{name[:80]}`: want numbers or texts, got {value!r:.60}") from None
