"""A GGUF file to a model document: its own tensors, their exact bytes by role, and the heads and windows of its keys."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..language.problem import problem
from .document import printable, slug
from .gguf import Gguf, read_gguf
from .ggufkeys import Keys
from .ggufmixers import mixers
from .ggufrows import Placed, place, row_of

PART = re.compile(r"-\d{5}-of-\d{5}$")


def gguf_types(library) -> dict[int, tuple[str, int, int, int]]:
    """Type number to (format, weights per block, bytes per block, bytes per row)."""
    doc = library.load("layout", "gguf-types").doc
    return {int(n): (t.format, t.block, int(t.size), int(t.row or 0)) for n, t in doc.types.items()}


def header(path: Path, library) -> Gguf:
    """The header of a GGUF file, read once."""
    known: dict[Path, Gguf] = library.kept.setdefault("gguf", {})
    if path not in known:
        known[path] = read_gguf(path, gguf_types(library))
    return known[path]


def gguf_fields(path: Path, library, name: str | None = None) -> tuple[dict[str, Any], Gguf]:
    """The fields of the model document of a GGUF file, and the file's header."""
    file = header(path, library)
    layout = library.load("layout", "gguf").doc
    arch = str(file.keys.get("general.architecture") or "")
    if arch in ("clip", "mmproj"):
        raise problem(f"{path}: this is the image part of a model (a projector); name the model's own file")
    keys = Keys(file, layout.windows)
    placed = place(file.tensors, layout.tensors, keys)
    dims = _dims(keys, placed)
    blocks = _blocks(placed, keys, dims)
    title = printable(file.keys.get("general.name") or PART.sub("", path.stem))
    return {
        "schema": "costmodel/model@1",
        "name": name or slug(PART.sub("", path.stem)),
        "title": title,
        "description": "; ".join([f"GGUF file of architecture {printable(arch, 40)}", *file.notes])[:300],
        "dims": dims,
        "requires": _conditions(dims),
        "blocks": blocks,
        "context": keys.number("context_length", 0) or None,
        "weights": _weights(placed, file, layout, library, dims),
        "checks": {"params": sum(t.elements for t in file.tensors)},
        "sources": {
            "dims": {"kind": "datasheet", "ref": f"keys and tensor shapes of the file {printable(path.name)}"},
            "weights": {"kind": "datasheet", "ref": f"tensor types of the file {printable(path.name)}, to the byte"},
        },
    }, file


def _dims(keys: Keys, placed: list[Placed]) -> dict[str, Any]:
    shapes = {p.name: p.tensor.shape for p in placed if p.layer is None}
    if "token_embd" not in shapes:
        raise keys.error("there is no tensor `token_embd.weight`, so this is no language model")
    width, heads = shapes["token_embd"][0], keys.number("attention.head_count", 0)
    inner, experts = keys.number("feed_forward_length", 0), keys.number("expert_count", 0)
    if keys.number("expert_used_count", 0) > experts:
        raise keys.error(f"{keys.number('expert_used_count')} experts used of {experts}")
    groups = heads if keys.number("attention.kv_lora_rank", 0) else keys.number("attention.head_count_kv", heads)
    found: dict[str, Any] = {
        "L": keys.run,
        "d": width,
        "n_q": heads,
        "n_kv": groups if heads else 0,
        "d_h": keys.number("attention.key_length", width // heads) if heads else 0,
        "d_ff": inner,
        "vocab": placed_vocab(shapes),
        "tied": int("output" not in shapes),
        "E": experts,
        "k": keys.number("expert_used_count", 0),
        "d_e": keys.number("expert_feed_forward_length", inner) if experts else 0,
    }
    found["kv_ways"] = "= n_kv" if groups and not keys.number("attention.kv_lora_rank", 0) else 1
    return {name: value for name, value in found.items() if value or name in ("L", "d", "vocab", "tied")}


def placed_vocab(shapes: dict[str, tuple[int, ...]]) -> int:
    """Rows of the embedding table."""
    shape = shapes["token_embd"]
    return shape[1] if len(shape) > 1 else 1


def _blocks(placed: list[Placed], keys: Keys, dims: dict) -> dict[str, dict]:
    """Rows grouped by the set of layers that have them, so that each block repeats as often as it has layers."""
    outer: dict[str, dict] = {}
    where: dict[tuple, list[int]] = {}
    layers: dict[int, dict[str, tuple[int, ...]]] = {}
    for item in placed:
        row = row_of(item, dims)
        if item.layer is None or item.role == "stored":
            outer[_unique(item.tensor.name if item.role == "stored" else item.name, outer)] = row
        else:
            layers.setdefault(item.layer, {})[item.name] = item.tensor.shape
            where.setdefault((item.name, tuple(row.items())), []).append(item.layer)
    bare = [i for i in range(keys.run) if i not in layers]
    if bare:
        raise keys.error(f"layer {bare[0]} has no tensors, though `{keys.arch}.block_count` counts {keys.layers} layers")
    for layer, names in sorted(layers.items()):
        for name, row in mixers(layer, names, keys, dims).items():
            where.setdefault((name, tuple(row.items())), []).append(layer)
    if dims["tied"]:
        outer["output"] = {"op": "head", "role": "head", "d_in": "d", "vocab": "vocab"}
    inner: dict[tuple, dict] = {}
    for (name, row), found in where.items():
        ops = inner.setdefault(tuple(found), {})
        ops[_unique(name, ops)] = dict(row)
    blocks: dict[str, dict] = {}
    for where_, ops in inner.items():
        count = "L"
        if len(where_) != keys.run:
            count = _unique(f"L_{len(where_)}", dims)
            dims[count] = len(where_)
        blocks[_unique("layers" + count[1:], blocks)] = {"repeat": count, "ops": ops}
    return {"model": {"ops": outer}, **blocks}


def _conditions(dims: dict) -> dict[str, str]:
    """No kind of layer can have more layers than there are."""
    kinds = [name for name in dims if name.startswith("L_")]
    return {"the layers of a kind are at most L": " and ".join(f"{k} <= L" for k in kinds[:30])} if kinds else {}


def _unique(name: str, taken: dict) -> str:
    clean = re.sub(r"\W", "_", printable(name, 60))
    while clean in taken:
        clean += "_"
    return clean


def _weights(placed: list[Placed], file: Gguf, layout, library, dims: dict) -> dict[str, Any]:
    """The file's format by name, and the bytes per weight of every role."""
    sizes: dict[str, list[int]] = {}
    for item in placed:
        role = row_of(item, dims)["role"]
        table = item.name == "token_embd" and dims["tied"]
        for name in ("embed", "head") if table else (role,):
            found = sizes.setdefault(name, [0, 0])
            found[0] += item.tensor.bytes
            found[1] += item.tensor.elements
    kind = file.keys.get("general.file_type")
    name = layout.files.get(str(kind)) if isinstance(kind, int) else None
    return {"format": name or main_type(file, library), "roles": {role: per_weight(*found) for role, found in sizes.items()}}


def per_weight(size: int, weights: int) -> str:
    """Bytes per weight, to the last digit: the sum over a role is the file's, to the byte."""
    return f"{size / weights:.17g} B"


def main_type(file: Gguf, library) -> str:
    """The declared format that holds most of the file."""
    held: dict[str, int] = {}
    for tensor in file.tensors:
        if library.path_of("format", tensor.type) is not None:
            held[tensor.type] = held.get(tensor.type, 0) + tensor.bytes
    return max(held, key=lambda name: held[name], default="int8")
