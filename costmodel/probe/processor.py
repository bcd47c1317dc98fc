"""The processor, from /proc/cpuinfo, lscpu, sysctl (macOS) and PowerShell (Windows)."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from .facts import Cpu
from .text import LINES, fields, name, number, size, whole

_FLAGS = {"avx": "avx", "avx2": "avx2", "fma": "fma", "avx512f": "avx512", "amx_tile": "amx", "asimd": "neon", "neon": "neon", "sve": "sve"}


def read_cpuinfo(text: str) -> Cpu:
    """The processors of `/proc/cpuinfo` (x86 and Arm)."""
    blocks = [fields(b) for b in text[: 1 << 20].split("\n\n")[:4096] if ":" in b]
    logical = [b for b in blocks if "processor" in b]
    if not logical:
        return Cpu()
    first = logical[0]
    ids = {(b.get("physical id", "0"), b.get("core id")) for b in logical if b.get("core id")}
    kinds = Counter(f"{_hexed(b['CPU implementer'])}:{_hexed(b.get('CPU part', ''))}" for b in logical if b.get("CPU implementer"))
    flags = set((first.get("flags") or first.get("Features") or "").split())
    return Cpu(
        name=name(first.get("model name", "")),
        vendor=name(first.get("vendor_id", "")),
        sockets=len({b.get("physical id", "0") for b in logical}),
        cores=len(ids) or len(logical),
        threads=len(logical),
        family=whole(first.get("cpu family")),
        model=_zero(first.get("model")),
        parts=tuple(sorted(kinds.items())),
        simd=simd(flags),
        now_hz=_mega(first.get("cpu MHz")),
        hypervisor="hypervisor" in flags,
    )


def read_lscpu(text: str) -> Cpu:
    """The processors of `lscpu`. On Arm with several kinds of core the first kind gives the name."""
    found = fields(text)
    sockets = whole(found.get("Socket(s)") or found.get("Cluster(s)"), 1024) or 1
    flags = set(found.get("Flags", "").split())
    return Cpu(
        name=_model_name(found),
        vendor=name(found.get("Vendor ID", "")),
        sockets=sockets if found.get("Socket(s)", "-")[:1].isdigit() else 1,
        cores=_times(_sum(text, "Core(s) per socket"), sockets) or _sum(text, "Core(s) per cluster"),
        threads=whole(found.get("CPU(s)")),
        family=whole(found.get("CPU family")),
        model=_zero(found.get("Model")),
        simd=simd(flags),
        max_hz=_mega(found.get("CPU max MHz")),
        now_hz=_mega(found.get("CPU MHz")),
        cache_bytes=_cache(found),
        hypervisor="hypervisor" in flags or bool(found.get("Hypervisor vendor")),
    )


def _model_name(found: dict[str, str]) -> str:
    """The model's name; a bare core name such as `Neoverse-V1` gives way to the firmware's."""
    model, bios = found.get("Model name", ""), found.get("BIOS Model name", "")
    return name(bios if bios and (not model or model.startswith(("Neoverse", "Cortex", "-"))) else model)


def _cache(found: dict[str, str]) -> int | None:
    for key in ("L3 cache", "L3", "L2 cache", "L2"):
        text = found.get(key, "")
        if bytes_ := size(text, "K"):
            return bytes_
    return None


def _sum(text: str, key: str) -> int | None:
    counts = [whole(m) for m in re.findall(rf"(?m)^\s*{re.escape(key)}:\s*(\d+)", text[: 1 << 20])[:16]]
    known = [c for c in counts if c]
    return sum(known) if known else None


def merge(first: Cpu, second: Cpu) -> Cpu:
    """`first`, with what it lacks taken from `second`."""
    empty = (None, "", (), False, 0)
    return first._replace(**{k: b for k, b in second._asdict().items() if getattr(first, k) in empty and b not in empty})


def read_sysctl(text: str) -> Cpu:
    """The processor of `sysctl hw machdep.cpu` on macOS."""
    found = fields(text)
    flags = f"{found.get('machdep.cpu.features', '')} {found.get('machdep.cpu.leaf7_features', '')}".lower().split()
    has = {"avx": "avx1.0", "avx2": "avx2", "fma": "fma", "avx512f": "avx512f"}
    arm = {"neon"} if found.get("hw.optional.arm64") == "1" or found.get("hw.optional.neon") == "1" else set()
    return Cpu(
        name=name(found.get("machdep.cpu.brand_string", "")),
        vendor=name(found.get("machdep.cpu.vendor", "")) or ("Apple" if arm else ""),
        sockets=whole(found.get("hw.packages"), 64) or 1,
        cores=whole(found.get("hw.physicalcpu")),
        threads=whole(found.get("hw.logicalcpu")),
        small=whole(found.get("hw.perflevel1.physicalcpu")) or 0,
        family=whole(found.get("machdep.cpu.family")),
        model=_zero(found.get("machdep.cpu.model")),
        simd=simd({flag for flag, word in has.items() if word in flags} | arm),
        base_hz=_hertz(found.get("hw.cpufrequency")),
        max_hz=_hertz(found.get("hw.cpufrequency_max")),
        cache_bytes=whole(found.get("hw.l3cachesize") or found.get("hw.perflevel0.l2cachesize"), 1 << 40),
    )


def read_windows(items: list[dict]) -> Cpu:
    """The processors of `Win32_Processor`, one map a socket; their vector extensions are told elsewhere."""
    if not items:
        return Cpu()
    first = items[0]
    return Cpu(
        name=name(first.get("Name")),
        vendor=name(first.get("Manufacturer")),
        sockets=len(items),
        cores=sum(whole(i.get("NumberOfCores")) or 0 for i in items) or None,
        threads=sum(whole(i.get("NumberOfLogicalProcessors")) or 0 for i in items) or None,
        base_hz=_mega(first.get("MaxClockSpeed")),
        cache_bytes=_times(whole(first.get("L3CacheSize"), 1 << 30), 1024 * len(items)),
    )


def simd(flags: set[str]) -> tuple[str, ...]:
    """The vector extensions among a processor's flags, in a fixed order."""
    found = {_FLAGS[f] for f in flags if f in _FLAGS}
    return tuple(x for x in ("avx", "avx2", "fma", "avx512", "amx", "neon", "sve") if x in found)


def cpu_list(text: str) -> int:
    """How many processors a kernel list such as `0-15,32` names."""
    count = 0
    for item in text[:4000].split(",")[:LINES]:
        low, _, high = item.strip().partition("-")
        if low.isdecimal() and low.isascii() and len(low) < 7:
            last = int(high) if high.isdecimal() and high.isascii() and len(high) < 7 else int(low)
            count += max(0, last - int(low) + 1)
    return min(count, 1 << 16)


def _hexed(text: str) -> str:
    return text.lower().strip() if re.fullmatch(r"0x[0-9a-fA-F]{1,6}", text.strip()) else ""


def _zero(text: str | None) -> int | None:
    value = number(text)
    return int(value) if value is not None and value < 1e6 else None


def _times(value: int | None, factor: int) -> int | None:
    return value * factor if value else None


def _mega(text: Any) -> float | None:
    value = number(text)
    return value * 1e6 if value and 10 <= value < 1e5 else None


def _hertz(text: Any) -> float | None:
    value = number(text)
    return value if value and 1e7 <= value < 1e11 else None
