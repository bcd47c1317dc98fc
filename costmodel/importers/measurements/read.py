"""Reading a file of measurements: its size, its encoding, then its form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ...language.problem import Source
from ..files import InputFile
from ..jsontext import bad
from .forms import read_source
from .measurement import Measurements

FILE_BYTES = 64 * 2**20
"""Largest file that is read."""
_BREAKS = dict.fromkeys(map(ord, "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), " ")


def read_measurements(path: str | Path, fill: dict[str, Any] | None = None) -> Measurements:
    """The measurements of a file, or of standard input for `-`. `fill` gives fields (`hardware`, `model`, `engine` …) for blanks.

    Raises SpecError, with file and line, for what cannot be read.
    """
    if str(path) == "-":
        raw = sys.stdin.buffer.read(FILE_BYTES + 1)
        return read_text(decoded(raw, "standard input"), "standard input", fill)
    with InputFile(Path(path)) as file:
        raw = file.read(min(file.size, FILE_BYTES + 1), "the text")
        return read_text(decoded(raw, file.name), file.name, fill)


def decoded(raw: bytes, name: str) -> str:
    """The text of bytes in UTF-8, or UTF-16 with a byte order mark, as spreadsheets and PowerShell write it."""
    if len(raw) > FILE_BYTES:
        raise bad(name, f"more than {FILE_BYTES:,} bytes", "split the file")
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise bad(name, f"byte {error.start + 1:,} is not UTF-8 text", "save the file as UTF-8") from None


def read_text(text: str, name: str, fill: dict[str, Any] | None = None) -> Measurements:
    """The measurements in a text; `name` stands in messages."""
    source = Source(name, text.replace("\r\n", "\n").replace("\r", "\n").translate(_BREAKS))
    return read_source(source, fill)
