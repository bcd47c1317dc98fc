"""Telling the form of a text by its content, and reading it."""

from __future__ import annotations

from ...language.problem import Mark, Source, SpecError, nearest, problem
from . import bench, sweep
from .collect import Collector
from .columns import BY_NAME, plain
from .facts import Facts
from .logs import Timings
from .measurement import Measurements
from .objects import json_start, objects, read_object
from .table import OwnTable, Record, csv_records, delimiter_of, known_heading, markdown_cells

LOOKED_FOR = (
    "looked for a table (CSV or markdown) with headings such as `model`, `hardware`, `decode_tok_s`; llama-bench (json, jsonl, csv, md); "
    "llama-sweep-bench, llama-batched-bench; timings of llama.cpp or Ollama; JSON of vLLM's or SGLang's benchmarks"
)


def read_source(source: Source, fill: dict | None = None) -> Measurements:
    """The measurements in a text. Raises SpecError for what cannot be read or told."""
    first = next((line.strip() for line in source.lines if line.strip()), "")
    if not first:
        raise problem("nothing to read: the text is empty", Mark(source, 1, 1), LOOKED_FOR)
    start = json_start(source)
    if start is not None and (first[0] in "[{" or '"avg_ts"' in source.text or '"speed_tg"' in source.text):
        return _json(source, start, fill)
    found = _table(source, fill) or _lines(source, fill)
    if found is None:
        raise _unknown(source, *_heading(source))
    return found


def _json(source: Source, start: int, fill: dict | None) -> Measurements:
    out = Collector(source, fill, "json")
    unknown: list[tuple[int, dict]] = []
    for line, data in objects(source, start):
        if not read_object(out, line, data):
            unknown.append((line, data))
    if not out.rows and not out.problems:
        raise _unknown(source, unknown[0][0] if unknown else start + 1, list(unknown[0][1]) if unknown else [])
    if unknown:
        out.notes.append(
            f"{len(unknown)} JSON object{'s' if len(unknown) > 1 else ''} of an unknown form left out, the first on line {unknown[0][0]}"
        )
    return out.done()


def _heading(source: Source) -> tuple[int, list[str]]:
    """The first line with text, and its cells."""
    index, line = next((i, line) for i, line in enumerate(source.lines) if line.strip())
    return index + 1, [cell.strip('" ') for cell in line[:2000].split(delimiter_of(line))]


def _table(source: Source, fill: dict | None) -> Measurements | None:
    """CSV with our headings, or llama-bench's, or a table copied from a rendered page (tabs); None for other text."""
    line, names = _heading(source)
    delimiter = delimiter_of(source.lines[line - 1])
    if _reader(Collector(source, fill, "csv"), Record(line, names), delimiter) is None:
        return None
    records = csv_records(source, delimiter)
    heading = next(records)
    reader = _reader(Collector(source, fill, "csv"), heading, delimiter)
    if reader is None:
        return None
    facts = Facts()
    for record in records:
        if reader.bench and len(record.cells) == 1:
            facts.read(record.cells[0])
            continue
        reader.row(record, facts)
    if not reader.out.rows and not reader.out.problems:
        raise problem("a table without rows", Mark(source, heading.line, 1), "add a line for each measurement")
    return reader.out.done()


def _lines(source: Source, fill: dict | None) -> Measurements | None:
    """Markdown tables and lines of timings anywhere in a text; None where there are none."""
    out, facts, timings = Collector(source, fill, "markdown"), Facts(), Timings()
    reader: _Reader | None = None
    heading = False
    for number, line in enumerate(source.lines, 1):
        cells = markdown_cells(line)
        if cells is None:
            reader, heading = None, False
            facts.read(line)
            for row in timings.read(line, number):
                out.layout = "timings"
                out.add(number, row, {"engine": "llama.cpp"} | facts.values)
        elif not heading:
            heading, reader = True, _reader(out, Record(number, cells), "|")
        elif reader and cells:
            reader.row(Record(number, cells), facts)
    for row in timings.rest():
        out.add(timings.line, row, {"engine": "llama.cpp"} | facts.values)
    return out.done() if out.rows or out.problems else None


class _Reader:
    """A table's rows by the kind that its headings tell."""

    def __init__(self, out: Collector, heading: Record, kind: str, delimiter: str):
        self.out, self.heading, self.kind = out, heading.cells, kind
        self.bench = kind in ("bench", "fields")
        self.own = OwnTable(out, heading, delimiter) if kind == "own" else None
        if kind != "own":
            out.layout = "llama.cpp sweep" if kind == "sweep" else "llama-bench"

    def row(self, record: Record, facts: Facts) -> None:
        """One row; what the text around it said fills blanks."""
        if self.own:
            return self.own.row(record)
        try:
            if self.kind == "sweep":
                rows = sweep.from_record(sweep.named(self.heading, record.cells))
            elif self.kind == "fields":
                rows = [bench.from_record(dict(zip(self.heading, record.cells, strict=False)))]
            else:
                rows = [bench.from_cells(self.heading, record.cells)]
        except ValueError as error:
            return self.out.fault(str(error), Mark(self.out.source, record.line, 1))
        for row in rows:
            self.out.add(record.line, row, (bench.DEFAULTS if self.bench else {"engine": "llama.cpp"}) | _around(facts, row))


def _around(facts: Facts, row: dict) -> dict:
    """Facts of the log that hold for a row: a CPU's row is not of the GPU that was found."""
    known = dict(facts.values)
    if row.get("backend") in ("CPU", "BLAS") or row.get("gpu_layers") == 0:
        known.pop("hardware", None)
        known.pop("devices", None)
    if row.get("devices") == 1 and "," in str(known.get("hardware")):
        known.pop("hardware")
    return known


def _reader(out: Collector, heading: Record, delimiter: str) -> _Reader | None:
    names = {plain(name) for name in heading.cells}
    if {"test", "t_s", "model"} <= names:
        return _Reader(out, heading, "bench", delimiter)
    if bench.is_bench(names):
        return _Reader(out, heading, "fields", delimiter)
    if {"s_pp_t_s", "s_tg_t_s"} <= names:
        return _Reader(out, heading, "sweep", delimiter)
    return _Reader(out, heading, "own", delimiter) if known_heading(heading.cells) else None


def _unknown(source: Source, line: int, names: list[str]) -> SpecError:
    """The error for a text of no known form; names a heading that is nearly one of ours."""
    close = names[:50] if len(names) > 1 else []
    near = next((n for name in close if plain(name) not in BY_NAME and (n := nearest(plain(name), BY_NAME))), None)
    lacks = "no measured figure in this file" if any(plain(name) in BY_NAME for name in names) else "measurements of no known form"
    return problem(f"{lacks}; {LOOKED_FOR}", Mark(source, line, 1), near)
