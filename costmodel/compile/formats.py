"""Bytes per weight of each role under a number format: plain blocks, mixes by role, and published file sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..language.formula import FormulaError, names, parse
from ..language.formula.fold import number
from ..language.problem import Mark, Problem, SpecError
from ..language.units import BYTE, UnitError, quantity
from ..library import Library, Spec

MAX_WIDTH = 64
_DEFAULTS: dict[str, int | float] = {
    "L": 32,
    "d": 4096,
    "n_q": 1,
    "n_kv": 1,
    "d_h": 128,
    "vocab": 32000,
    "E": 0,
    "k": 0,
    "tied": 0,
    "qkv_fused": 0,
}


class Width(NamedTuple):
    """Bytes per weight, (format, share) parts, math type or None, bytes per activation or None, family."""

    bytes: float
    parts: tuple[tuple[str, float], ...]
    math: str | None
    activations: float | None
    family: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The names that engines key settings on: the format that most weights are in, then its family."""
        main = max(self.parts, key=lambda part: part[1])[0] if self.parts else ""
        return (main, self.family)

    @property
    def kept(self) -> bool:
        """Whether most of it stays at 16 bits or more."""
        return self.bytes >= 2


def width_of(library: Library, name: str, role: str, dims: Mapping, mark: Mark) -> Width:
    """Width of a role when `name` is the whole model's format. Raises :class:`SpecError` for an unknown format."""
    spec = library.load("format", name, mark=mark)
    doc = spec.doc
    table, field = (doc.mix, "mix") if doc.mix is not None else (doc.whole, "whole")
    entry, key = _entry(table, role)
    if entry is None:
        if doc.mix is not None:
            raise SpecError(Problem(f"format `{doc.name}`: no `default` in the mix", spec.mark("mix"), "add `default:`"))
        return _plain(spec)
    width = _blend(library, spec, entry, (field, key), dims)
    kept = width.kept  # roles that a mix leaves at 16 bits keep their own maths
    math = width.math if kept or doc.math is None else doc.math
    activations = width.activations if kept or doc.activations is None else doc.activations
    return width._replace(math=math, activations=activations, family=doc.family or width.family)


def role_width(library: Library, model: Spec, role: str, dims: Mapping) -> Width | None:
    """Width of a role that the model's own `weights.roles` gives, if they do. Raises :class:`SpecError`."""
    entry, key = _entry(model.doc.weights.roles, role)
    return None if entry is None else _blend(library, model, entry, ("weights", "roles", key), dims)


def _blend(library: Library, spec: Spec, entry, path: tuple, dims: Mapping) -> Width:
    """Width of one entry of a mix: a format, or shares of several."""
    shares = _shares(spec, entry, path, dims)
    mark = spec.mark(*path)
    widths = [(_part(library, spec, part, mark), share) for part, share in shares]
    main = max(widths, key=lambda pair: pair[1])[0]
    total = sum(w.bytes * share for w, share in widths) if len(widths) > 1 else main.bytes
    return main._replace(bytes=total, parts=tuple((part, share) for (part, share) in shares))


def _part(library: Library, spec: Spec, part: str, mark: Mark) -> Width:
    """Width of a format by name, or of a stated number of bytes per weight: `0.5625 B`."""
    if part[:1].isdigit():
        try:
            size = quantity(part, BYTE)
        except UnitError as error:
            raise SpecError(Problem(str(error), mark, error.help)) from None
        if not 0 < size <= MAX_WIDTH:
            raise SpecError(Problem(f"{part}: want more than 0 and at most {MAX_WIDTH} bytes per weight", mark))
        return Width(size, ((part, 1),), None, None, "")
    return _plain(spec if spec.kind == "format" and part == spec.name else library.load("format", part, mark=mark))


def plain_bytes(library: Library, name: str, mark: Mark) -> float:
    """Bytes per element of a block format (KV cache, activations, state)."""
    return _plain(library.load("format", name, mark=mark)).bytes


