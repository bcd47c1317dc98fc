"""Facts to hardware documents: one for the processor, one for each kind of GPU, each over the library's where it knows the part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..importers.document import flow, scalar
from .facts import Gpu, Machine, Pcie
from .measure import Measured
from .modules import bus
from .nvidia import shares
from .peak import peak

GUESS = 51.2e9
GUESS_REF = "not readable here: two channels of DDR4-3200, 3200 MT/s x 8 B x 2 = 51.2, stand in until you put the real figure"
FIELDS = ("schema", "name", "extends", "title", "memory", "compute", "host", "links", "power", "caveats", "sources")
_LANES = {1: 0.25, 2: 0.5, 3: 8 / 8 * 128 / 130, 4: 16 / 8 * 128 / 130, 5: 32 / 8 * 128 / 130, 6: 64 / 8 * 242 / 256}
"""GB/s one way of a PCIe lane: transfer rate / 8 x encoding (8b/10b, 128b/130b, 242B/256B flits)."""
_SERVERS = ("epyc", "xeon", "opteron", "threadripper", "neoverse", "graviton", "altra", "ampere", "grace", "power")


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
    """One device: `fields` of its document, None where the library does not know it; `count` are there of it."""

    id: str
    label: str
    count: int
    fields: dict[str, Any] | None
    parent: str | None
    notes: tuple[str, ...] = ()


Find = Callable[[tuple[str, ...], int | None], Parent | None]
"""The library's document for the first of some names that it knows, told the device's memory."""


def devices(machine: Machine, find: Find, measured: Measured | None, date: str) -> list[Device]:
    """Every device of a machine: GPUs first, then the processor unless it shares its memory with a GPU of its own."""
    cores = next((g.cores for g in machine.gpus if g.cores), None)
    chip = machine.cpu.name
    names = tuple(n for n in (f"{chip} ({cores}-core GPU)" if cores else "", chip, machine.board) if n)
    own = find(names, machine.memory.capacity)
    shared = own if own and own.shared else None
    found = [_shared(machine, shared, measured, date)] if shared else []
    for start, gpus in _alike(machine.gpus):
        parent = find((gpus[0].name,), gpus[0].memory)
        if parent and parent.shared and not shared:
            shared = parent
            found.append(_shared(machine, parent, measured, date))
        elif not shared or (parent and not parent.shared):
            found.append(_gpu(f"gpu{start}", gpus, parent, machine, measured, date))
    return found if shared else [*found, _cpu(machine, own, measured, date)]


def _alike(gpus: tuple[Gpu, ...]) -> list[tuple[int, list[Gpu]]]:
    """(number of the first, all) of every kind of GPU."""
    kinds: dict[tuple, tuple[int, list[Gpu]]] = {}
    for i, gpu in enumerate(gpus):
        kinds.setdefault((gpu.name, gpu.memory, gpu.slices), (i, []))[1].append(gpu)
    return list(kinds.values())


def _head(parent: str, label: str) -> dict[str, Any]:
    return {"schema": "costmodel/hardware@1", "name": "", "extends": parent, "title": f"{label} (this machine)"}


def _source(kind: str, ref: str, date: str | None = None, url: str | None = None, over: bool = False) -> dict[str, Any]:
    """A source; `over` a parent's, whose `url` must not stay."""
    found: dict[str, Any] = {"kind": kind, "ref": ref}
    if url or over:
        found["url"] = url
    return found | ({"date": date} if date else {})


