"""Folders of documents that installed packages register under the entry point group `costmodel.specs`."""

from __future__ import annotations

import os
from pathlib import Path

GROUP = "costmodel.specs"


def plugin_roots() -> tuple[list[Path], list[str]]:
    """The folders of all packages, sorted by entry point, and what is wrong with those that lead to none.

    A broken package takes nothing from the others: its fault is told where a name is not found.
    """
    from importlib.metadata import entry_points

    roots: list[Path] = []
    faults: list[str] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        try:
            roots.append(_folder(entry.load()))
        except (Exception, SystemExit) as error:  # any code of another package runs here
            package = f" of package `{entry.dist.name}`" if entry.dist is not None else ""
            reason = str(error) if isinstance(error, _NoFolder) else _gist(error)
            faults.append(f"not searched: entry point `{entry.name} = {entry.value}`{package}: {reason}")
    return list(dict.fromkeys(roots)), faults


def _gist(error: BaseException) -> str:
    """An error of any kind in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


class _NoFolder(Exception):
    """An entry point loads to something that is no folder."""


def _folder(value: object) -> Path:
    if not isinstance(value, (str, os.PathLike)):
        raise _NoFolder(f"it loads to {type(value).__name__}; want a text or pathlib.Path")
    if not Path(value).is_dir():
        raise _NoFolder(f"no folder `{value}`")
    return Path(value)
