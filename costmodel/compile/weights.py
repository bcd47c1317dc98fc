"""Number formats on the rows of a program: the model's own, what a file holds of each role, and those of techniques."""

from __future__ import annotations

import re

from ..language.formula import Num, names
from ..language.formula.fold import number
from ..language.problem import Problem, SpecError, suggest
from ..library import Spec
from .dims import read_dims, solve_dims
from .formats import declared, plain_bytes, width_of
from .rows import Row, expand_blocks, number_of


def base_formats(program, rows: list[Row], base: Spec) -> None:
    """The model's own formats on every row; `size` scales the weights of all roles alike.

    A stand-in model takes the formats of the model that it stands in for, at their natural size.
    """
    library, doc = program.library, base.doc
    program.weights_format = doc.weights.format
    name, size = doc.weights.format, doc.weights.size if base is program.model else None
    mark = base.mark("weights", "format")
    factor = 1.0
    if not declared(library, name):
        if doc.weights.size is None:
            raise SpecError(Problem(f"no format `{name}`", mark, suggest(name, library.names("format")) + " (or give `size:`)"))
        like = likeness(library, name) or "int8"
        program.notes.append(f"format `{name}` is not declared: its bits per weight follow from the stated size, its kind from `{like}`")
        name = like
        size = doc.weights.size if base is program.model else None
        factor = 1.0 if size else doc.weights.size / max(1, _stored(program, rows, name, mark, own=base))
    if size is not None:
        natural = _stored(program, rows, name, mark)
        if not natural:
            raise SpecError(Problem("weights.size is given, but the model stores no weights", base.mark("weights", "size")))
        factor = (size - _kept(program, rows, name, mark)) / natural
    program.base_width = (name, factor)
    program.base = base
    program.held = _held(program, rows, base)
    for row in rows:
        row.formats = {"weights": (name, None, factor), "kv": (doc.kv.format, None, 1), "activations": (doc.activations.format, None, 1)}
        row.formats["state"] = (doc.state.format, None, 1)


def likeness(library, name: str, otherwise: str | None = None) -> str | None:
    """The declared format that an undeclared one is taken for: the longest whose name is part of its name."""
    text = re.sub(r"[^a-z0-9]+", "_", name.lower())
    known = [n for n in library.names("format") if n.replace("-", "_") in text and len(n) > 2]
    return max(known, key=len, default=otherwise)


def _held(program, rows: list[Row], base: Spec) -> dict[str, float]:
    """Bytes per weight of the roles whose bytes the model states (`weights.bytes`)."""
    stated = base.doc.weights.bytes if base is program.model else {}
    if stated and base.doc.weights.size is not None:
        raise SpecError(Problem("give `size` or `bytes`, not both", base.mark("weights", "size")))
    params: dict[str, float] = {}
    dims = solve_dims(base, read_dims(base)) if stated else {}  # what a technique changes does not change bytes per weight
    for row in expand_blocks(base, dims, program.library) if stated else ():
        times = number_of(row.repeat, dims, row.mark)
        params[row.role] = params.get(row.role, 0) + number(row.resolve("params", dims)) * times
    held: dict[str, float] = {}
    for role, size in stated.items():
        members = [r for r in params if r == role or (r.startswith(role + ".") and r not in stated)]
        total = sum(params[r] for r in members)
        if not total:
            there = [r for r, n in params.items() if n]
            raise SpecError(
                Problem(f"the model stores nothing of role `{role}`", base.mark("weights", "bytes", role), suggest(role, there))
            )
        held |= dict.fromkeys(members, size / total)
    return held


def _kept(program, rows: list[Row], name: str, mark) -> float:
    """Bytes that are stored in a width of their own, whatever the scale of the format."""
    own = [r for r in rows if "w_stored" not in names(r.terms["stored"])]
    for row in own:
        row.symbols["w_format"] = _num(program.natural(row.role, name, mark).bytes)
    return sum(number(r.resolve("stored", program.dims)) * program.repeat(r) for r in own)


def _stored(program, rows: list[Row], name: str, mark, own: Spec | None = None) -> float:
    """Bytes of all weights in a format, as a model's `weights.roles` change it."""
    if own is not None and own is not program.model:
        dims = solve_dims(own, read_dims(own))
        other = type(program)(own, [], program.library)
        other.dims, other.rows = dims, expand_blocks(own, dims, program.library)
        return _stored(other, other.rows, name, mark)
    total = 0.0
    for row in rows:
        params = number(row.resolve("params", program.dims)) * program.repeat(row)
        if params:
            total += params * program.natural(row.role, name, mark, own).bytes
    return total


def inserted_formats(program, rows: list[Row], base: Spec) -> None:
    """Rows that techniques inserted take the formats of the others."""
    first = next((r for r in rows if r.formats), None)
    if first is None:
        raise SpecError(Problem("no operator of the model is left", program.uses[0].spec.mark("rewrite"), "a technique drops them all"))
    for row in rows:
        if not row.formats:
            row.formats = dict(first.formats)


def widths(program, rows: list[Row]) -> None:
    """Row symbols of the formats: bytes per weight, activation, KV and state element."""
    library = program.library
    cache: dict = {}
    for row in rows:
        name, mark, factor = row.formats["weights"]
        mark = mark or program.model.mark("weights", "format")
        key = (name, row.role, row.formats["weights"][1])
        if key not in cache:
            own = row.formats["weights"][1] is None
            cache[key] = program.natural(row.role, name, mark) if own else width_of(library, name, row.role, program.dims, mark)
        width = cache[key]
        row.width = width
        held = program.held.get(row.role) if row.formats["weights"][1] is None else None
        row.symbols["w_format"] = _num(width.bytes * factor if held is None else held)
        for symbol, what in (("kv_bytes", "kv"), ("a_bytes", "activations"), ("s_bytes", "state")):
            fmt, where, _ = row.formats[what]
            if (what, fmt) not in cache:
                cache[what, fmt] = plain_bytes(library, fmt, where or program.model.mark(what, "format"))
            row.symbols[symbol] = _num(cache[what, fmt])
        product = row.terms["flops"] != Num(0) and row.terms["params"] != Num(0)
        if width.activations is not None and product:  # the residual stream, norms and links stay as they are
            row.symbols["a_bytes"] = _num(width.activations)


def note_growth(program, rows: list[Row]) -> None:
    """Say so where a weight format makes the model larger than it is."""
    name, factor = program.base_width
    changed = [r for r in rows if r.formats["weights"][0] != name and r.width is not None]
    if not changed:
        return
    mark = program.model.mark("weights", "format")
    before = after = 0.0
    for row in changed:
        params = program.constant(row, "params") * program.repeat(row)
        before += params * program.held.get(row.role, factor * program.natural(row.role, name, mark).bytes)
        after += params * number(row.symbols["w_format"])
    if after > before * 1.001:
        new = changed[0].formats["weights"][0]
        program.notes.append(f"warning: the weights are already {program.weights_format}; {new} makes them larger")


def _num(value) -> Num:
    return Num(int(value) if value == int(value) else value)
