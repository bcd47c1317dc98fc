"""Which roles of a model a quantization packs, in which share of its layers, and to how many bytes a weight."""

from __future__ import annotations

from typing import Any, NamedTuple

from .patterns import Modules
from .variables import Variables

PIECES = {"attn": ("attention", "latent"), "mlp": ("mlp",), "expert": ("experts",), "shared": ("experts",)}
"""The parts of a family that a role's modules stand in; other roles stand in the mixers."""
MIXERS = ("delta", "mamba", "mamba2", "conv", "lightning", "rglru", "kda")
NEEDS = {"shared": "d_shared"}
"""The dim without which a part lacks a role."""


class Packed(NamedTuple):
    """Modules (None: all of the roles), the number format, bytes per weight (None: the format's own), and roles."""

    modules: Modules | None
    format: str
    size: float | None
    roles: tuple[str, ...]


def roles_of(packed: list[Packed], kept: Modules, variables: Variables, library, wide: str) -> tuple[str, dict[str, Any]]:
    """(the format that most modules have, formats of the roles that differ from its own mix)."""
    layout = library.load("layout", "huggingface").doc
    names = {**layout.modules, **variables.doc.modules}
    shares: dict[str, dict[int, float]] = {}
    for role, modules in names.items():
        layers = _layers(role, variables)
        if layers:
            prefixes = tuple(p + n for p in layout.prefixes for n in modules)
            shares[role] = _shares(role, [tuple(p.replace("{i}", str(i)) for p in prefixes) for i in layers], packed, kept)
    for role, modules in layout.outer.items():
        shares[role] = _shares(role, [modules], packed, kept)
    weight = [sum(share.get(i, 0) for share in shares.values()) for i in range(len(packed))]
    main = weight.index(max(weight)) if any(weight) else 0
    return packed[main].format, _merged({r: _entry(r, s, packed, main, library, wide) for r, s in shares.items()})


def _shares(role: str, layers: list[tuple[str, ...]], packed: list[Packed], kept: Modules) -> dict[int, float]:
    """Share of the layers whose modules of a role are packed in each way; -1 for those left wide."""
    counts: dict[int, int] = {}
    for names in layers:
        found = -1 if any(n in kept for n in names) else _way(role, names, packed)
        counts[found] = counts.get(found, 0) + 1
    return {way: n / len(layers) for way, n in counts.items()}


def _way(role: str, names: tuple[str, ...], packed: list[Packed]) -> int:
    for i, group in enumerate(packed):
        if group.modules is None and (role in group.roles or role.partition(".")[0] in group.roles):
            return i
        if group.modules is not None and any(n in group.modules for n in names):
            return i
    return -1


def _entry(role: str, shares: dict[int, float], packed: list[Packed], main: int, library, wide: str) -> Any:
    """A role's width: None for the main format's own, a format, bytes per weight, or shares of several."""
    usual = _plain(library, packed[main].format, role)
    widths: dict[str, float] = {}
    for way, share in shares.items():
        name = wide if way < 0 else _width(library, packed[way], role)
        widths[name] = widths.get(name, 0) + share
    if len(widths) == 1:
        only = next(iter(widths))
        return None if only == usual or (only == wide and _at_16(library, usual)) else only
    rest = max(widths, key=lambda name: (name != wide, widths[name]))
    return {**{n: round(s, 12) for n, s in widths.items() if n != rest}, rest: "rest"}


def _width(library, group: Packed, role: str) -> str:
    """A format by name where that has the width, else bytes per weight."""
    usual = _plain(library, group.format, role)
    if group.size is None or _is(library, usual, group.size):
        return usual
    return f"{group.size:.12g} B"


def _plain(library, chosen: str, role: str) -> str:
    """The block format that a mix gives to a role."""
    doc = library.load("format", chosen).doc
    table = (doc.mix if doc.mix is not None else doc.whole) or {}
    entry = next((table[k] for k in (role, role.partition(".")[0], "default") if k in table), chosen)
    return entry if isinstance(entry, str) else next(k for k, v in entry.items() if v == "rest")


def _is(library, name: str, size: float) -> bool:
    """Whether a block format has that many bytes per weight."""
    doc = library.load("format", name).doc
    return bool(doc.block and doc.size) and abs(doc.size / doc.block - size) < 1e-9 * size


def _at_16(library, name: str) -> bool:
    """Whether a format is one of the plain 16-bit ones, which are alike in size."""
    doc = library.load("format", name).doc
    return doc.block == 1 and doc.size == 2


def _merged(roles: dict) -> dict:
    """One entry for a group whose roles (`attn.q`, `attn.k` …) agree; None stands for the format's own width."""
    groups: dict[str, list] = {}
    for role, value in roles.items():
        groups.setdefault(role.partition(".")[0], []).append(value)
    out: dict[str, Any] = {}
    for role, value in roles.items():
        group = role.partition(".")[0]
        if value is not None:
            same = all(v == value for v in groups[group])
            out[group if same else role] = value
    return out


def _layers(role: str, variables: Variables) -> list[int]:
    """The layers that have a role."""
    kinds, found = PIECES.get(role.partition(".")[0], MIXERS), set()
    for piece in (p for name, p in variables.doc.parts.items() if name in kinds):
        width = piece.dims.get(NEEDS.get(role.partition(".")[0], ""))
        for i in range(int(variables.value("layers"))):
            if variables.eval(piece.times, i) and (width is None or variables.eval(width, i)):
                found.add(i)
    return sorted(found)
