"""A study's table for the page: rows in groups that stay together, and what each cell is sorted by."""

from __future__ import annotations

import re

INDENT = "·\u00a0"
"""What a variant's name begins with: it stays below its row."""
_PREFIX = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_NUMBER = r"(-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)"
_WHOLE = re.compile(rf"(?:[^\W\d]+ )?{_NUMBER} ?([kMGTPE]?)(B/s|B|s|tok/s|FLOP|%|x|)")
_SECONDS = re.compile(rf"{_NUMBER} (ns|us|ms|s)")
_RATIO = re.compile(rf".*\({_NUMBER}x(?:–{_NUMBER}x)?\)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def groups(table: dict) -> list[list[list[tuple[str, float | None]]]]:
    """Groups of rows of (text, number to sort by) from :func:`costmodel.report.study.table_of`.

    A column in which any text is not a number has none at all: it is sorted as text.
    """
    rows = table["rows"]
    keys = [[sort_key(str(c)) for c in row] for row in rows]
    for i in range(len(table["headers"])):
        if any(key[i] is None and str(row[i]) not in ("", "-") for key, row in zip(keys, rows, strict=True)):
            for key in keys:
                key[i] = None
    found: list = []
    for row, key in zip(rows, keys, strict=True):
        cells = [(str(c), k) for c, k in zip(row, key, strict=True)]
        if str(row[0]).startswith(INDENT) and found:
            found[-1].append(cells)
        else:
            found.append([cells])
    return found


def sort_key(text: str) -> float | None:
    """The number that a cell stands for: `12.1 ms`, `4.7 GB`, `faster (3.50x)`; None where it is none."""
    seconds = _SECONDS.fullmatch(text)
    if seconds:
        return _plain(seconds[1]) * _UNITS[seconds[2]]
    whole = _WHOLE.fullmatch(text)
    if whole:
        return _plain(whole[1]) * _PREFIX[whole[2]]
    ratio = _RATIO.fullmatch(text)
    return _plain(ratio[1]) if ratio else None


def _plain(text: str) -> float:
    return float(text.replace(",", ""))
