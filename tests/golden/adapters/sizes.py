"""Parameters, bits per weight, file sizes and sparsity."""

from __future__ import annotations

import costmodel
from costmodel.solve.compare import ratio

from .desk import Desk, bare, decoder, summary
from .registry import reproduces

ABSENT = {"repeat": 0}


def dense_dims(given) -> dict:
    """The canonical dims of a decoder's inputs."""
    return {
        "L": given["L"],
        "d": given["d"],
        "d_ff": given["ff"],
        "n_q": given["h"],
        "n_kv": given["kv"],
        "d_h": given["hd"],
        "vocab": given["V"],
    }


@reproduces("params_llama2_13b", "params_llama31_8b", "params_llama31_70b", "params_mistral_7b")
def dense(given, folder):
    """Parameters of a gated decoder."""
    desk = Desk(folder)
    return desk.compile(decoder(desk, **dense_dims(given), tied=int(given["tied"]))).params()


@reproduces("params_sb7_18b")
def dense_tied(given, folder):
    """Parameters of a tied decoder whose norms are not counted."""
    desk = Desk(folder)
    dims = {
        "L": given["L"],
        "d": given["D"],
        "d_ff": given["F"],
        "n_q": given["N"],
        "n_kv": given["K"],
        "d_h": given["H"],
        "vocab": given["V"],
    }
    return desk.compile(decoder(desk, **dims, tied=1, norm_affine=0)).params()


@reproduces("params_sb4_16b")
def dense_one_norm(given, folder):
    """Parameters of a decoder with square projections and one norm per layer."""
    desk = Desk(folder)
    dims = {"L": given["L"], "d": given["D"], "d_ff": given["F"], "d_h": "= d", "vocab": given["V"], "norms": 1, "final_norm": 0}
    return desk.compile(decoder(desk, **dims)).params()


def mixture(desk: Desk, given):
    """A decoder whose feed-forward layers are all experts."""
    dims = dense_dims(given) | {"d_e": given["ff"], "E": given["E"], "k": given["k"], "qk_norm": int(given["qknorm"] > 0)}
    return desk.compile(decoder(desk, **dims))


@reproduces("params_mixtral_8x7b_total", "params_mixtral_8x22b_total")
def mixture_total(given, folder):
    """Parameters of a mixture of experts."""
    return mixture(Desk(folder), given).params()


@reproduces("params_mixtral_8x22b_active", "params_qwen3_30b_a3b_active")
def mixture_active(given, folder):
    """Parameters that a token uses."""
    return mixture(Desk(folder), given).active_params()


def deepseek(desk: Desk, given):
    """A DeepSeek model: latent attention, leading dense layers, shared and routed experts."""
    dims = {"L": given["L"], "d": given["d"], "n_q": given["h"], "vocab": given["V"], "q_rank": given["qr"], "kv_rank": given["kvr"]}
    dims |= {"nope": given["nope"], "rope": given["rope"], "d_v": given["v"], "L_dense": given["dl"], "d_ff": given["dff"]}
    dims |= {
        "E": given["E"],
        "k": given["k"],
        "d_e": given["ff"],
        "shared": given["sh"],
        "d_shared": "= shared * d_e",
        "router_bias": given["gb"],
    }
    return desk.compile(desk.model(architecture="mla", dims=dims, weights={"format": "bf16"}))


@reproduces("params_dsv3_total")
def deepseek_total(given, folder):
    """Parameters of DeepSeek-V3's main model."""
    return deepseek(Desk(folder), given).params()


@reproduces("params_dsv3_active", "params_dsv2_active")
def deepseek_active(given, folder):
    """Parameters that a token uses, both embedding tables counted."""
    return deepseek(Desk(folder), given).active_params()


def gpt_oss(given) -> dict:
    """Dims of a gpt-oss model: biases everywhere, a learned sink per head."""
    dims = {"L": given["L"], "d": given["d"], "n_q": given["h"], "n_kv": given["kv"], "d_h": given["hd"], "vocab": given["V"]}
    experts = {"E": given["E"], "k": given["k"], "d_e": given["f"], "expert_bias": 1, "router_bias": 1}
    return dims | experts | {"qkv_bias": 1, "o_bias": 1, "sinks": 1}


@reproduces("params_gptoss_120b_mlp", "params_gptoss_20b_mlp")
def gpt_oss_mlp(given, folder):
    """Parameters of the experts and routers alone."""
    desk = Desk(folder)
    rest = dict.fromkeys(("embed", "norms", "layer", "attention", "head"), ABSENT)
    return desk.compile(decoder(desk, blocks=rest, **gpt_oss(given))).params()


@reproduces("params_gptoss_120b_active")
def gpt_oss_active(given, folder):
    """Parameters that a token uses: the output table counted, the input table and norms not."""
    desk = Desk(folder)
    return desk.compile(decoder(desk, **gpt_oss(given) | {"tied": 1, "norm_affine": 0})).active_params()


@reproduces("bytes_gptoss_120b_ckpt")
def gpt_oss_bytes(given, folder):
    """Bytes of the checkpoint: experts' matrices in MXFP4, all else (their biases too) in BF16."""
    desk = Desk(folder)
    biases = {"op": "vector", "role": "bias", "size": "E * (2 * d_e + d)"}
    model = decoder(desk, weights="mxfp4", blocks={"moe": {"ops": {"biases": biases}}}, **gpt_oss(given) | {"expert_bias": 0})
    return desk.predict(model, desk.machine()).memory.weights_bytes


@reproduces("params_lora_gpt3_r4", "params_lora_gpt3_r1")
def adapters(given, folder):
    """Parameters of low-rank adapters on square matrices."""
    desk = Desk(folder)
    down = {"op": "linear", "role": "attn.q", "d_in": "d", "d_out": "r"}
    up = {"op": "linear", "role": "attn.q", "d_in": "r", "d_out": "d"}
    return desk.compile(bare(desk, dims=dict(given), repeat="mats * L", down=down, up=up)).params()


