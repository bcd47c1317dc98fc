"""Rows of a model document from the tensors of a GGUF file: every tensor is one row of the layers that have it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from .gguf import Tensor
from .ggufkeys import Keys

VECTORS = ("norm", "bias")


class Placed(NamedTuple):
    """A tensor with its layer (None outside of layers), its name inside the layer, and its role."""

    tensor: Tensor
    layer: int | None
    name: str
    role: str


def place(tensors: list[Tensor], table: dict[str, str], keys: Keys) -> list[Placed]:
    """Layer and role of every tensor. Tensors of layers that a pass does not run have the role `stored`."""

    @lru_cache(maxsize=4096)
    def role_of(name: str) -> str:
        return next((role for pattern, role in table.items() if pattern != "*" and fnmatchcase(name, pattern)), "other")

    found = []
    for tensor in tensors:
        layer, name = _split(tensor.name)
        if layer is not None and layer >= keys.layers:
            raise keys.error(f"tensor `{tensor.name[:80]}` is in layer {layer}, but there are {keys.layers:,} layers")
        role = "stored" if layer is not None and layer >= keys.run else role_of(name)
        found.append(Placed(tensor, layer, name, role))
    return found


def _split(name: str) -> tuple[int | None, str]:
    """`blk.3.attn_q.weight` → (3, `attn_q`); biases keep their ending."""
    parts = name.split(".")
    layer = None
    if parts[0] == "blk" and len(parts) > 2 and parts[1].isdecimal() and len(parts[1]) < 8:
        layer, parts = int(parts[1]), parts[2:]
    return layer, ".".join(parts[:-1] if parts[-1] == "weight" and len(parts) > 1 else parts)


def row_of(item: Placed, dims: dict[str, int]) -> dict:
    """The row of a tensor: its operator, role and arguments, as formulas of `dims` where those give its shape."""
    shape, role = item.tensor.shape, item.role
    if role in ("stored", "vision"):
        return {"op": "stored", "role": "vision" if role == "vision" else "unused", "size": item.tensor.elements}
    if role in ("embed", "pos"):
        rows, width = item.tensor.elements // shape[0], shape[0]
        own = {"own": "1 - tied"} if item.name == "token_embd" else {}
        return {"op": "embedding", "role": role, "rows": _called(rows, dims, "vocab"), "width": _called(width, dims, "d"), **own}
    if role == "head":
        return {
            "op": "head",
            "role": role,
            "d_in": _called(shape[0], dims, "d"),
            "vocab": _called(item.tensor.elements // shape[0], dims, "vocab"),
        }
    if role.startswith("expert."):
        return _expert(item, dims)
    if role == "norm" and len(shape) == 1:
        heads = {"attn_q_norm": "n_q", "attn_k_norm": "n_kv"}.get(item.name)
        groups = {"groups": heads} if heads and shape[0] == dims.get("d_h") else {}
        return {"op": "norm", "role": role, "width": _called(shape[0], dims, "d", "d_h"), **groups}
    if role in VECTORS or len(shape) == 1:
        return {"op": "vector", "role": role if role in VECTORS else "bias", "size": item.tensor.elements}
    inside, outside = _names(role)
    return {
        "op": "linear",
        "role": role,
        "d_in": _called(shape[0], dims, *inside),
        "d_out": _called(item.tensor.elements // shape[0], dims, *outside),
    }


def _expert(item: Placed, dims: dict) -> dict:
    shape, role = item.tensor.shape, item.role
    if len(shape) < 3:
        return {"op": "expert-bias", "role": "bias", "d_out": shape[0], "experts": "E", "active": "k"}
    inside, outside = ("d_e", "d") if role == "expert.down" else ("d", "d_e")
    row = {"op": "expert", "role": role, "d_in": _called(shape[0], dims, inside), "d_out": _called(shape[1], dims, outside)}
    return {**row, "experts": _called(shape[2], dims, "E"), "active": "k"}


_FORMULAS = {"q": ("n_q", "d_h"), "kv": ("n_kv", "d_h")}


def _names(role: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names that the input and the output width of a role's matrix may have."""
    head, _, tail = role.partition(".")
    if head == "attn":
        return {"q": (("d",), ("q",)), "k": (("d",), ("kv",)), "v": (("d",), ("kv",)), "o": (("q",), ("d",))}.get(tail, (("d",), ()))
    if head == "mlp":
        return (("d_ff",), ("d",)) if tail == "down" else (("d",), ("d_ff",))
    return (("d",), ("E",)) if role == "router" else (("d",), ("d",))


def _called(value: int, dims: dict, *names: str) -> int | str:
    """A dim (or product of dims) that has this value, else the number."""
    for name in names:
        parts = _FORMULAS.get(name, (name,))
        product = 1
        for part in parts:
            product *= dims.get(part, 0)
        if product == value:
            return " * ".join(parts)
    return value
