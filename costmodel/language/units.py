"""Dimensions, and quantities written as number, space, unit: `89.6 GB/s`, `24 GiB`, `5600 MT/s`, `4 us`.

A dimension is a tuple of exponents over byte, bit, FLOP, second and joule; a count (tokens, heads, transfers) has none.
GB is decimal and GiB binary (IEC 80000-13); bits fit a byte field (eight to one) when written as a literal.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .problem import nearest


class Dim(NamedTuple):
    """Exponents of byte, bit, flop, s, J. `Dim()` is a count."""

    byte: int = 0
    bit: int = 0
    flop: int = 0
    s: int = 0
    J: int = 0

    def times(self, other: Dim, power: int = 1) -> Dim:
        """The dimension of a product (`power=-1`: of a quotient)."""
        return Dim(*(a + power * b for a, b in zip(self, other, strict=True)))

    def __str__(self) -> str:
        up = [_exponent(n, e) for n, e in zip(BASES, self, strict=True) if e > 0]
        down = [_exponent(n, -e) for n, e in zip(BASES, self, strict=True) if e < 0]
        if not up and not down:
            return "count"
        return "·".join(up or ["1"]) + ("/" + "/".join(down) if down else "")


BASES = Dim._fields


def _exponent(name: str, power: int) -> str:
    return name if power == 1 else name + ("²" if power == 2 else f"^{power}")


COUNT = Dim()
BYTE, BIT, FLOP, SECOND, JOULE = (Dim(**{b: 1}) for b in BASES)
RATE = COUNT.times(SECOND, -1)
BYTE_RATE = BYTE.times(SECOND, -1)
FLOP_RATE = FLOP.times(SECOND, -1)
WATT = JOULE.times(SECOND, -1)

_DECIMAL: dict[str, float] = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_SMALL = {"": 1, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9}


def _table() -> dict[str, tuple[float, Dim]]:
    units: dict[str, tuple[float, Dim]] = {}
    for prefix, factor in (_DECIMAL | _BINARY).items():
        units[prefix + "B"] = (factor, BYTE)
        units[prefix + "bit"] = (factor, BIT)
    for prefix, factor in _DECIMAL.items():
        units[prefix + "FLOP"] = units[prefix + "OP"] = (factor, FLOP)
        units[prefix + "Hz"] = (factor, RATE)
        if prefix:
            units[prefix + "T"] = (factor, COUNT)  # transfers: MT/s, GT/s
        units[prefix + "W"] = (factor, WATT)
    for prefix, factor in _SMALL.items():
        units[prefix + "s"] = (factor, SECOND)
    units["min"], units["h"] = (60, SECOND), (3600, SECOND)
    units["%"] = (0.01, COUNT)
    return units


UNITS = _table()
_QUANTITY = re.compile(r"\s*([-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:_[0-9]+)*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\s*([A-Za-zµ%].*?)\s*\Z")
_USUAL = {BYTE: "64 GiB", BYTE_RATE: "89.6 GB/s", FLOP_RATE: "10 TFLOP/s", SECOND: "4 us", WATT: "300 W", RATE: "2.5 GHz"}


class UnitError(ValueError):
    """A quantity that cannot be read; `str()` is the message and `help` what to write."""

    def __init__(self, message: str, help: str | None = None):
        super().__init__(message)
        self.help = help


def unit(text: str) -> tuple[float, Dim]:
    """Factor to the base unit and dimension of a unit such as `GB/s`."""
    head, *rest = text.strip().split("/")
    factor, dim = _one(head)
    for part in rest:
        below, under = _one(part)
        factor, dim = factor / below, dim.times(under, -1)
    return factor, dim


def _one(name: str) -> tuple[float, Dim]:
    name = name.strip()
    if name in UNITS:
        return UNITS[name]
    spelled = re.sub(r"ps$", "/s", name) if name.endswith(("Bps", "bps")) else re.sub(r"S$", "/s", name) if name.endswith("OPS") else name
    if spelled != name:
        raise UnitError(f"`{name}` is no unit", f"write `{spelled.replace('b/s', 'bit/s')}`")
    if name[-1:] == "b" and name[:-1] + "bit" in UNITS:
        raise UnitError(f"`{name}` is no unit", f"did you mean `{name[:-1]}bit` (bits) or `{name[:-1]}B` (bytes)?")
    folded = [u for u in UNITS if u.lower() == name.lower()]
    help = f"did you mean `{folded[0]}`? (units are case-sensitive)" if folded else nearest(name, UNITS)
    raise UnitError(f"`{name}` is no unit", help or "units: B GB GiB bit FLOP OP T (transfers) s Hz W, with k M G T P; `/s` for rates")


def quantity(value, want: Dim) -> float | int:
    """The SI value of a quantity scalar, checked to have dimension `want`.

    Raises :class:`UnitError`: a bare number in a dimensioned field, an unknown unit, another dimension.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise UnitError(f"want a quantity such as `{example(want)}`")
    if not isinstance(value, str):
        if want == COUNT:
            return value
        raise UnitError("a bare number in a field that has a unit", f"write the unit: `{_with_unit(value, want)}`")
    match = _QUANTITY.match(value)
    if not match:
        if re.match(r"\s*[-+]?[0-9]+,[0-9]{1,2}\b", value):
            raise UnitError(f"`{value[:40]}` is not a quantity", "write the decimals after a point: `1.5 GB/s`")
        raise UnitError(f"`{value[:40]}` is not a quantity", f"write number, space, unit: `{example(want)}`")
    number = float(match[1].replace("_", "").replace(",", ""))
    factor, dim = unit(match[2])
    if not want.bit:
        factor, dim = bits_as_bytes(factor, dim)
    if dim != want:
        raise UnitError(f"`{value}` is a {dim}; want {want}", f"for example `{example(want)}`")
    result = number * factor
    if result in (float("inf"), float("-inf")) or result != result:
        raise UnitError(f"`{value[:40]}` is not a finite number")
    return int(result) if result == int(result) and abs(result) < 2**63 else result


def bits_as_bytes(value: float, dim: Dim) -> tuple[float, Dim]:
    """A value in bits as bytes, eight to one, with its new dimension; any other value as it is."""
    if not dim.bit:
        return value, dim
    return value / 8**dim.bit, dim._replace(byte=dim.byte + dim.bit, bit=0)


def example(want: Dim) -> str:
    """A typical literal of a dimension, for messages."""
    return _USUAL.get(want, "1")


def _with_unit(value, want: Dim) -> str:
    usual = example(want).split(" ")[-1]
    scale = unit(usual)[0]
    return f"{value:g} {usual}" if abs(value) < scale else f"{value / scale:g} {usual}"
