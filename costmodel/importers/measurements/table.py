"""Tables of measurements: rows of cells under headings, from CSV (comma, semicolon, tab) or from markdown."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import NamedTuple

from ...language.problem import Mark, Source, problem
from .collect import Collector
from .columns import BY_NAME, Column, plain
from .measurement import FIGURES
from .values import read_value

ROWS = 200_000
"""Most rows of a table."""
CELLS = 512
"""Most columns of a table."""
DELIMITERS = ",;\t"


class Record(NamedTuple):
    """Cells of a table's row, and the line that it starts on."""

    line: int
    cells: list[str]


def delimiter_of(line: str) -> str:
    """The delimiter that stands most often in a heading."""
    return max(DELIMITERS, key=line.count)


def csv_records(source: Source, delimiter: str) -> Iterator[Record]:
    """Each record of a CSV text that is not empty."""
    reader = csv.reader(io.StringIO("\n".join(source.lines)), delimiter=delimiter, skipinitialspace=True)
    line, count = 1, 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                count += 1
                if count > ROWS + 1 or len(cells) > CELLS:
                    limit = f"{ROWS:,} rows" if count > ROWS + 1 else f"{CELLS} columns"
                    raise problem(f"more than {limit}", Mark(source, line, 1), "split the file")
                yield Record(line, cells)
            line = reader.line_num + 1
    except csv.Error as error:
        raise problem(f"bad CSV: {error}", Mark(source, line, 1)) from None


_RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")


def markdown_cells(line: str) -> list[str] | None:
    """The cells of a markdown table's row, `\\|` being a bar; None for other text, `[]` for the rule under headings."""
    text = line.strip().removeprefix("> ").strip()
    if not text.startswith("|") or len(text) < 3:
        return None
    if _RULE.fullmatch(text):
        return []
    body = text[1:-1] if text.endswith("|") else text[1:]
    return [cell.replace("\\|", "|").strip(" *`") for cell in re.split(r"(?<!\\)\|", body)][:CELLS]


def known_heading(heading: list[str]) -> bool:
    """Whether a table with these headings is one of ours: a measured figure is among them."""
    fields = {column.field for name in heading if (column := BY_NAME.get(plain(name)))}
    return bool(fields & set(FIGURES))


class OwnTable:
    """A table whose headings are :data:`~.columns.COLUMNS`; rows go into a collector."""

    def __init__(self, out: Collector, heading: Record, delimiter: str = "|"):
        self.out, self.delimiter = out, delimiter
        self.heading = heading.cells
        self.columns = [BY_NAME.get(plain(name)) for name in heading.cells]
        names = [c.name for c in self.columns if c]
        twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
        if twice:
            raise problem(f"two columns mean `{twice}`", Mark(out.source, heading.line, 1), "keep one of them")
        out.notes += _ignored(heading.cells, self.columns)

    def row(self, record: Record, known: dict | None = None) -> None:
        """One row; `known` are facts from the text around it."""
        faults = len(self.out.problems)
        values = self._values(record)
        if len(self.out.problems) == faults:
            self.out.add(record.line, values, known)

    def _values(self, record: Record) -> dict:
        out, values = self.out, {}
        line, cells = record
        if any(c.strip() for c in cells[len(self.columns) :]):
            message = f"{len(cells)} cells under {len(self.columns)} headings"
            out.fault(message, Mark(out.source, line, 1), "quote a cell that holds the delimiter")
            return {}
        for index, (cell, column) in enumerate(zip(cells, self.columns, strict=False)):
            if column is None:
                continue
            try:
                values[column.field] = read_value(column.kind, cell, self.delimiter == ";")
            except ValueError as error:
                at = _place(out.source, line, index, self.delimiter)
                out.fault(f"column `{self.heading[index].strip()[:40]}`: {cell.strip()[:40]!r}: {error}", at)
        return values


def _ignored(heading: list[str], columns: list[Column | None]) -> list[str]:
    """One note on the columns that nothing is known of."""
    lost = [n.strip() for n, c in zip(heading, columns, strict=True) if c is None and n.strip()]
    if not lost:
        return []
    shown = ", ".join(f"`{n[:40]}`" for n in lost[:8]) + (", …" if len(lost) > 8 else "")
    return [f"{len(lost)} column{'s are' if len(lost) > 1 else ' is'} ignored: {shown}"]


def _place(source: Source, line: int, index: int, delimiter: str) -> Mark:
    """Where the cell with an index starts, in a record that starts on a line."""
    text = "\n".join(source.lines[line - 1 : line + 199])
    index += delimiter == "|" and text.lstrip().startswith("|")
    at, quoted = 0, False
    for at, char in enumerate(text):  # noqa: B007
        if not index:
            break
        if char == '"':
            quoted = not quoted
        elif char == delimiter and not quoted:
            index -= 1
    before = text[:at].split("\n")
    return Mark(source, line + len(before) - 1, len(before[-1]) + 1)
