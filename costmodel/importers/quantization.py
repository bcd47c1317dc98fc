"""`quantization_config` (or `hf_quant_config.json`) to number formats by role, through the recipe of its method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..language.problem import suggest
from .packing import Packed, roles_of
from .patterns import Modules
from .types import type_index
from .variables import Variables, at

_DTYPES = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "half": "fp16", "float": "fp32"}
_DTYPES |= {"float8_e4m3fn": "fp8", "float8_e5m2": "fp8"}
WIDE = "bf16"
MIXED = "MIXED_PRECISION"


class Group(NamedTuple):
    """Modules that are quantized alike (None: all that the recipe packs), what is said of them, and the method's name."""

    modules: Modules | None
    stated: Mapping
    method: str


def weights_of(data: Mapping, text: Mapping, variables, library, extra: Mapping | None) -> tuple[dict, dict, list[str]]:
    """(`weights` of the model document, its `kv`, notes). Raises :class:`SpecError` for a method without a recipe."""
    stated = _stated(data, text, extra, variables)
    wide, doubts = _wide(text, data)
    if stated is None:
        return {"format": wide}, {}, doubts
    groups = [(group, _recipe(group, variables, library)) for group in groups_of(stated)]
    packed = [_packed(group, recipe, variables) for group, recipe in groups]
    kept = Modules([entry for group, recipe in groups for entry in exceptions(group.stated, recipe.doc.keep)])
    chosen, roles = roles_of(packed, kept, variables, library, wide)
    recipe = groups[0][1]
    cache = _first(recipe, recipe.doc.kv) or ("fp8" if str(stated.get("kv_cache_quant_algo")) == "FP8" else None)
    weights: dict[str, Any] = {"format": chosen}
    if roles:
        weights["roles"] = roles
    notes = [f"not understood: the exception `{entry}`" for entry in kept.unread[:3]]
    return weights, {"format": cache} if cache else {}, doubts + notes


def _stated(data: Mapping, text: Mapping, extra: Mapping | None, variables) -> Mapping | None:
    """The quantization of a checkpoint, from wherever it is said."""
    beside = extra.get("quantization") if extra else None
    for found in (text.get("quantization_config"), data.get("quantization_config"), data.get("compression_config"), beside):
        if not isinstance(found, Mapping) or not found:
            continue
        if found.get("quant_method") or found.get("quant_algo"):
            return {**beside, **found} if isinstance(beside, Mapping) and not found.get("quant_algo") else found
        if not _is_mlx(found):
            raise variables.error("`quantization_config` names no `quant_method`", "add one, or remove the entry")
    found = next((c.get(k) for c in (data, text) for k in ("quantization", "quantization_config") if _is_mlx(c.get(k))), None)
    return {**found, "quant_method": "mlx"} if isinstance(found, Mapping) else None


def _is_mlx(found: Any) -> bool:
    """Whether an entry is how MLX states bits and groups: with no method."""
    return isinstance(found, Mapping) and "bits" in found and "group_size" in found and "quant_method" not in found


def _wide(text: Mapping, data: Mapping) -> tuple[str, list[str]]:
    """The format of weights that are not packed, and a doubt about it."""
    stated = next((v for c in (text, data) for v in (c.get("dtype"), c.get("torch_dtype")) if v is not None), None)
    name = str(stated).removeprefix("torch.")
    if stated is None or name == "auto" or name in _DTYPES:
        return _DTYPES.get(name, WIDE), []
    return WIDE, [f"`{name[:40]}` is no known type of weights: {WIDE} is assumed"]


def groups_of(stated: Mapping) -> list[Group]:
    """The groups of a statement: one per algorithm of mixed precision or per config group, else one for all."""
    method = str(stated.get("quant_method") or stated.get("quant_algo") or "")
    layers, groups = stated.get("quantized_layers"), stated.get("config_groups")
    if isinstance(layers, Mapping) and layers:
        algos: dict[str, list] = {}
        for module, entry in layers.items():
            if isinstance(entry, Mapping):
                algos.setdefault(str(entry.get("quant_algo")), []).append((module, entry))
        return [Group(Modules([m for m, _ in found]), {**stated, **found[0][1]}, algo) for algo, found in algos.items()]
    if str(stated.get("quant_algo")) == MIXED:
        return [Group(None, stated, MIXED)]
    if isinstance(groups, Mapping) and groups:
        entries = [g for g in groups.values() if isinstance(g, Mapping)][:8]
        if not entries:
            return [Group(None, stated, method)]
        several = len({str(g.get("weights")) for g in entries}) > 1
        return [
            Group(_targets(g) if several else None, {**stated, "config_groups": {"group_0": g}}, method)
            for g in entries[: None if several else 1]
        ]
    return [Group(None, stated, method)]


def _targets(group: Mapping) -> Modules | None:
    """The modules of a config group; a class of modules (`Linear`) means all."""
    targets = group.get("targets")
    names = [t for t in targets if isinstance(t, str)] if isinstance(targets, list) else []
    return None if not names or any(t in ("Linear", "Conv1d") for t in names) else Modules(names)


def _recipe(group: Group, variables, library) -> Variables:
    known = type_index(library, "recipe", "methods")
    name = known.get(group.method)
    if name is None:
        raise variables.error(f"quantization method `{group.method[:60]}` is not known", suggest(group.method[:60], known))
    recipe = Variables(library.load("recipe", name).doc, group.stated, group.stated, variables.place)
    for message, node in recipe.doc.requires.items():
        if not recipe.eval(node):
            raise variables.error(message)
    return recipe


def _packed(group: Group, recipe: Variables, variables) -> Packed:
    chosen = _first(recipe, recipe.doc.format)
    if chosen is None:
        raise variables.error(f"quantization method `{group.method[:60]}`: no number format fits this config")
    size = None if recipe.doc.bytes is None else recipe.eval(recipe.doc.bytes)
    more = [role for role, node in recipe.doc.more.items() if recipe.eval(node)]
    return Packed(group.modules, chosen, size, (*recipe.doc.roles, *more))


def _first(recipe: Variables, choices: Mapping) -> str | None:
    return next((name for name, node in choices.items() if recipe.eval(node)), None)


def packed_bits(data: Mapping) -> int:
    """Bits of the weights that a checkpoint packs into larger numbers; 4 where it does not say."""
    text = data.get("text_config")
    for source in (data, text if isinstance(text, Mapping) else {}):
        for key in ("quantization_config", "quantization", "compression_config"):
            stated = source.get(key)
            for path in ("bits", "w_bit", "config_groups.group_0.weights.num_bits"):
                bits = at(stated, path.split(".")) if isinstance(stated, Mapping) else None
                if isinstance(bits, int) and 1 <= bits <= 8:
                    return bits
    return 4


def exceptions(stated: Mapping, keys: tuple) -> list[str]:
    """Modules left unquantized: listed, mapped to `false` or to 16 bits, or after `-:` (a pattern that is skipped)."""
    found: list[str] = []
    for entry in (stated if key == "*" else stated.get(key) for key in keys):
        if isinstance(entry, list):
            found += [item for item in entry if isinstance(item, str)]
        for name, value in entry.items() if isinstance(entry, Mapping) else ():
            bits = value.get("bits") if isinstance(value, Mapping) else None
            if name.startswith("-:"):
                found.append("re:" + name[2:])
            elif value is False or (isinstance(bits, int) and bits >= 16):
                found.append(name)
    return found
