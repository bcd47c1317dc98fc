"""Points to files, block by block: Parquet in parts that are whole as soon as they are there, CSV, and JSON for few points.

While a sweep runs, `out.parquet` grows as the folder `out.parquet.partial`: one file a block, each moved into place when it
is complete, so that whatever ends the process, all files in it can be read. At the end they become one file, or, for a
name that ends in `/`, they stay a folder. CSV grows as `out.csv.partial`.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from ...language.problem import Mark, Source, problem
from ..record import REGIMES
from .figures import is_flag

MOST_JSON = 1_000_000
"""Points of the largest JSON document."""
ROWS = 4096
"""Rows of a CSV file that are written at a time."""


def writer(path: str, force: bool, points: int):
    """The writer of a path, by its ending: `.parquet`, `/` (a folder of Parquet files), `.csv`, `.json`. Raises :class:`SpecError`."""
    text = str(path)
    mark = Mark(Source("-o", text), 1, 1)
    made = {".parquet": Parquet, ".csv": CSV, ".json": JSON}.get(Path(text).suffix, Parquet if text.endswith(("/", os.sep)) else None)
    if made is None:
        raise problem(f"`{text}`: want a name that ends in .parquet, .csv or .json, or a folder that ends in `/`", mark)
    if made is JSON and points > MOST_JSON:
        raise problem(f"{points:,} points as JSON; at most {MOST_JSON:,}", mark, "write Parquet: `-o out.parquet`")
    target = Path(text)
    if target.name in ("", "..") or "\0" in text:
        raise problem(f"`{text[:80]}` is no name of a new file or folder", mark)
    try:
        _check_places(target, made, force, mark)
        return made(target, text.endswith(("/", os.sep)))
    except OSError as error:
        raise problem(f"cannot write `{text[:120]}`: {error.strerror or error}", mark) from None


def _check_places(target: Path, made: type, force: bool, mark: Mark) -> None:
    """Raises :class:`SpecError` where a file is there that is kept, and where none can be."""
    for place in (target, partial(target)):
        if os.path.lexists(place) and not force:
            help = "--force replaces it" if place == target else "it is what an interrupted sweep left; --force removes it"
            raise problem(f"`{place}` is there already", mark, help)
        if not _is_ours(place):
            raise problem(f"`{place}` is a folder that holds more than a sweep's points", mark, "write elsewhere, or remove it yourself")
    if not target.parent.is_dir():
        raise problem(f"no folder `{target.parent}`", mark)
    if made is not Parquet and target.is_dir():
        raise problem(f"`{target}` is a folder", mark)


def _is_ours(place: Path) -> bool:
    """Whether a path holds nothing, a file, or a folder of a sweep's parts only: nothing else is removed."""
    if not place.is_dir() or place.is_symlink():
        return True
    return all(re.fullmatch(r"part-\d+\.parquet|\.writing|\.joined", name) for name in os.listdir(place))


def partial(target: Path) -> Path:
    """Where points lie until all are there."""
    return target.with_name(target.name + ".partial")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


class Writer:
    """Takes blocks of columns in order; `written` counts points. `close` makes the file what it is to be."""

    def __init__(self, target: Path, folder: bool = False):
        self.target, self.folder, self.written = target, folder, 0
        self.coded: tuple[str, ...] = ()  # columns of axes, whose values repeat
        self.partial = partial(target)
        _remove(self.partial)
        self.open()

    def open(self) -> None:
        """Before the first block."""

    def add(self, columns: dict) -> None:
        """Write a block: equally long arrays by name (texts as (codes, labels))."""
        raise NotImplementedError

    def stop(self) -> None:
        """After the last block, or where the sweep was interrupted."""

    def discard(self) -> None:
        """Nothing was written: leave no trace."""
        _remove(self.partial)

    def close(self) -> None:
        """All points are there."""
        self.stop()
        _remove(self.target)
        os.replace(self.partial, self.target)


