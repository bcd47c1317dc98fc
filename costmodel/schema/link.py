"""Link documents: a named connection, one way, with what a hop over it takes."""

from __future__ import annotations

from .common import ByteRate, Doc, Seconds


class Link(Doc):
    """A link that hardware documents and `--link` name: PCIe, NVLink, InfiniBand, Ethernet."""

    bandwidth: ByteRate
    """One way, per device."""
    latency: Seconds = "0 s"
    """Of one hop: a hand-over, or a step of a collective."""
