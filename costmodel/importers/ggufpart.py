"""The header of one GGUF file: its metadata keys, its tensors, and where their bytes lie. No weight is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from .files import AGAIN, InputFile, bad, cut_short, foreign
from .ggufcursor import BEYOND, U32, U64, Cursor
from .ggufvalues import Value, read_keys

TENSORS = 100_000
DIMENSIONS = 4
ELEMENTS = 2**50
ALIGNMENT = 2**20
"""Largest alignment of tensor data that is accepted, in bytes."""
_HEAD = Struct("<4sI")
_DIMS = {n: Struct(f"<{n}QIQ") for n in range(1, DIMENSIONS + 1)}


class TypeRow(NamedTuple):
    """A tensor type: `block` weights of a row take `size` bytes, and every row takes `row` bytes more."""

    format: str
    block: int
    size: int
    row: int = 0


Types = Mapping[int, tuple[str, int, int] | tuple[str, int, int, int]]
"""Type number to a :class:`TypeRow`, or to a plain tuple of its fields."""


class Tensor(NamedTuple):
    """One tensor. `shape` has the fastest dimension first, as in the file; `type` is the format's name.

    `bytes` is its exact size, `file` the index of its part, `offset` in bytes from the start of that part's data.
    """

    name: str
    shape: tuple[int, ...]
    type: str
    type_id: int
    elements: int
    bytes: int
    file: int
    offset: int


class Part(NamedTuple):
    """The header of one file; `size`, `data_start` and `data_end` (what the tensors need) in bytes."""

    path: Path
    version: int
    keys: dict[str, Value]
    tensors: list[Tensor]
    size: int
    data_start: int
    data_end: int

    def missing(self) -> str | None:
        """What a truncated download lacks, in words; None when all tensors are there."""
        if self.data_end <= self.size:
            return None
        cut = [t for t in self.tensors if self.data_start + t.offset + t.bytes > self.size]
        names = [t.name for t in sorted(cut, key=lambda t: t.offset)]
        return cut_short(str(self.path), self.size, self.data_end, names, len(self.tensors))


def read_part(path: Path, types: Types) -> Part:
    """The header of the GGUF file at `path` (versions 2 and 3, little-endian). Raises SpecError."""
    with InputFile(path) as file:
        version = _version(file)
        cursor = Cursor(file, _HEAD.size)
        count, keys = cursor.number(U64, "the number of tensors"), cursor.number(U64, "the number of keys")
        if count > TENSORS:
            raise cursor.bad(f"{count:,} tensors; at most {TENSORS:,} are accepted")
        cursor.need(32 * count, f"the list of {count:,} tensors")
        metadata = read_keys(cursor, keys)
        tensors = _tensors(cursor, count, types)
        alignment = integer(metadata, "general.alignment", 32, file.name)
        if not 1 <= alignment <= ALIGNMENT or alignment & (alignment - 1):
            raise cursor.bad(f"`general.alignment` is {alignment:,}; it must be a power of two and at most {ALIGNMENT:,}")
        start = -cursor.position % alignment + cursor.position
        end = _data_end(cursor, tensors, alignment)
        return Part(path, version, metadata, tensors, file.size, start, start + end if tensors else 0)


def integer(keys: Mapping[str, Value], name: str, default: int, file: str) -> int:
    """The whole number under a key, `default` when there is none; SpecError when it is something else."""
    value = keys.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise bad(file, f"`{name}` must be a whole number")
    return value


def _version(file: InputFile) -> int:
    head = file.read(min(64, file.size), "the magic number")
    if head[:4] in (b"lmgg", b"fmgg", b"tjgg", b"algg"):
        raise bad(file.name, "a GGML file from before GGUF (2023)", "get the model as GGUF")
    if head[:4] != b"GGUF":
        raise foreign(file.name, head, "GGUF file")
    if len(head) < _HEAD.size:
        raise bad(file.name, "the file ends before its version number", AGAIN)
    version = _HEAD.unpack_from(head)[1]
    if version and not version & 0xFFFF:
        raise bad(file.name, "a big-endian GGUF file; only little-endian ones are read", "convert it with `gguf-convert-endian`")
    if version == 1:
        raise bad(file.name, "GGUF version 1 (2023) is not read; versions 2 and 3 are", "get a current file, or convert the model again")
    if version not in (2, 3):
        raise bad(file.name, f"GGUF version {version:,} is not known; versions 2 and 3 are read")
    return version


def _tensors(cursor: Cursor, count: int, types: Types) -> list[Tensor]:
    tensors, names = [], set()
    for i in range(count):
        name = cursor.name(f"the name of tensor {i + 1:,}")
        if name in names:
            raise cursor.bad(f"the tensor `{name}` stands twice")
        names.add(name)
        tensors.append(_tensor(cursor, name, types))
    return tensors


def _tensor(cursor: Cursor, name: str, types: Types) -> Tensor:
    n = cursor.number(U32, f"tensor `{name}`")
    if n not in _DIMS:
        raise cursor.bad(f"tensor `{name}` has {n:,} dimensions; 1 to {DIMENSIONS} are accepted")
    layout = _DIMS[n]
    *shape, number, offset = layout.unpack(cursor.take(layout.size, f"tensor `{name}`"))
    elements = 1
    for dim in shape:
        elements *= dim
    if not 1 <= elements <= ELEMENTS:
        raise cursor.bad(f"tensor `{name}` has the shape {tuple(shape)}: no dimension may be 0, and at most 2^50 elements are accepted")
    if number not in types:
        raise cursor.bad(
            f"tensor `{name}` has the type number {number:,}, which is not known",
            "a newer type or a fork's: add it to specs/layouts/gguf-types.yaml",
        )
    row = TypeRow(*types[number])
    if shape[0] % row.block:
        raise cursor.bad(f"tensor `{name}`: rows of {shape[0]:,} are no multiple of the {row.block} weights in a block of {row.format}")
    size = elements // shape[0] * (shape[0] // row.block * row.size + row.row)
    return Tensor(name, tuple(shape), row.format, number, elements, size, 0, offset)


def _data_end(cursor: Cursor, tensors: list[Tensor], alignment: int) -> int:
    end, last = 0, ""
    for tensor in sorted(tensors, key=lambda t: t.offset):
        if tensor.offset % alignment:
            raise cursor.bad(f"tensor `{tensor.name}` lies at byte {tensor.offset:,} of the data, no multiple of {alignment}", AGAIN)
        if tensor.offset > BEYOND:
            raise cursor.bad(f"tensor `{tensor.name}` lies at byte {tensor.offset:,} of the data; no model file is as long")
        if tensor.offset < end:
            raise cursor.bad(f"the tensors `{last}` and `{tensor.name}` overlap", "a damaged header, or a type of another size")
        end, last = tensor.offset + tensor.bytes, tensor.name
    return end
