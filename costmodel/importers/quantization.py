"""`quantization_config` (or `hf_quant_config.json`) to number formats by role, through the recipe of its method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..language.problem import suggest
from .patterns import Modules
from .types import type_index
from .variables import Variables

_DTYPES = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "half": "fp16", "float": "fp32"}
WIDE = "bf16"
PIECES = {"attn": ("attention", "latent"), "mlp": ("mlp",), "expert": ("experts",), "shared": ("experts",)}
"""The parts of a family that a role's modules stand in; other roles stand in the mixers."""
MIXERS = ("delta", "mamba", "mamba2", "conv", "lightning", "rglru", "kda")
NEEDS = {"shared": "d_shared"}
"""The dim without which a part lacks a role."""


def weights_of(data: Mapping, text: Mapping, variables, library, extra: Mapping | None) -> tuple[dict, dict, list[str]]:
    """(`weights` of the model document, its `kv`, notes). Raises :class:`SpecError` for a method without a recipe."""
    stated = _stated(data, text, extra)
    wide = _wide(text, data)
    if stated is None:
        return {"format": wide}, {}, []
    method = str(stated.get("quant_method") or stated.get("quant_algo") or "")
    name = type_index(library, "recipe", "methods").get(method)
    if name is None:
        known = type_index(library, "recipe", "methods")
        raise variables.error(f"quantization method `{method[:60]}` is not known", suggest(method[:60], known))
    recipe = Variables(library.load("recipe", name).doc, stated, stated, variables.place)
    for message, node in recipe.doc.requires.items():
        if not recipe.eval(node):
            raise variables.error(message)
    chosen = _first(recipe, recipe.doc.format)
    if chosen is None:
        raise variables.error(f"quantization method `{method[:60]}`: no number format fits this config")
    roles, notes = _roles(recipe, stated, variables, library, chosen, wide)
    cache = _first(recipe, recipe.doc.kv) or ("fp8" if str(stated.get("kv_cache_quant_algo")) == "FP8" else None)
    weights: dict[str, Any] = {"format": chosen}
    if roles:
        weights["roles"] = roles
    return weights, {"format": cache} if cache else {}, notes


def _stated(data: Mapping, text: Mapping, extra: Mapping | None) -> Mapping | None:
    """The quantization of a checkpoint, from wherever it is said."""
    beside = extra.get("quantization") if extra else None
    for found in (text.get("quantization_config"), data.get("quantization_config"), data.get("compression_config"), beside):
        if isinstance(found, Mapping) and (found.get("quant_method") or found.get("quant_algo")):
            return {**beside, **found} if isinstance(beside, Mapping) and not found.get("quant_algo") else found
    return None


def _wide(text: Mapping, data: Mapping) -> str:
    stated = next((v for c in (text, data) for v in (c.get("dtype"), c.get("torch_dtype")) if isinstance(v, str)), "")
    return _DTYPES.get(stated.removeprefix("torch."), WIDE)


def _first(recipe: Variables, choices: Mapping) -> str | None:
    return next((name for name, node in choices.items() if recipe.eval(node)), None)


def _roles(recipe: Variables, stated: Mapping, variables: Variables, library, chosen: str, wide: str):
    """Formats of the roles that differ from the chosen format's own mix."""
    lists = [stated.get(key) for key in recipe.doc.keep]
    kept = Modules([item for found in lists if isinstance(found, list) for item in found])
    size = None if recipe.doc.bytes is None else recipe.eval(recipe.doc.bytes)
    layout = library.load("layout", "huggingface").doc
    roles: dict[str, Any] = {}
    for role, names in layout.modules.items():
        layers = _layers(role, variables)
        if role.partition(".")[0] not in recipe.doc.roles or not layers:
            continue
        usual = _plain(library, chosen, role)
        packed = None if size is None or _is(library, usual, size) else f"{size:.12g} B"
        share = _share(kept, names, layout.prefixes, layers) if kept.exact or kept.tests else 0
        if share == 1:
            roles[role] = wide
        elif share:
            roles[role] = {wide: round(share, 12), packed or usual: "rest"}
        else:
            roles[role] = packed
    return _merged(roles), [f"not understood: the exception `{entry}`" for entry in kept.unread[:3]]


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


def _share(kept: Modules, names: tuple, prefixes: tuple, layers: list[int]) -> float:
    """Share of the layers in which a role is one of the exceptions."""
    if not layers:
        return 0
    hit = sum(any(p.format(i=i) + n in kept for p in prefixes for n in names) for i in layers)
    return hit / len(layers)
