"""`costmodel probe`: this machine's facts for people and programs, and its hardware documents, checked before they are written."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from ..importers.document import slug
from ..language.problem import problem, suggest
from ..library import Library, Spec, shared
from ..probe.document import devices
from ..probe.facts import Gpu, Machine, plain
from ..probe.look import look
from ..probe.measure import Measured, measure
from ..probe.modules import bus
from ..probe.parts import Device, Parent, gigabytes, text
from ..probe.system import System
from .importing import is_there, target_of, write_all
from .machines import find_machine

_SHARED = ("apple-silicon", "amd-apu", "nvidia-soc")
NAME = "this-machine"


class Document(NamedTuple):
    """A device's document: its name, text and the merged, validated spec."""

    device: Device
    name: str
    text: str
    spec: Spec


class Wanted(NamedTuple):
    """What the command was asked for."""

    output: str | None = None
    name: str | None = None
    device: str | None = None
    force: bool = False
    fmt: str = "text"


def probe(wanted: Wanted, timed: bool = False, system: System | None = None) -> str:
    """Look at the machine (and measure when `timed`), write what is asked; returns what to print. Raises :class:`SpecError`."""
    system = system or System()
    if wanted.output == "":
        raise problem("-o names a document or a folder", help="leave it out to print")
    machine, library = look(system), shared()
    measured = measure(machine, _threads(machine, system)) if timed else None
    found = devices(machine, lambda names, memory: _parent(library, names, memory), measured, date.today().isoformat())
    made = [_document(d, found, wanted, library) for d in found if d.fields is not None]
    chosen = _chosen(made, found, wanted.device)
    if wanted.output is not None:
        lines = _written(made, chosen, wanted)
        return "\n".join([*lines, *(f"note: {n}" for n in _notes(machine, [chosen.device] if wanted.device else found))])
    if wanted.fmt == "json":
        return json.dumps(_json(machine, measured, made, found, chosen), ensure_ascii=False, indent=2, allow_nan=False)
    return chosen.text.rstrip("\n") if wanted.fmt == "yaml" else _text(machine, measured, found, chosen)


def _threads(machine: Machine, system: System) -> int:
    quota = machine.confined.cpus
    return max(1, min(system.cpus() or 1, round(quota + 0.499) if quota else 1 << 10))


def _parent(library: Library, names: tuple[str, ...], memory: int | None) -> Parent | None:
    for name in names:
        spec = find_machine(library, name, memory)
        if spec is not None:
            tier, entry = next(iter(spec.doc.memory.items()))
            url = any(s.url for s in spec.doc.sources.values())
            shared = any(c in _SHARED for c in spec.lineage)
            return Parent(spec.name, tier, entry.capacity, entry.bandwidth, dict(spec.doc.compute), shared, url)
    return None


def _document(device: Device, found: list[Device], wanted: Wanted, library: Library) -> Document:
    """A device's document under its name, validated as it would be when loaded."""
    single = wanted.output is not None and wanted.output.endswith((".yaml", ".yml"))
    stem = Path(wanted.output or "").stem if single and wanted.name is None else ""
    base = slug(wanted.name or stem or NAME)
    several = sum(d.fields is not None for d in found) > 1 and not single and wanted.name is None
    name = f"{base}-{device.id}" if several else base
    shown = text({**(device.fields or {}), "name": name})
    return Document(device, name, shown, library.load_text("hardware", shown, Path(f"{name}.{device.id}.yaml")))


def _chosen(made: list[Document], found: list[Device], wanted: str | None) -> Document:
    """The device asked for, else the one with the highest bandwidth."""
    if wanted is None:
        if not made:
            raise problem("no document can be written for this machine", help="; ".join(n for d in found for n in d.notes)[:300])
        return max(made, key=lambda d: next(iter(d.spec.doc.memory.values())).bandwidth)
    for device in found:
        first = int(device.id[3:]) if device.id.startswith("gpu") else 0
        ids = [f"gpu{first + i}" for i in range(device.number)] if device.id.startswith("gpu") else [device.id]
        if wanted in ids:
            document = next((d for d in made if d.device is device), None)
            if document is None:
                raise problem(f"no document can be written for {wanted}", help=device.notes[-1])
            return document
    raise problem(f"no device `{wanted[:40]}`", help=suggest(wanted[:40], [d.id for d in found]))


