"""The reference of the language: the fields of every kind, from the schema that documents are checked against."""

from __future__ import annotations

import json

from marks import page, plain, section, table

from costmodel.report.schemas import schema_of
from costmodel.schema import KINDS, model_of
from costmodel.schema.common import Doc

SECTIONS = {"family": "importing.md#fields-of-family", "tower": "importing.md#fields-of-tower", "recipe": "importing.md#fields-of-recipe"}
HEADER = {f.alias or name for name, f in Doc.model_fields.items()}
COUNTS = [4096, "128k"]


def pages() -> dict[str, str]:
    """One page a kind, and their index."""
    made = {f"reference/{kind}.md": kind_page(kind) for kind in KINDS}
    return made | {"reference/index.md": index()}


def explained(kind: str) -> str:
    """The section of the written pages on a kind, seen from a made page."""
    return "../" + SECTIONS.get(kind, "importing.md#fields-of-layout" if kind == "layout" else f"language.md#{kind}")


def kind_page(kind: str) -> str:
    """All fields of a kind: its own, then those of its parts."""
    schema = schema_of(kind)
    parts = schema.get("definitions", {})
    used = _reached(schema, parts)
    intro = (
        f"{plain(model_of(kind).__doc__ or '')}\n\nFields as the schema states them, beside the [header](index.md) that every kind has; "
    )
    intro += f"[explained with examples]({explained(kind)}). `costmodel schema {kind}` prints the JSON Schema.\n"
    own = [part_section(name, parts[name]) for name in sorted(used)]
    return page(kind, intro, section("Fields", fields(schema, leave=HEADER)), *own)


def part_section(name: str, part: dict) -> str:
    """A part of a kind: what it is, and its fields."""
    if "anyOf" in part:  # the part itself, or something shorter
        part = next(p for p in part["anyOf"] if "properties" in p) | {"short": True}
    short = "A number stands for a value without a range." if part.get("short") else ""
    return section(name, plain(part.get("description", "")), short, fields(part))


def fields(schema: dict, leave=()) -> str:
    """The table of the fields of a kind or part."""
    needed = schema.get("required", ())
    rows = [
        [f"`{name}`", kind_of(field), "required" if name in needed else default(field), plain(meaning(field))]
        for name, field in schema.get("properties", {}).items()
        if name not in leave
    ]
    return table(["field", "type", "default", "meaning"], rows) if rows else ""


def meaning(field: dict) -> str:
    """The text under a field, unless it is the type's own."""
    text = field.get("description", "")
    return "" if text in ("formula", "time or formula") else text


def default(field: dict) -> str:
    """What a field that is left out is."""
    value = field.get("default")
    if value in (None, "", [], {}) or isinstance(value, dict):
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def kind_of(field: dict) -> str:
    """The type of a field in words, with links to parts."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "allOf" in field:
        return kind_of(field["allOf"][0])
    for several in ("anyOf", "oneOf"):
        if several in field:
            words = [kind_of(f) for f in field[several] if f.get("type") != "null"]
            return " or ".join(dict.fromkeys(w for w in words if w))
    if "const" in field or "enum" in field:
        return " or ".join(f"`{v}`" for v in field.get("enum", [field.get("const")]))
    return _typed(field)


def _typed(field: dict) -> str:
    kind, examples = field.get("type"), field.get("examples", [])
    if kind == "array":
        fixed = field.get("prefixItems")
        return " and ".join(kind_of(f) for f in fixed) if fixed else f"list of {kind_of(field.get('items', {}))}"
    if kind == "object":
        return _map(field)
    if examples == COUNTS:
        return "whole number"
    if examples:
        formula = kind == ["string", "number"] and examples[0] == "2 * B * T * d"
        return "formula" if formula else f"quantity, as `{examples[0]}`"
    names = {"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number"}
    return names.get(kind, "any") if isinstance(kind, str) else "any"


def _map(field: dict) -> str:
    keys = field.get("propertyNames", {})
    named = " or ".join(f"`{v}`" for v in keys.get("enum", [])) or "name"
    if field.get("properties"):
        return "map of " + ", ".join(f"`{p}`" for p in field["properties"])
    inner = field.get("additionalProperties", {})
    inner = inner if isinstance(inner, dict) else {}
    patterns = list(field.get("patternProperties", {}).values())
    return f"map of {named} to {kind_of(patterns[0] if patterns else inner)}"


def _reached(schema: dict, parts: dict) -> set[str]:
    """Parts that the own fields of a kind lead to."""
    own = {k: v for k, v in schema.get("properties", {}).items() if k not in HEADER}
    found: set[str] = set()
    waiting = [own]
    while waiting:
        text = json.dumps(waiting.pop())
        for name in parts:
            if f'"#/definitions/{name}"' in text and name not in found:
                found.add(name)
                waiting.append(parts[name])
    return found


def index() -> str:
    """The header that all kinds have, and the list of kinds."""
    schema = schema_of("link")
    header = {**schema, "properties": {k: v for k, v in schema["properties"].items() if k in HEADER}}
    header["properties"]["schema"] = {"type": "string", "description": "`costmodel/<kind>@1`, the first line"}
    rows = [[f"[{kind}]({kind}.md)", plain(model_of(kind).__doc__.split("\n")[0]), f"[explained]({explained(kind)})"] for kind in KINDS]
    toctree = "```{toctree}\n:hidden:\n\n" + "\n".join(KINDS) + "\n```\n"
    return page(
        "Reference of fields",
        "What may stand in a document, taken from the schema. [The spec language](../language.md) explains it with examples.\n",
        table(["kind", "what it is", ""], rows),
        section("Header of every kind", fields(header)),
        section("Source", plain(schema["definitions"]["Source"].get("description", "")), fields(schema["definitions"]["Source"])),
        toctree,
    )
