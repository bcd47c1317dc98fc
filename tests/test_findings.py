"""What attacks on the numbers and newcomers found once: each stays fixed."""

from __future__ import annotations

import pytest

import costmodel
from costmodel.language.problem import SpecError

predict = costmodel.predict


def rows(p, phase="prefill"):
    return {f"{r.block}.{r.name}": r for r in p.operators[phase]}


@pytest.mark.parametrize(("technique", "math"), [("fp8", "fp8"), ("int8:format=int8-w8a8", "int8")])
def test_attention_keeps_the_engine_type_and_matrices_take_the_format(technique, math):
    # R15
    p = predict("llama-3-8b", "h100-sxm", techniques=(technique,), prompt=8192)
    table = rows(p)
    assert table["layer.q"].math == table["mlp.up"].math == math
    assert table["attention.scores"].math == table["attention.mix"].math == "fp16"
    assert table["head.lm_head"].math == "fp16"


def test_int8_w8a8_doubles_prefill_where_int8_is_twice_as_fast():
    plain, quick = (predict("llama-3-8b", "a100-80gb-sxm", techniques=t, prompt=512) for t in ((), ("int8:format=int8-w8a8",)))
    assert plain.ttft_s.floor / quick.ttft_s.floor == pytest.approx(2, rel=0.05)


def test_fp8_leaves_the_all_reduce_alone():
    # R15, R25, R43
    links = [predict("llama-3.1-70b", "l40s", devices=4, batch=32, techniques=t).prefill.link_bytes for t in ((), ("fp8",))]
    assert links[0] == links[1] == pytest.approx(160 * 1.5 * 32 * 1024 * 8192 * 2)


def test_latent_cache_is_replicated_by_tensor_parallelism():
    # R25
    one, eight = (predict("llama-3-8b", "h100-sxm", devices=n, techniques=("mla",)) for n in (1, 8))
    assert one.memory.kv_bytes == eight.memory.kv_bytes


def test_more_devices_never_slow_a_small_model_by_latency_alone():
    times = [predict("llama-3.1-70b", "mi300x", devices=n, techniques=("fp8",), context=128).tpot_s.expected for n in (1, 2, 4, 8)]
    assert times == sorted(times, reverse=True)


def test_draft_steps_run_on_the_decode_machine():
    # R18
    together = predict("llama-3-8b", "h100-sxm", techniques=("disaggregation:decode=rtx3090", "speculative-decoding"), prompt=2048)
    alone = predict("llama-3-8b", "rtx3090", techniques=("speculative-decoding",), prompt=2048)
    assert together.decode.expected_s == pytest.approx(alone.decode.expected_s)


def test_disaggregation_needs_room_on_both_machines():
    # R22
    p = predict("llama-3-70b", "rtx4090", techniques=("disaggregation:decode=h200-sxm",))
    assert p.memory.fits is False and p.memory.tiers["prefill machine"]["fits"] is False


def test_the_draft_is_fused_and_split_like_the_model():
    plain, fused = (
        predict("llama-3.1-70b", "h200-sxm", prompt=16384, devices=4, techniques=(*t, "fp8", "speculative-decoding"))
        for t in ((), ("flash-attention",))
    )
    assert fused.runnable.draft.meta["devices"] == 4
    assert fused.runnable.draft.meta["techniques"] == ["flash-attention:enabled=1", "tensor-parallel:ways=4"]
    assert fused.memory.draft_bytes <= plain.memory.draft_bytes


@pytest.mark.parametrize(("model", "depth", "local"), [("gpt-oss-20b", 0.25, 9), ("gpt-oss-20b", 0.5, 6), ("gemma-3-27b", 0.25, 39)])
def test_pruned_depth_keeps_the_mix_of_layers(model, depth, local):
    # R28
    program = costmodel.compile(model, [f"structured-pruning:depth={depth},channels=0"])
    assert program.dims["L_local"] == local and program.dims["L"] > local


def test_pruned_depth_scales_dense_layers_once():
    # R28
    assert costmodel.compile("llama-3-8b", ["structured-pruning:depth=0.25,channels=0"]).dims["L_dense"] == 24


