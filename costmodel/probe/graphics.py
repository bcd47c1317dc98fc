"""The document of a GPU: the library's for its name, with this one's memory, MIG share, link, power limit and host."""

from __future__ import annotations

from typing import Any, NamedTuple

from .facts import Gpu, Machine, Pcie
from .measure import Measured
from .modules import bus
from .nvidia import shares
from .parts import Device, Parent, amount, gigabytes, head, installed, source, teraflops
from .peak import peak

_LANES = {1: 0.25, 2: 0.5, 3: 8 / 8 * 128 / 130, 4: 16 / 8 * 128 / 130, 5: 32 / 8 * 128 / 130, 6: 64 / 8 * 242 / 256}
"""GB/s one way of a PCIe lane: transfer rate / 8 x encoding (8b/10b, 128b/130b, 242B/256B flits)."""


UNREAD = "RAM as the system reports it, its bandwidth the class's default"


class Host(NamedTuple):
    """Bytes per second and fp32 FLOP per second of the processors around GPUs, and where they are from."""

    bandwidth: float | None
    flops: float | None
    refs: tuple[str, ...]
    kind: str


def gpu_device(id: str, gpus: list[Gpu], parent: Parent | None, machine: Machine, host: Host, date: str) -> Device:
    """The document of GPUs that are alike, numbered from `id`; without fields where the library has no `parent` for them."""
    gpu = gpus[0]
    notes = _link_notes(id, gpu.pcie)
    if parent is None:
        unknown = (
            f"{id}: the library has no `{gpu.name}`: write a document with its bandwidth and rates (`costmodel list classes` has parents)"
        )
        return Device(id, gpu.name, len(gpus), None, None, (*notes, unknown))
    fields = head(parent.name, gpu.name)
    sources: dict[str, Any] = {}
    if gpu.memory:
        fields["memory"] = {parent.tier: {"capacity": amount(gpu.memory)}}
        sources["capacity"] = source("measured", f"as {gpu.tool} reports it", date, over=parent.url)
        if not gpu.slices and parent.capacity and abs(gpu.memory / parent.capacity - 1) > 0.15:
            notes.append(_other_size(id, gpu, parent, fields, sources))
    if gpu.slices and gpu.memory:
        notes.append(_slice(id, gpu, parent, fields, sources, date))
    _around(machine, gpu, fields, sources, host, date)
    if parent.url:
        for entry in sources.values():
            entry.setdefault("url", None)
    if len(gpus) > 1:
        notes.append(f"{id}: {len(gpus)} of them, one document, and `--devices {len(gpus)}`")
    return Device(id, gpu.name, len(gpus), fields | {"sources": sources}, parent.name, tuple(notes))


def _other_size(id: str, gpu: Gpu, parent: Parent, fields: dict, sources: dict) -> str:
    """The same name with another memory: the parent's bandwidth may not hold."""
    size = f"{(parent.capacity or 0) / 2**30:.3g} GiB"
    fields["memory"][parent.tier]["bandwidth"] = gigabytes(parent.bandwidth)
    sources["bandwidth"] = source("assumed", f"that of `{parent.name}`, which has {size}", over=parent.url)
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
        sources[key] = source("derived", ref, date, "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/")
    return f"{id}: cut into MIG instances {', '.join(gpu.slices)}: the document is of one `{profile}`"


def _around(machine: Machine, gpu: Gpu, fields: dict, sources: dict, around: Host, date: str) -> None:
    """The machine around a GPU: RAM, processor, PCIe link and power limit, where they could be read."""
    host: dict[str, Any] = {}
    if machine.memory.capacity:
        host["dram"] = {"capacity": amount(installed(machine))} | ({"bandwidth": gigabytes(around.bandwidth)} if around.bandwidth else {})
    if around.flops:
        host["compute"] = {"fp32": teraflops(around.flops)}
    if host:
        fields["host"] = host
        sources["host"] = source(around.kind, "; ".join(around.refs), date)
    rate, width = pcie(gpu.pcie)
    if rate:
        fields["links"] = {"host": {"bandwidth": gigabytes(rate)}}
        sources["links"] = source("derived", f"host: PCIe {gpu.pcie.max_gen}.0 x{width} as {gpu.tool} reports it, nominal, one way", date)
    if gpu.watts and gpu.default_watts and abs(gpu.watts - gpu.default_watts) >= 1:
        fields["power"] = f"{gpu.watts:g} W"
        fields["caveats"] = f"The power limit is {gpu.watts:g} W instead of {gpu.default_watts:g} W, so compute rates may not be reached."
        sources["power"] = source("measured", f"the limit that {gpu.tool} reports", date)


def host_of(machine: Machine, own: Parent | None, measured: Measured | None) -> Host:
    """Bandwidth and fp32 rate of the processors around GPUs: measured, else read, else the library's for the processor, `own`."""
    if measured:
        return Host(measured.bandwidth, measured.flops, (measured.bandwidth_ref, measured.flops_ref), "measured")
    sockets = machine.cpu.sockets
    nominal = bus(machine.memory.modules, sockets == 1)
    known = f"`{own.name}` x {sockets}" if own and sockets > 1 else f"`{own.name}`" if own else ""
    rate = nominal.bandwidth if nominal else own.bandwidth * sockets if own else None
    ref = (
        nominal.derivation
        if nominal
        else f"bandwidth of {known}"
        if own
        else "RAM as the system reports it, its bandwidth the class's default"
    )
    if own and own.compute.get("fp32") and not machine.confined.kinds:
        return Host(rate, own.compute["fp32"] * sockets, (ref, f"fp32 rate of {known}"), "derived")
    found = peak(machine.cpu, machine.cpu.cores)
    return Host(
        rate, found.flops if found else None, (ref, *([found.ref] if found else [])), "assumed" if found and found.assumed else "derived"
    )


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
        now = f"{id}: the PCIe link runs at generation {link.gen} of {link.max_gen} now"
        notes.append(f"{now}; GPUs lower it when idle, the document takes {link.max_gen}")
    return notes
