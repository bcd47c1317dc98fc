"""Bytes by role from the headers of a checkpoint's safetensors files, beside its config."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..language.formula import FormulaError, Num, parse
from ..language.formula.fold import bind
from ..language.problem import SpecError
from .safetensors import Safetensors, Tensor, read_safetensors

LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|layer)\.(\d{1,6})\.")
INDEX = "model.safetensors.index.json"


class Held(NamedTuple):
    """What the files hold by group of roles: bytes, and parameters (packed ones unpacked); and bytes a pass has no use for."""

    file: Safetensors
    groups: dict[str, int]
    weights: dict[str, int]
    unused: int

    @property
    def params(self) -> int:
        """All parameters."""
        return sum(self.weights.values())


def beside(config: Path) -> Path | None:
    """The weights that belong to a config.json: an index, `model.safetensors`, or the only safetensors file there."""
    for name in (INDEX, "model.safetensors"):
        if (config.parent / name).is_file():
            return config.parent / name
    found = sorted(config.parent.glob("*.safetensors"))
    return found[0] if len(found) == 1 else None


def held(path: Path, library, layers: int | None = None, bits: int = 4) -> Held:
    """Count a checkpoint's tensors; those of layers beyond `layers` (further-token prediction) are unused.

    `bits` is the width of weights that are packed into 32-bit numbers.
    """
    file = read_safetensors(path)
    layout = library.load("layout", "huggingface").doc
    role_of = _matcher(layout.tensors)
    overhead = _matcher(dict.fromkeys(layout.overhead, "yes"))
    unused = 0
    groups: dict[str, int] = {}
    weights: dict[str, int] = {}
    for tensor in file.tensors:
        group = role_of(tensor.name).partition(".")[0]
        layer = LAYER.search(tensor.name)
        if layers is not None and layer and group != "vision" and int(layer.group(1)) >= layers:
            unused += tensor.bytes
            continue
        groups[group] = groups.get(group, 0) + tensor.bytes
        weights[group] = weights.get(group, 0) + (0 if overhead(tensor.name) else _weights(tensor, layout.packed, bits))
    return Held(file, groups, weights, unused)


def _weights(tensor: Tensor, packed: dict[str, dict[str, int]], bits: int) -> int:
    """Weights that a tensor holds: more than its elements where several are packed into one."""
    for pattern, widths in packed.items():
        if tensor.dtype in widths and fnmatchcase(tensor.name, pattern):
            count = widths[tensor.dtype]
            return tensor.elements * count * 4 // bits if tensor.dtype == "I32" else tensor.elements * count
    return tensor.elements


def _matcher(table: dict[str, str]):
    """First pattern that matches a name; names that differ only by layer or expert numbers are looked up once."""
    digits = re.compile(r"\d+")
    last = table.get("*", "")
    table = {pattern: value for pattern, value in table.items() if pattern != "*"}  # what a user adds comes before the rest

    @lru_cache(maxsize=20_000)
    def look(name: str) -> str:
        return next((value for pattern, value in table.items() if fnmatchcase(name, pattern)), last)

    return lambda name: look(digits.sub("0", name))


def add_weights(fields: dict[str, Any], path: Path, library, explicit: bool, bits: int = 4) -> tuple[Path, ...]:
    """Put the bytes that the files hold into a model document's fields; returns the files that were read.

    `explicit`: the user named the weights, so a file that is missing or cut short is an error, not a note.
    """
    dims = fields["dims"]
    try:
        found = held(path, library, dims.get("L"), bits)
    except SpecError as error:
        if explicit:
            raise
        _say(fields, f"sizes from the config alone: {error.problems[0].message.partition(': ')[2]}")
        return ()
    params = found.params - _tie(fields, found)
    if found.weights.get("vision"):
        dims["vision"] = found.weights["vision"]
        fields["description"] = "; ".join(n for n in fields["description"].split("; ") if "is not counted" not in n)
    roles = groups_of(library.load("model", fields["architecture"]).doc, dims)
    groups = {g: n for g, n in found.groups.items() if g in roles and not (g == "embed" and dims.get("tied"))}
    if dims.get("tied"):
        groups["head"] = found.groups.get("head") or found.groups.get("embed", 0)
    fields["weights"] = {**fields["weights"], "bytes": {g: f"{n} B" for g, n in groups.items() if n}}
    fields["checks"] = {"params": f"{params} +- 0.5%"}
    ref = f"{len(found.file.tensors):,} tensors of {path.name}, {found.file.tensor_bytes:,} B"
    fields["sources"]["weights"] = {"kind": "datasheet", "ref": ref}
    if found.unused:
        _say(fields, f"{found.unused:,} B of layers beyond the model's (prediction of further tokens) are left out")
    return tuple(found.file.files)


def _tie(fields: dict[str, Any], found: Held) -> int:
    """Settle whether the embedding doubles as the head, by what is there; returns the parameters that stand in the files twice."""
    dims, head = fields["dims"], found.weights.get("head", 0)
    if not dims.get("tied") and not head and found.weights.get("embed"):
        dims["tied"] = 1
        _say(fields, "the files hold no output matrix: the embedding table doubles as it")
    elif dims.get("tied") and head > 10 * dims["d"]:
        _say(fields, "the files hold the tied table twice")
        return head
    return 0


def _say(fields: dict[str, Any], note: str) -> None:
    fields["description"] = "; ".join(t for t in (fields.get("description", ""), note) if t)[:300]


def groups_of(architecture, dims: dict) -> set[str]:
    """The groups of roles that a model with these dims stores something of."""
    env: dict[str, Any] = {name: parse(value) for name, value in architecture.dims.items()} | {n: Num(v) for n, v in dims.items()}
    for _ in range(12):
        env = {n: v if isinstance(v, Num) else _try(v, env) for n, v in env.items()}
    found = set()
    for block in architecture.blocks.values():
        for row in block.ops.values() if _alive(block.repeat, env) else ():
            if row.when is None or _alive(row.when, env):
                found.add(row.role.partition(".")[0])
    return found


def _try(node, env):
    try:
        return bind(node, env)
    except FormulaError:
        return node


def _alive(node, env) -> bool:
    """Whether a count is not known to be zero."""
    done = _try(node if isinstance(node, tuple) else Num(node), env)
    return not (isinstance(done, Num) and done.value == 0)
