"""Layouts: how files of weights name their types and tensors."""

from __future__ import annotations

from pydantic import Field

from .common import Bytes, Doc, Part


class Stored(Part):
    """A type of stored elements: the number format it is, and bytes per block."""

    format: str
    """Name of a format document."""
    block: int = Field(default=1, ge=1)
    """Elements of a block."""
    size: Bytes
    """Bytes of a block."""
    row: Bytes | None = None
    """Bytes that each row of a tensor holds beside its blocks."""


class Layout(Doc):
    """A file format's types by number, and roles by tensor or module name."""

    types: dict[str, Stored] = {}
    """Number or name of a stored type, to what it is."""
    tensors: dict[str, str] = {}
    """Pattern of a tensor's or module's name, to the role of the rows it belongs to."""
    packed: dict[str, dict[str, int]] = {}
    """Pattern of tensors that pack several weights into one element, to how many by stored type."""
    overhead: tuple[str, ...] = ()
    """Patterns of tensors that are scales, zero points or indices: bytes, not parameters."""
    modules: dict[str, tuple[str, ...]] = {}
    """Role to the names that its modules have inside a layer, for lists of exceptions."""
    outer: dict[str, tuple[str, ...]] = {}
    """The same for roles outside of layers."""
    prefixes: tuple[str, ...] = ()
    """What stands before those names; `{i}` is the layer."""
    files: dict[str, str] = {}
    """Number of a file's overall type, to the format of that name."""
    windows: dict[str, int] = {}
    """Architecture to the period of its full-attention layers, where a file gives a window but no pattern."""