def _cpu(machine: Machine, parent: Parent | None, measured: Measured | None, date: str) -> Device:
    """The processor's document: of one socket, as the library's are."""
    cpu, sockets = machine.cpu, machine.cpu.sockets
    server = sockets > 1 or any(w in cpu.name.lower() for w in _SERVERS)
    over = bool(parent and parent.url)
    label = cpu.name or machine.board or "Processor"
    fields = _head(parent.name if parent else "cpu-server" if server else "cpu-desktop", label)
    rate, source, notes = _bandwidth(machine, parent, measured, server, over)
    memory: dict[str, Any] = {"capacity": amount(_installed(machine) // sockets) if machine.memory.capacity else None}
    sources: dict[str, Any] = {}
    if machine.memory.capacity:
        each = (
            f", a {sockets}th part for one of {sockets} sockets"
            if sockets > 2
            else ", half of it for one of two sockets"
            if sockets == 2
            else ""
        )
        sources["capacity"] = _source("measured", f"as the system reports it{each}", date, over=over)
    if source:
        memory["bandwidth"] = gigabytes(rate)
        sources["bandwidth"] = source
    fields["memory"] = {parent.tier if parent else "dram": {k: v for k, v in memory.items() if v}}
    compute = _compute(machine, parent, measured)
    if compute:
        fields["compute"] = {"fp32": teraflops(compute[0])}
        sources["compute"] = compute[1]
    if measured:
        fields["caveats"] = (
            "Bandwidth and fp32 rate are what NumPy gets on this machine. The library's documents have nominal peaks, which no program reaches,"
            " so compare like with like: a faster program may exceed ceilings that follow from these figures."
        )
    fields["sources"] = sources
    more = [f"{sockets} sockets: the document is of one, as the library's are; `--devices {sockets}` is the machine"] if sockets > 1 else []
    return Device("cpu", label, sockets, fields, fields["extends"], tuple([*notes, *more]))


def _installed(machine: Machine) -> int:
    """Bytes of memory: of the modules where all is ours, else what the system or the container's limit leaves."""
    modules = sum(m.size for m in machine.memory.modules)
    capacity = machine.memory.capacity or 0
    return modules if not machine.confined.kinds and 0 <= modules - capacity < 0.2 * modules else capacity


def _bandwidth(machine: Machine, parent: Parent | None, measured: Measured | None, server: bool, over: bool):
    """(bytes per second of one socket, its source or None to keep the parent's, notes)."""
    sockets = machine.cpu.sockets
    nominal = bus(machine.memory.modules, not server)
    if measured:
        beside = f"; nominal {nominal.derivation}" if nominal else ""
        each = f", divided by {sockets} sockets" if sockets > 1 else ""
        notes = list(measured.notes)
        if nominal and measured.bandwidth > 1.02 * nominal.bandwidth:
            notes.append("measured bandwidth is above the nominal: a cache answered, or the modules' speed is misread")
        ref = f"{measured.bandwidth_ref}{each}{beside}"
        return measured.bandwidth / sockets, _source("measured", ref, measured.date, over=over), notes
    if nominal:
        each = f", of which one of {sockets} sockets has its part" if sockets > 1 else ""
        return nominal.bandwidth / sockets, _source("derived", f"{nominal.derivation}{each}", over=over), []
    advice = "run `costmodel probe --measure`, or give `--set hw.memory.TIER.bandwidth=…` (channels x MT/s x 8 B)"
    if parent:
        note = f"bandwidth is the library's for `{parent.name}`, {gigabytes(parent.bandwidth)}: your modules may run slower"
        return parent.bandwidth, None, [note]
    return GUESS, _source("assumed", GUESS_REF), [f"bandwidth is unknown, {gigabytes(GUESS)} is assumed: {advice.replace('TIER', 'dram')}"]


def _compute(machine: Machine, parent: Parent | None, measured: Measured | None):
    """(fp32 FLOP/s of one socket, source), or None to keep the parent's."""
    sockets, around = machine.cpu.sockets, machine.confined
    over = bool(parent and parent.url)
    if measured:
        each = f", divided by {sockets} sockets" if sockets > 1 else ""
        return measured.flops / sockets, _source("measured", measured.flops_ref + each, measured.date, over=over)
    if parent and not around.kinds and not around.cpus:
        return None
    cores = (machine.cpu.cores or 1) / sockets
    found = peak(machine.cpu, min(cores, around.cpus) if around.cpus else cores)
    if found is None:
        return None
    return found.flops, _source("assumed" if found.assumed else "derived", found.ref, url=found.url, over=over)


def _shared(machine: Machine, parent: Parent, measured: Measured | None, date: str) -> Device:
    """A machine whose CPU and GPU share one memory: the library's document with this machine's capacity."""
    label = machine.cpu.name if not machine.board else machine.board
    fields = _head(parent.name, label or parent.name)
    notes = ["unified memory: CPU and GPU share it, so there is one document, with the GPU's rates"]
    if machine.memory.capacity:
        fields["memory"] = {parent.tier: {"capacity": amount(_installed(machine))}}
        fields["sources"] = {"capacity": _source("measured", "as the system reports it", date, over=parent.url)}
    if measured:
        seen = f"the processor alone reads {gigabytes(measured.bandwidth)}"
        fields["caveats"] = f"The bandwidth is the library's: {seen} ({measured.date}), which is not what the GPU gets."
        notes.append(f"{seen}; the document keeps the library's {gigabytes(parent.bandwidth)}, since the GPU does the work")
    return Device("gpu0", label or parent.name, 1, fields, parent.name, tuple(notes))


def _gpu(id: str, gpus: list[Gpu], parent: Parent | None, machine: Machine, measured: Measured | None, date: str) -> Device:
    gpu = gpus[0]
    notes = _link_notes(id, gpu.pcie)
    if parent is None:
        unknown = (
            f"{id}: the library has no `{gpu.name}`: write a document with its bandwidth and rates (`costmodel list classes` has parents)"
        )
        return Device(id, gpu.name, len(gpus), None, None, tuple([*notes, unknown]))
    fields = _head(parent.name, gpu.name)
    sources: dict[str, Any] = {}
    if gpu.memory:
        fields["memory"] = {parent.tier: {"capacity": amount(gpu.memory)}}
        sources["capacity"] = _source("measured", f"as {gpu.tool} reports it", date, over=parent.url)
        if not gpu.slices and parent.capacity and abs(gpu.memory / parent.capacity - 1) > 0.15:
            notes.append(_other_size(id, gpu, parent, fields, sources))
    if gpu.slices and gpu.memory:
        notes.append(_slice(id, gpu, parent, fields, sources, date))
    _around(machine, gpu, fields, sources, measured, date)
    if len(gpus) > 1:
        notes.append(f"{len(gpus)} of them: one document, and `--devices {len(gpus)}`")
    return Device(id, gpu.name, len(gpus), fields | {"sources": sources}, parent.name, tuple(notes))


def _other_size(id: str, gpu: Gpu, parent: Parent, fields: dict, sources: dict) -> str:
    """The same name with another memory: the parent's bandwidth may not hold."""
    size = f"{(parent.capacity or 0) / 2**30:.3g} GiB"
    fields["memory"][parent.tier]["bandwidth"] = gigabytes(parent.bandwidth)
    sources["bandwidth"] = _source("assumed", f"that of `{parent.name}`, which has {size}", over=parent.url)
    return f"{id}: `{parent.name}` has {size}, this one {gpu.memory / 2**30:.3g} GiB: its bandwidth and rates may differ"  # type: ignore[operator]


def _slice(id: str, gpu: Gpu, parent: Parent, fields: dict, sources: dict, date: str) -> str:
    """The document of one MIG instance."""
    profile = gpu.slices[0]
    compute, memory = shares(profile, gpu.memory or 0)
    fields["title"] = f"{gpu.name} MIG {profile} (this machine)"
    fields["memory"] = {
        parent.tier: {"capacity": amount(int((gpu.memory or 0) * memory)), "bandwidth": gigabytes(parent.bandwidth * float(memory))}
    }
    fields["compute"] = {k: teraflops(v * float(compute)) for k, v in parent.compute.items()}
    ref = f"MIG {profile}: {memory} of the memory and its bandwidth, {compute} of the multiprocessors"
    for key in ("capacity", "bandwidth", "compute"):
        sources[key] = _source("derived", ref, date, "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/")
    return f"{id}: cut into MIG instances {', '.join(gpu.slices)}: the document is of one `{profile}`"


def _around(machine: Machine, gpu: Gpu, fields: dict, sources: dict, measured: Measured | None, date: str) -> None:
    """The machine around a GPU: RAM, processor, PCIe link and power limit, where they could be read."""
    host: dict[str, Any] = {}
    refs = []
    if machine.memory.capacity:
        host["dram"] = {"capacity": amount(_installed(machine))}
        nominal = bus(machine.memory.modules, machine.cpu.sockets == 1)
        if measured or nominal:
            host["dram"]["bandwidth"] = gigabytes(measured.bandwidth if measured else nominal.bandwidth if nominal else 0)
            refs.append(measured.bandwidth_ref if measured else nominal.derivation if nominal else "")
        else:
            refs.append("RAM as the system reports it, its bandwidth the class's default")
    found = None if measured else peak(machine.cpu, machine.cpu.cores)
    if measured or found:
        host["compute"] = {"fp32": teraflops(measured.flops if measured else found.flops if found else 0)}
        refs.append(measured.flops_ref if measured else found.ref if found else "")
    if host:
        fields["host"] = host
        sources["host"] = _source("measured" if measured else "derived", "; ".join(refs), date)
    rate, width = pcie(gpu.pcie)
    if rate:
        fields["links"] = {"host": {"bandwidth": gigabytes(rate)}}
        sources["links"] = _source("derived", f"host: PCIe {gpu.pcie.max_gen}.0 x{width} as {gpu.tool} reports it, nominal, one way", date)
    if gpu.watts and gpu.default_watts and abs(gpu.watts - gpu.default_watts) >= 1:
        fields["power"] = f"{gpu.watts:g} W"
        fields["caveats"] = f"The power limit is {gpu.watts:g} W instead of {gpu.default_watts:g} W, so compute rates may not be reached."
        sources["power"] = _source("measured", f"the limit that {gpu.tool} reports", date)


def pcie(link: Pcie) -> tuple[float | None, int | None]:
    """(bytes per second one way, lanes) of a link: its best generation, since idle GPUs lower it, and its lanes now."""
    width = link.width or link.max_width
    if not width or link.max_gen not in _LANES:
        return None, None
    return _LANES[link.max_gen] * 1e9 * width, width


def _link_notes(id: str, link: Pcie) -> list[str]:
    notes = []
    if link.width and link.max_width and link.width < link.max_width:
        notes.append(f"{id}: the PCIe link has {link.width} of {link.max_width} lanes; the document takes {link.width}")
    if link.gen and link.max_gen and link.gen < link.max_gen:
        notes.append(
            f"{id}: the PCIe link runs at generation {link.gen} of {link.max_gen} now; GPUs lower it when idle, the document takes {link.max_gen}"
        )
    return notes


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
