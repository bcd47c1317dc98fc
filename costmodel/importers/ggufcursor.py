"""A forward reader over a GGUF file's header: numbers, strings and names, within bounds of size, memory and time."""

from __future__ import annotations

from struct import Struct

from ..language.problem import SpecError
from .files import AGAIN, InputFile, bad

WINDOW = 2**20
NAME_BYTES = 256
"""Longest name of a key or a tensor."""
ROOM = 16 * 2**20
"""Bytes of memory, roughly, that the kept metadata of one file may take."""
BEYOND = 2**50
"""Bytes that no model file has: more cannot be missing, so the number itself is wrong."""
DAMAGED = "the header is damaged; download the file again"
U32, U64 = Struct("<I"), Struct("<Q")


class Cursor:
    """Reads forward through a file, a window of it at a time; `what` in calls names the thing read, for messages."""

    __slots__ = ("_at", "_room", "_start", "_window", "file")

    def __init__(self, file: InputFile, start: int = 0):
        self.file, self._room = file, ROOM
        self._start, self._at, self._window = start, 0, b""

    @property
    def position(self) -> int:
        """Bytes from the start of the file."""
        return self._start + self._at

    @property
    def left(self) -> int:
        """Bytes from here to the end of the file."""
        return self.file.size - self.position

    def bad(self, message: str, help: str | None = DAMAGED) -> SpecError:
        """The error for this file, ready to raise."""
        return bad(self.file.name, message, help)

    def need(self, n: int, what: str) -> None:
        """Raise SpecError unless `n` bytes are left."""
        over = n - self.left
        if over > BEYOND:
            raise self.bad(f"{what} would end {over:,} bytes after the file's end")
        if over > 0:
            missing = f"at least {over:,} bytes are missing after its {self.file.size:,}"
            raise self.bad(f"the file ends inside its header, in {what}: {missing}", AGAIN)

    def keep(self, n: int) -> None:
        """Count about `n` bytes of memory that stay in use, or as much work."""
        self._room -= n
        if self._room < 0:
            raise self.bad("the metadata holds more than any model needs: over 16 MiB of values, or over 2 million strings")

    def take(self, n: int, what: str) -> bytes:
        """The next `n` bytes."""
        if self._at + n > len(self._window):
            self.need(n, what)
            self._fill(n, what)
        self._at += n
        return self._window[self._at - n : self._at]

    def number(self, layout: Struct, what: str) -> int:
        """The next number."""
        return layout.unpack(self.take(layout.size, what))[0]

    def skip(self, n: int, what: str) -> None:
        """Step over `n` bytes."""
        self.need(n, what)
        self._at += n

    def text(self, limit: int, what: str) -> bytes:
        """The next string's bytes; at most `limit`."""
        return self.take(self.length(limit, what), what)

    def name(self, what: str) -> str:
        """The next string as a name: at most 256 bytes of valid UTF-8."""
        raw = self.text(NAME_BYTES, what)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise self.bad(f"{what} is not UTF-8 text: {raw[:40]!r}", AGAIN) from None

    def skip_strings(self, n: int, what: str) -> None:
        """Step over `n` strings: a tight loop, as a vocabulary has hundreds of thousands."""
        self.keep(8 * n)  # not kept, but each takes time
        read = U64.unpack_from
        while n:
            self.need(8 * n, what)
            if self._at + 8 > len(self._window):
                self._fill(8, what)
            at, window = self._at, self._window
            last = len(window) - 8
            rest = range(n - 1, -1, -1)
            for n in rest:  # noqa: B007 (used after the loop)
                (length,) = read(window, at)
                at += 8 + length
                if at > last:
                    break
            self._at = at
        self.need(0, what)

    def length(self, limit: int, what: str) -> int:
        """The next string's length; at most `limit`."""
        n = self.number(U64, f"the length of {what}")
        if n > limit:
            raise self.bad(f"{what} has {n:,} bytes; at most {limit:,} are accepted")
        return n

    def _fill(self, n: int, what: str) -> None:
        self._start, self._at = self.position, 0
        self.file.seek(self._start)
        self._window = self.file.read(min(max(n, WINDOW), self.file.size - self._start), what)
