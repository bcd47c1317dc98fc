"""GGUF model files: metadata and tensors from the header, of one file or of all parts of a split one.

Source of the layout: ggml's `docs/gguf.md`, and llama.cpp's `gguf-split` for the keys and names of parts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ..language.problem import problem
from .files import all_there, bad
from .ggufpart import TENSORS, Part, Tensor, TypeRow, Types, integer, read_part
from .ggufvalues import Array, Value

__all__ = ["Array", "Gguf", "Tensor", "TypeRow", "read_gguf"]

_PART = re.compile(r"(?P<stem>.*)-(?P<no>[0-9]{5})-of-(?P<count>[0-9]{5})\.gguf\Z", re.S)


class Gguf(NamedTuple):
    """A model's header. `keys` are the first part's; `files` the parts in order; `data_start` is the first part's.

    `file_bytes` is the size of all parts together; `notes` says in words what is odd, such as a part cut short.
    """

    path: Path
    version: int
    keys: dict[str, Value]
    tensors: list[Tensor]
    files: list[Path]
    file_bytes: int
    data_start: int
    notes: list[str]


def read_gguf(path: Path | str, types: Types, whole: bool = True) -> Gguf:
    """The header of a GGUF model, all parts of it when `path` is a part of a split one.

    `types` maps a type number to (format, weights in a block, bytes of a block[, bytes more in each row]). With
    `whole=False` a file whose tensor data is cut short is read all the same, and `notes` says what is missing.
    Raises SpecError for anything else than well-formed files.
    """
    path = Path(path)
    given = read_part(path, types)
    parts, notes = _parts(given, types)
    if len(parts) > 1:
        _check_split(parts)
    for text in filter(None, (part.missing() for part in parts)):
        if whole:
            raise problem(text, None, "download the file again, or let the download finish")
        notes.append(text)
    tensors = [t if not i else t._replace(file=i) for i, part in enumerate(parts) for t in part.tensors]
    first = parts[0]
    size = sum(part.size for part in parts)
    return Gguf(path, first.version, first.keys, tensors, [p.path for p in parts], size, first.data_start, notes)


def _parts(given: Part, types: Types) -> tuple[list[Part], list[str]]:
    """All parts of the model that `given` belongs to, in order, and notes."""
    name, count = str(given.path), integer(given.keys, "split.count", 1, str(given.path))
    match = _PART.match(given.path.name)
    if count <= 1:
        alone = "the file's name is that of a part, but it says nothing of other parts: it was read alone"
        return [given], [f"{name}: {alone}"] if match and int(match["count"]) > 1 else []
    no = integer(given.keys, "split.no", 0, name) + 1
    if not match:
        want = f"model-{no:05}-of-{count:05}.gguf"
        raise bad(name, f"this is part {no} of {count}, and its name does not lead to the others", f"name the parts like `{want}`")
    if (int(match["no"]), int(match["count"])) != (no, count):
        raise bad(name, f"by its name this is part {int(match['no'])} of {int(match['count'])}, by its header part {no} of {count}")
    paths = [given.path.with_name(f"{match['stem']}-{i:05}-of-{count:05}.gguf") for i in range(1, count + 1)]
    all_there(name, paths, "parts")
    return [given if i == no else read_part(p, types) for i, p in enumerate(paths, 1)], []


def _check_split(parts: list[Part]) -> None:
    """Raise SpecError unless the parts belong together: numbers, count of tensors, and no tensor twice."""
    where: dict[str, Part] = {}
    for i, part in enumerate(parts):
        name = str(part.path)
        no, count = integer(part.keys, "split.no", -1, name), integer(part.keys, "split.count", 0, name)
        if (no, count) != (i, len(parts)):
            raise bad(name, f"by its header this is part {no + 1} of {count}, not part {i + 1} of {len(parts)}")
        for tensor in part.tensors:
            if tensor.name in where:
                raise bad(name, f"the tensor `{tensor.name}` also stands in `{where[tensor.name].path.name}`")
            where[tensor.name] = part
        if len(where) > TENSORS:
            raise bad(name, f"more than {TENSORS:,} tensors in the parts up to this one")
    total = integer(parts[0].keys, "split.tensors.count", len(where), str(parts[0].path))
    if total != len(where):
        raise bad(str(parts[0].path), f"the model has {total:,} tensors by its header, and its parts hold {len(where):,}")