def declared(library: Library, name: str) -> bool:
    """Whether any document declares the format."""
    return library.path_of("format", name) is not None


def _plain(spec: Spec) -> Width:
    doc = spec.doc
    if doc.block is None or doc.size is None:
        if doc.mix is not None:
            raise SpecError(Problem(f"format `{doc.name}` is a mix by role; want a plain format here", spec.mark("mix")))
        raise SpecError(Problem(f"format `{doc.name}` needs `block` and `size`", spec.mark("name")))
    if doc.block <= 0:
        raise SpecError(Problem("block: want a positive number of weights", spec.mark("block")))
    return Width(doc.size / doc.block, ((doc.name, 1),), doc.math, doc.activations, doc.family)


def _entry(table: Mapping | None, role: str):
    for key in (role, role.partition(".")[0], "default"):
        if table and key in table:
            return table[key], key
    return None, None


def _value(node, env: dict, helpers: Mapping, active: tuple = ()) -> int | float:
    """A formula's value; the helpers that it uses, which may use one another, are evaluated into `env`."""
    for name in names(node) & (helpers.keys() - env.keys()):
        if name in active:
            raise FormulaError(f"helpers go in a circle: {' -> '.join([*active[active.index(name) :], name])}")
        env[name] = _value(helpers[name], env, helpers, (*active, name))
    return number(node, env)


def check_helpers(spec: Spec, dims: Mapping) -> None:
    """Every helper formula has a value, used or not. Raises :class:`SpecError`."""
    env = _environment(spec, dims)
    for name, node in spec.doc.let.items():
        try:
            _value(node, env, spec.doc.let, (name,))
        except FormulaError as error:
            raise SpecError(Problem(f"let.{name}: {error}", spec.mark("let", name), error.help)) from None


def _environment(spec: Spec, dims: Mapping) -> dict:
    """Dims, with stand-ins for those that a model lacks; a helper hides the dim of its name."""
    env = dict(_DEFAULTS) | dict(dims)
    env.setdefault("d_ff", env.get("d_e", 4096))
    env.setdefault("d_e", env["d_ff"])
    return {name: value for name, value in env.items() if name not in _helpers(spec)}


def _helpers(spec: Spec) -> Mapping:
    return spec.doc.let if spec.kind == "format" else {}


def _shares(spec: Spec, entry, path: tuple, dims: Mapping) -> list[tuple[str, float]]:
    """`q4_k`, or `{q6_k: more / L, q4_k: rest}` as (format, share) pairs that sum to one."""
    if isinstance(entry, str):
        return [(entry, 1)]
    if not isinstance(entry, dict):
        raise SpecError(Problem("want a format or `{format: share}`", spec.mark(*path)))
    env = _environment(spec, dims)
    try:
        shares = {f: _value(parse(v), env, _helpers(spec)) for f, v in entry.items() if v != "rest"}
    except FormulaError as error:
        raise SpecError(Problem(f"{spec.kind} `{spec.doc.name}`: {error}", spec.mark(*path), error.help)) from None
    rest = [f for f, v in entry.items() if v == "rest"]
    used = sum(shares.values())
    if any(s < 0 for s in shares.values()) or used > 1 + 1e-12 or len(rest) > 1:
        help = "shares lie in [0, 1], and at most one format takes the `rest`"
        raise SpecError(Problem(f"{spec.kind} `{spec.doc.name}`: shares sum to {used:g}", spec.mark(*path), help))
    if rest:
        shares[rest[0]] = 1 - used
    elif abs(used - 1) > 1e-9:
        raise SpecError(
            Problem(
                f"{spec.kind} `{spec.doc.name}`: shares sum to {used:g}",
                spec.mark(*path),
                "shares must sum to 1, or one format takes the `rest`",
            )
        )
    return [(f, s) for f, s in shares.items() if s]