@reproduces("weights_opt175b_flexgen")
def opt_bytes(given, folder):
    """Bytes of the layers of a model with square projections and a two-matrix MLP."""
    desk = Desk(folder)
    dims = {"L": given["l"], "d": given["h1"], "d_ff": given["h2"], "d_h": "= d", "gated": 0}
    model = decoder(desk, blocks=dict.fromkeys(("embed", "norms", "head"), ABSENT), **dims)
    return desk.predict(model, desk.machine()).memory.weights_bytes


def llama_bytes(desk: Desk, format: str) -> float:
    """Stored bytes of the shipped Llama 3.1 8B in a format."""
    return desk.predict("llama-3.1-8b", desk.machine(), sets=(f"model.weights.format={format}",)).memory.weights_bytes


@reproduces("gguf_llama31_8b_Q4_K_M_gib", "gguf_q4km_from_types", "gguf_q4km_file", format="q4_k_m")
@reproduces("gguf_llama31_8b_Q5_K_S_gib", format="q5_k_s")
@reproduces("gguf_llama31_8b_Q6_K_gib", format="q6_k")
@reproduces("gguf_llama31_8b_Q8_0_gib", format="q8_0")
@reproduces("gguf_llama31_8b_Q3_K_L_gib", format="q3_k_l")
@reproduces("gguf_llama31_8b_Q2_K_gib", format="q2_k")
@reproduces("gguf_llama31_8b_Q2_K_S_gib", format="q2_k_s")
def file_bytes(given, folder, format):
    """Bytes of a GGUF file's tensors."""
    return llama_bytes(Desk(folder), format)


@reproduces("gguf_llama31_8b_Q4_K_S_bpw", format="q4_k_s")
@reproduces("gguf_llama31_8b_Q5_K_M_bpw", format="q5_k_m")
@reproduces("gguf_llama31_8b_Q5_K_S_bpw", format="q5_k_s")
@reproduces("gguf_llama31_8b_F16_bpw", format="gguf-f16")
@reproduces("gguf_llama31_8b_Q3_K_S_bpw", format="q3_k_s")
@reproduces("gguf_llama31_8b_Q3_K_L_bpw", format="q3_k_l")
@reproduces("gguf_llama31_8b_IQ4_NL_bpw", format="iq4_nl")
@reproduces("gguf_llama31_8b_IQ4_XS_bpw", format="iq4_xs")
def file_bits(given, folder, format):
    """Mean bits per weight: the file against the same model at one bit a weight."""
    desk = Desk(folder)
    desk.write("format", "one-bit", block=8, size="1 B")
    return ratio(llama_bytes(desk, format), llama_bytes(desk, "one-bit"))


def bits(folder, format: str) -> float:
    """Bits of a matrix row under a shipped format."""
    desk = Desk(folder)
    matrix = {"op": "linear", "role": "mlp.up", "d_in": 4096, "d_out": 4096}
    return desk.predict(bare(desk, weights=format, matrix=matrix), desk.machine()).operators["decode"][0].bits


@reproduces("bpw_Q4_K", format="q4_k")
@reproduces("bpw_Q6_K", format="q6_k")
@reproduces("bpw_Q8_0", format="q8_0")
@reproduces("bpw_IQ3_S", format="iq3_s")
@reproduces("bpw_TQ2_0", format="tq2_0")
@reproduces("bpw_MXFP4", format="mxfp4")
@reproduces("bpw_IQ1_S", format="iq1_s")
@reproduces("bpw_gptq_int4_g128_sym", format="gptq_int4_g128_sym")
@reproduces("bpw_nf4_g64", format="nf4_g64")
@reproduces("bpw_flexgen_g64", format="flexgen_int4_g64")
@reproduces("bpw_mxfp8", format="mxfp8")
@reproduces("bpw_fp8_block128", format="fp8_block_128x128")
def block_bits(given, folder, format):
    """Bits per weight of a shipped block format, whose block is the case's."""
    doc = costmodel.Library().load("format", format).doc
    assert doc.block == given.get("block", given.get("g")) and doc.size == given.get("bytes", doc.size)
    return bits(folder, format)


@reproduces("bytes_zeux_commandr_4p5bpw")
def stated_bits(given, folder):
    """Stored bytes of a model known by its size, at stated bits per weight."""
    desk = Desk(folder)
    desk.write("format", "stated", block=1, size=f"{given['bpw']} bit")
    return desk.predict(summary(desk, format="stated", params=given["params"]), desk.machine()).memory.weights_bytes


def layer(desk: Desk) -> str:
    """One prunable matrix."""
    return bare(desk, matrix={"op": "linear", "role": "mlp.up", "d_in": 4096, "d_out": 4096})


@reproduces("sparse24_fp16_ratio")
def sparse_ratio(given, folder):
    """Stored bytes under 2:4 sparsity against dense."""
    assert given == {"bits": 16, "meta": 2}
    desk = Desk(folder)
    machine = desk.machine(features=["sparse_2_4"])
    new, old = (desk.predict(layer(desk), machine, techniques=t).memory.weights_bytes for t in (("sparsity-2-4",), ()))
    return ratio(new, old)


@reproduces("sparse24_a100_peak")
def sparse_peak(given, folder):
    """Peak rate under 2:4 sparsity: the ridge where one byte moves per second."""
    desk = Desk(folder)
    machine = desk.machine(peak=given["dense"], bandwidth=1, features=["sparse_2_4"])
    return desk.predict(layer(desk), machine, techniques=("sparsity-2-4",)).prefill.ridge
