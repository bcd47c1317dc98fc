"""The metadata of a GGUF header. Long values are stepped over: what remains of them is their kind and length.

Layout: ggml's `docs/gguf.md`, little-endian; a string is its length (u64) and its bytes, an array its kind (u32), length
(u64) and elements.
"""

from __future__ import annotations

from struct import Struct, unpack
from typing import NamedTuple

from .ggufcursor import U32, U64, Cursor

NUMBERS_KEPT = 4096
STRINGS_KEPT = 64
TEXT_KEPT = 2**20
TEXT_BYTES = 64 * 2**20
"""Longest string value that is accepted."""
KEYS = 100_000
DEPTH = 4


class Array(NamedTuple):
    """A value that was not kept: the `kind` of its elements (`string`, `f32`, `byte` for a long text …) and their number."""

    kind: str
    length: int


Value = int | float | bool | str | list | Array

NUMBERS = {0: "uB", 1: "ib", 2: "uH", 3: "ih", 4: "uI", 5: "ii", 6: "ff", 7: "b?", 10: "uQ", 11: "iq", 12: "fd"}
"""Value type to a letter for the kind and the code that reads it."""
STRING, ARRAY = 8, 9
_LAYOUTS = {kind: Struct("<" + code[1]) for kind, code in NUMBERS.items()}
_NAMES = {kind: "bool" if code[0] == "b" else f"{code[0]}{8 * _LAYOUTS[kind].size}" for kind, code in NUMBERS.items()}


def read_keys(cursor: Cursor, count: int) -> dict[str, Value]:
    """The next `count` keys and their values. Raises SpecError, also for a key that stands twice."""
    if count > KEYS:
        raise cursor.bad(f"{count:,} metadata keys; at most {KEYS:,} are accepted")
    cursor.need(13 * count, f"the {count:,} metadata keys")
    keys: dict[str, Value] = {}
    for i in range(count):
        name = cursor.name(f"the name of key {i + 1:,}")
        if name in keys:
            raise cursor.bad(f"the key `{name}` stands twice in the metadata")
        cursor.keep(100 + len(name))
        keys[name] = _value(cursor, name)
    return keys


def _value(cursor: Cursor, key: str) -> Value:
    what = f"the value of `{key}`"
    kind = cursor.number(U32, what)
    if kind in NUMBERS:
        return cursor.number(_LAYOUTS[kind], what)
    if kind == STRING:
        return _string(cursor, what)
    if kind == ARRAY:
        return _array(cursor, what, 1)
    raise cursor.bad(f"{what} has the unknown type {kind:,}", "a damaged header, or a GGUF newer than version 3")


def _array(cursor: Cursor, what: str, depth: int) -> list | Array:
    if depth > DEPTH:
        raise cursor.bad(f"{what} holds arrays nested more than {DEPTH} deep")
    kind, n = cursor.number(U32, what), cursor.number(U64, what)
    if kind in NUMBERS:
        return _numbers(cursor, kind, n, what)
    if kind == STRING:
        cursor.need(8 * n, what)
        if n <= STRINGS_KEPT:
            return [_string(cursor, what) for _ in range(n)]
        cursor.skip_strings(n, what)
        return Array("string", n)
    if kind == ARRAY:
        cursor.need(12 * n, what)
        cursor.keep(128 * n)  # not kept, but each takes time
        for _ in range(n):
            _array(cursor, what, depth + 1)
        return Array("array", n)
    raise cursor.bad(f"{what} is an array of the unknown type {kind:,}", "a damaged header, or a GGUF newer than version 3")


def _string(cursor: Cursor, what: str) -> str | Array:
    n = cursor.length(TEXT_BYTES, what)
    if n > TEXT_KEPT:
        cursor.skip(n, what)
        return Array("byte", n)
    cursor.keep(4 * n)
    return cursor.take(n, what).decode(errors="replace")


def _numbers(cursor: Cursor, kind: int, n: int, what: str) -> list | Array:
    size = _LAYOUTS[kind].size * n
    if n > NUMBERS_KEPT:
        cursor.skip(size, what)
        return Array(_NAMES[kind], n)
    cursor.keep(40 * n)
    return list(unpack(f"<{n}{NUMBERS[kind][1]}", cursor.take(size, what)))
