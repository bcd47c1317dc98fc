"""A model's files, whatever they are, to the text of a model document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..language.problem import SpecError
from .config import MAX_NOTE, Config, read_config
from .document import document_text, printable, slug
from .files import load_json

NAMELESS = ("config", "model", "text_config")


def read_model(path: Path, library, family: str | None = None, name: str | None = None) -> tuple[str, tuple[Path, ...]]:
    """(YAML text of the model document, further files that were read). Raises :class:`SpecError`."""
    fields, files = model_fields(path, library, family, name)
    return document_text(fields), files


def model_fields(path: Path, library, family: str | None = None, name: str | None = None) -> tuple[dict[str, Any], tuple[Path, ...]]:
    """The fields of the model document, and the further files that were read."""
    data = load_json(path)
    sidecar = path.parent / "hf_quant_config.json"
    extra = load_json(sidecar) if sidecar.is_file() else None
    config = read_config(data, path, library, family, extra)
    origin = printable(data.get("_name_or_path") or "")
    return config_fields(config, path, origin, name), (sidecar,) if extra else ()


def config_fields(config: Config, path: Path, origin: str, name: str | None) -> dict[str, Any]:
    """A model document's fields from a config."""
    called = name or (path.parent.name if path.stem in NAMELESS else path.stem) or origin
    where = f"config.json of {origin}" if origin else f"the file {path.name}"
    source = {"kind": "datasheet", "ref": f"{where}, read as family {config.family.name}"}
    return {
        "schema": "costmodel/model@1",
        "name": slug(called),
        "title": printable(origin.split("/")[-1] or called),
        "description": "; ".join(config.notes)[:MAX_NOTE],
        "architecture": config.family.architecture,
        "dims": config.structure.dims,
        "blocks": config.structure.blocks,
        "context": config.context,
        "weights": config.weights,
        "sources": {"dims": source},
    }


__all__ = ["SpecError", "config_fields", "model_fields", "read_model"]
