"""Writing a model document: the YAML text of what an importer found."""

from __future__ import annotations

import json
import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./@+ -]*[A-Za-z0-9_]|[A-Za-z]|\d[\d.]*( B| \+- [\d.]+%)")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off"}
WIDTH = 130
DIMS = ("L", "d", "n_q", "n_kv", "d_h", "kv_rank", "q_rank", "nope", "rope", "d_v", "d_ff", "vocab", "tied", "E", "k", "d_e", "d_shared")
"""Order in which dims are written; others follow as they come."""
FIELDS = (
    "schema",
    "name",
    "title",
    "description",
    "architecture",
    "aliases",
    "dims",
    "requires",
    "blocks",
    "context",
    "weights",
    "kv",
    "checks",
    "sources",
)


def document_text(fields: dict[str, Any]) -> str:
    """YAML of a model document; `fields` in any order, empty ones left out."""
    lines: list[str] = []
    for name in FIELDS:
        value = fields.get(name)
        if value in (None, "", {}, []):
            continue
        if name == "dims":
            lines += _dims(value)
        elif name in ("blocks", "sources", "requires") or (isinstance(value, dict) and len(flow(value)) + len(name) > WIDTH):
            lines.append(f"{name}:")
            lines += _nested(value, "  ")
        else:
            lines.append(f"{name}: {flow(value)}")
    return "\n".join(lines) + "\n"


def _dims(dims: dict[str, Any]) -> list[str]:
    """Dims as one flow map, over several lines where it is long."""
    order = {name: i for i, name in enumerate(DIMS)}
    items = [f"{k}: {flow(v)}" for k, v in sorted(dims.items(), key=lambda item: order.get(item[0], len(order)))]
    lines, line = [], "dims: {"
    for i, item in enumerate(items):
        if len(line) + len(item) > WIDTH - 2:
            lines.append(line.rstrip())
            line = "  "
        line += item + (", " if i < len(items) - 1 else "}")
    return [*lines, line]


def _nested(value: dict, indent: str) -> list[str]:
    lines: list[str] = []
    for key, item in value.items():
        text = flow(item)
        if isinstance(item, dict) and len(text) + len(indent) + len(str(key)) > WIDTH + 60:
            lines += [f"{indent}{scalar(key)}:", *_nested(item, indent + "  ")]
        else:
            lines.append(f"{indent}{scalar(key)}: {text}")
    return lines


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def scalar(value: Any) -> str:
    """A number, or text, quoted where YAML could take it for something else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return json.dumps(text, ensure_ascii=False)


def slug(text: str) -> str:
    """A document name out of free text: `Qwen3 8B Instruct` → `qwen3-8b-instruct`."""
    name = re.sub(r"[^a-z0-9._+-]+", "-", text.lower()).strip("-._+")
    return name[:80].rstrip("-._+") or "model"


def printable(text: Any, most: int = 120) -> str:
    """Text from a file, safe to keep in a document: one line, no control characters, bounded."""
    clean = "".join(c if c.isprintable() else " " for c in str(text)[: 4 * most])
    return " ".join(clean.split())[:most].strip()
