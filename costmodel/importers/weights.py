"""Bytes by role from the headers of a checkpoint's safetensors files, beside its config."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..language.problem import SpecError, problem
from .count import params_by_role
from .safetensors import Safetensors, Tensor, read_safetensors

LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|layer)\.(\d{1,6})\.")
MOST_BEYOND = 4
"""Layers that only predict further tokens, at most."""
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
    found = sorted(p for p in config.parent.glob("*.safetensors") if "adapter" not in p.name)
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
    last = max((int(m.group(1)) for t in file.tensors if (m := LAYER.search(t.name))), default=0)
    if layers is not None and last >= layers + MOST_BEYOND:
        layers = None  # that many are no layers beside the model's: the config is another one's
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
            return tensor.elements * count * 4 // bits if tensor.dtype in ("I32", "U32") else tensor.elements * count
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
    """Put the widths that the files hold into a model document's fields; returns the files that were read.

    `explicit`: the user named the weights, so files that are missing, cut short or of another model are an error, not a note.
    """
    dims = fields["dims"]
    tried = (path, *sorted(path.parent.glob("*.safetensors")))
    try:
        found = held(path, library, dims.get("L"), bits)
    except SpecError as error:
        if explicit:
            raise
        _say(fields, f"sizes from the config alone: {error.problems[0].message.partition(': ')[2]}")
        return tried
    before, said = dict(dims), fields["description"]
    twice = _tie(fields, found)
    if found.weights.get("vision"):
        dims["vision"] = found.weights["vision"]
    architecture = library.load("model", fields["architecture"]).doc
    roles = params_by_role(architecture, dims, fields["blocks"], library)
    total, want = sum(roles.values()), found.params - twice
    if abs(total - want) > 0.005 * want:
        message = f"the files hold {want:,} parameters, but the config makes {total:,.0f}"
        if explicit:
            raise problem(f"{path}: {message}", help="is the config.json beside them theirs?")
        fields["dims"], fields["description"] = before, said
        _say(fields, f"sizes from the config alone: {message}")
        return tried
    if found.weights.get("vision"):
        fields["description"] = "; ".join(n for n in fields["description"].split("; ") if "is not counted" not in n)
    fields["weights"] = {**fields["weights"], "roles": _widths(fields, found, roles, twice)}
    fields["checks"] = {"params": f"{want} +- 0.5%"}
    ref = f"{len(found.file.tensors):,} tensors of {path.name}, {found.file.tensor_bytes:,} B"
    fields["sources"]["weights"] = {"kind": "datasheet", "ref": ref}
    for note in found.file.notes[:2]:
        _say(fields, note)
    if found.unused:
        _say(fields, f"{found.unused:,} B of layers beyond the model's (prediction of further tokens) are left out")
    return (path, *found.file.files)


def _widths(fields: dict[str, Any], found: Held, roles: dict[str, float], twice: int) -> dict[str, str]:
    """Bytes per weight of each group of roles; what the files hold under other names is spread over the groups that lack theirs."""
    params: dict[str, float] = {}
    for role, count in roles.items():
        params[role.partition(".")[0]] = params.get(role.partition(".")[0], 0) + count
    sizes = dict(found.groups)
    if fields["dims"].get("tied"):
        table = sizes.pop("head", 0) if twice else 0
        sizes["head"] = table or sizes.get("embed", 0)
        width = sizes["head"] / params["head"] if params.get("head") else 0
        sizes.pop("embed", None)
    counts = {**found.weights, "head": params.get("head", 0)} if fields["dims"].get("tied") else dict(found.weights)
    alike = {g for g in sizes if params.get(g) and abs(counts.get(g, 0) - params[g]) <= 0.005 * params[g]}
    widths = {g: sizes[g] / params[g] for g in sorted(alike)}
    others = {g: n for g, n in params.items() if n and g not in alike}  # names are ambiguous there: one width for all of them
    spare = sum(size for g, size in sizes.items() if g not in alike)
    if others and spare:
        widths |= dict.fromkeys(sorted(others), spare / sum(others.values()))
    if fields["dims"].get("tied") and width:
        widths["embed"] = width
    return {g: f"{w:.17g} B" for g, w in widths.items()}


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