def _written(made: list[Document], chosen: Document, wanted: Wanted) -> list[str]:
    """Write the chosen document, or all into a folder."""
    output = Path(wanted.output or "")
    single = output.suffix in (".yaml", ".yml") and not output.is_dir()
    these = [chosen] if single or wanted.device or wanted.name else made
    targets = [target_of(output, d.name, False) for d in these]
    for target in targets:
        if target.is_dir():
            raise problem(f"`{target}` is a folder", help="give a name that ends in .yaml")
        if is_there(target) and not wanted.force:
            raise problem(f"`{target}` is there already", help="--force replaces it")
    write_all(targets, [d.text for d in these])
    return [f"{target}: {d.device.id}, {_summary(d)}" for target, d in zip(targets, these, strict=True)]


def _summary(document: Document) -> str:
    tier = next(iter(document.spec.doc.memory.values()))
    kind = document.spec.doc.sources.get("bandwidth")
    size = f"{tier.capacity / 2**30:.3g} GiB, " if tier.capacity else ""
    figures = f"{size}{gigabytes(tier.bandwidth)} ({kind.kind if kind else 'no source'})"
    return f"{document.device.label}: {figures}, extends `{document.device.parent}`"


def _notes(machine: Machine, found: list[Device]) -> list[str]:
    return list(dict.fromkeys([*machine.notes, *(n for d in found for n in d.notes)]))


def _text(machine: Machine, measured: Measured | None, found: list[Device], chosen: Document) -> str:
    lines = [f"processor  {_cpu_line(machine)}", f"memory     {_memory_line(machine)}"]
    lines += [f"gpu{i:<8}{_gpu_line(g)}" for i, g in enumerate(machine.gpus)]
    if machine.board:
        lines.append(f"board      {machine.board}")
    if machine.confined.kinds:
        lines.append(f"inside     {', '.join(machine.confined.kinds)}")
    if measured:
        lines += [f"measured   {gigabytes(measured.bandwidth)} read, {measured.flops / 1e12:.3g} TFLOP/s fp32 ({measured.date})"]
    notes = [f"note: {n}" for n in _notes(machine, found)]
    how = "not measured; `--measure` times bandwidth and matrix rate (about 10 s)" if not measured else ""
    head = f"document of {chosen.device.id}, {_summary(chosen)} (`-o FILE` writes it)"
    return "\n".join([*lines, *notes, *([f"note: {how}"] if how else []), "", head, "", chosen.text.rstrip("\n")])


def _cpu_line(machine: Machine) -> str:
    cpu = machine.cpu
    parts = [cpu.name or "unknown"]
    if cpu.sockets > 1:
        parts.append(f"{cpu.sockets} sockets")
    if cpu.cores:
        parts.append(f"{cpu.cores} cores" + (f" ({cpu.small} small)" if cpu.small else ""))
    if cpu.threads and cpu.threads != cpu.cores:
        parts.append(f"{cpu.threads} threads")
    return ", ".join([*parts, *([" ".join(cpu.simd)] if cpu.simd else [])])


def _memory_line(machine: Machine) -> str:
    memory = machine.memory
    found = bus(memory.modules, machine.cpu.sockets == 1)
    size = f"{memory.capacity / 2**30:.4g} GiB" if memory.capacity else "unknown"
    modules = f", {len(memory.modules)} modules" if memory.modules else ""
    return f"{size}{modules}, {found.derivation}" if found else f"{size}{modules}, bandwidth unknown"


def _gpu_line(gpu: Gpu) -> str:
    parts = [gpu.name]
    if gpu.memory:
        parts.append(f"{gpu.memory / 2**30:.4g} GiB")
    if gpu.watts:
        parts.append(f"{gpu.watts:g} W")
    if gpu.pcie.max_gen and (gpu.pcie.width or gpu.pcie.max_width):
        parts.append(f"PCIe {gpu.pcie.max_gen}.0 x{gpu.pcie.width or gpu.pcie.max_width}")
    return ", ".join([*parts, *(f"MIG {s}" for s in gpu.slices)])


def _json(machine: Machine, measured: Measured | None, made: list[Document], found: list[Device], chosen: Document) -> dict[str, Any]:
    nominal = bus(machine.memory.modules, machine.cpu.sockets == 1)
    by_device = {d.device.id: d for d in made}
    facts = plain(machine)
    facts.pop("notes")
    facts["memory"]["bandwidth"] = nominal.bandwidth if nominal else None
    return {
        "schema": "costmodel/probe@1",
        **facts,
        "measured": plain(measured),
        "chosen": chosen.device.id,
        "devices": [
            {
                "id": d.id,
                "label": d.label,
                "count": d.number,
                "extends": d.parent,
                "document": {**d.fields, "name": by_device[d.id].name} if d.fields is not None else None,
            }
            for d in found
        ],
        "notes": _notes(machine, found),
    }
