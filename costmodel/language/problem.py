"""Problems in a document, and the one printer that shows them.

A :class:`Problem` knows where it is (file, line, column), says what is wrong in one sentence and, where it can, what to
write instead. Problems of one stage are collected and raised together as a :class:`SpecError`.
"""

from __future__ import annotations

from typing import NamedTuple

SHOWN = 20
"""Problems printed at once; further ones are counted."""


class Source:
    """A text that documents are read from: a file's name and content, or one `--set` argument."""

    __slots__ = ("_lines", "name", "text")

    def __init__(self, name: str, text: str):
        self.name, self.text = name, text
        self._lines: list[str] | None = None

    @property
    def lines(self) -> list[str]:
        """The text's lines, split once."""
        if self._lines is None:
            self._lines = self.text.splitlines()
        return self._lines


class Mark(NamedTuple):
    """A place in a source; lines and columns count from 1."""

    source: Source
    line: int
    column: int

    def __str__(self) -> str:
        return f"{clean(self.source.name)}:{self.line}:{self.column}"

    def shift(self, columns: int) -> Mark:
        """The place `columns` further right on the same line."""
        return Mark(self.source, self.line, self.column + columns)


class Problem(NamedTuple):
    """One thing wrong: `message`, `mark` (or None), `help` (what to do), `also` (further places: (mark, note) pairs)."""

    message: str
    mark: Mark | None = None
    help: str | None = None
    also: tuple[tuple[Mark | None, str], ...] = ()

    def __str__(self) -> str:
        where = f"{self.mark}: " if self.mark else ""
        lines = [where + clean(self.message)]
        if self.mark:
            lines += _excerpt(self.mark, self.help)
        elif self.help:
            lines.append(f"  help: {clean(self.help)}")
        for mark, note in self.also:
            lines.append(f"{mark}: {clean(note)}" if mark else clean(note))
            if mark:
                lines += _excerpt(mark, None)
        return "\n".join(lines)


class SpecError(Exception):
    """Bad input: one or more :class:`Problem`, in file order. The command line exits 2 on it."""

    def __init__(self, problems: Problem | list[Problem]):
        if isinstance(problems, Problem):
            problems = [problems]
        self.problems = sorted(problems, key=_position)
        more = len(self.problems) - SHOWN
        tail = [f"… and {more:,} more"] if more > 0 else []
        super().__init__("\n".join([*map(str, self.problems[:SHOWN]), *tail]))

    def __reduce__(self):
        return SpecError, (self.problems,)


def clean(text: str) -> str:
    """Text that is safe to print: no control characters, escapes or direction marks; shortened when very long."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return text if len(text) <= 400 else text[:200] + " … " + text[-100:]


def problem(message: str, mark: Mark | None = None, help: str | None = None, also=()) -> SpecError:
    """A :class:`SpecError` with one problem, ready to raise."""
    return SpecError(Problem(message, mark, help, tuple(also)))


def nearest(name: str, names, quote: str = "`") -> str | None:
    """`did you mean …?` for the valid names closest to `name`, or None when nothing is close."""
    from difflib import get_close_matches

    close = get_close_matches(str(name).lower(), [str(n) for n in names], 3, 0.5)
    if not close:
        return None
    return "did you mean " + " or ".join(f"{quote}{c}{quote}" for c in close) + "?"


def article(word: str) -> str:
    """A word with `a` or `an` before it."""
    return f"{'an' if word[:1] in 'aeio' else 'a'} {word}"


def suggest(name: str, names) -> str:
    """The nearest valid names, or, when none is near, the (first twelve) valid names."""
    names = sorted({str(n) for n in names})
    if not names:
        return "none is defined"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return nearest(name, names) or f"valid: {shown}"


def _position(item: Problem):
    mark = item.mark
    return (mark.source.name, mark.line, mark.column) if mark else ("", 0, 0)


def _excerpt(mark: Mark, note: str | None) -> list[str]:
    lines = mark.source.lines or [""]
    if mark.line > len(lines):
        mark = Mark(mark.source, len(lines), len(lines[-1]) + 1)
    if not 1 <= mark.line <= len(lines):
        return [f"  help: {clean(note)}"] if note else []
    text, column = _window(lines[mark.line - 1].replace("\t", " "), mark.column)
    gutter = f"{mark.line:>5} | "
    caret = " " * (len(gutter) - 2) + "| " + " " * (column - 1) + "^" + (f" {clean(note)}" if note else "")
    return [gutter + text, caret]


def _window(text: str, column: int, width: int = 100) -> tuple[str, int]:
    """At most `width` characters of `text` around `column`, and the column inside them."""
    text = "".join(c if c.isprintable() else "�" for c in text)
    if len(text) <= width:
        return text, column
    start = max(0, min(column - width // 2, len(text) - width))
    return text[start : start + width], column - start
