"""A new technique, operator and architecture are YAML files: none of them needs Python."""

from __future__ import annotations

import pytest

OPERATOR = """
title: Gated memory lookup
args: {slots: dim, width: dim, hits: {default: 4}}
params: slots * width
flops: 2 * B * T * hits * width
bytes:
  weights: "min(slots, hits * M) * width * w_bytes"
  activations: 2 * B * T * width * a_bytes
sources: {flops: {kind: assumed, ref: "a made-up operator"}}
"""
MODEL = """
architecture: decoder
dims: {L: 2, d: 64, n_q: 4, n_kv: 2, d_h: 16, d_ff: 128, vocab: 1000, slots: 5000}
blocks:
  lookup:
    repeat: L
    ops:
      table: {op: memory-lookup, role: body, slots: slots, width: d}
weights: {format: fp16}
"""
TECHNIQUE = """
title: Deeper lookup
knobs: {more: {default: 8, range: [1, 100], whole: true}}
rewrite:
  - set: {hits: more}
    only: {op: memory-lookup}
  - scale: {bytes.activations: 1 / 2}
    only: {role: body}
schedule:
  decode: {tokens_out: 2}
sources: {hits: {kind: assumed, ref: "a made-up technique"}}
"""


def test_new_operator_architecture_and_technique(desk):
    desk.write("operator", "memory-lookup", OPERATOR)
    desk.write("model", "tiny-lookup", MODEL)
    desk.write("technique", "deeper-lookup", TECHNIQUE)
    machine = desk.machine(100, 1)
    plain = desk.predict("tiny-lookup", machine, context=10, output=1)
    deeper = desk.predict("tiny-lookup", machine, techniques=("deeper-lookup:more=16",), context=10, output=1)
    dense = 1000 * 64 * 2 + 2 * (64 * (64 + 32 + 32 + 64) + 3 * 64 * 128 + 2 * 64) + 64
    assert plain.runnable.meta["params"] == dense + 2 * 5000 * 64
    assert deeper.decode.flops - plain.decode.flops == 2 * 2 * 64 * (16 - 4)
    assert deeper.decode.bytes_by.weights - plain.decode.bytes_by.weights == 2 * (16 - 4) * 64 * 2
    assert deeper.decode.bytes_by.activations == plain.decode.bytes_by.activations - 2 * 64 * 2
    assert deeper.tpot_s.floor == pytest.approx(deeper.decode.floor_s / 2)


def test_user_file_shadows_a_built_in(desk):
    desk.write(
        "hardware",
        "ddr5",
        "schema: costmodel/hardware@1\nname: ddr5\nextends: ddr5\nmemory: {mine: {capacity: 8 GiB, bandwidth: 45 GB/s}}\n",
    )
    slow = desk.predict("8b", "ddr5")
    import costmodel

    assert slow.tps.ceiling == pytest.approx(costmodel.predict("8b", "ddr5").tps.ceiling / 2)
    assert slow.memory.fits is True and slow.memory.capacity_bytes == 8 * 2**30


def test_a_machine_is_four_lines_and_a_model_is_a_size(desk):
    machine = desk.write(
        "hardware", "my-box", "extends: cpu-desktop\nmemory: {main: {capacity: 64 GB, bandwidth: 90 GB/s}}\ncompute: {fp32: 1 TFLOP/s}\n"
    )
    model = desk.write(
        "model",
        "just-a-size",
        "architecture: summary\n"
        "dims: {params: 8.03e9, active_params: 8.03e9, embedding_params: 0.525e9, layers: 32, width: 4096, kv_bytes_per_token: 131072}\n"
        "weights: {format: q4_k_m, size: 4.92 GB}\n",
    )
    import costmodel

    rough, exact = (
        costmodel.predict(model, machine),
        costmodel.predict("llama-3.1-8b", machine, sets=("model.weights.format=q4_k_m", "model.weights.size=4.92 GB")),
    )
    assert rough.memory.weights_bytes == pytest.approx(4.92e9)
    assert rough.tps.ceiling == pytest.approx(exact.tps.ceiling, rel=0.01)
    assert rough.ttft_s.floor == pytest.approx(exact.ttft_s.floor, rel=0.02)


def test_undeclared_format_takes_its_bits_from_the_size(desk):
    text = "architecture: summary\ndims: {params: 1e9, layers: 16, width: 2048, kv_bytes_per_token: 131072 B}\nweights: {format: exl9, size: 0.5 GB}\n"
    p = desk.predict(desk.write("model", "odd", text), desk.machine(100, 1))
    assert p.memory.weights_bytes == pytest.approx(0.5e9)
    assert any("exl9" in note for note in p.assumptions)
