"""GPUs that no tool described: the kernel's DRM folders and lspci give a vendor, an id, memory (amdgpu) and the link."""

from __future__ import annotations

import re

from .facts import Gpu, Pcie
from .system import System
from .text import LINES, name, number, size, whole

VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}
_CARD = re.compile(r"card\d+", re.A)
_SPEEDS = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}
_CLASS = re.compile(r"^(\S+) (?:VGA compatible controller|3D controller|Display controller): (.*)$")


def read_drm(system: System, titles: dict[str, str] | None = None) -> list[Gpu]:
    """GPUs under /sys/class/drm, named by `titles` (PCI address to name) where those know them."""
    found = []
    for card in [c for c in system.names("/sys/class/drm") if _CARD.fullmatch(c)][:64]:
        folder = f"/sys/class/drm/{card}/device"
        vendor = VENDORS.get(system.read(f"{folder}/vendor"))
        if vendor is None:
            continue
        address = re.search(r"PCI_SLOT_NAME=(\S{1,20})", system.read(f"{folder}/uevent"))
        title = (titles or {}).get(address[1].removeprefix("0000:") if address else "") or ""
        memory = size(system.read(f"{folder}/mem_info_vram_total"))
        found.append(
            Gpu(
                title or f"{vendor} device {name(system.read(f'{folder}/device'))}",
                vendor,
                memory,
                pcie=_link(system, folder),
                tool="sysfs",
            )
        )
    return found


def read_lspci(text: str) -> dict[str, str]:
    """PCI address to name of the display controllers of `lspci`: the bracketed name where there is one."""
    found = {}
    for line in text.splitlines()[:LINES]:
        match = _CLASS.match(line[:400])
        if match:
            marketing = re.findall(r"\[([^\][]{3,80})\]", match[2])
            found[match[1].removeprefix("0000:")] = name(marketing[-1] if marketing else match[2])
    return found


def _link(system: System, folder: str) -> Pcie:
    def of(what: str) -> tuple[int | None, int | None]:
        return _SPEEDS.get(number(system.read(f"{folder}/{what}_link_speed")) or 0), whole(system.read(f"{folder}/{what}_link_width"), 64)

    (gen, width), (most, widest) = of("current"), of("max")
    return Pcie(gen, width, most, widest)
