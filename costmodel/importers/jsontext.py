"""JSON from outside, read within bounds: depth, digits and count of values are limited, and a key stands once.

Every fault is one :class:`~costmodel.language.problem.SpecError` that names the file and, where it can, line and column.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..language.problem import Mark, Source, SpecError, problem

CONFIG_BYTES = 16 * 2**20
"""Largest `config.json` that is read."""
DEPTH = 64
DIGITS = 40
VALUES = 2_000_000
"""Most commas in one JSON text: what a text of many tiny values may take in memory."""
SHOWN_BYTES = 2**20
"""Longest text whose line is quoted under a message."""


def bad(name: str, message: str, help: str | None = None) -> SpecError:
    """The error for a whole file, ready to raise; a place inside a binary file has no line."""
    return problem(f"{name}: {message}", None, help)


def read_json(raw: bytes, name: str, limit: int = CONFIG_BYTES, unbounded: bool = False) -> dict[str, Any]:
    """The object that UTF-8 JSON text holds; see :func:`read_value`. Raises SpecError when the top level is none."""
    data = read_value(raw, name, limit, unbounded)
    if not isinstance(data, dict):
        raise _at(name, raw.decode("utf-8-sig"), 0, "the top level must be an object: `{…}`")
    return data


def read_value(raw: bytes, name: str, limit: int = CONFIG_BYTES, unbounded: bool = False) -> Any:
    """What UTF-8 JSON text holds (a byte order mark is allowed).

    Raises SpecError with line and column for bad JSON, a duplicate key, NaN or an infinite number, an integer of more
    than 40 digits, more than 64 levels; also for more than `limit` bytes.
    `unbounded` lets the words NaN and Infinity pass, which some configs hold in keys that nobody needs.
    """
    if len(raw) > limit:
        raise bad(name, f"{len(raw):,} bytes of JSON; at most {limit:,} are read")
    if raw.count(b",") > VALUES:
        raise bad(name, f"more than {VALUES:,} values in one JSON text")
    constant = float if unbounded else _finite
    try:
        text = raw.decode("utf-8-sig")
        data = json.loads(text, object_pairs_hook=_unique, parse_int=_integer, parse_float=_finite, parse_constant=constant)
    except UnicodeDecodeError as error:
        raise bad(name, f"byte {error.start + 1:,} is not UTF-8 text", "save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise _at(name, text, error.pos, f"bad JSON: {error.msg[:1].lower()}{error.msg[1:]}") from None
    except RecursionError:
        raise _refused(name, text, _TOO_DEEP) from None
    except _Refused as error:
        raise _refused(name, text, str(error)) from None
    if _deep(data):
        raise _refused(name, text, _TOO_DEEP)
    return data


class _Refused(ValueError):
    """JSON that is well formed and not accepted."""


_TOO_DEEP = f"more than {DEPTH} levels of brackets"
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{}:]|[^]\s"[{}:,]+')


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(_twice(twice))
    return data


def _twice(key: str) -> str:
    return f"the key `{key[:80]}` stands twice in one object"


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > DIGITS:
        raise _Refused(f"an integer of {len(text):,} digits; at most {DIGITS} are read")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise _Refused(f"`{text[:20]}` is no finite number")
    return number


def _deep(data: Any) -> bool:
    level = [data] if isinstance(data, (dict, list)) else []
    for _ in range(DEPTH):
        below = (value for item in level for value in (item.values() if isinstance(item, dict) else item))
        level = [value for value in below if isinstance(value, (dict, list))]
    return bool(level)


def _refused(name: str, text: str, message: str) -> SpecError:
    """The error at the first place that is not accepted; without a place where finding it would take long."""
    found = _first(text) if len(text) <= SHOWN_BYTES else None
    return _at(name, text, *found) if found else bad(name, message)


def _first(text: str) -> tuple[int, str] | None:
    stack: list[set[str]] = []
    last = None
    for token in _TOKEN.finditer(text):
        kind = token[0][0]
        try:
            if kind in "{[":
                stack.append(set())
                if len(stack) > DEPTH:
                    return token.start(), _TOO_DEEP
            elif kind in "}]":
                stack.pop()
            elif kind == '"':
                last = token
            elif kind == ":" and last:
                key = json.loads(last[0])
                if key in stack[-1]:
                    return last.start(), _twice(key)
                stack[-1].add(key)
            elif kind in "-0123456789NI":
                (_finite if re.search("[.eENI]", token[0]) else _integer)(token[0])
        except _Refused as error:
            return token.start(), str(error)
        except (ValueError, IndexError):
            return None
    return None


def _at(name: str, text: str, position: int, message: str) -> SpecError:
    lines = (text[:position] + "x").splitlines()
    if len(text) > SHOWN_BYTES:
        return bad(name, f"line {len(lines):,}, column {len(lines[-1]):,}: {message}")
    return problem(message, Mark(Source(name, text), len(lines), len(lines[-1])))
