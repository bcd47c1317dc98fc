"""The fp32 peak of processor cores: cores x FLOP per clock x clock, with its derivation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from ..language.yamlread import parse, read_text
from .facts import Cpu

UNREAD, ASSUMED = 2e9, "assumed, not readable"
"""A clock where none could be read."""


class Peak(NamedTuple):
    """fp32 FLOP/s, how they come about, and the page that the FLOP per clock are from."""

    flops: float
    ref: str
    url: str | None = None
    assumed: bool = False


class Unit(NamedTuple):
    """FLOP per clock of one kind of core."""

    flops: int
    what: str
    url: str | None


def peak(cpu: Cpu, cores: float | None = None) -> Peak | None:
    """The peak of `cores` cores (default: those of one socket); None where their number is unknown."""
    hertz, clock = _clock(cpu)
    count = cores or (cpu.cores and cpu.cores / cpu.sockets)
    if not count:
        return None
    if len(cpu.parts) > 1:
        return _arm_mix(cpu, count, hertz, clock)
    unit = unit_of(cpu)
    small = min(cpu.small / cpu.sockets, count) if cpu.small else 0
    parts = [(count - small, unit)] + ([(small, _unit(_table()["small"]))] if small else [])
    return _sum([p for p in parts if p[0]], hertz, clock)


def unit_of(cpu: Cpu) -> Unit:
    """FLOP per clock of a processor's (large) cores."""
    table = _table()
    if "neon" in cpu.simd or cpu.parts:
        part = cpu.parts[0][0] if cpu.parts else ""
        return _arm(part)
    if cpu.vendor == "Apple":
        return Unit(32, "four 128-bit FMA units", None)
    return _unit(next(row for row in table["x86"] if _holds(row, cpu)))


def _holds(row: dict, cpu: Cpu) -> bool:
    return (
        row.get("vendor", cpu.vendor) == cpu.vendor
        and row.get("family", cpu.family) == cpu.family
        and cpu.model in row.get("models", [cpu.model])
        and row.get("simd", "") in ("", *cpu.simd)
    )


def _arm(part: str) -> Unit:
    table = _table()
    found = table["arm"].get(part)
    if found is None:
        return _unit(table["neon"])
    return Unit(
        found["flops"], f"{found['flops'] // 8} 128-bit FMA unit{'s' if found['flops'] > 8 else ''} ({found['core']})", table["arm_source"]
    )


def _arm_mix(cpu: Cpu, count: float, hertz: float, clock: str) -> Peak:
    total = sum(n for _, n in cpu.parts)
    return _sum([(n * count / total, _arm(part)) for part, n in cpu.parts], hertz, clock)


def _sum(parts: list[tuple[float, Unit]], hertz: float, clock: str) -> Peak:
    flops = sum(n * unit.flops for n, unit in parts) * hertz
    terms = " + ".join(f"{n:g} cores x {unit.flops} FLOP/clk ({unit.what})" for n, unit in parts)
    terms = f"({terms})" if len(parts) > 1 else terms
    return Peak(flops, f"{terms} x {hertz / 1e9:.2f} GHz {clock} = {flops / 1e12:.3g} TFLOP/s fp32", parts[0][1].url, clock == ASSUMED)


def _clock(cpu: Cpu) -> tuple[float, str]:
    named = re.search(r"@ (\d\.\d{1,3}) ?GHz", cpu.name)
    if cpu.base_hz or named:
        return cpu.base_hz or float(named[1] if named else 0) * 1e9, "base"
    if cpu.max_hz:
        return cpu.max_hz, "at most"
    return (cpu.now_hz, "when read") if cpu.now_hz else (UNREAD, ASSUMED)


def _unit(row: dict) -> Unit:
    return Unit(row["flops"], row["what"], row.get("source"))


_kept: list[Any] = []


def _table() -> dict:
    if not _kept:
        file = Path(__file__).with_name("vectors.yaml")
        _kept.append(parse(read_text(file.read_bytes(), file.name)).data)
    return _kept[0]
