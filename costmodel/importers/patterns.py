"""Lists of modules that a checkpoint leaves unquantized: which of a model's modules they mean.

An entry is a name or a part of one (`lm_head`, `model.layers.3.mlp`), a glob, or a regular expression after `re:`. The
expressions come from untrusted files, so only a harmless part of their language is understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

MAX_PATTERN = 200
MAX_ENTRIES = 200_000
MAX_TESTS = 200
"""Patterns that are tried on every module; names without wildcards are looked up, however many."""
_TOKEN = re.compile(r"\.\*|\\d\+|\[0-9\]\+|\\d|\\\.|[\w./:-]|\((?:\?:)?[\w|-]+(?:\\\.[\w|-]+)*\)|[$^]")
"""`.*`, digits, escaped dots, plain characters, and choices of plain words: nothing that is repeated but any text and digits."""


class Modules:
    """A list of modules, ready to be asked; `unread` are entries that were not understood."""

    def __init__(self, entries: list):
        self.exact: set[str] = set()
        self.tests: list[Callable[[str], object]] = []
        self.unread: list[str] = []
        for entry in entries[:MAX_ENTRIES]:
            if isinstance(entry, str):
                self._add(entry.strip())

    def _add(self, entry: str) -> None:
        if (entry.startswith("re:") or any(c in entry for c in "*?[")) and len(self.tests) >= MAX_TESTS:
            self.unread.append(entry[:60])
        elif entry.startswith("re:"):
            safe = _regex(entry[3:])
            if safe is None:
                self.unread.append(entry[:60])
            else:
                self.tests.append(safe.match)
        elif any(c in entry for c in "*?["):
            if len(entry) > MAX_PATTERN or entry.count("*") > 4:
                self.unread.append(entry[:60])
            else:
                self.tests += [re.compile(translate(entry)).match, re.compile(translate(entry + ".*")).match]
        else:
            self.exact.add(entry)

    def __contains__(self, module: str) -> bool:
        """Whether the list names the module, something that it is inside of, or a run of its parts."""
        if self.exact:
            parts = module.split(".")
            for start in range(len(parts)):
                for end in range(start + 1, len(parts) + 1):
                    if ".".join(parts[start:end]) in self.exact:
                        return True
        return any(test(module) for test in self.tests)


def _regex(text: str) -> re.Pattern | None:
    """A regular expression of names, choices and `.*`, or None for anything that could run long."""
    while ".*.*" in text:
        text = text.replace(".*.*", ".*")
    if len(text) > MAX_PATTERN or text.count("*") > 3 or "".join(_TOKEN.findall(text)) != text:
        return None
    try:
        return re.compile(text)
    except re.error:
        return None
