"""What every document of a machine is made of: its head, sources, and figures as documents write them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..importers.document import flow, scalar
from .facts import Machine

FIELDS = ("schema", "name", "extends", "title", "memory", "compute", "host", "links", "power", "caveats", "sources")


class Parent(NamedTuple):
    """The library's document of a part: its memory entry, sizes and rates; `shared`: CPU and GPU have one memory."""

    name: str
    tier: str
    capacity: float | None
    bandwidth: float
    compute: dict[str, float]
    shared: bool
    url: bool = False


class Device(NamedTuple):
    """One device: `fields` of its document, None where the library does not know it; there are `number` of it."""

    id: str
    label: str
    number: int
    fields: dict[str, Any] | None
    parent: str | None
    notes: tuple[str, ...] = ()


def head(parent: str, label: str) -> dict[str, Any]:
    """The header of a document of a part called `label` over a parent."""
    return {"schema": "costmodel/hardware@1", "name": "", "extends": parent, "title": f"{label} (this machine)"}


def source(kind: str, ref: str, date: str | None = None, url: str | None = None, over: bool = False) -> dict[str, Any]:
    """A source; `over` a parent's, whose `url` must not stay."""
    found: dict[str, Any] = {"kind": kind, "ref": ref}
    if url or over:
        found["url"] = url
    return found | ({"date": date} if date else {})


def installed(machine: Machine) -> int:
    """Bytes of memory: of the modules where all is ours, else what the system or the container's limit leaves."""
    modules = sum(m.size for m in machine.memory.modules)
    capacity = machine.memory.capacity or 0
    return modules if not machine.confined.kinds and 0 <= modules - capacity < 0.2 * modules else capacity


def text(fields: dict[str, Any]) -> str:
    """The YAML of a document."""
    lines = []
    for key in FIELDS:
        value = fields.get(key)
        if value in (None, "", {}):
            continue
        if key == "sources":
            lines += ["sources:", *(f"  {scalar(k)}: {_nulls(v)}" for k, v in value.items())]
        else:
            lines.append(f"{key}: {flow(value)}")
    return "\n".join(lines) + "\n"


def _nulls(source: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{k}: {'null' if v is None else flow(v)}" for k, v in source.items()) + "}"


def amount(value: int) -> str:
    """A size in the largest binary unit that is whole."""
    for step, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if value % step == 0:
            return f"{value // step} {unit}"
    return f"{value} B"


def gigabytes(value: float) -> str:
    """Bytes per second with four digits."""
    return f"{float(f'{value / 1e9:.4g}'):g} GB/s"


def teraflops(value: float) -> str:
    """FLOP per second with three digits."""
    return f"{float(f'{value / 1e12:.3g}'):g} TFLOP/s"