def test_micro_batches_split_the_batch():
    # R25
    one = predict("llama-3.1-70b", "h200-sxm", techniques=("pipeline-parallel:stages=4,micro=4", "fp8"), batch=32)
    eight = predict("llama-3.1-70b", "h200-sxm", techniques=("pipeline-parallel:stages=4", "fp8"), batch=8)
    assert one.tps.expected == eight.tps.expected
    assert one.system_tps == pytest.approx(32 * one.tps.expected)
    assert one.memory.kv_bytes == 4 * eight.memory.kv_bytes
    with pytest.raises(SpecError, match="do not help"):
        predict("llama-3.1-70b", "h200-sxm", techniques=("pipeline-parallel:stages=2,micro=4",))
    alone = [predict("llama-3-8b", "h100-sxm", techniques=t).ttft_s.floor for t in ((), ("pipeline-parallel:stages=4,micro=4",))]
    assert alone[1] >= alone[0]


@pytest.mark.parametrize("model", ["qwen2.5-7b", "llama-3.1-8b", "gemma-3-4b", "qwen3-4b"])
@pytest.mark.parametrize("techniques", [(), ("flash-attention",)])
def test_the_longest_context_fits_and_one_more_does_not(model, techniques):
    # R22
    longest = predict(model, "rtx4090", techniques=techniques).memory.max_context
    fits = [predict(model, "rtx4090", prompt=n - 256, context=n - 256, techniques=techniques).memory.fits for n in (longest, longest + 1)]
    assert fits == [True, False]


def test_riding_decodes_hold_their_caches():
    # R21
    alone, riding = (predict("llama-3.1-8b", "h100-sxm", context=4096, techniques=(f"chunked-prefill:decodes={n}",)) for n in (0, 10))
    assert riding.memory.kv_bytes - alone.memory.kv_bytes == 10 * 4096 * 131072


def test_quantizing_a_quantized_model_is_said():
    assert any("makes them larger" in n for n in predict("8b", "ddr5", techniques=("int8",)).assumptions)
    assert not any("larger" in n for n in predict("llama-3.1-8b", "ddr5", techniques=("int8",)).assumptions)


def test_devices_follow_the_technique():
    assert predict("llama-3-8b", "h100-sxm", techniques=("tensor-parallel:ways=4",)).runnable.meta["devices"] == 4
    with pytest.raises(SpecError, match="spreads the model"):
        predict("llama-3-8b", "h100-sxm", devices=4, techniques=("tensor-parallel:ways=2",))


def test_a_misspelt_dim_is_refused(desk):
    text = "architecture: decoder\ndims: {L: 2, d: 64, n_q: 4, n_kvv: 2, d_ff: 128, vocab: 100}\n"
    with pytest.raises(SpecError, match="used by nothing"):
        desk.predict(desk.write("model", "odd", text), desk.machine(100, 1))


def test_titles_and_sources_of_a_parent_do_not_speak_for_a_child(desk):
    from costmodel.library import Library

    path = desk.write("hardware", "laptop", "extends: rtx4070\nmemory: {vram: {bandwidth: 256 GB/s}}\n")
    spec = Library().load("hardware", path)
    assert spec.doc.label() == "laptop" and "bandwidth" not in spec.doc.sources
    assert spec.doc.memory["vram"].capacity == 12 * 2**30


def test_offload_floor_uses_the_nominal_link():
    # R24
    p = predict("llama-3.1-8b", "rtx4090", techniques=("offload:share=0.5",))
    assert p.decode.floor_s == pytest.approx(p.decode.link_bytes / 31.5e9)


def test_host_compute_counts_on_the_host():
    # R14, R24
    p = predict("llama-3.1-8b", "rtx4090", techniques=("offload:share=1,mode=compute",))
    assert p.decode.attainable_flops is not None and p.decode.ridge < 50
    assert p.decode.floor_s >= p.decode.bytes_by.weights / 80e9 * 0.99


def test_check_reads_a_total_over_users():
    from costmodel.api import library
    from costmodel.solve.check import check

    p = predict("llama-3.1-70b", "h200-sxm", techniques=("fp8",), batch=32)
    total = 32 * p.tps.expected
    assert any("total over 32 users" in c for c in check(p, total, library()).causes)


def test_a_cached_case_of_another_library_is_kept_apart(tmp_path, monkeypatch):
    from conftest import Desk

    from costmodel.cache import cached_runnable
    from costmodel.library import Library
    from costmodel.solve.prediction import Prediction

    monkeypatch.setenv("COSTMODEL_CACHE", str(tmp_path / "cache"))
    seen = []
    for bandwidth in (50, 100):
        desk = Desk(tmp_path / str(bandwidth))
        desk.machine(bandwidth, 1, "foo")
        seen.append(Prediction(cached_runnable("8b", "foo", None, (), 1, (), Library(roots=(desk.root,)))).tps.ceiling)
    assert seen[1] == pytest.approx(2 * seen[0])


