"""Serving metrics, experts, speculation, chunked prefill, tensor parallelism, hand-off and offload."""

from __future__ import annotations

from costmodel.language.units import SECOND, quantity
from costmodel.solve import metrics
from costmodel.solve.compare import ratio
from costmodel.solve.steps import handoff_bytes

from .desk import LINK, UNLIMITED, Desk, bare, decoder, summary
from .registry import reproduces


@reproduces("nim_closedloop_c1_o500", "nim_closedloop_c25_o500", "nim_closedloop_c100_o500", "nim_closedloop_c250_o500")
def closed_loop(given, folder):
    """Tokens per second of clients that wait for each answer; the source states milliseconds."""
    ttft, itl = (quantity(f"{given[name]} ms", SECOND) for name in ("ttft", "itl"))
    return metrics.closed_loop_tps(given["c"], given["n"], metrics.end_to_end(ttft, itl, given["n"]))


@reproduces("metric_itl")
def itl(given, folder):
    """Mean gap between tokens."""
    return metrics.itl_mean(given["e2e"], given["ttft"], given["n"])


@reproduces("metric_tps_user_aiperf")
def per_user(given, folder):
    """Tokens per second and user from the gap."""
    return metrics.per_user_tps(given["itl"])


@reproduces("metric_tps_user_nim")
def per_request(given, folder):
    """Tokens per second and user over the whole request."""
    return metrics.user_tps(given["n"], metrics.end_to_end(given["ttft"], given["itl"], given["n"]))


@reproduces(
    "moe_touched_E8_k2_B1",
    "moe_touched_E8_k2_B16",
    "moe_touched_E128_k8_B64",
    "moe_touched_E128_k4_B32",
    "moe_touched_E256_k8_B256",
    "moe_wrong_law_E2_k2",
)
def experts_touched(given, folder):
    """Experts that a decode step reads: its weight bytes where an expert is one byte."""
    desk = Desk(folder)
    expert = {"op": "expert", "role": "expert.up", "d_in": 1, "d_out": 1, "experts": given["E"], "active": given["k"]}
    return desk.predict(bare(desk, weights="int8", expert=expert), desk.machine(), batch=given["B"]).decode.bytes_by.weights


def speculate(desk: Desk, machine: str, drafted: int, acceptance: float, cost, small: str):
    """Predictions with and without a draft that costs `cost` of the target (nothing: the `small` one)."""
    sizes = {"target": "1 GB", "draft": f"{cost} GB" if cost else small}
    target, draft = (summary(desk, name, size=size, params=2 * 10**9 if name == "target" else 1) for name, size in sizes.items())
    use = f"speculative-decoding:draft={draft},drafted={drafted},acceptance={acceptance}"
    return tuple(desk.predict(target, machine, techniques=t) for t in ((use,), ()))


@reproduces(
    "spec_t1_speed_a0.6_g2",
    "spec_t1_speed_a0.7_g3",
    "spec_t1_speed_a0.8_g2",
    "spec_t1_speed_a0.9_g10",
    "spec_t4_ende_small_t0",
    "spec_t4_ende_large_t0",
    "spec_t4_ende_small_t1",
    "spec_t4_ende_large_t1",
    "spec_t4_cnndm_base_t0",
    "spec_t4_cnndm_large_t0",
    "spec_t4_cnndm_base_t1",
    "spec_bigram",
    "spec_lenience_t0_a0.75",
    "spec_lenience_t0_a0.87",
)
def speculation(given, folder):
    """Speed-up of memory-bound speculative decoding."""
    return speedup(folder, given["g"], given["a"], given["c"])


@reproduces("spec_one_step_bound")
def speculation_of_one(given, folder):
    """Speed-up with one drafted token."""
    return speedup(folder, 1, given["a"], given["c"])


def speedup(folder, drafted: int, acceptance: float, cost) -> float:
    """Speed with speculation against speed without, where only memory limits and reading the target takes a second."""
    desk = Desk(folder)
    new, old = speculate(desk, desk.machine(bandwidth=10**9), drafted, acceptance, cost, "1 B")
    return ratio(new.tps.ceiling, old.tps.ceiling)


