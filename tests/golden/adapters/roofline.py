"""Ridge points, critical batches, single matrix products and attention."""

from __future__ import annotations

from bisect import bisect_left

from costmodel.solve.compare import ratio

from .desk import FORMATS, Desk, bare, before, summary
from .registry import reproduces


@reproduces("ridge_a10_fp16", "ridge_a100_40_fp16", "ridge_v100_fp16", dtype="fp16")
@reproduces("ridge_b200_bf16", "ridge_h100_bf16_rounded", "ridge_v6e_bf16", dtype="bf16")
@reproduces("ridge_h100_fp8", "ridge_h100_fp8_zeux", dtype="fp8")
@reproduces("ridge_v5e_int8", dtype="int8")
@reproduces("ridge_rtx4090_fp32", "ridge_ryzen7950x_fp32", dtype="fp32")
@reproduces("ridge_opteron_x4", "ridge_xeon_clovertown", "ridge_cell_qs20", dtype="fp64")
def ridge(given, folder, dtype):
    """The ridge of a machine under an engine whose maths runs in the case's type."""
    desk = Desk(folder)
    machine = desk.machine(peak=given["peak"], bandwidth=given["bw"], dtype=dtype)
    engine = desk.write("engine", "maths", extends="ideal", fixed=True, math=dtype)
    return desk.predict(summary(desk), machine, engine=engine).prefill.ridge


@reproduces("bcrit_v5e_int8w_bf16", "bcrit_v5e_int8_int8")
def critical_batch(given, folder):
    """How many tokens take as long to compute as the weights take to read: the speeds of one token, each limit alone."""
    desk = Desk(folder)
    model = summary(desk, format=FORMATS[given["bytes_w"]], params=10**9)
    compute = desk.predict(model, desk.machine("compute", peak=given["peak"]))
    memory = desk.predict(model, desk.machine("memory", bandwidth=given["bw"]))
    return ratio(compute.tps.ceiling, memory.tps.ceiling)


def product(desk: Desk, d_in: int, d_out: int, tokens: int, machine: dict | None = None):
    """The prefill of one stored matrix over `tokens` rows, weights and activations at two bytes."""
    model = bare(desk, matrix={"op": "linear", "role": "mlp.up", "d_in": d_in, "d_out": d_out})
    return desk.predict(model, desk.machine(**(machine or {})), prompt=tokens).prefill


@reproduces("gemm_8192_128_8192", "gemm_gemv")
def gemm_rows(given, folder):
    """FLOP per byte of a matrix product: M rows of K against a stored K x N matrix."""
    return product(Desk(folder), given["K"], given["N"], given["M"]).intensity


@reproduces("gemm_linear_b512")
def gemm_linear(given, folder):
    """FLOP per byte of a linear layer over a batch."""
    return product(Desk(folder), given["K"], given["N"], given["M"]).intensity


@reproduces("b200_matmul_64_bytes")
def matmul_bytes(given, folder):
    """Bytes of a linear layer: weights, inputs and outputs."""
    return product(Desk(folder), given["D"], given["F"], given["B"]).bytes


@reproduces("b200_matmul_512_time")
def matmul_time(given, folder):
    """Seconds of a linear layer: the longer of compute and memory."""
    return product(Desk(folder), given["D"], given["F"], given["B"], {"peak": given["peak"], "bandwidth": given["bw"]}).expected_s


@reproduces("v5e_8x131072_flops_time")
def matmul_compute_time(given, folder):
    """Compute seconds of a square layer, on a machine whose memory never limits."""
    return product(Desk(folder), given["N"], given["N"], given["B"], {"peak": given["peak"]}).expected_s


@reproduces("v5e_16GB_hbm_time")
def read_time(given, folder):
    """Seconds to read weights of a stated size once."""
    desk = Desk(folder)
    model = summary(desk, size=f"{given['bytes']} B", params=10**9)
    return desk.predict(model, desk.machine(bandwidth=given["bw"])).decode.floor_s


def attention_rows(suffix: str = "", **heads) -> dict:
    """Both products of an attention layer."""
    ops = {"scores": f"attention-scores{suffix}", "mix": f"attention-mix{suffix}"}
    return {name: {"op": op, "role": f"attn.{name}"} | heads for name, op in ops.items()}


def bidirectional(desk: Desk) -> None:
    """Operators of attention without a causal mask: every query meets every key."""
    for name in ("attention-scores", "attention-mix"):
        desk.write("operator", f"{name}-full", extends=name, let={"pairs": "T * (kept + T)"})


@reproduces("attn_intensity_prefill")
def attention_prefill(given, folder):
    """FLOP per byte of fused attention over a whole prompt, without a mask; as many queries as keys."""
    desk = Desk(folder)
    bidirectional(desk)
    assert given["S"] == given["T"]
    model = bare(desk, **attention_rows("-full", heads=8, kv_heads=8, width=128))
    return desk.predict(model, desk.machine(), techniques=("flash-attention",), prompt=given["T"]).prefill.intensity


@reproduces("attn_intensity_decode_gqa")
def attention_decode(given, folder):
    """FLOP per byte of fused grouped-query attention in one decode step."""
    desk = Desk(folder)
    assert given["T"] == 1
    model = bare(desk, dims={"G": given["G"]}, **attention_rows(heads="G", kv_heads=1, width=128))
    return desk.predict(model, desk.machine(), techniques=("flash-attention",), context=before(given["S"])).decode.intensity


@reproduces("attn_eq_proj_seq")
def attention_equals_projections(given, folder):
    """The shortest prompt whose scores and values take the FLOPs of the four projections, without a mask."""
    desk = Desk(folder)
    bidirectional(desk)
    D, machine = given["D"], desk.machine()
    attention = bare(desk, "attention", dims={"D": D}, **attention_rows("-full", heads=1, kv_heads=1, width="D"))
    matrices = {f"attn.{n}": {"op": "linear", "role": f"attn.{n}", "d_in": D, "d_out": D} for n in "qkvo"}
    projections = bare(desk, "projections", **matrices)

    def reached(tokens: int) -> bool:
        one, other = (desk.predict(m, machine, prompt=tokens).prefill.flops for m in (attention, projections))
        return one >= other

    lengths = range(1, 65537)
    return lengths[bisect_left(lengths, True, key=reached)]
