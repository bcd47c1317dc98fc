"""What layers of a GGUF file do between their matrices: attention, latent attention, scans. From keys and tensor names."""

from __future__ import annotations

from .ggufkeys import Keys


def mixers(layer: int, names: dict[str, tuple[int, ...]], keys: Keys, dims: dict[str, int]) -> dict[str, dict]:
    """Rows of one layer that have no weights; `names` are its tensors with their shapes."""
    rows: dict[str, dict] = {}
    if (any(n in names for n in ("attn_q", "attn_qkv", "attn_q_b", "attn_q_a")) and "attn_output" in names) or "attn_kv_a_mqa" in names:
        latent = keys.number("attention.kv_lora_rank", 0) and "attn_kv_a_mqa" in names
        rows |= _latent(keys) if latent else _attention(layer, names, keys, dims)
    if "indexer.attn_k" in names:
        width = _shape(names, "indexer.attn_k", 2, keys)[1]
        rows["index"] = {"op": "index-keys", "role": "attn.index", "heads": keys.number("attention.indexer.head_count", 1), "width": width}
    rows |= _scan(names, keys)
    if "ffn_down" in names:
        reads = 2 if "ffn_gate" in names else 1
        rows["act"] = {"op": "elementwise", "role": "mlp.act", "width": _or(names["ffn_down"][0], dims, "d_ff"), "reads": reads}
    if "ffn_down_exps" in names:
        reads = 2 if "ffn_gate_exps" in names or "ffn_gate_up_exps" in names else 1
        rows["expert_act"] = {"op": "elementwise", "role": "expert.act", "width": "k * d_e", "reads": reads}
    return rows


def _shape(names: dict, name: str, count: int, keys: Keys) -> tuple[int, ...]:
    """A tensor's shape, which must have so many dimensions."""
    shape = names[name]
    if len(shape) != count:
        raise keys.error(f"tensor `{name}` has {len(shape)} dimensions; want {count}")
    return shape


def _attention(layer: int, names: dict, keys: Keys, dims: dict) -> dict[str, dict]:
    heads = keys.at("attention.head_count", layer)
    groups = keys.at("attention.head_count_kv", layer, heads)
    if not heads or not groups:
        return {}
    window = keys.window(layer)
    _fits(layer, groups, names, keys, dims)
    swa = "_swa" if window and keys.raw("attention.key_length_swa") else ""
    wide_k = keys.number(f"attention.key_length{swa}", dims["d"] // heads)
    wide_v = keys.number(f"attention.value_length{swa}", dims["d"] // heads)
    more: dict = {"window": window} if window else {}
    own = {} if layer < keys.run - keys.number("attention.shared_kv_layers", 0) else {"own": 0}
    counts = {"heads": _or(heads, dims, "n_q"), "kv_heads": _or(groups, dims, "n_kv")}
    return {
        "scores": {"op": "attention-scores", "role": "attn.scores", **counts, "width": _or(wide_k, dims, "d_h"), **more, **own},
        "softmax": {"op": "attention-softmax", "role": "attn.softmax", "heads": counts["heads"], **more},
        "mix": {"op": "attention-mix", "role": "attn.mix", **counts, "width": _or(wide_v, dims, "d_h"), **more, **own},
    }


def _fits(layer: int, groups: int, names: dict, keys: Keys, dims: dict) -> None:
    """The keys must say what the tensors are: so many key/value heads of so many elements."""
    heads = keys.at("attention.head_count", layer)
    if heads % groups:
        raise keys.error(f"{heads} heads over {groups} key/value heads in layer {layer}; want a whole multiple")
    if "attn_k" in names:
        widths = {keys.number(f"attention.key_length{s}", dims["d"] // heads) for s in ("", "_swa")}
        rows = _shape(names, "attn_k", 2, keys)[1]
        if rows not in {groups * w for w in widths}:
            shown = " or ".join(str(w) for w in sorted(widths))
            raise keys.error(f"`attn_k` of layer {layer} has {rows} rows, but its keys say {groups} heads of {shown}")


def _latent(keys: Keys) -> dict[str, dict]:
    latent, rope = keys.number("attention.kv_lora_rank"), keys.number("rope.dimension_count")
    key = keys.number("attention.key_length_mla", 0) or keys.number("attention.key_length")
    value = keys.number("attention.value_length_mla", 0) or keys.number("attention.value_length")
    row = {"op": "mla-attention", "role": "attn.latent", "heads": "n_q", "latent": latent, "rope": rope, "nope": max(1, key - rope)}
    top = keys.number("attention.indexer.top_k", 0)
    return {"attention": {**row, "d_v": value, **({"top": top} if top else {})}}


def _scan(names: dict, keys: Keys) -> dict[str, dict]:
    """The state-space, delta-rule, convolution or time-mixing row of a layer."""
    if "shortconv.conv" in names:
        cells, width = _shape(names, "shortconv.conv", 2, keys)
        return {"scan": {"op": "mamba", "role": "state", "d_inner": width, "d_state": 0, "conv": cells}}
    if "time_mix_output" in names:
        size = keys.number("wkv.head_size", 64) or 64
        return {"scan": {"op": "gated-delta", "role": "state", "heads": names["time_mix_output"][0] // size, "d_k": size, "d_v": size}}
    if "ssm_out" not in names:
        return {}
    conv, inner, state = keys.number("ssm.conv_kernel"), keys.number("ssm.inner_size"), keys.number("ssm.state_size")
    groups, heads = keys.number("ssm.group_count", 0), max(1, keys.number("ssm.time_step_rank"))
    if any(n in names for n in ("ssm_ba", "ssm_beta", "ssm_beta_alpha", "ssm_alpha")):
        shape = {"heads": heads, "d_k": state, "d_v": inner // heads, "conv": conv, "conv_width": inner + 2 * groups * state}
        return {"scan": {"op": "gated-delta", "role": "state", **shape}}
    kind = "mamba" if "ssm_x" in names else "mamba2"
    more = {} if kind == "mamba" else {"groups": groups or 1}
    return {"scan": {"op": kind, "role": "state", "d_inner": inner, "d_state": state, "conv": conv, **more}}


def _or(value: int, dims: dict, name: str) -> int | str:
    return name if dims.get(name) == value else value
