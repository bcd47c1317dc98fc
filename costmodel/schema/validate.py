"""Validating a document's data against its kind, with every problem at its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..language.formula import FormulaError, parse
from ..language.formula.fold import number
from ..language.problem import Problem, SpecError, article, suggest
from ..language.units import BYTE, UnitError, unit
from ..language.yamlread import Document
from . import KINDS, model_of

VERSION = 1
MAX_PROBLEMS = 50


def kind_of(document: Document, want: str | None = None) -> str:
    """The kind named by the `schema:` line. Raises :class:`SpecError` for a missing, unknown or newer one.

    `want` is the kind that the reader is after, for the help of the message.
    """
    data, mark = document.data, document.mark(("schema",))
    help = (
        f"start with `schema: costmodel/{want}@1`" if want else f"start with `schema: costmodel/<kind>@1`, kind one of {', '.join(KINDS)}"
    )
    if not isinstance(data, dict):
        raise SpecError(Problem("a document is a mapping of fields", document.mark(), help))
    text = data.get("schema")
    if not isinstance(text, str):
        raise SpecError(Problem("no `schema:` line", mark, help))
    space, _, rest = text.partition("/")
    kind, _, version = rest.partition("@")
    if space != "costmodel" or kind not in KINDS:
        raise SpecError(Problem(f"unknown kind of document `{text}`", mark, suggest(kind or space, KINDS)))
    if version != str(VERSION):
        raise SpecError(Problem(f"`{text}`: this release reads costmodel/{kind}@{VERSION}", mark, f"write `costmodel/{kind}@{VERSION}`"))
    return kind


def validate(document: Document, kind: str):
    """The pydantic document of a (merged) mapping. Raises :class:`SpecError` with all problems."""
    from pydantic import ValidationError

    found = kind_of(document, kind)
    if found != kind:
        help = f"give a {kind} document here"
        raise SpecError(Problem(f"this is {article(found)} document; want {article(kind)}", document.mark(("schema",)), help))
    params = _params(document) if kind == "hardware" else {}
    cls = model_of(kind)
    try:
        return cls.model_validate(document.data, context={"params": params})
    except ValidationError as error:
        raise SpecError([_problem(document, cls, e) for e in error.errors()[:MAX_PROBLEMS]]) from None


def _params(document: Document) -> dict:
    """Named quantities of a hardware document: name to (value, dimension), in whatever order they refer to one another."""
    known: dict = {}
    params = document.data.get("params")
    waiting = dict(params) if isinstance(params, dict) else {}
    failed: dict[str, UnitError | FormulaError] = {}
    while waiting:
        failed = {}
        for name, value in waiting.items():
            try:
                known[name] = _param(value, known)
            except (UnitError, FormulaError) as error:
                failed[name] = error
        if len(failed) == len(waiting):
            if len(failed) > 1 and all("unknown name" in str(e) and str(e).split("`")[1] in failed for e in failed.values()):
                first = next(iter(failed))
                raise SpecError(Problem(f"params go in a circle: {', '.join(failed)}", document.mark(("params", first))))
            raise SpecError([Problem(f"params.{n}: {e}", document.mark(("params", n)), e.help) for n, e in failed.items()])
        waiting = {name: waiting[name] for name in failed}
    known.setdefault("capacity", (_capacity(document, known), BYTE))
    return known


def _capacity(document: Document, known: dict) -> float:
    """Bytes of the machine's own memory, for formulas that depend on it; unlimited where it is unknown."""
    memory = document.data.get("memory")
    entries = list(memory.values()) if isinstance(memory, dict) else []
    stated = entries[0].get("capacity") if len(entries) == 1 and isinstance(entries[0], dict) else None
    try:
        value, dim = _param(stated, known)
    except (UnitError, FormulaError):
        return 2.0**60
    return value if dim == BYTE else 2.0**60


def _param(value: Any, known: dict):
    from ..language.formula.dims import dimension
    from ..language.units import COUNT, bits_as_bytes, quantity

    if isinstance(value, str) and value.lstrip().startswith("="):
        node = parse(value)
        dim = dimension(node, {k: d for k, (_, d) in known.items()})
        return number(node, {k: v for k, (v, _) in known.items()}), dim
    if isinstance(value, str):
        dim = unit(value.strip().lstrip("+-0123456789.,_eE "))[1]
        return bits_as_bytes(quantity(value, dim), dim)  # at once, so that no formula needs an eight
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value, COUNT
    raise UnitError("want a number or a quantity")


