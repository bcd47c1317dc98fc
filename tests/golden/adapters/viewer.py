"""LLM-Viewer's table for Llama-2-7B: one operator each, and whole decode steps, counted as that tool counts."""

from __future__ import annotations

from .desk import Desk, before, decoder, row
from .registry import reproduces
from .roofline import bidirectional

TOKENS = 2048
LLAMA_2_7B = {"L": 32, "d": 4096, "n_q": 32, "n_kv": 32, "d_h": 128, "d_ff": 11008, "vocab": 32000}
ABSENT = {"repeat": 0}


def llama(desk: Desk, layers: int = 32, weights: str = "fp16") -> str:
    """Llama-2-7B as the tool counts it: no causal mask, no embedding, norms without weights, residual sums, narrow activation."""
    bidirectional(desk)
    full = {"scores": {"op": "attention-scores-full"}, "mix": {"op": "attention-mix-full"}}
    blocks = {
        "embed": ABSENT,
        "attention": {"ops": full},
        "mlp": {"ops": {"act": {"width": "d"}}},
        "sums": {"repeat": "2 * L", "ops": {"add": {"op": "elementwise", "role": "norm", "width": "d"}}},
    }
    return decoder(desk, blocks=blocks, weights=weights, **LLAMA_2_7B | {"L": layers, "norm_affine": 0, "final_norm": 0})


def operator(folder, phase: str, name: str, given):
    """The record of one operator of one layer, on the case's machine where it names one."""
    desk = Desk(folder)
    rates = {"peak": given["peak"], "bandwidth": given["bw"]} if "bw" in given else {}
    prediction = desk.predict(llama(desk, layers=1), desk.machine(**rates), prompt=TOKENS, context=before(TOKENS))
    return row(prediction, phase, name)


@reproduces("lv_prefill_q_proj_intensity", phase="prefill", name="q")
@reproduces("lv_prefill_gate_proj_intensity", phase="prefill", name="gate")
@reproduces("lv_prefill_qk_matmul_intensity", phase="prefill", name="scores")
@reproduces("lv_decode_q_proj_intensity", phase="decode", name="q")
@reproduces("lv_decode_gate_proj_intensity", phase="decode", name="gate")
def intensity(given, folder, phase, name):
    """FLOP per byte; both counts agree with the table too."""
    found = operator(folder, phase, name, given)
    assert (found.flops, found.bytes) == (given["ops"], given["bytes"])
    return found.intensity


@reproduces("lv_prefill_qk_matmul_bound", phase="prefill", name="scores")
@reproduces("lv_prefill_softmax_bound", phase="prefill", name="softmax")
@reproduces("lv_prefill_norm_bound", phase="prefill", name="norm")
@reproduces("lv_decode_gate_proj_bound", phase="decode", name="gate")
@reproduces("lv_decode_qk_matmul_bound", phase="decode", name="scores")
def bound(given, folder, phase, name):
    """What limits the operator; vector work is counted as bytes only, so ops are compared for matrix products alone."""
    return operator(folder, phase, name, given).regime


@reproduces("lv_prefill_qk_perf", phase="prefill", name="scores")
@reproduces("lv_decode_qk_perf", phase="decode", name="scores")
def attainable(given, folder, phase, name):
    """The roofline at the operator's intensity, FLOP/s."""
    return operator(folder, phase, name, given).attainable_flops


@reproduces("lv_prefill_gate_ops")
def ops(given, folder):
    """FLOPs of the gate projection."""
    assert given == {"tokens": TOKENS, "ic": LLAMA_2_7B["d"], "oc": LLAMA_2_7B["d_ff"]}
    return operator(folder, "prefill", "gate", given).flops


@reproduces("lv_total_decode_7b_a6000_time")
def decode_time(given, folder):
    """Seconds of one decode step at 2048 positions."""
    return step(Desk(folder), "fp16", given)


@reproduces("lv_total_decode_7b_w4_time")
def decode_time_w4(given, folder):
    """The same with weights of four bits and no scales."""
    desk = Desk(folder)
    desk.write("format", "four-bits", block=2, size="1 B")
    return step(desk, "four-bits", given)


def step(desk: Desk, weights: str, given) -> float:
    """Expected seconds of a decode step whose bytes agree with the table."""
    machine = desk.machine(bandwidth=given["bw"])
    decode = desk.predict(llama(desk, weights=weights), machine, context=before(TOKENS)).decode
    assert decode.bytes == given["bytes"]
    return decode.expected_s


@reproduces("lv_weights_70b_layers")
def layer_weights(given, folder):
    """Bytes of the layers' matrices alone."""
    desk = Desk(folder)
    dims = {"L": given["L"], "d": given["d"], "d_ff": given["ff"], "n_q": given["h"], "n_kv": given["kv"], "d_h": given["hd"]}
    model = decoder(desk, blocks=dict.fromkeys(("embed", "norms", "head"), ABSENT), **dims)
    return desk.predict(model, desk.machine()).memory.weights_bytes
