"""Intel GPUs, from xpu-smi."""

from __future__ import annotations

from .facts import Gpu, Pcie
from .text import loads, maps, name, size, whole

LIST = ("xpu-smi", "discovery", "-j")


def details(device: int) -> tuple[str, ...]:
    """The command that describes one device."""
    return ("xpu-smi", "discovery", "-d", str(device), "-j")


def read_list(text: str) -> list[int]:
    """Numbers of the devices of `xpu-smi discovery -j`."""
    data = loads(text)
    items = maps(data.get("device_list", [])) if isinstance(data, dict) else []
    ids = [i["device_id"] for i in items if isinstance(i.get("device_id"), int) and i.get("device_type", "GPU") == "GPU"]
    return [i for i in ids if 0 <= i < 256][:32]


def read_details(text: str) -> Gpu | None:
    """The GPU of `xpu-smi discovery -d N -j`."""
    data = loads(text)
    if not isinstance(data, dict) or not name(data.get("device_name")):
        return None
    link = Pcie(max_gen=whole(data.get("pcie_generation"), 8), max_width=whole(data.get("pcie_max_link_width"), 64))
    return Gpu(name(data["device_name"]), "Intel", size(data.get("memory_physical_size_byte")), pcie=link, tool="xpu-smi")
