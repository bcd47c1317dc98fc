"""The article's tables and claims, out of the solver."""

from __future__ import annotations

import pytest

import costmodel
from costmodel.api import library
from costmodel.report.render import render_study
from costmodel.solve.views import run_study

MODELS = ("1b", "3b", "8b", "14b")

RULE = "rule-of-thumb"
"""The article's engine: 70 % of bandwidth and of peak."""


def study(name: str) -> dict:
    return run_study(library().load("study", name).doc, library())


def text(name: str, lang: str = "en", fmt: str = "text") -> str:
    doc = library().load("study", name).doc
    return render_study(doc, run_study(doc, library()), fmt, lang)


def test_table_a_phases():
    prefill, decode = study("phases")["rows"]
    assert (prefill["operation"], decode["operation"]) == ("gemm", "gemv")
    assert (prefill["level"], decode["level"]) == ("high", "low")
    assert (prefill["bound"], decode["bound"]) == ("compute", "memory")
    assert (prefill["decides"], decode["decides"]) == ("ttft", "tpot")
    assert (prefill["faster_with"], decode["faster_with"]) == ("flops", "bytes")
    assert "matrix × matrix (GEMM)" in text("phases") and "행렬 x 벡터 (GEMV)" in text("phases", "ko")


def test_table_b_bandwidths():
    rows = {r["hardware"]: r["bandwidth"] / 1e9 for r in study("hardware")["rows"]}
    assert rows == {"ddr4": 51, "ddr5": 90, "m3-pro": 150, "m3-max": 400, "rtx4090": 1008}


def test_table_c_ceilings():
    # R13
    rows = study("decode-ceiling")["rows"]
    assert [round(r["ceiling"]) for r in rows] == [112, 45, 19, 11]
    assert all(abs(r["about"] - want) <= 1 for r, want in zip(rows, (78, 32, 13, 7), strict=True))
    assert [r["file_size"] / 1e9 for r in rows] == pytest.approx([0.8, 2.0, 4.7, 8.5])


def test_table_e_phase_helped():
    helps = {r["technique"]: r["helps"] for r in study("techniques")["rows"]}
    assert helps == {
        "quantization": "decode",
        "kv-and-gqa": "decode",
        "flash-attention": "prefill",
        "continuous-batching": "decode_throughput",
        "speculative-decoding": "decode",
        "mtp": "decode",
    }


TABLE_F = {
    "weight-quantization": ("decreased", "faster", "fewer_bytes"),
    "structured-pruning": ("decreased", "faster", "less_work"),
    "unstructured-sparsity": ("decreased", "unchanged", "stored_only"),
    "distillation": ("decreased", "faster", "smaller_model"),
    "moe": ("unchanged", "faster", "active_only"),
    "gqa-mqa-mla": ("kv_decreased", "faster", "fewer_kv"),
    "kv-quantization": ("kv_decreased", "faster", "narrow_kv"),
    "offloading": ("decreased", "slower", "slow_tier"),
    "no-kv-cache": ("decreased", "much_slower", "recompute"),
}


def test_table_f_all_nine_rows():
    rows = study("memory-vs-speed")["rows"]
    assert {r["technique"]: (r["memory"], r["speed"], r["reason_key"]) for r in rows} == TABLE_F


def test_table_f_sketched_figures():
    rows = {r["technique"]: r for r in study("memory-vs-speed")["rows"]}
    assert rows["kv-quantization"]["memory_ratio"] == pytest.approx(0.90, abs=0.02)
    assert rows["kv-quantization"]["speed_ratio"] == pytest.approx(1.12, abs=0.01)
    assert rows["offloading"]["speed_ratio"] == pytest.approx(0.13, abs=0.01)
    assert rows["no-kv-cache"]["memory_ratio"] == pytest.approx(0.81, abs=0.03)
    assert rows["no-kv-cache"]["speed_ratio"] == pytest.approx(0.004, abs=0.0006)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_table_f_words(lang):
    shown = text("memory-vs-speed", lang)
    wanted = {
        "en": ("KV decreases", "much slower", "mostly unchanged", "total about the same"),
        "ko": ("KV 감소", "매우 느려짐", "대개 그대로", "총량은 비슷"),
    }[lang]
    assert all(w.split()[0] in shown for w in wanted)


def test_flash_attention_grows_with_the_prompt():
    ratios = []
    for prompt in (1024, 8192, 32768):
        plain, fused = (
            costmodel.predict("llama-3.1-8b", "rtx4090", prompt=prompt, techniques=t, engine=RULE) for t in ((), ("flash-attention",))
        )
        assert plain.ttft_s.floor == fused.ttft_s.floor
        ratios.append(plain.prefill.expected_s / fused.prefill.expected_s)
    assert ratios == pytest.approx([1.08, 1.5, 2.5], rel=0.06)


# G1: twice the FLOP/s, twice the bandwidth


