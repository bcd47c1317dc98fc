"""KV cache, latent cache, windows and recurrent state."""

from __future__ import annotations

from costmodel.solve.compare import ratio

from .desk import FORMATS, Desk, bare, decoder, summary
from .registry import reproduces


def kv_bytes(desk: Desk, model: str, tokens: int = 1) -> float:
    """Bytes of KV that one sequence of `tokens` holds."""
    return desk.predict(model, desk.machine(), output=tokens).memory.kv_bytes


@reproduces(
    "kv_llama2_7b_4096",
    "kv_opt13b_token",
    "kv_opt13b_2048",
    "kv_opt175b_flexgen",
    "kv_kipply52b_token",
    "kv_llama2_13b_8192",
    "kv_llama3_70b_int8_32k",
    "kv_llama3_70b_int8_bs240_32k",
    "kv_sb7_q1_token",
    "kv_256k_mistral_7b",
    "kv_256k_mixtral_8x7b",
    "kv_256k_mixtral_8x22b",
    "kv_256k_llama31_70b",
    "kv_256k_jamba_1",
    "kv_256k_llama31_405b",
    "kv_qwen25_72b_token",
    "kv_llama31_405b_token",
    "kv_zeux_mistral_4096",
    "kv_zeux_commandr_4096",
    "kv_zeux_commandr_100k_fp8",
)
def grouped(given, folder):
    """KV of a decoder with `kv` heads."""
    desk = Desk(folder)
    heads = {"L": given["L"], "n_kv": given["kv"], "n_q": given["kv"], "d_h": given["hd"]}
    return kv_bytes(desk, decoder(desk, kv=FORMATS[given["b"]], **heads), given["T"])


@reproduces("kv_mha_dsv2_large", heads="heads")
@reproduces("kv_zeux_mistral_elems", heads="kv")
def elements(given, folder, heads):
    """Elements of K and V per token: the bytes at one byte an element."""
    desk = Desk(folder)
    model = decoder(desk, kv="int8", L=given["L"], n_q=given[heads], n_kv=given[heads], d_h=given["hd"])
    return kv_bytes(desk, model)


def latent(desk: Desk, name: str, kv: str = "fp16", **dims) -> str:
    """A decoder with multi-head latent attention; only its cache matters here."""
    usual = {"d": 512, "d_ff": 2048, "vocab": 32000, "n_q": 4, "nope": 128, "d_v": 128}
    return desk.model(name, architecture="mla", dims=usual | dims, weights={"format": "fp16"}, kv={"format": kv})


@reproduces("kv_mla_dsv2_small")
def latent_elements(given, folder):
    """Elements of latent and rotary key per token."""
    desk = Desk(folder)
    return kv_bytes(desk, latent(desk, "latent", kv="int8", L=given["L"], kv_rank=given["c"], rope=given["r"]))


@reproduces("kv_mla_equiv_gqa_groups")
def groups(given, folder):
    """The latent cache against that of a single key/value head."""
    desk = Desk(folder)
    new = latent(desk, "latent", L=1, kv_rank=given["c"], rope=given["r"])
    old = decoder(desk, "one-group", L=1, n_q=4, n_kv=1, d_h=given["hd"])
    return ratio(kv_bytes(desk, new), kv_bytes(desk, old))


@reproduces("kv_ratio_405b_dsv3")
def llama_against_deepseek(given, folder):
    """Bytes per token of Llama 3.1 405B against DeepSeek-V3, as shipped."""
    desk = Desk(folder)
    llama, deepseek = kv_bytes(desk, "llama-3.1-405b"), kv_bytes(desk, "deepseek-v3")
    assert (llama, deepseek) == (given["a"], given["b"])
    return ratio(llama, deepseek)


@reproduces("kv_swa_mistral_32k")
def window_ratio(given, folder):
    """The full cache against one that a sliding window caps in every layer."""
    desk = Desk(folder)
    full = decoder(desk, "full", L=32, n_q=32, n_kv=8, d_h=128)
    window = decoder(desk, "window", L=32, n_q=32, n_kv=8, d_h=128, L_local="= L", window=given["W"])
    return ratio(kv_bytes(desk, full, given["T"]), kv_bytes(desk, window, given["T"]))


@reproduces("kv_hybrid_5to1_w1024_128k")
def hybrid_ratio(given, folder):
    """A mix of windowed and global layers against all-global."""
    desk = Desk(folder)
    dims = {"local": given["local"], "glob": given["glob"], "L": "= local + glob", "n_q": 8, "n_kv": 4, "d_h": 128}
    mixed = decoder(desk, "mixed", **dims | {"L_local": "= local", "window": given["W"]})
    full = decoder(desk, "global", **dims)
    return ratio(kv_bytes(desk, mixed, given["T"]), kv_bytes(desk, full, given["T"]))


@reproduces("kv_baseten_tokens_in_10GB")
def tokens_in_free_memory(given, folder):
    """Longest context where `free` bytes are left beside the weights (here next to none)."""
    desk = Desk(folder)
    model = summary(desk, size="1 B", kv_bytes_per_token=given["per_token"])
    return desk.predict(model, desk.machine(capacity=given["free"])).memory.max_context


@reproduces("kv_kipply_tokens_3gpu", "kv_anyscale_tokens")
def tokens_beside_weights(given, folder):
    """Longest context beside weights of a stated size."""
    desk = Desk(folder)
    model = summary(desk, size=f"{given['weights']} B", kv_bytes_per_token=given["per_token"])
    return desk.predict(model, desk.machine(capacity=given["mem"])).memory.max_context


@reproduces("ssm_mamba2_2p7b_state")
def scan_state(given, folder):
    """State of a Mamba-2 model without its convolutions' windows."""
    desk = Desk(folder)
    dims = {name: given[name] for name in ("L", "d", "e", "N")}
    scan = {"op": "mamba2", "role": "state", "d_inner": "e * d", "d_state": "N", "conv": 1}
    model = bare(desk, dims=dims, repeat="L", state=FORMATS[given["b"]], scan=scan)
    return desk.predict(model, desk.machine()).memory.state_bytes


@reproduces("gdn_state_qwen3next_layer")
def delta_state(given, folder):
    """State of one gated-delta layer."""
    desk = Desk(folder)
    rule = {"op": "gated-delta", "role": "state", "heads": given["vh"], "d_k": given["dk"], "d_v": given["dv"]}
    model = bare(desk, state=FORMATS[given["b"]], rule=rule)
    return desk.predict(model, desk.machine()).memory.state_bytes
