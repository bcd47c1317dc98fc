"""Progress of a long matrix or sweep on stderr: nothing for short ones, one updating line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

from time import monotonic


class Progress:
    """Call with (done, total); shows itself after a second."""

    def __init__(self, stream, wait: float = 1.0, what: str = "cases"):
        self.stream, self.next, self.shown, self.what = stream, monotonic() + wait, False, what
        self.terminal = stream.isatty()

    def __enter__(self):
        return self

    def __call__(self, done: int, total: int) -> None:
        """Write a line if one is due: at most five a second on a terminal, else one every five seconds."""
        now = monotonic()
        if now < self.next:
            return
        self.next, self.shown = now + (0.2 if self.terminal else 5.0), True
        end = "\r" if self.terminal else "\n"
        self.stream.write(f"{done:,} of {total:,} {self.what}{end}")
        self.stream.flush()

    def __exit__(self, *_):
        if self.shown and self.terminal:
            self.stream.write(" " * 40 + "\r")
            self.stream.flush()
