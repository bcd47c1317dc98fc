"""Memory modules and their channels, from dmidecode, system_profiler, PowerShell and the kernel's EDAC folders."""

from __future__ import annotations

import re
from typing import NamedTuple

from .facts import Module
from .text import fields, name, number, size, whole

_CHANNEL = (
    re.compile(r"(?:P|CPU|NODE|Proc\w*)[ _]?(\d+)?.*?CHANNEL[ _-]?([A-Z0-9])", re.I),
    re.compile(r"Controller(\d+)-Channel([A-Z0-9])", re.I),
    re.compile(r"()CHANNEL[ _-]?([A-Z0-9])", re.I),
    re.compile(r"(?:P|CPU)(\d+)[ _-]?DIMM[ _-]?([A-Z])\d?\b", re.I),
    re.compile(r"()DIMM[ _-]?([A-Z])\d?\b", re.I),
)
_EMPTY = re.compile(r"no module|not installed|^0\b", re.I)


class Bus(NamedTuple):
    """The memory bus: populated channels, transfers per second, bits a channel; `guessed` says what was not stated."""

    channels: int
    rate: float
    bits: int
    kind: str
    guessed: str = ""

    @property
    def bandwidth(self) -> float:
        """Nominal bytes per second."""
        return self.channels * self.rate * self.bits / 8

    @property
    def derivation(self) -> str:
        """How the bandwidth comes about."""
        terms = f"{self.rate / 1e6:.0f} MT/s x {self.bits // 8} B x {self.channels} ch"
        text = f"{self.kind or 'memory'}: {terms} = {self.bandwidth / 1e9:.1f} GB/s"
        return f"{text} ({self.guessed})" if self.guessed else text


def read_dmidecode(text: str) -> list[Module]:
    """The populated modules of `dmidecode -t 17`."""
    found = []
    for block in text[: 1 << 20].split("Memory Device\n")[1:1025]:
        item = fields(block.split("\nHandle", 1)[0])
        bytes_ = None if _EMPTY.search(item.get("Size", "0")) else size(item.get("Size"))
        if bytes_:
            rate = _transfers(item.get("Configured Memory Speed") or item.get("Configured Clock Speed")) or _transfers(item.get("Speed"))
            channel = channel_of(item.get("Bank Locator", ""), item.get("Locator", ""))
            found.append(Module(bytes_, _kind(item.get("Type")), rate, _bits(item.get("Data Width")), channel))
    return found


def read_windows_modules(items: list[dict]) -> list[Module]:
    """The modules of `Win32_PhysicalMemory`."""
    found = []
    for item in items:
        bytes_ = whole(item.get("Capacity"), 1 << 50)
        if bytes_:
            rate = _transfers(item.get("ConfiguredClockSpeed")) or _transfers(item.get("Speed"))
            channel = channel_of(str(item.get("BankLabel") or ""), str(item.get("DeviceLocator") or ""))
            kind = {20: "DDR", 21: "DDR2", 24: "DDR3", 26: "DDR4", 30: "LPDDR4", 34: "DDR5", 35: "LPDDR5"}
            found.append(
                Module(bytes_, kind.get(whole(item.get("SMBIOSMemoryType")) or 0, ""), rate, _bits(item.get("DataWidth")), channel)
            )
    return found


def read_mac_modules(text: str) -> list[Module]:
    """The modules of `system_profiler SPMemoryDataType` on Macs with sockets for them."""
    found = []
    for block in re.split(r"(?m)^\s+(?=\S*(?:BANK|DIMM)\b)", text[: 1 << 20])[1:65]:
        item = fields(block)
        bytes_ = size(item.get("Size"))
        if bytes_ and item.get("Status", "OK") == "OK":
            head = block.split("\n", 1)[0]
            found.append(Module(bytes_, _kind(item.get("Type")), _transfers(item.get("Speed")), None, channel_of(head)))
    return found


def channel_of(*texts: str) -> str | None:
    """The channel that a module's locators name, with its socket or controller: `P0 CHANNEL A` is `0A`."""
    for text in texts:
        for pattern in _CHANNEL:
            match = pattern.search(text[:80])
            if match:
                return f"{match[1] or ''}{match[2].upper()}"
    return None


def bus(modules: tuple[Module, ...], desktop: bool = True) -> Bus | None:
    """The memory bus of populated modules; None where no module states its speed."""
    rates = [m.rate for m in modules if m.rate]
    if not rates:
        return None
    kind = modules[0].kind
    bits = min((m.bits for m in modules if m.bits), default=64)
    if bits < 64 and kind.startswith("LPDDR"):
        return Bus(len(modules), min(rates), bits, kind)
    channels, guessed = _channels(modules, desktop)
    return Bus(channels, min(rates), 64, kind, guessed)


def _channels(modules: tuple[Module, ...], desktop: bool) -> tuple[int, str]:
    named = {m.channel for m in modules if m.channel}
    if named and all(m.channel for m in modules):
        return len(named), ""
    if desktop and len(modules) > 2:
        return 2, f"{len(modules)} modules whose channels are not named: two channels assumed"
    return len(modules), "one channel a module assumed, the firmware does not name them" if len(modules) > 1 else ""


def _transfers(text) -> float | None:
    value = number(text)
    return value * 1e6 if value and 100 <= value <= 20000 else None


def _bits(text) -> int | None:
    value = whole(text, 128)
    return value if value in (8, 16, 32, 64, 128) else None


def _kind(text) -> str:
    found = name(text)
    return found if re.fullmatch(r"(LP)?DDR\d?X?", found) else ""
