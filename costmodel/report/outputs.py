"""JSON Schemas of what commands print with `--format json`, made from the types that declare it (draft 2020-12).

A new output: declare its type (a TypedDict, or a class of :class:`costmodel.solve.record.Figures`) and name it in :data:`OUTPUTS`.
"""

from __future__ import annotations

import inspect
import types
from importlib import import_module
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

from ..solve.record import Figures
from ..solve.units import Unit
from .fieldtexts import own_texts, parents

OUTPUTS = {
    "prediction": ("costmodel.solve.shapes.prediction", "PredictionData", "predict"),
    "matrix": ("costmodel.solve.shapes.study", "MatrixData", "matrix"),
    "check": ("costmodel.solve.shapes.check", "CheckData", "check"),
    "evaluation": ("costmodel.solve.shapes.evaluation", "EvaluationData", "evaluate"),
    "unfolded-figure": ("costmodel.solve.shapes.unfold", "UnfoldedFigure", "explain"),
    "diff": ("costmodel.solve.shapes.diff", "DiffData", "diff"),
    "solution": ("costmodel.solve.invert.answers", "Solution", "solve"),
    "crossovers": ("costmodel.solve.invert.answers", "Crossovers", "crossovers"),
    "sensitivity": ("costmodel.solve.invert.answers", "Sensitivity", "sensitivity"),
    "inspect": ("costmodel.report.shapes", "InspectOutput", "inspect"),
    "sweep": ("costmodel.solve.shapes.sweep", "SweepData", "sweep"),
    "list": ("costmodel.report.shapes", "ListOutput", "list"),
    "probe": ("costmodel.report.shapes", "ProbeData", "probe"),
}
"""Output → (module, type, the command that prints it)."""
NAMES = (
    "costmodel.solve.units",
    "costmodel.solve.shapes.case",
    "costmodel.solve.shapes.prediction",
    "costmodel.solve.shapes.check",
    "costmodel.solve.shapes.inverse",
    "costmodel.solve.judgement",
)
"""Modules whose names annotations may use without importing them at run time."""
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def output_schema(name: str) -> dict[str, Any]:
    """The schema of one output. Raises KeyError for a name that :data:`OUTPUTS` does not have."""
    module, kind, command = OUTPUTS[name]
    made = Maker()
    body = made.of(getattr(import_module(module), kind))
    if "$ref" in body:
        body = made.parts.pop(kind)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"costmodel/{name}@1"}
    title = {"title": f"costmodel {command} --format json"}
    return {**head, **title, **body, **({"$defs": dict(sorted(made.parts.items()))} if made.parts else {})}


class Maker:
    """Turns types into schemas; `parts` are those of the classes that it met, by name."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, Any]] = {}
        self.names = {k: v for module in NAMES for k, v in vars(import_module(module)).items()}

    def of(self, kind: Any) -> dict[str, Any]:
        """The schema of a type. Raises TypeError for one that JSON has no form for."""
        origin, args = get_origin(kind), get_args(kind)
        if kind in PLAIN:
            return {"type": PLAIN[kind]}
        if kind is Any:
            return {}
        if origin is Annotated:
            return self.of(args[0]) | _limits(args[1])
        if origin in (Required, NotRequired):
            return self.of(args[0])
        if origin is Literal:
            return {"const": args[0]} if len(args) == 1 else {"enum": list(args)}
        if origin in (Union, types.UnionType):
            return _either([self.of(part) for part in args])
        if origin is list or (origin is tuple and args[-1:] == (...,)):
            return {"type": "array", "items": self.of(args[0])}
        if origin is tuple:
            return {"type": "array", "prefixItems": [self.of(a) for a in args], "items": False, "minItems": len(args)}
        if origin is dict:
            keys = {} if args[0] is str else {"propertyNames": self.of(args[0])}
            return {"type": "object", "additionalProperties": self.of(args[1])} | keys
        if isinstance(kind, type) and (is_typeddict(kind) or issubclass(kind, Figures) or hasattr(kind, "_fields")):
            return self._named(kind)
        raise TypeError(f"{kind!r} has no JSON Schema")

    def _named(self, cls: type) -> dict[str, Any]:
        """A reference to the schema of a class, which is made the first time."""
        name = cls.__name__
        if name not in self.parts:
            self.parts[name] = {}
            self.parts[name] = self._object(cls)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, cls: type) -> dict[str, Any]:
        hints = get_type_hints(cls, localns=self.names, include_extras=True)
        texts, fields = field_texts(cls), {}
        for field, kind in hints.items():
            found = self.of(kind)
            words = "; ".join(w.rstrip(".") for w in (texts.get(field), found.pop("description", None)) if w)
            fields[field] = found | ({"description": words} if words else {})
        needed = [f for f, kind in hints.items() if get_origin(kind) is not NotRequired and f in getattr(cls, "__required_keys__", hints)]
        head = {"description": inspect.cleandoc(cls.__doc__ or "")} if not cls.__module__.startswith("typing") else {}
        return {**head, "type": "object", "properties": fields, "required": needed, "additionalProperties": False}


def _limits(unit: Unit) -> dict[str, Any]:
    """What a unit says of its numbers."""
    bounds = (("minimum", unit.least), ("maximum", unit.most), ("description", unit.words))
    return {k: v for k, v in bounds if v is not None}


def _either(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One of several schemas; plain ones are joined, so that null needs no branch."""
    words = [p.pop("description") for p in parts if "description" in p]
    if all(set(p) <= {"type", "minimum", "maximum"} for p in parts):
        named = [p["type"] for p in parts]
        joined: dict[str, Any] = {}
        for part in parts:
            joined |= part
        return joined | {"type": named} | ({"description": words[0]} if words else {})
    return {"anyOf": parts} | ({"description": words[0]} if words else {})


def field_texts(cls: type) -> dict[str, str]:
    """The texts that stand under the fields of a class and of those that it extends."""
    texts: dict[str, str] = {}
    for base in parents(cls):
        texts |= field_texts(base)
    return texts | own_texts(cls)
