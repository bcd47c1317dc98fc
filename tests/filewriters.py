"""Writers of small GGUF and safetensors files, good and deliberately broken, from the formats' definitions."""

from __future__ import annotations

import json
from pathlib import Path
from struct import pack
from typing import NamedTuple

U32, I32, F32, BOOL, STRING, ARRAY, U64, I64 = 4, 5, 6, 7, 8, 9, 10, 11
CODES = {0: "B", 1: "b", 2: "H", 3: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", I64: "q", 12: "d"}


class Raw(NamedTuple):
    """A GGUF value given as its type number and bytes, however wrong."""

    kind: int
    payload: bytes


class T(NamedTuple):
    """A GGUF tensor: dimensions as in the file, type number, bytes of data; `offset` overrides the right one."""

    name: str | bytes
    shape: tuple[int, ...]
    type_id: int
    size: int
    offset: int | None = None


def text(value: str | bytes, order: str = "<") -> bytes:
    raw = value if isinstance(value, bytes) else value.encode()
    return pack(order + "Q", len(raw)) + raw


def kind_of(value) -> int:
    if isinstance(value, Raw):
        return value.kind
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return (U32 if value < 2**32 else U64) if value >= 0 else (I32 if value >= -(2**31) else I64)
    return {float: F32, str: STRING, list: ARRAY}[type(value)]


def payload(value, order: str = "<") -> bytes:
    if isinstance(value, Raw):
        return value.payload
    if isinstance(value, str):
        return text(value, order)
    if isinstance(value, list):
        kind = max((kind_of(v) for v in value), default=U32)
        items = b"".join(pack(order + CODES[kind], v) if kind in CODES else payload(v, order) for v in value)
        return pack(order + "IQ", kind, len(value)) + items
    return pack(order + CODES[kind_of(value)], value)


def gguf_bytes(keys: dict, tensors=(), version=3, order="<", magic=b"GGUF", counts=None, twice=(), data=True) -> bytes:
    """A GGUF file. `counts` overrides (tensors, keys), `twice` adds (key, value) pairs, `data=False` leaves the weights out."""
    pairs = [*keys.items(), *twice]
    step = keys.get("general.alignment", 32)
    step = step if isinstance(step, int) and step > 0 else 32
    out = magic + pack(order + "IQQ", version, *(counts or (len(tensors), len(pairs))))
    for name, value in pairs:
        out += text(name, order) + pack(order + "I", kind_of(value)) + payload(value, order)
    end = 0
    for t in tensors:
        place = end if t.offset is None else t.offset
        out += text(t.name, order) + pack(order + f"I{len(t.shape)}QIQ", len(t.shape), *t.shape, t.type_id, place)
        end = max(end, place + t.size + -(place + t.size) % step)
    return out + (b"\0" * (-len(out) % step + end) if data else b"")


def write_gguf(path: Path, keys: dict, tensors=(), **options) -> Path:
    path.write_bytes(gguf_bytes(keys, tensors, **options))
    return path


def write_split(folder: Path, stem: str, keys: dict, parts: list, total: int | None = None) -> list[Path]:
    """A split model: one list of tensors for each part; the keys stand in the first, as `gguf-split` writes them."""
    paths = []
    for i, tensors in enumerate(parts):
        split = {"split.no": i, "split.count": len(parts), "split.tensors.count": sum(map(len, parts)) if total is None else total}
        path = folder / f"{stem}-{i + 1:05}-of-{len(parts):05}.gguf"
        paths.append(write_gguf(path, (keys if i == 0 else {}) | split, tensors))
    return paths


def safetensors_bytes(tensors: dict, metadata=None, header: bytes | None = None, length: int | None = None, tail: int = 0) -> bytes:
    """A safetensors file from name to (dtype, shape, bytes) or to a whole entry; `header`, `length`, `tail` override."""
    entries: dict = {} if metadata is None else {"__metadata__": metadata}
    end = 0
    for name, item in tensors.items():
        if isinstance(item, dict):
            entries[name] = item
            end = max(end, item["data_offsets"][1])
        else:
            dtype, shape, size = item
            entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [end, end + size]}
            end += size
    raw = json.dumps(entries).encode() if header is None else header
    raw += b" " * (-len(raw) % 8)
    return pack("<Q", len(raw) if length is None else length) + raw + b"\0" * max(0, end + tail)


def write_safetensors(path: Path, tensors: dict, **options) -> Path:
    path.write_bytes(safetensors_bytes(tensors, **options))
    return path


def write_index(folder: Path, shards: dict[str, dict], total=None, more=None, name="model.safetensors.index.json") -> Path:
    """Shards and their index; `more` adds to the weight map, `total` overrides `total_size`."""
    where = {}
    for file, tensors in shards.items():
        write_safetensors(folder / file, tensors)
        where |= dict.fromkeys(tensors, file)
    size = sum(item[2] for tensors in shards.values() for item in tensors.values())
    index = {"metadata": {"total_size": size if total is None else total}, "weight_map": where | (more or {})}
    path = folder / name
    path.write_text(json.dumps(index))
    return path
