"""The names that formulas may use, with dimensions, ranges and defaults (the prelude of the language).

`docs/semantics.md` explains each. Workload names are bound per step; row symbols per operator row, by its number
format or by a technique's `set`.
"""

from __future__ import annotations

from ..language.units import BYTE, COUNT, Dim

WORKLOAD: dict[str, Dim] = dict.fromkeys(("B", "T", "S", "R", "M", "H"), COUNT)
"""B sequences, T new tokens each, S cached tokens each, R logit rows each; M = sum of B·T, H = sum of B·R over groups."""

LARGE = 2**40
BOUNDS = {"B": (0, LARGE), "T": (0, LARGE), "S": (0, LARGE), "R": (0, LARGE), "M": (1, LARGE), "H": (0, LARGE)}

SYMBOLS: dict[str, tuple[Dim, str | int | float]] = {
    "w_format": (BYTE, 2),
    "w_stored": (BYTE, "w_format"),
    "w_bytes": (BYTE, "w_format"),
    "a_bytes": (BYTE, 2),
    "kv_bytes": (BYTE, 2),
    "s_bytes": (BYTE, 4),
    "kept": (COUNT, "S"),
    "spill": (COUNT, 1),
    "overlap": (COUNT, 1),
    "rate": (COUNT, 1),
    "bit_bytes": (BYTE, 0.125),
}
"""Row symbols and their defaults: bytes per weight as formatted, stored and moved; per activation, KV and state element;
cached tokens kept; 1 where attention spills its scores to memory; expert overlap; multiple of the peak rate; one bit, in bytes."""

DEVICE: dict[str, Dim] = {"sparse_load": COUNT, "sparse_2_4": COUNT}
"""1 where the hardware or engine has the feature."""

SCHEDULE: dict[str, Dim] = dict.fromkeys(("prompt", "output", "context", "batch"), COUNT)

TERMS = (
    "flops",
    "bytes.weights", "bytes.kv", "bytes.state", "bytes.activations", "bytes.link",
    "floor.weights", "floor.kv", "holds.kv", "holds.state",
    "stored", "params", "workspace", "hops",
)  # fmt: skip

ROLES = (
    "embed", "pos", "norm", "bias", "state", "head", "body", "router",
    "expert.gate", "expert.up", "expert.down", "expert.act",
    "shared.gate", "shared.up", "shared.down",
    "mlp.gate", "mlp.up", "mlp.act", "mlp.down",
    "attn.q", "attn.k", "attn.v", "attn.o", "attn.scores", "attn.softmax", "attn.mix", "attn.latent", "attn.index", "attn.cross",
    "mixer.in", "mixer.out", "vision", "unused",
    "comm", "other",
)  # fmt: skip


def term_dim(term: str) -> Dim:
    """The dimension a term must have."""
    return COUNT if term in ("flops", "params", "hops") else BYTE


FACTS = (
    "layers", "experts", "bits", "weights", "kv", "lacking", "lack_share", "fitting_layers", "capacity", "host_ram", "host_compute",
    "prompt", "output", "context", "longest", "batch", "devices", "streams", "tokens_out", "decode_ratio", "prefill_ratio",
)  # fmt: skip
"""What formulas of an explanation may use: the case that is checked, in layers, bytes, tokens and ratios of measured to expected."""