SMALL = "{L: 4, d: 512, n_q: 8, n_kv: 2, d_ff: 1024, vocab: 1000, d_e: 128}"


@pytest.mark.parametrize(
    ("dim", "message"),
    [
        ("L_dense=1", "L_dense is L without experts"),
        ("n_q=7.5", "n_q is a whole multiple of n_kv"),
        ("n_kv=64", "n_q is a whole multiple of n_kv"),
        ("d=0", "d is a whole number from 1"),
        ("L=0", "L is a whole number from 1"),
        ("n_kv=0", "n_q is a whole multiple of n_kv; here n_kv = 0"),
        ("tied=7", "tied is 0 or 1"),
        ("k=3", "k, the experts per token"),
        ("E=4", "k, the experts per token"),
        ("L_local=5", "L_local, the layers with a window"),
        ("d_h=64.3", "d_h is a whole number"),
    ],
)
def test_dims_that_make_no_model_are_refused_at_the_dim(desk, dim, message):
    path = desk.write("model", "small", f"architecture: decoder\ndims: {SMALL}\n")
    with pytest.raises(SpecError, match=message) as caught:
        predict(path, "ddr5", sets=(f"model.dims.{dim}",))
    assert caught.value.problems[0].mark.source.name == "--set #1"
    path = desk.write("model", "small2", f"architecture: decoder\ndims: {SMALL[:-1]}, E: 4, k: 8}}\n")
    with pytest.raises(SpecError, match="here E = 4, k = 8") as caught:
        predict(path, "ddr5")
    assert caught.value.problems[0].mark.source.name.endswith("small2.yaml")


def test_memory_grows_with_the_batch_across_the_micro_batch():
    sizes = [
        predict("llama-3.1-8b", "ddr5", prompt=100, output=1, context=0, batch=b).memory.total_bytes
        for b in (*range(60, 70), *range(505, 520))
    ]
    assert sizes == sorted(sizes)


def test_validate_reports_every_argument(tmp_path):
    from costmodel.solve.validate import validate_files

    bad, empty = tmp_path / "bad.yaml", tmp_path / "empty"
    bad.write_bytes(b"schema: costmodel/model@1\nname: \xff\xfe\n")
    empty.mkdir()
    done, _, problems = validate_files([str(bad), str(tmp_path / "gone.yaml"), str(empty), "/dev/null"])
    assert done == 4 and len(problems) == 4
    assert ":2:7: this is not UTF-8 text" in problems[0]
    assert all(p.startswith("error: ") for p in problems[1:])


def test_a_missing_source_is_reported_in_the_document_itself(desk):
    from costmodel.solve.validate import validate_files

    path = desk.write(
        "hardware", "mine", "extends: cpu-desktop\nmemory: {main: {capacity: 64 GB, bandwidth: 90 GB/s}}\ncompute: {fp32: 1 TFLOP/s}\n"
    )
    _, warnings, problems = validate_files([path])
    assert not problems and warnings
    assert all("mine.yaml:" in w.splitlines()[0] for w in warnings)


def test_only_what_lies_on_the_host_is_named():
    from costmodel.report.predict import predict_text

    text = predict_text(predict("mixtral-8x7b", "rtx4090", techniques=("offload", "int4")))
    assert "host: weights  " in text and "host: weights, KV cache" not in text


def test_memory_grows_with_a_prompt_in_chunks():
    sizes = [
        predict("llama-3.1-8b", "h100-sxm", techniques=("chunked-prefill",), prompt=n, output=1).memory.total_bytes
        for n in (511, 512, 513, 1023, 1024, 1025, 1536, 1537, 131071, 131072, 131073)
    ]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(("helpers", "message"), [("{a: zzz}", "let.a: `zzz` has no value"), ("{a: b, b: a}", "circle: a -> b -> a")])
def test_helpers_of_a_format_are_checked_even_unused(desk, helpers, message):
    from costmodel.solve.validate import validate_files

    path = desk.write("format", "mine", f"let: {helpers}\nmix: {{default: {{q6_k: 0.5, q4_k: rest}}}}\n")
    _, _, problems = validate_files([path])
    assert message in problems[0]
