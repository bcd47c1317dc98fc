"""Facts to hardware documents: one for the processor, one for each kind of GPU, each over the library's where it knows the part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .facts import Gpu, Machine
from .graphics import gpu_device, host_of
from .measure import Measured
from .modules import bus
from .parts import Device, Parent, amount, gigabytes, head, installed, source, teraflops
from .peak import peak

CAVEAT = (
    "Bandwidth and fp32 rate are what NumPy gets on this machine. The library's documents have nominal peaks, which no program "
    "reaches, so compare like with like: a faster program may exceed ceilings that follow from these figures."
)
GUESS = 51.2e9
GUESS_REF = "not readable here: two channels of DDR4-3200, 3200 MT/s x 8 B x 2 = 51.2, stand in until you put the real figure"
_SERVERS = ("epyc", "xeon", "opteron", "threadripper", "neoverse", "graviton", "altra", "ampere", "grace", "power")


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
    host = host_of(machine, own, measured)
    for start, gpus in _alike(machine.gpus):
        parent = find((gpus[0].name,), gpus[0].memory)
        if parent and parent.shared and not shared:
            shared = parent
            found.append(_shared(machine, parent, measured, date))
        elif not shared or (parent and not parent.shared):
            found.append(gpu_device(f"gpu{start}", gpus, parent, machine, host, date))
    return found if shared else [*found, _cpu(machine, own, measured, date)]


def _alike(gpus: tuple[Gpu, ...]) -> list[tuple[int, list[Gpu]]]:
    """(number of the first, all) of every kind of GPU."""
    kinds: dict[tuple, tuple[int, list[Gpu]]] = {}
    for i, gpu in enumerate(gpus):
        kinds.setdefault((gpu.name, gpu.memory, gpu.slices), (i, []))[1].append(gpu)
    return list(kinds.values())


def _cpu(machine: Machine, parent: Parent | None, measured: Measured | None, date: str) -> Device:
    """The processor's document: of one socket, as the library's are."""
    cpu, sockets = machine.cpu, machine.cpu.sockets
    server = sockets > 1 or any(w in cpu.name.lower() for w in _SERVERS)
    over = bool(parent and parent.url)
    label = cpu.name or machine.board or "Processor"
    fields = head(parent.name if parent else "cpu-server" if server else "cpu-desktop", label)
    rate, told, notes = _bandwidth(machine, parent, measured, server, over)
    memory: dict[str, Any] = {"capacity": amount(installed(machine) // sockets) if machine.memory.capacity else None}
    sources: dict[str, Any] = {}
    if machine.memory.capacity:
        each = (
            f", a {sockets}th part for one of {sockets} sockets"
            if sockets > 2
            else ", half of it for one of two sockets"
            if sockets == 2
            else ""
        )
        sources["capacity"] = source("measured", f"as the system reports it{each}", date, over=over)
    if told:
        memory["bandwidth"] = gigabytes(rate)
        sources["bandwidth"] = told
    fields["memory"] = {parent.tier if parent else "dram": {k: v for k, v in memory.items() if v}}
    compute = _compute(machine, parent, measured)
    if compute:
        fields["compute"] = {"fp32": teraflops(compute[0])}
        sources["compute"] = compute[1]
    if measured:
        fields["caveats"] = CAVEAT
    fields["sources"] = sources
    more = [f"{sockets} sockets: the document is of one, as the library's are; `--devices {sockets}` is the machine"] if sockets > 1 else []
    return Device("cpu", label, sockets, fields, fields["extends"], (*notes, *more))


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
        return measured.bandwidth / sockets, source("measured", ref, measured.date, over=over), notes
    if nominal:
        each = f", of which one of {sockets} sockets has its part" if sockets > 1 else ""
        return nominal.bandwidth / sockets, source("derived", f"{nominal.derivation}{each}", over=over), []
    advice = "run `costmodel probe --measure`, or give `--set hw.memory.TIER.bandwidth=…` (channels x MT/s x 8 B)"
    if parent:
        note = f"bandwidth is the library's for `{parent.name}`, {gigabytes(parent.bandwidth)}: your modules may run slower"
        return parent.bandwidth, None, [note]
    return GUESS, source("assumed", GUESS_REF), [f"bandwidth is unknown, {gigabytes(GUESS)} is assumed: {advice.replace('TIER', 'dram')}"]


def _compute(machine: Machine, parent: Parent | None, measured: Measured | None):
    """(fp32 FLOP/s of one socket, source), or None to keep the parent's."""
    sockets, around = machine.cpu.sockets, machine.confined
    over = bool(parent and parent.url)
    if measured:
        each = f", divided by {sockets} sockets" if sockets > 1 else ""
        return measured.flops / sockets, source("measured", measured.flops_ref + each, measured.date, over=over)
    if parent and not around.kinds and not around.cpus:
        return None
    cores = (machine.cpu.cores or 1) / sockets
    found = peak(machine.cpu, min(cores, around.cpus) if around.cpus else cores)
    if found is None:
        return None
    return found.flops, source("assumed" if found.assumed else "derived", found.ref, url=found.url, over=over)


def _shared(machine: Machine, parent: Parent, measured: Measured | None, date: str) -> Device:
    """A machine whose CPU and GPU share one memory: the library's document with this machine's capacity."""
    label = machine.cpu.name if not machine.board else machine.board
    fields = head(parent.name, label or parent.name)
    notes = ["unified memory: CPU and GPU share it, so there is one document, with the GPU's rates"]
    if machine.memory.capacity:
        fields["memory"] = {parent.tier: {"capacity": amount(installed(machine))}}
        fields["sources"] = {"capacity": source("measured", "as the system reports it", date, over=parent.url)}
    if measured:
        seen = f"the processor alone reads {gigabytes(measured.bandwidth)}"
        fields["caveats"] = f"The bandwidth is the library's: {seen} ({measured.date}), which is not what the GPU gets."
        notes.append(f"{seen}; the document keeps the library's {gigabytes(parent.bandwidth)}, since the GPU does the work")
    return Device("gpu0", label or parent.name, 1, fields, parent.name, tuple(notes))
