"""A model's files, whatever they are, to the text of a model document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..language.problem import problem
from .config import MAX_NOTE, Config, read_config
from .document import document_text, printable, slug
from .files import load_json
from .ggufmodel import gguf_fields
from .quantization import packed_bits
from .weights import add_weights, beside

NAMELESS = ("config", "model", "text_config")


def read_model(path: Path, library, family: str | None = None, name: str | None = None) -> tuple[str, tuple[Path, ...]]:
    """(YAML text of the model document, further files that were read). Raises :class:`SpecError`."""
    fields, files = model_fields(path, library, family, name)
    return document_text(fields), files


def model_fields(path: Path, library, family: str | None = None, name: str | None = None) -> tuple[dict[str, Any], tuple[Path, ...]]:
    """The fields of the model document, and the files that were read beside `path`."""
    if path.suffix == ".gguf":
        fields, file = gguf_fields(path, library, name)
        return fields, tuple(file.files)
    weights = path if path.suffix == ".safetensors" or path.name.endswith(".index.json") else None
    config = path if weights is None else path.parent / "config.json"
    if not config.is_file() and weights is not None:
        message = f"{path}: weights alone do not say how many heads a model has; its config.json is not in the same folder"
        raise problem(message, help="download config.json beside it (`costmodel inspect` counts the file as it is)")
    data = load_json(config)
    fields, files = _config(data, config, library, family, name)
    found = weights or beside(config)
    if found is not None:
        files = (*files, *add_weights(fields, found, library, weights is not None, packed_bits(data)))
    return fields, (config, *files)


def _config(data: dict, path: Path, library, family: str | None, name: str | None) -> tuple[dict[str, Any], tuple[Path, ...]]:
    sidecar = path.parent / "hf_quant_config.json"
    extra = load_json(sidecar) if sidecar.is_file() else None
    config = read_config(data, path, library, family, extra)
    origin = printable(data.get("_name_or_path") or "")
    return config_fields(config, path, origin, name), (sidecar,) if extra else ()


def _folder(path: Path) -> str:
    """The name of a model's folder; in a cache of the hub, that of the model."""
    home = path.absolute().parent
    if home.parent.name == "snapshots" and home.parent.parent.name.startswith("models--"):
        return home.parent.parent.name.split("--")[-1]
    return home.name


def config_fields(config: Config, path: Path, origin: str, name: str | None) -> dict[str, Any]:
    """A model document's fields from a config."""
    called = name or (_folder(path) if path.stem in NAMELESS else path.stem) or origin
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
        "kv": config.kv,
        "sources": {"dims": source},
    }


__all__ = ["config_fields", "model_fields", "read_model"]
