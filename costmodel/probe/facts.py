"""What can be known of a machine. Sizes in bytes, rates in 1/s; None where it could not be read."""

from __future__ import annotations

from typing import Any, NamedTuple


class Cpu(NamedTuple):
    """The processors of a machine. `cores` and `threads` are of all sockets; `small` are efficiency cores among `cores`."""

    name: str = ""
    vendor: str = ""
    sockets: int = 1
    cores: int | None = None
    threads: int | None = None
    small: int = 0
    family: int | None = None
    model: int | None = None
    parts: tuple[tuple[str, int], ...] = ()
    """Arm: (`implementer:part`, cores) of every kind of core."""
    simd: tuple[str, ...] = ()
    """Among avx, avx2, fma, avx512, amx, neon, sve."""
    base_hz: float | None = None
    max_hz: float | None = None
    now_hz: float | None = None
    cache_bytes: int | None = None
    """All last-level caches together."""
    hypervisor: bool = False


class Module(NamedTuple):
    """A memory module (or soldered package): `rate` transfers per second, `channel` where the firmware names it."""

    size: int
    kind: str = ""
    rate: float | None = None
    bits: int | None = None
    channel: str | None = None


class Memory(NamedTuple):
    """Main memory; `limit` is what a container may use of it."""

    total: int | None = None
    free: int | None = None
    limit: int | None = None
    modules: tuple[Module, ...] = ()

    @property
    def capacity(self) -> int | None:
        """Bytes that programs here can have."""
        known = [x for x in (self.total, self.limit) if x]
        return min(known) if known else None


class Pcie(NamedTuple):
    """A device's PCIe link: generation and width now, and what device and slot can do."""

    gen: int | None = None
    width: int | None = None
    max_gen: int | None = None
    max_width: int | None = None


class Gpu(NamedTuple):
    """A GPU as its tool reports it; `slices` are MIG profiles such as `3g.40gb`."""

    name: str
    vendor: str
    memory: int | None = None
    watts: float | None = None
    default_watts: float | None = None
    pcie: Pcie = Pcie()
    slices: tuple[str, ...] = ()
    cores: int | None = None
    tool: str = ""


class Confined(NamedTuple):
    """A container, virtual machine or limit around this process; `cpus` is how many it may use."""

    kinds: tuple[str, ...] = ()
    cpus: float | None = None
    memory: int | None = None


class Machine(NamedTuple):
    """All that was found, and `notes`: what could not be seen, and what to make of it."""

    cpu: Cpu
    memory: Memory
    gpus: tuple[Gpu, ...] = ()
    board: str = ""
    confined: Confined = Confined()
    notes: tuple[str, ...] = ()


def plain(value: Any) -> Any:
    """Facts as JSON values."""
    if hasattr(value, "_asdict"):
        return {k: plain(v) for k, v in value._asdict().items()}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return value
