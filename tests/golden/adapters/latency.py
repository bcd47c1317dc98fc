"""Prefill and decode times, step times of batches, throughput, memory and FLOPs of whole models."""

from __future__ import annotations

from bisect import bisect_left

from costmodel.solve import metrics
from costmodel.solve.compare import ratio

from .desk import FORMATS, LINK, Desk, bare, before, summary
from .registry import reproduces

PEER = {"peer": LINK}
CONTEXT = 8192
"""Tokens of a sequence in the scaling book's tables."""


@reproduces("decode_baseten_t4", "decode_baseten_a100", "decode_zeux_mistral_fp16_4090", "decode_zeux_mistral_int8_4090")
def decode_step(given, folder):
    """Seconds of a decode step that reads every parameter once."""
    desk = Desk(folder)
    model = summary(desk, params=given["params"], format=FORMATS[given["bytes_per"]])
    return desk.predict(model, desk.machine(bandwidth=given["bw"])).tpot_s.floor


@reproduces("prefill_baseten_a10", "prefill_baseten_a100")
def prefill(given, folder):
    """Seconds to compute a prompt."""
    desk = Desk(folder)
    model = summary(desk, params=given["params"])
    return desk.predict(model, desk.machine(peak=given["peak"]), prompt=given["tokens"]).ttft_s.floor


@reproduces("latency_kipply_52b_1gpu", "latency_kipply_13b_1gpu")
def classic_step(given, folder):
    """Seconds of a decode step of the classic block: four square projections and an MLP four times as wide, no tables."""
    desk = Desk(folder)
    return desk.predict(classic(desk, given), desk.machine(bandwidth=given["bw"])).tpot_s.floor


def classic(desk: Desk, given, name: str = "classic", only: tuple = ("q", "k", "v", "o", "up", "down")) -> str:
    """Matrices of the classic block."""
    shapes = {"up": ("mlp.up", "d", "4 * d"), "down": ("mlp.down", "4 * d", "d")} | {n: (f"attn.{n}", "d", "d") for n in "qkvo"}
    rows = {n: dict(zip(("op", "role", "d_in", "d_out"), ("linear", *shapes[n]), strict=True)) for n in only}
    return bare(desk, name, dims={"L": given["L"], "d": given["d"]}, repeat="L", **rows)


@reproduces("flops_kipply_kv")
def kv_flops(given, folder):
    """FLOPs per token of the key and value projections."""
    desk = Desk(folder)
    return desk.predict(classic(desk, given, only=("k", "v")), desk.machine()).decode.flops


@reproduces("flops_kv_share")
def kv_share(given, folder):
    """FLOPs per token of the key and value projections against those of the whole block."""
    desk = Desk(folder)
    models = classic(desk, given, "projections", ("k", "v")), classic(desk, given)
    return ratio(*(desk.predict(m, desk.machine()).decode.flops for m in models))


@reproduces("latency_kipply_260b_small")
def parallel_step(given, folder):
    """Seconds of a decode step that N devices share, at 16 bits."""
    desk = Desk(folder)
    return desk.predict(summary(desk, params=given["P"]), desk.machine(bandwidth=given["bw"], links=PEER), devices=given["N"]).tpot_s.floor


@reproduces("latency_kipply_260b_b512")
def parallel_batch(given, folder):
    """Compute seconds of a batch's step that N devices share."""
    desk = Desk(folder)
    machine = desk.machine(peak=given["peak"], links=PEER)
    return desk.predict(summary(desk, params=given["P"]), machine, devices=given["N"], batch=given["B"]).tpot_s.floor


def serving_step(given, folder):
    """A batch's decode step: weights at a stated size, KV of each sequence, compute at the peak."""
    desk = Desk(folder)
    dims = {"params": given["P"], "kv": given["kv"], "tokens": CONTEXT, "kv_bytes_per_token": "= kv / tokens"}
    model = summary(desk, size=f"{given['W']} B", **dims)
    machine = desk.machine(peak=given["F"], bandwidth=given["bw"])
    return desk.predict(model, machine, context=before(CONTEXT), batch=given["B"])


@reproduces(
    "sb7_llama13b_step_b1",
    "sb7_llama13b_step_b8",
    "sb7_llama13b_step_b32",
    "sb7_llama13b_step_b240",
    "sb7_llama13b_gqa_step_b1",
    "sb7_llama13b_gqa_step_b64",
    "sb7_popquiz_b4",
    "sb7_popquiz_b256",
)
def step_seconds(given, folder):
    """Seconds of a batch's step."""
    return serving_step(given, folder).tpot_s.expected


@reproduces("sb7_llama13b_tps_b1", "sb7_llama13b_tps_b16", "sb7_llama13b_tps_b64", "sb7_llama13b_tps_b240")
def system_tps(given, folder):
    """Tokens per second over the batch."""
    return serving_step(given, folder).system_tps


@reproduces("sb8_full_hbm_step")
def full_memory_step(given, folder):
    """Seconds of a step that reads a memory full of weights."""
    desk = Desk(folder)
    model = summary(desk, size=f"{given['hbm']} B", params=10**9)
    return desk.predict(model, desk.machine(bandwidth=given["bw"])).tpot_s.floor


@reproduces("sb7_layer_floor")
def layer_floor(given, folder):
    """Seconds to read one layer that N devices share."""
    desk = Desk(folder)
    model = summary(desk, params=given["params"], format=FORMATS[given["b"]])
    return desk.predict(model, desk.machine(bandwidth=given["bw"], links=PEER), devices=given["N"]).tpot_s.floor


@reproduces("ep_tps_ib")
def user_tps(given, folder):
    """Tokens per second and user at a gap."""
    return metrics.per_user_tps(given["tpot"])


@reproduces("sb8_mem_70b_b32_8k")
def memory(given, folder):
    """Weights and the KV of a batch."""
    desk = Desk(folder)
    model = summary(desk, size=f"{given['W']} B", kv_bytes_per_token=given["kv"])
    return desk.predict(model, desk.machine(), output=given["T"], batch=given["B"]).memory.total_bytes


@reproduces("sb8_chips_bs240_32k")
def chips(given, folder):
    """The fewest devices that hold the weights and the KV of a batch."""
    desk = Desk(folder)
    dims = {"kv": given["kv"], "batch": 240, "tokens": 32768, "kv_bytes_per_token": "= kv / batch / tokens"}
    model, machine = summary(desk, size=f"{given['W']} B", **dims), desk.machine(capacity=given["hbm"], links=PEER)

    def fits(devices: int) -> bool:
        return desk.predict(model, machine, devices=devices, output=32768, batch=240).memory.fits

    counts = range(1, 1025)
    return counts[bisect_left(counts, True, key=fits)]


@reproduces("sb8_kvcaches_int8", "sb8_kvcaches_int4")
def sequences(given, folder):
    """The largest batch of sequences that fits beside the weights on several chips of 16 GB."""
    desk = Desk(folder)
    model = summary(desk, size=f"{given['W']} B", kv_bytes_per_token=given["kv"])
    machine = desk.machine(capacity=16e9, links=PEER)
    return desk.predict(model, machine, devices=given["chips"], output=CONTEXT).memory.max_batch
