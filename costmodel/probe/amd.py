"""AMD GPUs, from amd-smi or rocm-smi; their JSON differs between versions in keys, case and nesting."""

from __future__ import annotations

from typing import Any

from .facts import Gpu, Pcie
from .text import loads, maps, name, number, size, whole

AMD_SMI = ("amd-smi", "static", "--json")
ROCM_SMI = ("rocm-smi", "--showproductname", "--showmeminfo", "vram", "--showmaxpower", "--json")
_SPEEDS = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}


def read_amd_smi(text: str) -> list[Gpu]:
    """GPUs of `amd-smi static --json`: a list, or a map with `gpu_data`."""
    data = loads(text)
    if isinstance(data, dict) and "gpu_data" in data:
        data = data["gpu_data"]
    found = []
    for item in maps(data):
        asic, vram, bus = (_map(item.get(k)) for k in ("asic", "vram", "bus"))
        title = name(asic.get("market_name")) or name(_map(item.get("board")).get("product_name"))
        if title:
            speed = number(_value(bus.get("max_pcie_speed")))
            link = Pcie(max_gen=_SPEEDS.get(speed or 0), max_width=whole(_value(bus.get("max_pcie_width")), 64))
            found.append(Gpu(title, "AMD", _amount(vram.get("size")), _socket(item), pcie=link, tool="amd-smi"))
    return found


def read_rocm_smi(text: str) -> list[Gpu]:
    """GPUs of `rocm-smi --json`: one map a card, keys in several spellings."""
    data = loads(text)
    found = []
    for key, item in list(data.items())[:256] if isinstance(data, dict) else ():
        if not str(key).lower().startswith("card") or not isinstance(item, dict):
            continue
        low = {str(k).lower().strip(): v for k, v in item.items()}
        titles = [name(low.get(k)) for k in ("card series", "device name", "card model", "product name")]
        title = next((t for t in titles if t and not t.startswith("0x") and t != "N/A"), "")
        memory = size(low.get("vram total memory (b)"))
        watts = number(low.get("max graphics package power (w)"))
        if title or memory:
            found.append(Gpu(title or "AMD GPU", "AMD", memory, watts, tool="rocm-smi"))
    return found


def _map(value: Any) -> dict:
    return value if isinstance(value, dict) else {}


def _value(value: Any) -> Any:
    """The number of `{value: 16, unit: GT/s}`, or the value itself."""
    return value.get("value") if isinstance(value, dict) else value


def _amount(value: Any) -> int | None:
    unit = value.get("unit") if isinstance(value, dict) else None
    return size(_value(value), str(unit)[:1] if str(unit)[:1] in "kKMGT" and unit else "M")


def _socket(item: dict) -> float | None:
    limits = _map(item.get("limit"))
    watts = number(_value(limits.get("max_power") or limits.get("socket_power_limit") or limits.get("socket_power")))
    return watts if watts and watts < 1e5 else None
