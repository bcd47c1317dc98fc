"""Pictures as files: SVG, PNG or PDF, the same bytes for the same picture, nothing overwritten unasked."""

from __future__ import annotations

import io
from pathlib import Path

from ...language.problem import problem
from ..importing import is_there, write_all
from .style import drawing

SUFFIXES = (".svg", ".png", ".pdf")
DPI = 150


def checked(path: str | Path, force: bool = True, option: str = "") -> Path:
    """The path of a picture that may be written. Raises :class:`costmodel.SpecError` for another suffix, or where a file is there."""
    target, start = Path(path), f"{option}: " if option else ""
    if target.suffix.lower() not in SUFFIXES:
        raise problem(f"{start}`{target.name[:80]}`: want a name that ends in .svg, .png or .pdf")
    if is_there(target) and target.is_dir():
        raise problem(f"{start}`{str(target)[:120]}` is a folder", help="give a file's name")
    if is_there(target) and not force:
        raise problem(f"{start}`{str(target)[:120]}` is there already", help="--force replaces it")
    return target


def save(figure, path: str | Path, *, force: bool = False) -> None:
    """Write a Figure as its path's suffix says: .svg, .png or .pdf.

    SVG has its text as outlines, so it looks the same everywhere. No date is written. Raises
    :class:`costmodel.SpecError` for another suffix, for a file that is there (unless `force`), and where it cannot be written.
    """
    target = checked(path, force)
    kind = target.suffix.lower()[1:]
    stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]
    made = io.BytesIO()
    with drawing():
        figure.savefig(made, format=kind, dpi=DPI, metadata=stamp)
    write_all([target], [made.getvalue()])
