"""Macs, from system_profiler."""

from __future__ import annotations

from .facts import Gpu
from .text import fields, name, size, whole

DISPLAYS = ("system_profiler", "SPDisplaysDataType")
HARDWARE = ("system_profiler", "SPHardwareDataType")
MEMORY = ("system_profiler", "SPMemoryDataType")


def read_displays(text: str) -> list[Gpu]:
    """GPUs of `system_profiler SPDisplaysDataType`; Apple's share the main memory, others state VRAM."""
    found = []
    for block in ("\n" + text[: 1 << 20]).split("Chipset Model:")[1:17]:
        item = fields("Chipset Model:" + block)
        title = name(item["Chipset Model"])
        vendor = name(item.get("Vendor", "")).split(" ")[0] or ("Apple" if title.startswith("Apple") else "")
        memory = size(item.get("VRAM (Total)"))
        if title:
            found.append(Gpu(title, vendor, memory, cores=whole(item.get("Total Number of Cores"), 4096), tool="system_profiler"))
    return found


def read_hardware(text: str) -> tuple[str, int | None]:
    """(chip or processor name, memory in bytes) of `system_profiler SPHardwareDataType`."""
    item = fields(text)
    return name(item.get("Chip") or item.get("Processor Name") or ""), size(item.get("Memory"))
