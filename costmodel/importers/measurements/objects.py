"""JSON and JSON lines: each object goes to the form that its keys tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ...language.problem import Mark, Source, SpecError
from ..jsontext import read_value
from . import bench, sweep
from .collect import Collector
from .columns import BY_NAME, COLUMNS, plain
from .measurement import FIGURES
from .serving import FORMS
from .values import read_value as read_cell

LIMIT = 64 * 2**20
_ITEM = re.compile(r"[\s,]*")


def json_start(source: Source) -> int | None:
    """The index of the line where JSON starts, maybe after lines of a log; None where there is none."""
    for index, line in enumerate(source.lines[:2000]):
        text = line.strip()
        if text[:1] == "{" or text[:2] in ("[", "[{", "[]"):
            return index
        if text and index == 0 and text[0] == "[":
            return index
    return None


def objects(source: Source, start: int) -> Iterator[tuple[int, dict]]:
    """(line, object) of each object in the JSON text, or on the JSON lines, from a line on.

    Raises SpecError for bad JSON.
    """
    lines = source.lines[start:]
    whole = [line for line in lines if line.strip()]
    if len(whole) > 1 and all(line.strip()[0] == "{" and line.strip()[-1] == "}" for line in whole):
        for number, line in enumerate(lines, start + 1):
            if line.strip():
                yield from _inside(_checked(line, source, number - 1), number)
        return
    end = max((i for i, line in enumerate(lines) if line.strip()[-1:] in ("]", "}")), default=len(lines) - 1)
    text = "\n".join(lines[: end + 1])
    data = _checked(text, source, start)
    if isinstance(data, list):
        at, last = start + 1, 0
        for position, item in _items(text):
            at, last = at + text.count("\n", last, position), position
            if isinstance(item, dict):
                yield at, item
    else:
        yield from _inside(data, start + 1)


def _inside(data, line: int) -> Iterator[tuple[int, dict]]:
    if isinstance(data, dict):
        yield line, data


def _checked(text: str, source: Source, above: int):
    """The value, read within bounds; marks of problems are moved to the file's lines."""
    try:
        return read_value(text.encode("utf-8", "replace"), source.name, LIMIT, unbounded=True)
    except SpecError as error:
        raise SpecError(
            [
                p._replace(mark=Mark(source, p.mark.line + above, p.mark.column)) if p.mark and len(source.text) < 2**20 else p
                for p in error.problems
            ]
        ) from None


def _items(text: str) -> Iterator[tuple[int, object]]:
    """(position, value) of a list's items; the text was checked before."""
    decoder = json.JSONDecoder()
    at = text.index("[") + 1
    while True:
        at = _ITEM.match(text, at).end()  # type: ignore[union-attr]
        if text[at : at + 1] in ("]", ""):
            return
        item, end = decoder.raw_decode(text, at)
        yield at, item
        at = end


def read_object(out: Collector, line: int, data: dict) -> bool:
    """Put an object's rows into the collector; False where its form is not known."""
    try:
        if bench.is_bench(data):
            out.layout = "llama-bench"
            out.add(line, bench.from_record(data), bench.DEFAULTS)
            return True
        if sweep.is_sweep(data):
            out.layout = "llama.cpp sweep"
            for row in sweep.from_record(data):
                out.add(line, row, {"engine": "llama.cpp"})
            return True
        for keys, reader, name in FORMS:
            if keys <= data.keys():
                out.layout = name
                for row in reader(data, out.fill):
                    out.add(line, {k: v for k, v in row.items() if k != "engine"}, {"engine": row.get("engine")})
                return True
        return _own(out, line, data)
    except ValueError as error:
        out.fault(str(error), Mark(out.source, line, 1))
        return True


def _own(out: Collector, line: int, data: dict) -> bool:
    """An object whose keys are our columns."""
    kinds = {c.field: c.kind for c in COLUMNS}
    found = {column.field: value for key, value in data.items() if (column := BY_NAME.get(plain(str(key)[:80])))}
    if not found.keys() & set(FIGURES):
        return False
    values = {}
    for field, value in found.items():
        if isinstance(value, (dict, list)):
            raise ValueError(f"`{field}`: want a number or a text")
        try:
            values[field] = None if value is None else read_cell(kinds[field], str(value))
        except ValueError as error:
            raise ValueError(f"`{field}`: {str(value)[:40]!r}: {error}") from None
    out.layout = "json"
    out.add(line, values)
    return True
