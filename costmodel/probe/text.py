"""Reading untrusted texts of tools: first numbers, sizes, one-line names; everything bounded, nothing raises."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ..importers.document import printable

_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,6})?", re.A)
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([kKMGTP]?)(i?)(?:[bB]|ytes)?\b", re.A)
_STEPS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
LINES = 5000
"""Lines of a tool's output that are looked at."""


def name(text: Any) -> str:
    """A name on one line, without control characters, at most 100 characters."""
    return printable(text, 100) if isinstance(text, str) else ""


def number(text: Any) -> float | None:
    """The first number of a text (`[N/A]` has none)."""
    if isinstance(text, bool) or text is None:
        return None
    found = _NUMBER.search(str(text)[:200])
    return float(found[0]) if found else None


def whole(text: Any, most: int = 10**6) -> int | None:
    """The first number of a text as a count from 1 to `most`."""
    found = number(text)
    return int(found) if found is not None and 1 <= found <= most else None


def size(text: Any, unit: str = "", decimal: bool = False) -> int | None:
    """Bytes of `16 GB`, `24564 MiB` or a bare number of `unit`; memory tools mean binary units unless `decimal`."""
    found = _SIZE.search(str(text)[:200]) if text is not None and not isinstance(text, bool) else None
    if not found:
        return None
    step = 1000 if decimal and not found[3] else 1024
    value = float(found[1]) * step ** _STEPS[found[2] or unit]
    return int(value) if 1 <= value < 1e18 else None


def pairs(text: str, separator: str = ":") -> Iterator[tuple[str, str]]:
    """(key, value) of every `key: value` line."""
    for line in text.splitlines()[:LINES]:
        key, found, value = line.partition(separator)
        if found:
            yield key.strip(), value.strip()


def fields(text: str, separator: str = ":") -> dict[str, str]:
    """`key: value` lines as a map; the first of a key wins."""
    found: dict[str, str] = {}
    for key, value in pairs(text, separator):
        found.setdefault(key, value)
    return found


def loads(text: str) -> Any:
    """JSON of a tool, which may print lines before it; None where there is none."""
    starts = [i for i in (text.find("{"), text.find("[")) if i >= 0]
    if not starts:
        return None
    try:
        return json.loads(text[min(starts) :])
    except (ValueError, RecursionError):
        return None


def maps(value: Any) -> list[dict]:
    """The maps of a JSON value that is a list of maps, or one map."""
    found = value if isinstance(value, list) else [value]
    return [x for x in found[:256] if isinstance(x, dict)]