def _problem(document: Document, cls, error: Mapping[str, Any]) -> Problem:
    loc, kind, context = tuple(error["loc"]), error["type"], error.get("ctx", {})
    path = _real(document, loc)
    shown = ".".join(str(p) for p in path) or "document"
    help: str | None
    if kind == "extra_forbidden":
        message, help = f"{shown}: unknown field", suggest(str(loc[-1]), _siblings(cls, path[:-1]))
        return Problem(message, document.mark(path, key=True), help)
    if kind == "missing":
        parent = path if path != loc else path[:-1]
        name = str(loc[-1])
        help = f"add `{name}:`"
        return Problem(f"{'.'.join(map(str, (*parent, name)))}: the field is missing", document.mark(parent), help)
    mark = document.mark(path)
    if kind == "costmodel":
        column = int(context.get("column") or 0)
        return Problem(f"{shown}: {error['msg']}", mark.shift(column - 1) if column else mark, context.get("help") or None)
    message, help = _words(kind, context, error)
    return Problem(f"{shown}: {message}", mark, help)


_KINDS = {"dict": "mapping", "str": "text", "bool": "true/false", "int": "number", "float": "number"}


def _words(kind: str, context: dict, error: Mapping[str, Any]) -> tuple[str, str | None]:
    value = error.get("input")
    shown = (
        f"`{value}`"
        if isinstance(value, (str, int, float)) and len(str(value)) < 60
        else "nothing"
        if value is None
        else f"a {_KINDS.get(type(value).__name__, type(value).__name__)}"
    )
    if kind in ("literal_error", "enum"):
        names = [w.strip("' ") for w in str(context.get("expected", "")).replace(" or ", ",").split(",")]
        return f"{shown} is not valid here", suggest(str(value), names)
    if kind in ("string_type", "string_sub_type"):
        return f"want text, got {shown}", "quote it if it is text" if isinstance(value, (int, float)) else None
    if kind in ("dict_type", "model_type", "model_attributes_type", "mapping_type"):
        return f"want a mapping, got {shown}", None
    if kind in ("tuple_type", "list_type"):
        return f"want a list, got {shown}", "write it in `[ ]`"
    if kind in ("int_type", "int_parsing", "int_from_float", "float_type", "float_parsing"):
        return f"want a number, got {shown}", None
    if kind in ("bool_type", "bool_parsing"):
        return f"want true or false, got {shown}", None
    if kind == "string_pattern_mismatch":
        return f"{shown} is not a valid name", "letters, digits, `.`, `_` and `-`; lower case for documents"
    if kind in ("greater_than_equal", "less_than_equal", "greater_than", "less_than"):
        word = {"greater_than_equal": "at least", "less_than_equal": "at most", "greater_than": "more than", "less_than": "less than"}[kind]
        limit = next(iter(context.values()), "")
        return f"want {word} {limit}, got {shown}", None
    if kind == "string_too_long":
        return f"the text is longer than {context.get('max_length')} characters", None
    return error["msg"][:1].lower() + error["msg"][1:], None


def _real(document: Document, loc: tuple) -> tuple:
    """The part of a pydantic location that is in the file (type names and union tags are not)."""
    path: tuple = ()
    for part in loc:
        if (*path, part) in document.marks:
            path = (*path, part)
        elif part == "[key]":
            break
    return path


def _get(data, path):
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _siblings(cls, path: tuple) -> list[str]:
    """The fields valid at `path`, found by walking the pydantic annotations."""
    from typing import get_args

    from pydantic import BaseModel

    current = [cls]
    for part in path:
        following: list = []
        for item in current:
            fields = getattr(item, "model_fields", {})
            field = next((f for n, f in fields.items() if (f.alias or n) == part), None)
            following += _models(field.annotation if field else None, get_args, BaseModel)
        if not following and current:
            following = current if isinstance(part, int) else []
        current = following or current
    return [f.alias or n for item in current for n, f in getattr(item, "model_fields", {}).items()]


def _models(annotation, get_args, base) -> list:
    if isinstance(annotation, type) and issubclass(annotation, base):
        return [annotation]
    return [m for a in get_args(annotation) for m in _models(a, get_args, base)]