def test_claim_1_flops_and_bandwidth():
    base = costmodel.predict("8b", "rtx4090", engine=RULE)
    fast = costmodel.predict("8b", "rtx4090", engine=RULE, sets=("hw.compute.fp16=330.4 TFLOP/s", "hw.compute.bf16=330.4 TFLOP/s"))
    wide = costmodel.predict("8b", "rtx4090", engine=RULE, sets=("hw.memory.vram.bandwidth=2016 GB/s",))
    assert fast.tps.ceiling == base.tps.ceiling
    assert fast.tps.expected == pytest.approx(base.tps.expected, rel=0.05)
    assert fast.ttft_s.floor == pytest.approx(base.ttft_s.floor / 2, rel=1e-9)
    assert wide.tps.ceiling == pytest.approx(2 * base.tps.ceiling, rel=1e-9)
    assert wide.tps.expected == pytest.approx(2 * base.tps.expected, rel=0.05)
    assert wide.ttft_s.floor == base.ttft_s.floor
    fused = [
        costmodel.predict("8b", "rtx4090", engine=RULE, techniques=("flash-attention",), sets=s).ttft_s.expected
        for s in ((), ("hw.memory.vram.bandwidth=2016 GB/s",))
    ]
    assert fused[1] == pytest.approx(fused[0], rel=0.05)


def test_claim_2_fifty_tokens_on_ddr5_is_impossible():
    # R13, R50
    from costmodel.solve.check import check

    p = costmodel.predict("8b", "ddr5")
    fifty = check(p, 50, library())
    assert fifty.verdict == "impossible"
    assert fifty.needed_by_rule == pytest.approx(235e9)
    assert fifty.needed_exact == pytest.approx(227e9, rel=0.005)
    assert len(fifty.causes) == 3
    allowed = {h["name"] for h in fifty.hardware}
    assert "rtx4090" in allowed and "ddr5" not in allowed and "m3-pro" not in allowed
    assert check(p, 13, library()).verdict == "normal"


def test_claim_3_batch_multiplies_intensity_and_throughput():
    runs = [costmodel.predict("llama-3.1-8b", "rtx4090", batch=b, context=256, techniques=("flash-attention",)) for b in (1, 2, 4, 8)]
    for b, p in zip((1, 2, 4, 8), runs, strict=True):
        assert p.decode.intensity / runs[0].decode.intensity == pytest.approx(b, rel=0.1)
        assert p.tpot_s.expected / runs[0].tpot_s.expected < 1.1
        assert p.system_tps / runs[0].system_tps == pytest.approx(b, rel=0.1)
        assert p.decode.intensity < p.decode.ridge
    desktop = [costmodel.predict("8b", "ddr5", batch=b, context=128).decode.regime for b in (1, 4, 8)]
    assert desktop[0] == "memory" and desktop[2] == "compute"


@pytest.mark.parametrize("hardware", ["ddr4", "ddr5", "m3-pro", "m3-max", "rtx4090", "h100-sxm"])
def test_claim_4_sides_of_the_ridge(hardware):
    # R14
    p = costmodel.predict("8b", hardware)
    assert p.decode.intensity < p.decode.ridge and p.decode.regime == "memory"
    assert p.prefill.intensity > p.prefill.ridge and p.prefill.regime == "compute"


def test_claim_5_a_long_prefill_stalls_decodes_and_chunks_bound_it():
    alone = costmodel.predict("llama-3.1-8b", "h100-sxm", prompt=16384, batch=1).tpot_s.expected
    whole = costmodel.predict(
        "llama-3.1-8b", "h100-sxm", prompt=16384, techniques=("chunked-prefill:chunk=1000000,decodes=8", "flash-attention")
    )
    pieces = costmodel.predict(
        "llama-3.1-8b", "h100-sxm", prompt=16384, techniques=("chunked-prefill:chunk=512,decodes=8", "flash-attention")
    )
    apart = costmodel.predict("llama-3.1-8b", "h100-sxm", prompt=16384, techniques=("disaggregation", "flash-attention"))
    assert whole.prefill.steps == 1 and pieces.prefill.steps == 32
    assert whole.prefill.longest_step_s > 50 * alone
    assert pieces.prefill.longest_step_s < whole.prefill.longest_step_s / 10
    assert (
        apart.tpot_s.expected
        == costmodel.predict("llama-3.1-8b", "h100-sxm", prompt=16384, techniques=("flash-attention",)).tpot_s.expected
    )


def test_claim_6_ttft_says_nothing_about_tps(desk):
    strong = desk.machine(100, 500, "strong")
    wide = desk.machine(1000, 50, "wide")
    a, b = costmodel.predict("8b", strong), costmodel.predict("8b", wide)
    assert a.ttft_s.floor < b.ttft_s.floor and a.tps.ceiling < b.tps.ceiling
