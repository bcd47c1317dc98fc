"""Cells to values in base units. A reader raises ValueError with what was wanted; a blank cell is None."""

from __future__ import annotations

import re

BLANK = frozenset(("", "-", "–", "—", "n/a", "na", "none", "null", "unknown", "?", "nan"))
TEXT = 4096
"""Longest text that is kept, in characters."""
_NUMBER = re.compile(r"\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?)\s*([^\d\s.,±+-][^±]{0,15}?)?\s*(?:(?:±|\+/-|\+-).{0,30})?")
_THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(,\d{3})+(\.\d+)?(?!\d)")
_GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+ ?[kKmM]?")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+(?!\d)")

_BYTES = {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
_COUNTS = {"": 1e9, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}
_RATES = dict.fromkeys(("", "t/s", "tok/s", "tokens/s", "token/s", "tps", "tokens per second"), 1.0)
UNITS: dict[str, dict[str, float]] = {
    "bandwidth": {"": 1e9} | {f"{k}/s": v for k, v in _BYTES.items()} | {"GBps": 1e9, "TBps": 1e12},
    "flops": {"": 1e12} | {f"{p}{u}": f for p, f in (("G", 1e9), ("T", 1e12), ("P", 1e15)) for u in ("FLOP/s", "FLOPS", "FLOPs", "flops")},
    "memory": {"": 2.0**30} | {k: 2.0**30 if k == "GB" else v for k, v in _BYTES.items()},
    "file": {"": 2.0**30} | _BYTES,
    "bytes": {"": 1.0} | _BYTES,
    "params": _COUNTS | {k.lower(): v for k, v in _COUNTS.items()},
    "rate": _RATES,
    "spread": _RATES,
    "time": {"": 1e-3, "ms": 1e-3, "s": 1.0, "us": 1e-6, "µs": 1e-6},
}
"""What a number's unit is worth in the base unit, for each kind; `""` is a number without one."""
_MOST = 1e24


def read_value(kind: str, text: str, comma: bool = False):
    """The value of a cell; `comma` where `,` may be the decimal point. Raises ValueError saying what was wanted."""
    text = text.strip()
    if text.lower() in BLANK:
        return None
    if kind == "text":
        return text[:TEXT]
    if kind == "flag":
        return _flag(text)
    if kind in ("count", "count0", "layers"):
        return _count(text, {"count": 1, "count0": 0, "layers": -1}[kind])
    return _measure(kind, text, comma)


def _flag(text: str) -> bool | None:
    word = text.lower()
    if word in ("1", "true", "yes", "on", "enabled"):
        return True
    if word in ("0", "false", "no", "off", "disabled"):
        return False
    if word in ("auto", "-1", "default"):
        return None
    raise ValueError("want 1 or 0")


def _count(text: str, low: int) -> int:
    if "," in text and not _GROUPED.fullmatch(text):
        raise ValueError("want a whole number")
    body = text.lower().replace(",", "").replace("_", "")
    factor = {"k": 1024, "m": 1024**2}.get(body[-1:], 1)
    try:
        number = float(body[:-1] if factor > 1 else body) if len(body) < 24 else _MOST
    except ValueError:
        raise ValueError("want a whole number") from None
    if number != number or number % 1 or "e" in body:
        raise ValueError("want a whole number")
    if not low <= number * factor <= 1e12:
        raise ValueError(f"want {f'at least {low}' if number < low else 'at most 10^12'}")
    return int(number) * factor


def _measure(kind: str, text: str, comma: bool) -> float:
    if comma and _DECIMAL_COMMA.match(text) and "." not in text:
        text = text.replace(",", ".", 1)
    elif found := _THOUSANDS.match(text):
        text = found[0].replace(",", "") + text[found.end() :]
    match = _NUMBER.fullmatch(text[:80])
    if not match or len(text) > 80:
        raise ValueError("want a number")
    units = UNITS[kind]
    unit = (match[2] or "").strip()
    if unit not in units:
        unit = next((u for u in units if u.lower() == unit.lower()), unit)
    if unit not in units:
        raise ValueError(f"no unit `{unit}`; want " + ", ".join(f"`{u}`" for u in list(units)[1:6]) + " or none")
    value = float(match[1]) * units[unit]
    spread = kind in ("spread", "params")
    if value > _MOST:
        raise ValueError("the number is too large")
    if value < 0 or (value == 0 and not spread):
        raise ValueError("want a number of 0 or more" if spread else "want a number above 0")
    return float(round(value)) if kind == "params" else value
