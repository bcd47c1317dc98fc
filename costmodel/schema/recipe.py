"""Quantization recipes: what a `quantization_config` means for the bytes of each role."""

from __future__ import annotations

from .common import Doc, Expression, Formula, Ident
from .family import Key, Names


class Recipe(Doc):
    """One `quant_method`: which roles it packs, to how many bytes a weight, and where it lists exceptions."""

    methods: Names = ()
    """Values of `quant_method` (or of `quant_algo`)."""
    keys: dict[Ident, Key] = {}
    """Variable to where it stands in the `quantization_config`."""
    let: dict[Ident, Expression] = {}
    """Variables by formula of others."""
    format: dict[str, Expression] = {}
    """Number formats with their conditions; the first that holds gives maths, kernels and the width of roles left alone."""
    bytes: Formula = None
    """Bytes per packed weight, scales and zero points included; without it the format's own."""
    roles: tuple[str, ...] = ("attn", "mlp", "expert", "shared", "mixer")
    """Roles that are packed."""
    more: dict[str, Expression] = {}
    """Further roles that are packed where a condition holds."""
    keep: Names = ()
    """Keys that list modules left at 16 bits (`*`: the config itself, whose entries name modules)."""
    kv: dict[str, Expression] = {}
    """Number formats of the KV cache with their conditions."""
    requires: dict[str, Expression] = {}
    """Message to condition: a config for which it is 0 is refused."""
