"""From variables per layer to dims and blocks: layers that are alike are counted, those that differ get blocks of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..language.formula import FormulaError, names, parse
from ..language.formula.fold import number
from .variables import MAX_LAYERS, Variables

ALWAYS = ("n_kv", "d_h")
"""Dims that are written even where the architecture would give them."""


class Structure(NamedTuple):
    """Dims of the whole model, and blocks (`like`, `dims`) for layers that differ from them."""

    dims: dict[str, int | float]
    blocks: dict[str, dict]


def structure(variables: Variables, architecture) -> Structure:
    """Dims and blocks of a config under its family, in terms of the `architecture`'s model document."""
    doc = variables.doc
    dims: dict[str, Any] = {name: variables.eval(node) for name, node in doc.dims.items()}
    layers = dims.get("L", 0)
    if not isinstance(layers, int) or not 1 <= layers <= MAX_LAYERS:
        raise variables.error(f"{layers:g} layers; want a whole number from 1 to {MAX_LAYERS:,}")
    blocks: dict[str, dict] = {}
    for name, piece in doc.parts.items():
        _place(name, piece, _groups(variables, piece, layers), dims, blocks)
    counts = {piece.count for piece in doc.parts.values() if piece.blocks} if blocks else set()
    return Structure(_without_defaults(dims, architecture, counts), blocks)


def _groups(variables: Variables, piece, layers: int) -> list[tuple[dict, int]]:
    """The different dims that layers give to a part, with how many parts have them; most frequent first."""
    if not any(variables.varies(node) for node in (piece.times, *piece.dims.values())):
        times = _whole(variables, variables.eval(piece.times))
        found = {name: variables.eval(node) for name, node in piece.dims.items()} if times else {}
        return [(found, times * layers)] if times else []
    counts: dict[tuple, int] = {}
    for layer in range(layers):
        times = _whole(variables, variables.eval(piece.times, layer))
        if times:
            key = tuple((name, variables.eval(node, layer)) for name, node in piece.dims.items())
            counts[key] = counts.get(key, 0) + times
    return sorted(((dict(key), n) for key, n in counts.items()), key=lambda group: -group[1])


def _whole(variables: Variables, value) -> int:
    if value != int(value) or not 0 <= value <= 64:
        raise variables.error(f"a layer has {value:g} of one part; want a whole number")
    return int(value)


def _place(part: str, piece, groups: list, dims: dict, blocks: dict) -> None:
    """Give the model's dims to the first group that agrees with them, and blocks of their own to the others."""
    dims[piece.count] = 0
    home = next((g for g in groups if all(dims.get(k, v) == v for k, v in g[0].items())), None)
    if home is not None:
        dims |= home[0]
        dims[piece.count] = home[1]
    for number_, group in enumerate((g for g in groups if g is not home), 1):
        own = {name: value for name, value in group[0].items() if dims.get(name) != value}
        for name in own:
            dims.setdefault(name, own[name])
        blocks[f"{part}_{number_}"] = {"like": list(piece.blocks), "dims": {piece.count: group[1], **own}}


def _without_defaults(dims: dict, architecture, kept_too: set) -> dict:
    """The dims less those that the architecture's own formulas give (in blocks with counts of their own they would not)."""
    formulas = {name: parse(value) for name, value in architecture.doc.dims.items()}
    kept: dict[str, int | float] = {}
    for name, value in dims.items():
        node = formulas.get(name)
        if node is None or name in ALWAYS or (name in kept_too and names(node)) or not _same(node, dims, formulas, value):
            kept[name] = value
    return kept


def _same(node, dims: dict, formulas: dict, value) -> bool:
    """Whether a default formula comes out as `value` with the dims that are given."""
    env: dict[str, int | float] = {}
    waiting = list(names(node))
    try:
        while waiting:
            name = waiting.pop()
            if name in env:
                continue
            if name in dims:
                env[name] = dims[name]
            elif name in formulas:
                missing = [n for n in names(formulas[name]) if n not in env and n not in dims]
                if missing:
                    waiting += [name, *missing]
                    if len(waiting) > 1000:
                        return False
                else:
                    env[name] = number(formulas[name], {**dims, **env})
            else:
                return False
        return number(node, env) == value
    except FormulaError:
        return False
