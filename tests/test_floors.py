"""Floors of Llama-3-8B on three machines, against independently computed figures (bytes / bandwidth, FLOPs / peak)."""

from __future__ import annotations

import pytest

import costmodel

POINTS = ((1, 2048), (1, 32768), (16, 2048), (16, 32768))
MACHINES = {"4090": (1008, 165.2), "a100": (2039, 312), "ddr5": (90, 2)}
DECODE_FP16 = {"4090": (66, 52, 52, 12), "a100": (134, 106, 106, 24), "ddr5": (5.9, 4.7, 4.7, 1.1)}
DECODE_Q4 = {"4090": (206, 113), "a100": (417, 229), "ddr5": (18.4, 10.1)}
TTFT = {"4090": (0.180, 4.473), "a100": (0.095, 2.368), "ddr5": (14.8, 369)}


def rounded(value: float, printed: float) -> bool:
    """Within 1 %, or within half of the printed figure's last place."""
    places = len(str(printed).partition(".")[2]) if isinstance(printed, float) else 0
    return value == pytest.approx(printed, rel=0.01, abs=0.5 * 10**-places)


@pytest.mark.parametrize("name", MACHINES)
def test_floor_table(desk, name):
    # R10
    machine = desk.machine(*MACHINES[name])
    for (batch, context), want in zip(POINTS, DECODE_FP16[name], strict=True):
        got = costmodel.predict("llama-3-8b", machine, context=context, batch=batch).tps.ceiling
        assert rounded(got, want), (batch, context, got, want)
    for (batch, context), want in zip(POINTS, DECODE_Q4[name], strict=False):
        got = costmodel.predict("llama-3-8b", machine, context=context, batch=batch, sets=("model.weights.format=q4_k_m",)).tps.ceiling
        assert rounded(got, want), (batch, context, got, want)
    for prompt, want in zip((2048, 32768), TTFT[name], strict=True):
        assert costmodel.predict("llama-3-8b", machine, prompt=prompt).ttft_s.floor == pytest.approx(want, rel=0.01)


def test_causal_attention_grows_between_linear_and_square(desk):
    # R4
    machine = desk.machine(2039, 312)
    short, long = (costmodel.predict("llama-3-8b", machine, prompt=n).ttft_s.floor for n in (2048, 32768))
    assert long / short == pytest.approx(24.9, rel=0.01)


def test_weight_only_four_bit_keeps_the_compute_rate(desk):
    # R16
    machine = desk.machine(2039, 312)
    plain, packed = (costmodel.predict("llama-3-8b", machine, prompt=2048, techniques=t) for t in ((), ("int4",)))
    assert packed.ttft_s.floor == plain.ttft_s.floor > 0.094


def test_stored_bytes():
    # R7
    p = costmodel.predict("llama-3-8b", "rtx4090", sets=("model.weights.format=q4_k_m",))
    assert p.memory.weights_bytes == pytest.approx(4.91e9, rel=0.002)
    assert p.decode.bytes_by.weights == pytest.approx(4.62e9, rel=0.002)
    awq = costmodel.predict("llama-3-8b", "rtx4090", techniques=("int4:format=awq",))
    assert awq.memory.weights_bytes == pytest.approx(5.73e9, rel=0.002)


def test_ridge_batch_of_an_a100():
    """The floor of a 16-bit model turns from bandwidth to compute at batch 153 to 156 (short context: weights alone)."""
    runs = {b: costmodel.predict("llama-3-8b", "a100-80gb-sxm", context=1, batch=b) for b in (16, 152, 157)}
    floors = {b: p.decode.floor_s == pytest.approx(p.decode.flops / 312e12, rel=1e-9) for b, p in runs.items()}
    assert floors == {16: False, 152: False, 157: True}
    assert runs[16].decode.regime == "memory"


@pytest.mark.parametrize(("model", "per_token"), [("deepseek-v3", 70272), ("llama-3-8b", 131072), ("qwen3-0.6b", 114688)])
def test_kv_bytes_per_token(model, per_token):
    # R5, R21
    p = costmodel.predict(model, "h200-sxm", context=999, output=1)
    assert p.memory.kv_bytes == 1000 * per_token


def test_moe_is_stored_whole_and_read_in_part():
    # R6, R9
    p = costmodel.predict("mixtral-8x7b", "h200-sxm", context=1, output=1)
    embed = 32000 * 4096 * 2
    assert p.memory.weights_bytes == 46702792704 * 2
    assert p.decode.bytes_by.weights == pytest.approx(12879925248 * 2 - embed, rel=1e-6)
    full = costmodel.predict("mixtral-8x7b", "h200-sxm", context=1, batch=4096)
    assert full.decode.bytes_by.weights == pytest.approx(46702792704 * 2 - embed, rel=1e-3)