@reproduces("spec_t1_ops_a0.8_g2", "spec_t1_ops_a0.8_g5", "spec_t1_ops_a0.9_g2")
def speculation_flops(given, folder):
    """Operations per token with speculation against without: seconds per token where only compute limits."""
    desk = Desk(folder)
    assert given["chat"] == 0
    new, old = speculate(desk, desk.machine(peak=10**9), given["g"], given["a"], given["chat"], "1 B")
    return ratio(new.tpot_s.floor, old.tpot_s.floor)


@reproduces("mtp_dsv3_low")
def multi_token(given, folder):
    """Tokens per step with one extra predicted token."""
    desk = Desk(folder)
    use = f"mtp:extra={given['g']},acceptance={given['a']}"
    return desk.predict(summary(desk), desk.machine(), techniques=(use,)).tokens_out


def chunked(given, folder):
    """The prefill of a prompt in chunks, with one byte of weights and one byte of KV per token."""
    desk = Desk(folder)
    model = summary(desk, format="int8", params=1, kv_bytes_per_token=1)
    return desk.predict(model, desk.machine(), techniques=(f"chunked-prefill:chunk={given['c']}",), prompt=given["n"]).prefill


@reproduces("chunk_kv_reread_8192_512", "chunk_kv_reread_32768_2048")
def chunk_kv(given, folder):
    """KV positions read over all chunks."""
    return chunked(given, folder).bytes_by.kv


@reproduces("chunk_weight_reread_32768_2048")
def chunk_weights(given, folder):
    """Times that the weights are read."""
    found = chunked(given, folder)
    assert found.steps == found.bytes_by.weights
    return found.bytes_by.weights


@reproduces("tp_allreduce_bytes_layer")
def all_reduce(given, folder):
    """Bytes that each device sends for the two all-reduces of a layer."""
    desk = Desk(folder)
    model = decoder(desk, d=given["d"], d_h="= d")
    machine = desk.machine(links={"peer": LINK})
    assert given["b"] == 2
    return desk.predict(model, machine, devices=given["N"], batch=given["B"]).decode.link_bytes


@reproduces("sb8_t_hbm")
def sharded_weights(given, folder):
    """Seconds to read one of the shards of a 16-bit matrix."""
    desk = Desk(folder)
    model = bare(desk, matrix={"op": "linear", "role": "mlp.up", "d_in": given["D"], "d_out": given["F"]})
    machine = desk.machine(bandwidth=given["W"], links={"peer": LINK})
    return desk.predict(model, machine, devices=given["Y"]).tpot_s.floor


@reproduces("kv_opt66b_10rps_gbps")
def handoff(given, folder):
    """Bytes per second of KV that prefill hands to decode: OPT-66B, prompts of 512 tokens, a second's requests at once."""
    desk = Desk(folder)
    machine = desk.machine(links={"network": LINK})
    one, second = (desk.predict("opt-66b", machine, techniques=("disaggregation",), prompt=512, batch=b) for b in (1, given["rps"]))
    assert handoff_bytes(one) == given["bytes"]
    return handoff_bytes(second)


def streamed(desk: Desk, size, link: dict, **host):
    """A decode step that streams all weights from host memory."""
    fields = {"host": {"dram": {"bandwidth": f"{UNLIMITED} B/s"}}, "links": {"host": LINK | link}}
    machine = desk.machine(**fields, **host)
    return desk.predict(summary(desk, size=f"{size} B"), machine, techniques=("offload:share=1",))


@reproduces("offload_70b_int4_stream")
def offload(given, folder):
    """Seconds per token with all weights streamed over the host link."""
    return streamed(Desk(folder), given["bytes"], {"bandwidth": f"{given['W']} B/s"}).tpot_s.floor


@reproduces("sb2_pcie_load")
def offload_links(given, folder):
    """Seconds to load weights over several host links at once."""
    params = {"links": given["links"], "one": f"{given['W']} B/s"}
    return streamed(Desk(folder), given["bytes"], {"bandwidth": "= links * one"}, params=params).tpot_s.floor
