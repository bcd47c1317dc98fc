"""JSON Schemas of the seven kinds of document, for editors (Draft 2020-12 from pydantic, no 2020-only keywords)."""

from __future__ import annotations

import json
from pathlib import Path

from ..language.problem import problem, suggest
from ..schema import KINDS, model_of


def schema_of(kind: str) -> dict:
    """The schema of one kind."""
    schema = model_of(kind).model_json_schema(by_alias=True)
    schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    schema["$id"] = f"costmodel/{kind}@1"
    schema["properties"]["schema"] = {"const": f"costmodel/{kind}@1"}
    return json.loads(json.dumps(schema).replace("#/$defs/", "#/definitions/").replace('"$defs"', '"definitions"'))


def schema_text(kind: str | None) -> str:
    """One kind's schema, or a map of all."""
    if kind is None:
        return json.dumps({k: schema_of(k) for k in KINDS}, ensure_ascii=False, indent=2)
    if kind not in KINDS:
        raise problem(f"no kind `{kind}`", None, suggest(kind, KINDS))
    return json.dumps(schema_of(kind), ensure_ascii=False, indent=2, sort_keys=True)


def write_schemas(folder: str) -> str:
    """Write `<kind>-1.json` for every kind; returns what was written."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise problem(f"cannot write to `{folder}`: {getattr(error, 'strerror', None) or error}") from None
    for kind in KINDS:
        (target / f"{kind}-1.json").write_text(schema_text(kind) + "\n", "utf-8")
    return f"{len(KINDS)} schemas in {target}"
