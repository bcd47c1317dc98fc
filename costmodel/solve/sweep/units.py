"""The base unit of a field that `--set` can name, read from the schema: so that arrays may hold plain numbers."""

from __future__ import annotations

import types
import typing
from functools import cache

from ...language.units import COUNT, Dim, UnitError, quantity, unit
from ...schema import model_of


@cache
def dim_of(kind: str, path: tuple[str, ...]) -> Dim | None:
    """The dimension of a field of a document (`("memory", "vram", "bandwidth")`); None where it is no quantity."""
    found: typing.Any = model_of(kind)
    for part in path:
        found = _below(found, part)
        if found is None:
            return None
    example = _example(found)
    if example is None:
        return None
    return unit(example.split(" ", 1)[1])[1] if " " in example else COUNT


def _below(annotation, part: str):
    """What stands under a key of a type: a model's field, or a mapping's value."""
    for option in _options(annotation):
        if hasattr(option, "model_fields"):
            field = next((f for n, f in option.model_fields.items() if part in (n, f.alias)), None)
            return None if field is None else typing.Annotated[(field.annotation, None, *field.metadata)]
        if typing.get_origin(option) is dict:
            return typing.get_args(option)[1]
    return None


def _options(annotation):
    """The types that an annotation may be, without what is written beside them."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _options(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return [o for a in typing.get_args(annotation) for o in _options(a)]
    return [annotation]


def _example(annotation) -> str | None:
    """The first example in a field's schema that has a unit, or that is a plain number."""
    for note in getattr(annotation, "__metadata__", ()):
        for text in (getattr(note, "json_schema", None) or {}).get("examples", ()):
            if isinstance(text, str):
                return text if _readable(text) else None
    inner = typing.get_args(annotation)
    return next((e for a in inner if (e := _example(a)) is not None), None)


def _readable(text: str) -> bool:
    try:
        if " " in text:
            unit(text.split(" ", 1)[1])
        else:
            float(text)
    except (UnitError, ValueError):
        return False
    return True


def base_text(value: float, dim: Dim | None) -> str:
    """A number in base units as `--set` reads it (`5e+11` in a field of bytes per second: `5e+11 B/s`)."""
    number = repr(int(value)) if float(value).is_integer() and abs(value) < 2**63 else repr(float(value))
    return number if dim is None or dim == COUNT else f"{number} {_spelled(dim)}"


def base_value(text: str, dim: Dim) -> float | None:
    """The number in base units of a text that is a quantity; None for any other text (a formula, a name)."""
    try:
        return float(text) if dim == COUNT else float(quantity(text, dim))
    except (UnitError, ValueError):
        return None


def _spelled(dim: Dim) -> str:
    if dim == Dim(J=1, s=-1):
        return "W"
    up = "".join({"flop": "FLOP"}.get(n, {"byte": "B"}.get(n, n)) for n, e in zip(Dim._fields, dim, strict=True) if e > 0)
    return up + ("/s" if dim.s < 0 else "")
