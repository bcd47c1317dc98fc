"""Numbers as people write them: sizes such as `8k` in, figures with units out."""

from __future__ import annotations

MOST = 10**12
"""The largest count (tokens, sequences) that is accepted."""
MOST_DEVICES = 65536

_STEPS = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def read_size(text: str) -> int:
    """`4096`, `8k` (8192), `1m` (1048576), `1,024`. Raises ValueError."""
    body = text.strip().lower().replace(",", "").replace("_", "")
    factor = {"k": 1024, "m": 1024**2}.get(body[-1:], 1)
    number = body[:-1] if factor > 1 else body
    if not number.isdigit() or len(number) > 15:
        raise ValueError(text)
    return int(number) * factor


def scaled(value: float | None, unit: str = "", digits: int = 3) -> str:
    """`1.23 GB`, `45 TFLOP`: three significant digits and a decimal prefix."""
    if value is None:
        return "-"
    for step, prefix in _STEPS:
        if abs(value) >= step * 0.9995:
            return f"{short(value / step, digits)} {prefix}{unit}"
    return f"{short(value, digits)} {unit}".rstrip()


def billions(value: float | None) -> str:
    """Parameters as the field says them: `8.03 B`, `596 M`, `1.03 T`."""
    return scaled(value).replace(" G", " B")


def short(value: float | None, digits: int = 3) -> str:
    """A number with `digits` significant digits, no exponent between 1e-4 and 1e6."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    if value in (float("inf"), float("-inf")) or value != value:
        return "-"
    size = abs(value)
    if size >= 10**digits:
        return f"{value:,.0f}"
    size = float(f"{size:.{digits - 1}e}")  # 0.9999 has the decimals of 1.00
    decimals = max(0, digits - 1 - _exponent(size))
    return f"{value:.{decimals}f}" if decimals < 9 else f"{value:.{digits - 1}e}"


def _exponent(size: float) -> int:
    return int(f"{size:e}".partition("e")[2])


def both_bytes(value: float | None) -> str:
    """Decimal and binary: `141 GB = 131.3 GiB`."""
    if value is None:
        return "unknown"
    if abs(value) < 1e6:
        return f"{value:,.0f} B"
    small = abs(value) < 1e9
    binary = value / 2 ** (20 if small else 30)
    return f"{short(value / (1e6 if small else 1e9))} {'MB' if small else 'GB'} = {short(binary)} {'MiB' if small else 'GiB'}"


def capacity(value: float | None) -> str:
    """A memory size as its maker states it: `24 GiB` where that is whole, else decimal."""
    if value and value % 2**30 == 0:
        return f"{value // 2**30:,.0f} GiB"
    return scaled(value, "B")


def seconds(value: float | None) -> str:
    """`12.1 s`, `50.6 ms`, `820 us`."""
    if value is None:
        return "-"
    for step, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= step * 0.9995:
            return f"{short(value / step)} {unit}"
    return f"{short(value / 1e-9)} ns" if value else "0 s"


def width(text: str) -> int:
    """Columns of a text in a terminal: Hangul and other wide characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, columns: int, right: bool = False) -> str:
    """`text` padded with spaces to a number of terminal columns."""
    gap = " " * max(0, columns - width(text))
    return gap + text if right else text + gap
