"""Gathering rows: each becomes a :class:`Measurement` when nothing is wrong with it, and a problem with its line otherwise."""

from __future__ import annotations

from ...language.problem import Mark, Problem, Source, SpecError
from .measurement import FIGURES, Measurement, Measurements

PROBLEMS = 1000
"""Reading stops after so many problems."""


class Collector:
    """Rows of one source. `fill` gives fields that a row leaves blank; `layout` names the form."""

    def __init__(self, source: Source, fill: dict | None, layout: str):
        self.source, self.fill, self.layout = source, fill or {}, layout
        self.rows: list[Measurement] = []
        self.problems: list[Problem] = []
        self.notes: list[str] = []

    def add(self, line: int, values: dict, defaults: dict | None = None) -> None:
        """A row by its fields in base units. What the row says goes before `fill`, that before `defaults`."""
        known = {k: v for part in (defaults or {}, self.fill, values) for k, v in part.items() if v is not None}
        row = Measurement(source=Mark(self.source, line, 1), **known)
        lack = lacking(row)
        if lack:
            self._problem(lack)
        self.rows.append(row)

    def fault(self, message: str, mark: Mark, help: str | None = None) -> None:
        """Something in the source that cannot be read."""
        self._problem(Problem(message, mark, help))

    def _problem(self, found: Problem) -> None:
        self.problems.append(found)
        if len(self.problems) >= PROBLEMS:
            raise SpecError(self.problems)

    def done(self) -> Measurements:
        """All rows; raises SpecError where there were problems."""
        if self.problems:
            raise SpecError(self.problems)
        return Measurements(self.rows, self.layout, self.notes)


def lacking(row: Measurement) -> Problem | None:
    """What a row lacks to be compared with a prediction, or None."""
    if row.model is None and row.params is None:
        return Problem("no model", row.source, "fill the column `model` (or `params_B`), or give `--model`")
    if row.hardware is None and row.bandwidth is None:
        return Problem("no machine", row.source, "fill the column `hardware` (or `bandwidth`), or give `--hw`")
    if all(getattr(row, name) is None for name in FIGURES):
        return Problem("no measured figure", row.source, "fill `decode_tok_s`, `prefill_tok_s`, `ttft_ms` or `tpot_ms`")
    return None


def split(values: dict) -> list[dict]:
    """Prefill and decode of one request as two rows: the prompt stands in the cache only before decode."""
    prompt = values.get("prompt")
    prefill = {k: v for k, v in values.items() if k not in ("decode_tps", "decode_sd", "output", "tpot_s")} | {"context": 0}
    decode = {k: v for k, v in values.items() if k not in ("prefill_tps", "prefill_sd", "ttft_s")} | {"context": prompt or 0}
    return [row for row, key in ((prefill, "prefill_tps"), (decode, "decode_tps")) if row.get(key)]


def number(data: dict, key: str, scale: float = 1.0) -> float | None:
    """A figure that a program wrote, times `scale`; None where it is missing or 0. Raises ValueError for what is none."""
    value = _written(data, key, "a number")
    if value is None or value != value:
        return None
    if not 0 <= value * scale < 1e24:
        raise ValueError(f"`{key}`: {str(data[key])[:40]} is out of range")
    return value * scale or None


def whole(data: dict, key: str, low: int = 1) -> int | None:
    """A count that a program wrote; None where it is missing or below `low`. Raises ValueError for what is none."""
    value = _written(data, key, "a whole number")
    if value is None:
        return None
    if value % 1 or not -1e12 < value < 1e12:
        raise ValueError(f"`{key}`: {str(data[key])[:40]!r} is not a whole number")
    return int(value) if value >= low else None


def _written(data: dict, key: str, wanted: str) -> float | None:
    value = data.get(key)
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool):
            raise ValueError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"`{key}`: {str(value)[:40]!r} is not {wanted}") from None


def words(data: dict, key: str) -> str | None:
    """A text that a program wrote, or None."""
    value = data.get(key)
    return (value.strip()[:4096] or None) if isinstance(value, str) else None
