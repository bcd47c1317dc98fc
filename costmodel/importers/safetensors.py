"""Safetensors model files: the tensors from the header of one file, or of every shard that an index names.

Layout (the format's README): header length (u64, little-endian), a JSON object of that length, then the tensors' bytes
without holes. No weight is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from ..language.problem import SpecError, problem, suggest
from .files import AGAIN, HEADER_BYTES, InputFile, all_there, bad, cut_short, foreign, load_json, read_json

BITS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **{"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6},
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 16),
    **dict.fromkeys(("I32", "U32", "F32"), 32),
    **dict.fromkeys(("I64", "U64", "F64", "C64"), 64),
}
"""Bits of one element, by the format's name of the type."""
DIMENSIONS = 64
SIZE = 2**60
"""Bound for a dimension, a count of elements and an offset."""
SHARDS = 10_000


class Tensor(NamedTuple):
    """One tensor: `shape` as in the file (slowest dimension first), `bytes` its exact size, `file` the index of its shard."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    elements: int
    bytes: int
    file: int


class Safetensors(NamedTuple):
    """A model's tensors, in the order of their bytes. `file_bytes` counts all shards, `tensor_bytes` the tensors alone.

    `notes` says in words what is odd, such as a total in the index that does not fit.
    """

    path: Path
    tensors: list[Tensor]
    files: list[Path]
    file_bytes: int
    tensor_bytes: int
    notes: list[str]


def read_safetensors(path: Path | str) -> Safetensors:
    """The tensors of a `.safetensors` file, or of all shards of a `*.index.json` beside them.

    Raises SpecError for anything else than well-formed, complete files.
    """
    path = Path(path)
    if path.name.endswith(".json"):
        return _sharded(path)
    tensors, size = _one(path, 0)
    return Safetensors(path, tensors, [path], size, sum(t.bytes for t in tensors), [])


def _sharded(path: Path) -> Safetensors:
    index = load_json(path, HEADER_BYTES)
    files, place = _shards(path, index)
    shards = [_one(file, i) for i, file in enumerate(files)]
    tensors = [tensor for held, _ in shards for tensor in held]
    _check_map(path, files, place, tensors)
    total = sum(t.bytes for t in tensors)
    return Safetensors(path, tensors, files, sum(n for _, n in shards), total, _notes(path, index, place, tensors, total))


def _shards(path: Path, index: dict[str, Any]) -> tuple[list[Path], dict[str, int]]:
    """The shards' paths in order of name, and each tensor's shard as an index into them."""
    name, where = str(path), index.get("weight_map")
    if not isinstance(where, dict) or not where:
        raise bad(name, "no weight index: `weight_map`, a list of tensors and their files, is missing or empty")
    names = {_inside(name, file) for file in set(map(_text, where.values()))}
    if len(names) > SHARDS:
        raise bad(name, f"{len(names):,} shards; at most {SHARDS:,} are read")
    order = sorted(names)
    files = [path.parent / n for n in order]
    all_there(name, files, "shards")
    number = {n: i for i, n in enumerate(order)}
    return files, {tensor: number[file] for tensor, file in where.items()}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _inside(index: str, file: str | None) -> str:
    """A shard's name, checked to stay in the index's folder on any system."""
    if not file or "\0" in file:
        raise bad(index, "`weight_map` must give a file's name for each tensor")
    for kind in (PurePosixPath(file), PureWindowsPath(file)):
        if kind.anchor or ".." in kind.parts:
            raise bad(index, f"`weight_map` names `{file}`, a file outside the index's folder", "shards must lie beside their index")
    return file


def _check_map(path: Path, files: list[Path], place: dict[str, int], tensors: list[Tensor]) -> None:
    """Raise SpecError unless each mapped tensor is in its shard, and no tensor in two."""
    held: dict[str, int] = {}
    for tensor in tensors:
        if tensor.name in held:
            both = f"`{files[held[tensor.name]].name}` and `{files[tensor.file].name}`"
            raise bad(str(path), f"the tensor `{tensor.name}` stands in two shards: {both}")
        held[tensor.name] = tensor.file
    for name, file in place.items():
        if held.get(name) != file:
            raise bad(str(path), f"`weight_map` says that `{name}` is in `{files[file].name}`, and it is not", AGAIN)


def _notes(path: Path, index: dict[str, Any], place: dict[str, int], tensors: list[Tensor], total: int) -> list[str]:
    notes = []
    if len(tensors) > len(place):
        more = next(t.name for t in tensors if t.name not in place)
        notes.append(f"{path}: the shards hold {len(tensors) - len(place):,} tensors that the index does not name, such as `{more}`")
    metadata = index.get("metadata")
    said = metadata.get("total_size") if isinstance(metadata, dict) else None
    if isinstance(said, (int, float)) and said != total:
        notes.append(f"{path}: `total_size` says {said:,} bytes, and the tensors take {total:,}")
    return notes


def _one(path: Path, index: int) -> tuple[list[Tensor], int]:
    """The tensors of one file, and the file's size in bytes."""
    with InputFile(path) as file:
        head = file.read(min(64, file.size), "the header's length")
        length = int.from_bytes(head[:8], "little")
        if head[8:9] not in (b"{", b""):
            raise foreign(file.name, head, "safetensors file")
        if length > HEADER_BYTES:
            raise bad(file.name, f"a header of {length:,} bytes; at most {HEADER_BYTES:,}", "the file is damaged; download it again")
        if file.size < 8 + length or len(head) < 10:
            missing = max(8 + length, 10) - file.size
            raise bad(file.name, f"the file ends inside its header: {missing:,} bytes of it are missing after its {file.size:,}", AGAIN)
        file.seek(8)
        header = read_json(file.read(length, "the header"), f"{file.name} (header)", HEADER_BYTES)
        spans = sorted(_spans(file.name, header, index), key=lambda span: span[:2])
        _check_layout(file, 8 + length, spans)
        return [tensor for _, _, tensor in spans], file.size


