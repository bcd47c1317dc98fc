"""Tables of measurements: CSV with headings, delimited by comma, semicolon or tab."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from ...language.problem import Mark, Problem, Source, SpecError, problem, suggest
from .columns import BY_NAME, Column, plain
from .measurement import FIGURES, Measurement, Measurements
from .values import read_value

ROWS = 200_000
"""Most rows of a table."""
CELLS = 512
"""Most columns of a table."""
DELIMITERS = ",;\t"


def delimiter_of(line: str) -> str:
    """The delimiter that stands most often in a heading."""
    return max(DELIMITERS, key=line.count)


def read_table(source: Source, fill: dict | None = None) -> Measurements:
    """The measurements of a table with headings. `fill` gives fields for rows that leave them blank.

    Raises SpecError for all cells that cannot be read, each with its line and column, and for rows without model,
    machine or measured figure.
    """
    start = next((i for i, line in enumerate(source.lines) if line.strip()), 0)
    mark = delimiter_of(source.lines[start] if source.lines else "")
    records = _records(source, mark)
    heading = next(records, (1, []))[1]
    columns = _columns(source, start, heading)
    done = Measurements(layout="csv", notes=_ignored(heading, columns))
    problems: list[Problem] = []
    for line, cells in records:
        values, faults = _values(source, line, cells, columns, mark)
        problems += faults
        row = complete(values, Mark(source, line, 1), fill)
        if not faults and (lack := lacking(row)):
            problems.append(lack)
        done.append(row)
    if problems:
        raise SpecError(problems)
    return done


def _records(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(first line, cells) of each record that is not empty."""
    reader = csv.reader(io.StringIO("\n".join(source.lines)), delimiter=delimiter, skipinitialspace=True)
    line, count = 1, 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                count += 1
                if count > ROWS + 1 or len(cells) > CELLS:
                    limit = f"{ROWS:,} rows" if count > ROWS + 1 else f"{CELLS} columns"
                    raise problem(f"more than {limit}", Mark(source, line, 1), "split the file")
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise problem(f"bad CSV: {error}", Mark(source, line, 1)) from None


def _columns(source: Source, start: int, heading: list[str]) -> list[Column | None]:
    columns = [BY_NAME.get(plain(name)) for name in heading]
    names = [c.name for c in columns if c]
    twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
    if twice:
        raise problem(f"two columns mean `{twice}`", Mark(source, start + 1, 1), "keep one of them")
    return columns


def _ignored(heading: list[str], columns: list[Column | None]) -> list[str]:
    """One note on the columns that nothing is known of."""
    lost = [n.strip() for n, c in zip(heading, columns, strict=True) if c is None and n.strip()]
    if not lost:
        return []
    shown = ", ".join(f"`{n[:40]}`" for n in lost[:8]) + (", …" if len(lost) > 8 else "")
    return [f"{len(lost)} column{'s are' if len(lost) > 1 else ' is'} ignored: {shown}"]


def _values(source: Source, line: int, cells: list[str], columns: list[Column | None], delimiter: str):
    """(values by field, problems) of one record."""
    values, problems = {}, []
    if len(cells) > len(columns) and any(c.strip() for c in cells[len(columns) :]):
        message = f"{len(cells)} cells under {len(columns)} headings"
        problems.append(Problem(message, Mark(source, line, 1), "quote a cell that holds the delimiter"))
        return values, problems
    for index, (cell, column) in enumerate(zip(cells, columns, strict=False)):
        if column is None:
            continue
        try:
            values[column.field] = read_value(column.kind, cell, delimiter == ";")
        except ValueError as error:
            at = _place(source, line, index, delimiter)
            problems.append(Problem(f"column `{column.name}`: {cell.strip()[:40]!r}: {error}", at))
    return values, problems


def _place(source: Source, line: int, index: int, delimiter: str) -> Mark:
    """Where the cell with an index starts, in a record that starts on a line."""
    text = "\n".join(source.lines[line - 1 :][:200])
    position, quoted = 0, False
    for position, char in enumerate(text):
        if not index:
            break
        if char == '"':
            quoted = not quoted
        elif char == delimiter and not quoted:
            index -= 1
    before = text[:position].split("\n")
    return Mark(source, line + len(before) - 1, len(before[-1]) + 1)


def complete(values: dict, mark: Mark, fill: dict | None) -> Measurement:
    """A measurement of the fields that are known, blanks filled."""
    known = {k: v for k, v in values.items() if v is not None}
    return Measurement(source=mark, **({k: v for k, v in (fill or {}).items() if v is not None} | known))


def lacking(row: Measurement) -> Problem | None:
    """What a row lacks to be compared with a prediction, or None."""
    if row.model is None and row.params is None:
        return Problem("no model", row.source, "fill the column `model` (or `params_B`), or give `--model`")
    if row.hardware is None and row.bandwidth is None:
        return Problem("no machine", row.source, "fill the column `hardware` (or `bandwidth`), or give `--hw`")
    if all(getattr(row, name) is None for name in FIGURES):
        return Problem("no measured figure", row.source, "fill `decode_tok_s`, `prefill_tok_s`, `ttft_ms` or `tpot_ms`")
    return None


def unknown_heading(source: Source, heading: list[str]) -> SpecError:
    """The error for a table none of whose headings is known."""
    first = next((h for h in heading if h.strip()), "")
    return problem("no heading of this table is known", Mark(source, 1, 1), suggest(plain(first), BY_NAME))
