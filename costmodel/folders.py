"""Files and folders of documents: where the package keeps its own, what a path names, what a folder holds."""

from __future__ import annotations

import os
from pathlib import Path

from .language.problem import Mark, problem

SUFFIXES = (".yaml", ".yml", ".json", ".gguf", ".safetensors")
"""Endings by which a name is a path."""


def data_root(name: str) -> Path:
    """Folder of the package's data (`specs`, `reports/templates`): inside the wheel, or beside it in a checkout."""
    here = Path(__file__).resolve().parent
    packaged = here / "_data" / name
    return packaged if packaged.is_dir() else here.parent / name


def as_path(name: str) -> str:
    """A file's name as it was given, made a path where it could be taken for a document's name but is a file or folder."""
    bare = os.sep not in name and not name.endswith(SUFFIXES) and len(name) < 255 and "\0" not in name
    return f".{os.sep}{name}" if bare and Path(name).exists() else name


def foreign(file: Path) -> bool:
    """Whether a file is a model as other programs keep it: config.json, GGUF or safetensors."""
    return file.suffix in (".json", ".gguf", ".safetensors")


def model_in(folder: Path, mark: Mark | None) -> Path:
    """The file to read of a model's folder: its config.json, else its only GGUF file (or the first part of one)."""
    if (folder / "config.json").exists():
        return folder / "config.json"
    found = sorted(p for p in folder.glob("*.gguf") if not p.name.startswith("mmproj"))
    first = [p for p in found if "-of-" not in p.name or "-00001-of-" in p.name]
    if len(first) == 1:
        return first[0]
    names = ", ".join(p.name for p in first[:5])
    raise problem(f"`{folder}` has no config.json", mark, f"name one of its files: {names}" if names else "a model's folder has one")


def files_of(folder: Path) -> dict[str, Path]:
    """Name to file of a folder and those below it."""
    found: dict[str, Path] = {}
    for file in sorted(folder.rglob("*.yaml")) if folder.is_dir() else ():
        found.setdefault(file.stem, file)
    return found


def nested(folder: Path) -> dict[str, Path]:
    """Name to file of the folders below `folder`; empty (and cheap) where there are none."""
    if not folder.is_dir():
        return {}
    below = [Path(e.path) for e in os.scandir(folder) if e.is_dir()]
    return {stem: file for sub in sorted(below) for stem, file in files_of(sub).items()}


def short(file: Path) -> str:
    """A path as messages print it: from here, where it lies below."""
    try:
        return str(file.relative_to(Path.cwd())) if file.is_absolute() else str(file)
    except (ValueError, OSError):
        return str(file)
