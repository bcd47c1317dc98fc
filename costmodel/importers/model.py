"""A model's files, whatever they are, to the text of a model document."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from ..language.formula import names
from ..language.problem import Mark, problem
from .config import MAX_NOTE, Config, read_config
from .document import document_text, printable, slug
from .files import load_json
from .ggufmodel import gguf_fields
from .quantization import packed_bits
from .weights import add_weights, beside

_PACKED = re.compile(r"(?i)\b(fp8|nvfp4|mxfp4|awq|gptq|int4|int8|w4a16|w8a8|4bit|8bit|bnb)\b")
NAMELESS = ("config", "model", "text_config")


class Imported(NamedTuple):
    """A model document's YAML text, the files that were read, and where in them the dims are given."""

    text: str
    files: tuple[Path, ...]
    places: dict[str, Mark]


def read_model(path: Path, library, family: str | None = None, name: str | None = None) -> Imported:
    """The model document of a file. Raises :class:`SpecError`."""
    fields, files, places = model_fields(path, library, family, name)
    return Imported(document_text(fields), files, places)


def model_fields(path: Path, library, family: str | None = None, name: str | None = None):
    """The fields of the model document, the files that were read, and where the dims are given."""
    if path.suffix == ".gguf":
        if family:
            raise problem(f"{path}: a GGUF file needs no family: its tensors say what it is", help="leave `--family` out")
        fields, file = gguf_fields(path, library, name)
        return fields, tuple(file.files), {}
    weights = path if path.suffix == ".safetensors" or path.name.endswith(".index.json") else None
    config = path if weights is None else path.parent / "config.json"
    if not config.is_file() and weights is not None:
        message = f"{path}: weights alone do not say how many heads a model has; its config.json is not in the same folder"
        raise problem(message, help="download config.json beside it (`costmodel inspect` counts the file as it is)")
    data = load_json(config)
    fields, files, places = _config(data, config, library, family, name)
    found = weights or beside(config)
    if found is None and len(list(config.parent.glob("model*.safetensors"))) > 1:
        fields["description"] += "; several safetensors files and no index: sizes from the config alone"
    if found is not None:
        files = (*files, *add_weights(fields, found, library, weights is not None, packed_bits(data)))
    fields["description"] = printable(fields["description"], MAX_NOTE)
    return fields, (config, *files), places


def _config(data: dict, path: Path, library, family: str | None, name: str | None):
    sidecar = path.parent / "hf_quant_config.json"
    extra = load_json(sidecar) if os.path.lexists(sidecar) else None
    if extra is not None and not isinstance(extra.get("quantization", {}), dict):
        raise problem(f"{sidecar}: `quantization` is no object")
    config = read_config(data, path, library, family, extra)
    origin = printable(data.get("_name_or_path") or "")
    return config_fields(config, path, origin, name), (sidecar,) if extra is not None else (), places_of(config)


def _folder(path: Path) -> str:
    """The name of a model's folder; in a cache of the hub, that of the model."""
    home = path.absolute().parent
    if home.parent.name == "snapshots" and home.parent.parent.name.startswith("models--"):
        return home.parent.parent.name.split("--")[-1]
    return home.name


def places_of(config: Config) -> dict[str, Mark]:
    """Where in the config the dims are given: the first key that each one's formula reads."""
    doc, found = config.family, {}
    formulas = {**doc.dims, **{name: node for piece in doc.parts.values() for name, node in piece.dims.items()}}
    for dim, node in formulas.items():
        keys = [name for name in sorted(names(node)) if name in doc.keys] if not isinstance(node, (int, float)) else []
        place = next((p for p in map(config.variables.place_of, keys) if p is not None), None)
        if place is not None:
            found[dim] = place
    return found


def config_fields(config: Config, path: Path, origin: str, name: str | None) -> dict[str, Any]:
    """A model document's fields from a config."""
    called = name or (_folder(path) if path.stem in NAMELESS else path.stem) or origin
    packed = _PACKED.search(f"{called} {origin}")
    if packed and not config.weights.get("roles") and config.weights["format"] in ("bf16", "fp16", "fp32"):
        config.notes.append(
            f"the name says {packed[0].upper()}, but no quantization is stated: sizes are those of {config.weights['format']}"
        )
    where = f"config.json of {origin}" if origin else f"the file {path.name}"
    source = {"kind": "datasheet", "ref": f"{where}, read as family {config.family.name}"}
    return {
        "schema": "costmodel/model@1",
        "name": slug(called),
        "title": printable(origin.split("/")[-1] or called),
        "description": "; ".join(config.notes),
        "architecture": config.family.architecture,
        "dims": config.structure.dims,
        "blocks": config.structure.blocks,
        "context": config.context,
        "weights": config.weights,
        "kv": config.kv,
        "sources": {"dims": source},
    }


__all__ = ["config_fields", "model_fields", "read_model"]
