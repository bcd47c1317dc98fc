"""Layouts: how files of weights name their types and tensors."""

from __future__ import annotations

from pydantic import Field

from .common import Bytes, Doc, Part


class Stored(Part):
    """A type of stored elements: the number format it is, and bytes per block."""

    format: str
    block: int = Field(default=1, ge=1)
    size: Bytes
    row: Bytes | None = None
    """Bytes that each row of a tensor holds beside its blocks."""


class Layout(Doc):
    """A file format's types by number, and roles by tensor or module name."""

    types: dict[str, Stored] = {}
    tensors: dict[str, str] = {}
    """Pattern of a tensor's or module's name, to the role of the rows it belongs to."""
