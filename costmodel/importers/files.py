"""Files from outside, read within bounds: regular files only, and exact reads.

Every fault is one :class:`~costmodel.language.problem.SpecError` that names the file. Sizes are in bytes.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

from ..language.problem import SpecError
from .jsontext import CONFIG_BYTES, bad, read_json

HEADER_BYTES = 32_000_000
"""Largest safetensors header or weight index that is read: a third of what the format allows, ten times what models need."""
AGAIN = "download it again"


class InputFile:
    """A regular, non-empty file, open for reading: `path`, `name` (for messages), `size` in bytes.

    Raises SpecError when there is nothing that can be read: no file, a folder, a device, a pipe, no permission, no bytes.
    """

    __slots__ = ("_file", "name", "path", "size")

    def __init__(self, path: Path):
        self.path, self.name = path, str(path)
        try:
            _regular(self.name, path.stat().st_mode)
            # A path may be swapped between the two calls: never wait for a pipe, and ask the open file again.
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            self._file = os.fdopen(os.open(path, flags), "rb", buffering=0)
        except (OSError, ValueError) as error:
            raise _unreadable(self.name, error) from None
        found = os.fstat(self._file.fileno())
        self.size = found.st_size
        try:
            _regular(self.name, found.st_mode)
            if not self.size:
                raise bad(self.name, "the file is empty", AGAIN)
        except SpecError:
            self._file.close()
            raise

    def __enter__(self) -> InputFile:
        return self

    def __exit__(self, *_) -> None:
        self._file.close()

    def seek(self, position: int) -> None:
        """Go to a byte, counted from the start."""
        self._file.seek(position)

    def read(self, n: int, what: str) -> bytes:
        """Exactly the next `n` bytes; SpecError when the file ends before, naming `what` was being read."""
        pieces, left = [], n
        try:
            if n <= self.size:
                while left and (piece := self._file.read(left)):
                    pieces.append(piece)
                    left -= len(piece)
        except OSError as error:
            raise bad(self.name, f"cannot be read: {error.strerror}") from None
        if left:
            raise bad(self.name, f"the file ends inside {what}: {left:,} bytes are missing after its {self.size:,}", AGAIN)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _regular(name: str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise bad(name, "this is a folder, not a file", "name the file inside it")
    if not stat.S_ISREG(mode):
        raise bad(name, "this is a pipe, a socket or a device, not a regular file", "copy its content to a file first")


def _unreadable(name: str, error: OSError | ValueError) -> SpecError:
    if not isinstance(error, OSError):
        return bad(name, "this cannot be a file's name")
    if error.errno == errno.ELOOP:
        return bad(name, "a symbolic link that leads back to itself")
    if isinstance(error, FileNotFoundError):
        return bad(name, "no such file")
    if isinstance(error, PermissionError):
        return bad(name, "reading it is not permitted", "check the file's permissions")
    return bad(name, f"cannot be opened: {error.strerror}")


def foreign(name: str, head: bytes, want: str) -> SpecError:
    """The error for a file that is no `want`, from its first bytes: says what it seems to be, and what to do."""
    if head.startswith(b"version https://git-lfs"):
        return bad(name, "a Git LFS pointer, not the file itself", "run `git lfs pull`, or download the file from its page")
    if head.lstrip().startswith(b"<"):
        return bad(name, "a web page, not a model file", "the download needs a login or another link")
    kinds = ((b"GGUF", "a GGUF file"), (b"PK", "a zip archive or PyTorch checkpoint"), (b"{", "JSON"), (b"\x80", "a Python pickle"))
    kind = next((kind for start, kind in kinds if head.startswith(start)), "a safetensors file" if head[8:9] == b"{" else None)
    return bad(name, f"this is no {want}" + (f" but {kind}" if kind else f" (it begins with {head[:4]!r})"))


def all_there(name: str, paths: list[Path], what: str) -> None:
    """Raise SpecError, for the file `name`, unless each of a model's files is there; `what` the files are: parts, shards."""
    lost = [path for path in paths if not path.exists()]
    if lost:
        shown = ", ".join(f"`{path.name}`" for path in lost[:3]) + (", …" if len(lost) > 3 else "")
        missing = "is missing" if len(lost) == 1 else "are missing"
        message = f"{len(lost):,} of the model's {len(paths):,} {what} {missing}: {shown}"
        raise bad(name, message, f"put all {what} into `{lost[0].parent}`")


def cut_short(name: str, size: int, need: int, cut: list[str], total: int) -> str:
    """What a truncated download lacks: `size` and `need` in bytes, `cut` the tensors concerned in file order, of `total`."""
    missing = f"{need - size:,} of {need:,} bytes are missing (the file has {size:,})"
    return f"{name}: the file is cut short: {missing}; {len(cut):,} of {total:,} tensors are incomplete, the first is `{cut[0]}`"


def load_json(path: Path, limit: int = CONFIG_BYTES) -> dict[str, Any]:
    """The object in a JSON file of at most `limit` bytes; see :func:`read_json`."""
    with InputFile(path) as file:
        if file.size > limit:
            raise bad(file.name, f"{file.size:,} bytes of JSON; at most {limit:,} are read")
        return read_json(file.read(file.size, "the JSON text"), file.name, limit, unbounded=True)
