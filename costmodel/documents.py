"""A loaded document, and a view of a library that notes what is loaded through it."""

from __future__ import annotations

from pathlib import Path

from .language.problem import Mark
from .language.yamlread import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from typing import Any

    from .library import Library

    Sets = Sequence[tuple[Any, Any, Any]]
    """Overrides as (path, value, mark)."""


class Spec:
    """A loaded document: validated `doc`, merged `document` (data and marks), and the `files` it was read from."""

    __slots__ = ("doc", "document", "files", "kind", "lineage")

    kind: str
    doc: Any
    document: Document
    files: tuple[Path, ...]
    lineage: tuple[str, ...]

    def __init__(self, kind: str, doc: Any, document: Document, files: tuple[Path, ...], lineage: tuple[str, ...]) -> None:
        self.kind, self.doc, self.document, self.files, self.lineage = kind, doc, document, files, lineage

    def __repr__(self) -> str:
        return f"<Spec {self.kind} {self.name}>"

    @property
    def name(self) -> str:
        """The document's name."""
        return self.doc.name

    def mark(self, *path: str | int, key: bool = False) -> Mark:
        """Where a value stands, for messages."""
        return self.document.mark(path, key)


class Recorder:
    """A library that notes the files of what is loaded through it."""

    def __init__(self, library: Library):
        self.library = library
        self.files: set[Path] = set()

    def __getattr__(self, name: str):
        return getattr(self.library, name)

    def names(self, kind: str) -> dict[str, Path]:
        """As :meth:`Library.names`; a user's own documents may each be the one that is looked for."""
        self.files |= set(self.library._own(kind))
        return self.library.names(kind)

    def load(self, kind: str, name: str | PathLike[str], sets: Sets = (), mark: Mark | None = None) -> Spec:
        """As :meth:`Library.load`."""
        spec = self.library.load(kind, name, sets, mark)
        self.files |= set(spec.files)
        return spec
