"""Lists of modules that a checkpoint leaves unquantized: which of a model's modules they mean.

An entry is a name or a part of one (`lm_head`, `model.layers.3.mlp`), a glob, or a regular expression after `re:`. The
expressions come from untrusted files, so only a harmless part of their language is understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

MAX_PATTERN = 200
MAX_ENTRIES = 20_000
MAX_TESTS = 64
"""Patterns that are tried on every module; names without wildcards are looked up, however many."""
MAX_ENDS = 2000
"""Globs that only leave open how a name begins or ends."""
_TOKEN = re.compile(r"\.\*|\\d\+|\[0-9\]\+|\\d|\\\.|[\w./:-]|\((?:\?:)?[\w|-]+(?:\\\.[\w|-]+)*\)|[$^]")
"""`.*`, digits, escaped dots, plain characters, and choices of plain words: nothing that is repeated but any text and digits."""


class Modules:
    """A list of modules, ready to be asked; `unread` are entries that were not understood."""

    def __init__(self, entries: list):
        self.exact: set[str] = set()
        self.tests: list[Callable[[str], object]] = []
        self.starts: tuple[str, ...] = ()
        self.ends: tuple[str, ...] = ()
        self.unread: list[str] = []
        for entry in entries[:MAX_ENTRIES]:
            if isinstance(entry, str) and len(entry) <= MAX_PATTERN:
                self._add(entry.strip())
            elif isinstance(entry, str):
                self.unread.append(entry[:60])

    def __bool__(self) -> bool:
        """Whether anything is listed."""
        return bool(self.exact or self.tests or self.starts or self.ends)

    def _add(self, entry: str) -> None:
        body, stars = entry.strip("*"), entry.count("*")
        if not entry.startswith("re:") and not any(c in entry for c in "*?["):
            self.exact.add(entry)
        elif stars == 1 and body and not any(c in body for c in "*?[") and len(self.starts) + len(self.ends) < MAX_ENDS:
            if entry.endswith("*"):
                self.starts += (body,)
            else:
                self.ends += (body,)
        else:
            self._pattern(entry)

    def _pattern(self, entry: str) -> None:
        safe = None
        if len(self.tests) < MAX_TESTS and len(entry) <= MAX_PATTERN:
            if entry.startswith("re:"):
                safe = _regex(entry[3:])
            elif entry.count("*") <= 3:
                safe = re.compile(f"{translate(entry)}|{translate(entry + '.*')}")
        if safe is None:
            self.unread.append(entry[:60])
        else:
            self.tests.append(safe.match)

    def __contains__(self, module: str) -> bool:
        """Whether the list names the module, something that it is inside of, or a run of its parts."""
        if self.exact:
            parts = module.split(".")
            for start in range(len(parts)):
                for end in range(start + 1, len(parts) + 1):
                    if ".".join(parts[start:end]) in self.exact:
                        return True
        if self.starts and module.startswith(self.starts):
            return True
        if self.ends and (module.endswith(self.ends) or any(f"{end}." in module for end in self.ends)):
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