class Parquet(Writer):
    """One file a block."""

    def open(self) -> None:
        """Make the folder. Raises :class:`SpecError` without pyarrow."""
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise problem("Parquet needs pyarrow", help="pip install pyarrow, or write .csv") from None
        self.parts = 0
        self.partial.mkdir()

    def add(self, columns: dict) -> None:
        """A file under another name, then moved into place."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        arrays = {n: _arrow(c) for n, c in columns.items()}
        waiting = self.partial / ".writing"
        coded = [n for n, c in columns.items() if isinstance(c, tuple) or n in self.coded]
        pq.write_table(pa.table(arrays), waiting, row_group_size=1 << 30, use_dictionary=coded, compression="snappy")
        os.replace(waiting, self.partial / f"part-{self.parts:06}.parquet")
        self.parts += 1
        self.written += _length(columns)

    def close(self) -> None:
        """The folder moves into place, or its files become one, a row group each."""
        files = sorted(self.partial.glob("part-*.parquet"))
        if self.folder or not files:
            super().close()
            return
        whole = files[0]
        if len(files) > 1:
            whole = self.partial / ".joined"
            _joined(files, whole)
        _remove(self.target)
        os.replace(whole, self.target)
        _remove(self.partial)


def _arrow(column):
    """A column of Arrow: codes as a dictionary of texts or as truth values, without a value below 0."""
    import numpy as np
    import pyarrow as pa

    if not isinstance(column, tuple):
        return pa.array(column)
    codes, labels = column
    if labels == [False, True]:
        return pa.array(codes == 1, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(pa.array(np.maximum(codes, 0), mask=codes < 0), labels)


def _joined(files: list[Path], whole: Path) -> None:
    """One file of many: each becomes a row group, read and written by itself."""
    import pyarrow.parquet as pq

    schema = pq.read_schema(files[0])
    with pq.ParquetWriter(whole, schema, compression="snappy", use_dictionary=_coded(files[0])) as out:
        for file in files:
            out.write_table(pq.read_table(file, use_threads=False).cast(schema), row_group_size=1 << 30)


def _coded(file: Path) -> list[str]:
    """The columns of a file that are kept by dictionary."""
    import pyarrow.parquet as pq

    group = pq.ParquetFile(file).metadata.row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    return [c.path_in_schema for c in columns if any("DICT" in e for e in c.encodings)]


class CSV(Writer):
    """Comma-separated values with a heading; floats as Python writes them, unknown ones empty."""

    def open(self) -> None:
        """Open the file."""
        self.stream = open(self.partial, "w", encoding="utf-8", newline="")  # noqa: SIM115
        self.headed = False

    def add(self, columns: dict) -> None:
        """Append rows, a few thousand at a time."""
        import csv

        out = csv.writer(self.stream, lineterminator="\n")
        if not self.headed:
            out.writerow(columns)
            self.headed = True
        for first in range(0, _length(columns), ROWS):
            part = [_part(c, first) for c in columns.values()]
            rows = list(zip(*(map(_cell, plain(c)) for c in part), strict=True))
            out.writerows(rows)
            self.stream.flush()
            self.written += len(rows)

    def stop(self) -> None:
        """Close the file."""
        self.stream.close()


class JSON(Writer):
    """One document: `{"schema": …, "points": [{…}, …]}`."""

    def open(self) -> None:
        """Nothing is written before the end."""
        self.rows: list[dict] = []

    def add(self, columns: dict) -> None:
        """Keep rows."""
        lists = {n: [_known(v) for v in plain(c)] for n, c in columns.items()}
        self.rows += (dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True))
        self.written = len(self.rows)

    def stop(self) -> None:
        """Write what there is."""
        import json

        body = json.dumps({"schema": "costmodel/sweep@1", "points": self.rows}, ensure_ascii=False, indent=1)
        self.partial.write_text(body + "\n", "utf-8")


def _length(columns: dict) -> int:
    first = next(iter(columns.values()))
    return len(first[0] if isinstance(first, tuple) else first)


def _part(column, first: int):
    """Some rows of a column."""
    return (column[0][first : first + ROWS], column[1]) if isinstance(column, tuple) else column[first : first + ROWS]


def plain(column) -> list:
    """A column as Python values."""
    if isinstance(column, tuple):
        codes, labels = column
        return [labels[i] if i >= 0 else None for i in codes.tolist()]
    return column.tolist()


def _known(value):
    return None if isinstance(value, float) and value != value else value


def _cell(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or value != value else value


def columns_of(axes, places: dict, arrays: dict) -> dict:
    """A block's columns: the axes' values at `places` (arrays of places by axis), then the figures."""
    import numpy as np

    found: dict = {}
    for axis in axes:
        at = places[axis.name]
        labels = axis.labels
        if isinstance(labels, np.ndarray) and labels.dtype.kind in "iuf":
            found[axis.name] = labels[at]
        elif all(isinstance(v, int) for v in labels):
            found[axis.name] = np.array(labels)[at]
        else:
            found[axis.name] = (at.astype(np.int32), [str(v) for v in labels])
    for name, values in arrays.items():
        flat = values.ravel()
        if is_flag(name):
            found[name] = (flat.astype(np.int32), list(REGIMES) if name.endswith(".regime") else [False, True])
        else:
            found[name] = flat
    return found