Span = tuple[int, int, Tensor]
"""First byte and end of a tensor in the data, and the tensor."""


def _spans(file: str, header: dict[str, Any], index: int) -> Iterable[Span]:
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if not isinstance(entry, dict):
            raise bad(file, f"tensor `{name}` has no entry with `dtype`, `shape` and `data_offsets`")
        shape, offsets, dtype = _sizes(entry.get("shape")), _sizes(entry.get("data_offsets")), entry.get("dtype")
        if not isinstance(dtype, str) or dtype not in BITS:
            raise bad(file, f"tensor `{name}` has the unknown dtype `{dtype}`"[:300], suggest(str(dtype)[:40], BITS))
        if shape is None or len(shape) > DIMENSIONS or prod(shape) > SIZE:
            raise bad(file, f"tensor `{name}`: `shape` must be a list of whole numbers from 0, their product at most 2^60")
        if offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:
            raise bad(file, f"tensor `{name}`: `data_offsets` must be two whole numbers, start and end")
        elements, size = prod(shape), offsets[1] - offsets[0]
        if elements * BITS[dtype] != 8 * size:
            raise _wrong_size(file, name, dtype, elements, size)
        yield offsets[0], offsets[1], Tensor(name, tuple(shape), dtype, elements, size, index)


def _sizes(value: Any) -> list[int] | None:
    return value if isinstance(value, list) and all(type(n) is int and 0 <= n <= SIZE for n in value) else None


def _wrong_size(file: str, name: str, dtype: str, elements: int, size: int) -> SpecError:
    bits = elements * BITS[dtype]
    takes = f"{bits // 8:,} bytes" if bits % 8 == 0 else f"{bits:,} bits, no whole number of bytes"
    return bad(file, f"tensor `{name}`: {elements:,} elements of {dtype} take {takes}, and `data_offsets` span {size:,} bytes")


def _check_layout(file: InputFile, start: int, spans: list[Span]) -> None:
    """Raise SpecError unless the tensors fill the file from byte `start` to its end, without holes or overlaps."""
    end, last = 0, ""
    for begin, stop, tensor in spans:
        if begin < end:
            raise bad(file.name, f"the tensors `{last}` and `{tensor.name}` overlap")
        if begin > end:
            raise bad(file.name, f"{begin - end:,} bytes before the tensor `{tensor.name}` belong to no tensor")
        end, last = stop, tensor.name
    if start + end > file.size:
        cut = [tensor.name for begin, stop, tensor in spans if begin < stop and start + stop > file.size]
        raise problem(cut_short(file.name, file.size, start + end, cut, len(spans)), None, AGAIN)
    if start + end < file.size:
        raise bad(file.name, f"{file.size - start - end:,} bytes after the last tensor belong to no tensor")
