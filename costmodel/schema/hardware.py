"""Hardware documents: one device, its memory and dense peak rates, and the machine and links around it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from .common import ByteRate, Bytes, Doc, Dtype, FlopRate, Fraction, Ident, Part, Room, Seconds, Text, Watts, refuse

Feature = Literal["sparse_2_4", "sparse_load"]


class Memory(Part):
    """A memory tier; `capacity` null means unknown, and then `fits` is unknown too."""

    capacity: Bytes | None = None
    """As the driver sees it; null is unknown."""
    bandwidth: ByteRate
    """Reading, in decimal units."""
    reserve: Room | None = None
    """What the operating system and other programs keep of the capacity, beside the `usable` share."""

    @model_validator(mode="after")
    def _room_left(self):
        if self.reserve and self.capacity is not None and self.reserve > self.capacity:
            raise refuse(f"`reserve` ({self.reserve:,.0f} B) is more than the capacity ({self.capacity:,.0f} B)")
        return self


class Link(Part):
    """One direction of a link, per device."""

    bandwidth: ByteRate
    """One way, per device."""
    latency: Seconds = "0 s"
    """Of one hop: a hand-over, or a step of a collective."""


class Host(Part):
    """The machine around the device: RAM, its processor's rates, and a disk."""

    dram: Memory | None = None
    """RAM, which holds what is streamed or computed on the host."""
    compute: dict[Dtype, FlopRate] = {}
    """Dense peak rate of its processor, per number type."""
    disk: Memory | None = None
    """What `tier=disk` and `mmap` read from."""
    processor: str = ""
    """The hardware class whose efficiencies hold for what the host computes."""


class Hardware(Doc):
    """A device (or, when abstract, a class of devices)."""

    params: dict[Ident, Any] = {}
    """Named quantities for `= formula` fields."""
    memory: dict[str, Memory] = {}
    """The device's own memory: exactly one entry, whatever its name."""
    compute: dict[Dtype, FlopRate] = {}
    """Dense peak rate per number type (never the sparse headline)."""
    engine: str = ""
    """The engine that predictions take when none is named."""
    features: tuple[Feature, ...] = ()
    """`sparse_2_4`: twice the rate for weights of which two in four are kept; `sparse_load`: sparse weights are read as they are stored."""
    usable: Fraction = 1
    """Share of the capacity that a model may use."""
    host: Host = Host()
    """The machine around the device."""
    links: dict[Literal["host", "peer", "network"], Link] = {}
    """`host`: device to RAM; `peer`: device to device in one box; `network`: machine to machine."""
    power: Watts | None = None
    """What the device may draw, by datasheet."""
    power_limit: Watts | None = None
    """What the device is held to. Below 80 % of its `power`, the rates that it reaches fall as the square."""
    efficiency: dict[Literal["weights", "kv", "state", "activations", "compute"], Fraction] = {}
    """Measured efficiencies that replace the engine's for this device; need a `measured` source."""
    caveats: Text = ""
    """Where published figures mislead; for information."""
