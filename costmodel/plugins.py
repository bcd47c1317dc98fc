"""Folders of documents that installed packages register under the entry point group `costmodel.specs`."""

from __future__ import annotations

import os
from pathlib import Path

from .language.problem import SpecError, problem

GROUP = "costmodel.specs"


def plugin_roots() -> list[Path]:
    """The folders of all packages, sorted by entry point. Raises :class:`SpecError` for one that does not lead to a folder."""
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=GROUP), key=lambda e: (e.name, e.value))
    return list(dict.fromkeys(_folder(e) for e in found))


def _folder(entry) -> Path:
    """The folder that an entry point loads to: a text or path."""
    try:
        value = entry.load()
    except Exception as error:  # any code of another package runs here
        raise _fault(entry, f"{type(error).__name__}: {error}") from error
    if not isinstance(value, (str, os.PathLike)):
        raise _fault(entry, f"it loads to {type(value).__name__}; want a text or pathlib.Path")
    folder = Path(value)
    if not folder.is_dir():
        raise _fault(entry, f"no folder `{folder}`")
    return folder


def _fault(entry, reason: str) -> SpecError:
    package = f" of package `{entry.dist.name}`" if entry.dist is not None else ""
    message = f"entry point `{entry.name} = {entry.value}`{package} (group {GROUP}): {reason}"
    return problem(message, help="mend or uninstall the package")
