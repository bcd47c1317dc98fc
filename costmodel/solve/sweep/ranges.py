"""Axes written as texts: `batch=1:256:log2`, `context=1k:128k:64`, `hw.memory.vram.bandwidth=500GB/s:2TB/s:20`, and tables."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

from ...language.merge import SETTABLE
from ...language.problem import Mark, Source, SpecError, problem
from ...language.units import COUNT
from ...sizes import read_size
from .axes import CASES, COUNTS, Axis, axis
from .units import base_value, dim_of

MOST_VALUES = 10_000_000
"""Values of one axis that a range may have."""
MOST_ROWS = 5_000_000
WHOLE = (*COUNTS, "devices")
"""Axes whose ranges are whole numbers."""
_STEP = re.compile(r"(?:(?P<count>[0-9][0-9_]{0,17})|log(?P<base>2|10)|\+(?P<step>.+)|[x*](?P<factor>[0-9.eE+-]+))\Z")
HELP = "write START:STOP:COUNT, START:STOP:COUNT:log, START:STOP:log2, START:STOP:+STEP, START:STOP:xFACTOR, or a list V,V,…"


def read_axis(text: str) -> Axis:
    """An axis from `NAME=VALUES`; VALUES are a list (`1,2,4`; `a;b` where values hold commas) or a range. Raises :class:`SpecError`."""
    name, equals, body = text.partition("=")
    mark = Mark(Source("--axis", text), 1, 1)
    if not equals or not body.strip():
        raise problem(f"`{text[:80]}` is not NAME=VALUES", mark, "for example `batch=1:64:log2`, `hw.memory.vram.bandwidth=500GB/s,1TB/s`")
    name = name.strip()
    parts = [p.strip() for p in body.split(":")]
    if (
        (name in WHOLE or name not in CASES)
        and name != "hw"
        and len(parts) in (2, 3, 4)
        and all(_end(name, p) is not None for p in parts[:2])
    ):
        return axis(name, _range(name, parts, mark))
    values = [v.strip() for v in body.split(";" if ";" in body else ",")]
    return axis(name, [_value(name, v) for v in values])


def _value(name: str, text: str):
    """A text as it is, or the number that a knob or coefficient wants."""
    if name.startswith(("tech.", "engine.", "model.dims.")) and (number := _float(text)) is not None:
        return int(number) if number.is_integer() and "." not in text and "e" not in text.lower() else number
    return text


def _float(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _end(name: str, text: str) -> float | None:
    """One end of a range as a number in base units; None where it is none."""
    if name in WHOLE:
        try:
            return float(read_size(text))
        except ValueError:
            return None
    head, *rest = name.split(".")
    dim = dim_of(SETTABLE[head], tuple(rest)) if head in SETTABLE and rest else None
    return _float(text) if dim is None or dim == COUNT else base_value(text, dim)


def _range(name: str, parts: list[str], mark: Mark):
    """The values of a range, an array of numbers in base units."""
    import numpy as np

    low, high = (_end(name, p) for p in parts[:2])
    assert low is not None and high is not None
    if low > high:
        raise problem(f"`{parts[0]}:{parts[1]}`: a range goes upwards", mark, HELP)
    if len(parts) == 2:
        if name not in WHOLE:
            raise problem(f"`{':'.join(parts)}`: say how many values, or the step", mark, HELP)
        parts = [*parts, "+1"]
    found = _STEP.match(parts[2])
    if not math.isfinite(high - low):
        raise problem(f"`{parts[0][:40]}:{parts[1][:40]}`: a range of finite numbers is wanted", mark, HELP)
    if not found or (len(parts) == 4 and (parts[3] != "log" or not found["count"])):
        raise problem(f"`{':'.join(parts[2:])[:80]}` says no values", mark, HELP)
    values = _values(name, low, high, found, len(parts) == 4, mark)
    return np.unique(np.rint(values)) if name in WHOLE else values


def _values(name: str, low: float, high: float, found, log: bool, mark: Mark):
    import numpy as np

    if found["count"]:
        count = int(found["count"].replace("_", ""))
        _few(count, mark)
        if log and low <= 0:
            raise problem("a logarithmic range starts above 0", mark, HELP)
        return np.geomspace(low, high, count) if log else np.linspace(low, high, count)
    if found["step"]:
        step = _end(name, found["step"])
        if step is None or step <= 0:
            raise problem(f"`+{found['step']}` is no step", mark, HELP)
        steps = (high - low) / step * (1 + 1e-12)
        count = math.floor(min(steps, 1e300)) + 1
        _few(count, mark)
        return low + step * np.arange(count)
    factor = float(found["base"]) if found["base"] else _float(found["factor"])
    if factor is None or factor <= 1 or low <= 0:
        raise problem("multiples want a factor above 1 and a start above 0", mark, HELP)
    count = math.floor((math.log(high) - math.log(low)) / math.log(factor) * (1 + 1e-12)) + 1
    _few(count, mark)
    with np.errstate(over="ignore"):
        values = low * factor ** np.arange(count)
    if not np.isfinite(values).all():
        raise problem("the range leaves what a number can be", mark, HELP)
    return values


def _few(count: int, mark: Mark) -> None:
    if not 1 <= count <= MOST_VALUES:
        many = f"{count:,}" if count < 10**15 else "too many"
        raise problem(f"an axis of {many} values; want 1 to {MOST_VALUES:,}", mark)


def read_table(path: str) -> list[Axis]:
    """The axes of a CSV file, one a column, its heading their names; rows are points. Raises :class:`SpecError`."""
    place = Source(path, "")
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            rows = []
            for row in csv.reader(stream):
                if row and any(c.strip() for c in row):
                    rows.append(row)
                if len(rows) > MOST_ROWS:
                    raise problem(f"`{path}` has more than {MOST_ROWS:,} rows")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise problem(f"cannot read `{path[:80]}`: {getattr(error, 'strerror', None) or error}") from None
    if len(rows) < 2:
        raise problem(f"`{Path(path).name}`: want a heading of axis names and at least one row")
    heads = [h.strip() for h in rows[0]]
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(heads):
            raise problem(f"row {number} has {len(row)} cells; the heading has {len(heads)}", Mark(place, number, 1))
    found = []
    for k, head in enumerate(heads):
        try:
            found.append(axis(head, [_value(head, row[k].strip()) for row in rows[1:]]))
        except SpecError as error:
            raise problem(f"{path}: column `{head}`: {error.problems[0].message}", None, error.problems[0].help) from None
    return found
