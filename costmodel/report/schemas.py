"""JSON Schemas of the kinds of document, for editors (draft 7, from pydantic), and of outputs (:mod:`costmodel.report.outputs`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

from pydantic import BaseModel

from ..language.problem import problem, suggest
from ..schema import KINDS, model_of
from .fieldtexts import own_texts
from .outputs import OUTPUTS, output_schema


def schema_of(kind: str) -> dict:
    """The schema of one kind, with the docstrings under fields as descriptions."""
    cls = model_of(kind)
    schema = cls.model_json_schema(by_alias=True)
    classes = {c.__name__: c for c in _classes(cls, {})}
    for name, part in {cls.__name__: schema, **schema.get("$defs", {})}.items():
        for field, text in _field_docs(classes[name]).items():
            shown = classes[name].model_fields[field].alias or field
            if shown in part.get("properties", {}):
                part["properties"][shown]["description"] = text
    for part in schema.get("$defs", {}).values() if kind == "family" else ():
        part.pop("required", None)  # what a family leaves out, the one that it extends gives
    if kind == "family":  # one part, or a list of them
        parts = schema["properties"]["vision"]
        words = {"description": parts.pop("description")}
        schema["properties"]["vision"] = {"anyOf": [parts["items"], parts], **words}
    if kind == "engine":  # a coefficient, or its value alone
        parts = schema["$defs"]
        parts["Coefficient"] = {"anyOf": [{"type": "number"}, parts["Coefficient"]]}
    schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    schema["$id"] = f"costmodel/{kind}@1"
    schema["properties"]["schema"] = {"const": f"costmodel/{kind}@1"}
    return json.loads(json.dumps(schema).replace("#/$defs/", "#/definitions/").replace('"$defs"', '"definitions"'))


def _classes(cls, seen: dict) -> dict:
    """A pydantic class and all that its fields use."""
    if cls in seen:
        return seen
    seen[cls] = True
    for field in cls.model_fields.values():
        for inner in _models(field.annotation):
            _classes(inner, seen)
    return seen


def _models(annotation) -> list:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for part in get_args(annotation) for m in _models(part)]


def _field_docs(cls) -> dict[str, str]:
    """Texts that stand under the fields of a class and its parents. (Reading them costs a parse, so pydantic is not asked to.)"""
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        docs |= own_texts(base) if issubclass(base, BaseModel) and base is not BaseModel else {}
    return docs


def schema_text(kind: str | None) -> str:
    """The schema of a kind of document or of an output, or a map of all."""
    if kind is None:
        return json.dumps({k: schema_of(k) for k in KINDS} | {k: output_schema(k) for k in OUTPUTS}, ensure_ascii=False, indent=2)
    if kind in OUTPUTS:
        return json.dumps(output_schema(kind), ensure_ascii=False, indent=2)
    if kind not in KINDS:
        raise problem(f"no kind or output `{kind}`", None, suggest(kind, [*KINDS, *OUTPUTS]))
    return json.dumps(schema_of(kind), ensure_ascii=False, indent=2, sort_keys=True)


def write_schemas(folder: str) -> str:
    """Write `<kind>-1.json` for every kind of document, and `outputs/<output>-1.json`; returns what was written."""
    target = Path(folder)
    try:
        (target / "outputs").mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise problem(f"cannot write to `{folder}`: {getattr(error, 'strerror', None) or error}") from None
    for kind in KINDS:
        (target / f"{kind}-1.json").write_text(schema_text(kind) + "\n", "utf-8")
    for name in OUTPUTS:
        (target / "outputs" / f"{name}-1.json").write_text(schema_text(name) + "\n", "utf-8")
    return f"{len(KINDS)} schemas in {target}\n{len(OUTPUTS)} schemas of outputs in {target / 'outputs'}"
