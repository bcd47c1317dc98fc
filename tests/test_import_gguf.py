"""GGUF files to model documents: bytes by role, attention and scans from keys and tensors, split files, refusals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from filewriters import T, write_gguf, write_split

import costmodel
from costmodel import SpecError
from costmodel.api import library
from costmodel.compile.program import compile_program
from costmodel.report.inspect import inspect_model

F32, F16, Q8, Q4K, Q6K = 0, 1, 8, 12, 14
BLOCK = {F32: (1, 4), F16: (1, 2), Q8: (32, 34), Q4K: (256, 144), Q6K: (256, 210)}


def tensor(name: str, *shape: int, kind: int = Q4K) -> T:
    block, size = BLOCK[kind]
    elements = 1
    for n in shape:
        elements *= n
    return T(name, shape, kind, elements // block * size)


def keys(arch: str, **more) -> dict:
    base = {"block_count": 2, "embedding_length": 256, "feed_forward_length": 512, "context_length": 4096}
    heads = {"attention.head_count": 8, "attention.head_count_kv": 2}
    found = {"general.architecture": arch, "general.name": "Tiny", "general.file_type": 15}
    return found | {f"{arch}.{k}": v for k, v in {**base, **heads, **{k.replace("__", "."): v for k, v in more.items()}}.items()}


def attention(i: int, q: int = 256, kv: int = 64, d: int = 256) -> list[T]:
    p = f"blk.{i}."
    return [
        tensor(p + "attn_norm.weight", d, kind=F32),
        tensor(p + "attn_q.weight", d, q),
        tensor(p + "attn_k.weight", d, kv),
        tensor(p + "attn_v.weight", d, kv, kind=Q6K),
        tensor(p + "attn_output.weight", q, d),
    ]


def mlp(i: int, d: int = 256, f: int = 512) -> list[T]:
    p = f"blk.{i}."
    return [
        tensor(p + "ffn_norm.weight", d, kind=F32),
        tensor(p + "ffn_gate.weight", d, f),
        tensor(p + "ffn_up.weight", d, f),
        tensor(p + "ffn_down.weight", f, d, kind=Q6K),
    ]


EDGES = [tensor("token_embd.weight", 256, 1000), tensor("output_norm.weight", 256, kind=F32)]
HEAD = tensor("output.weight", 256, 1000, kind=Q6K)
DENSE = [*EDGES, HEAD, *(t for i in (0, 1) for t in (*attention(i), *mlp(i)))]


def elements(tensors) -> int:
    return sum(t.size // BLOCK[t.type_id][1] * BLOCK[t.type_id][0] for t in tensors)


def program(path: Path):
    return compile_program(library().load("model", str(path)), [], library())


def rows(path: Path) -> dict:
    found = program(path)
    return {r.name: (r, found.repeat(r)) for r in found.rows}


def test_bytes_are_those_of_the_file(tmp_path):
    # R33
    path = write_gguf(tmp_path / "tiny.gguf", keys("llama"), DENSE)
    found = inspect_model(str(path))
    assert found["weights_bytes"] == found["tensor_bytes"] == sum(t.size for t in DENSE)
    assert found["params"] == elements(DENSE) and found["file_bytes"] == path.stat().st_size
    assert found["format"] == "q4_k_m" and found["context"] == 4096 and found["layers"] == 2
    assert found["kv_bytes_per_token"] == 2 * 2 * 64 * 2
    assert found["types"]["q6_k"] == {"tensors": 5, "bytes": sum(t.size for t in DENSE if t.type_id == Q6K)}
    row_of_table = 256 // 256 * 144
    assert found["streamed_bytes_per_token"] == sum(t.size for t in DENSE) - EDGES[0].size + row_of_table


def test_a_tied_table_is_read_as_the_head(tmp_path):
    # R6
    tensors = [t for t in DENSE if t.name != "output.weight"]
    found = inspect_model(str(write_gguf(tmp_path / "tied.gguf", keys("llama"), tensors)))
    size = sum(t.size for t in tensors)
    assert found["params"] == elements(tensors) and found["weights_bytes"] == size
    assert found["streamed_bytes_per_token"] == pytest.approx(size + 144)
    assert found["embedding_params"] == 256000


def test_the_same_model_from_config_and_file(tmp_path):
    """FLOPs and KV of a GGUF file equal those of the config that it was made from."""
    path = write_gguf(tmp_path / "tiny.gguf", keys("llama"), DENSE)
    (tmp_path / "config.json").write_text(
        '{"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2,'
        ' "intermediate_size": 512, "vocab_size": 1000, "max_position_embeddings": 4096}'
    )
    one, two = (costmodel.predict(str(p), "ddr5", context=100) for p in (path, tmp_path / "config.json"))
    assert one.decode.flops == two.decode.flops and one.prefill.flops == two.prefill.flops
    assert one.decode.bytes_by.kv == two.decode.bytes_by.kv and one.memory.kv_bytes == two.memory.kv_bytes
    assert one.decode.bytes_by.activations == two.decode.bytes_by.activations
    assert one.decode.bytes_by.weights < two.decode.bytes_by.weights * 0.34


def test_techniques_apply_to_files(tmp_path):
    path = str(write_gguf(tmp_path / "tiny.gguf", keys("llama"), DENSE))
    plain = costmodel.predict(path, "ddr5")
    assert costmodel.predict(path, "ddr5", techniques="mqa").memory.kv_bytes == plain.memory.kv_bytes / 2
    assert costmodel.predict(path, "rtx4090", devices=2).memory.kv_bytes == plain.memory.kv_bytes / 2
    assert costmodel.predict(path, "ddr5", techniques="mla:latent=64,rotary=16").memory.kv_bytes == plain.memory.kv_bytes * 80 / 128
    assert costmodel.predict(path, "ddr5", techniques="kv-int8").memory.kv_bytes < plain.memory.kv_bytes
    assert costmodel.predict(path, "ddr5", sets=["model.weights.format=fp16"]).memory.weights_bytes > plain.memory.weights_bytes * 2


def test_experts_are_read_by_top_k(tmp_path):
    moe = [
        tensor("blk.1.ffn_norm.weight", 256, kind=F32),
        tensor("blk.1.ffn_gate_inp.weight", 256, 8, kind=F32),
        tensor("blk.1.ffn_gate_exps.weight", 256, 256, 8),
        tensor("blk.1.ffn_up_exps.weight", 256, 256, 8),
        tensor("blk.1.ffn_down_exps.weight", 256, 256, 8, kind=Q6K),
        tensor("blk.1.ffn_up_shexp.weight", 256, 256),
        tensor("blk.1.exp_probs_b.bias", 8, kind=F32),
    ]
    tensors = [*EDGES, HEAD, *attention(0), *mlp(0), *attention(1), *moe]
    more = {"expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 256}
    found = inspect_model(str(write_gguf(tmp_path / "moe.gguf", keys("qwen2moe", **more), tensors)))
    experts = [t for t in moe if "exps" in t.name]
    idle = sum(t.size for t in experts) * 6 // 8
    assert found["params"] == elements(tensors) and found["active_params"] == elements(tensors) - elements(experts) * 6 // 8
    assert found["streamed_bytes_per_token"] == pytest.approx(sum(t.size for t in tensors) - EDGES[0].size + 144 - idle)


def test_sliding_layers_by_pattern_list_period_and_class(tmp_path):
    flags = {"attention__sliding_window": 64}
    cases = {
        "listed": ("llama", {**flags, "attention__sliding_window_pattern": [True, False]}, 1),
        "period": ("newarch", {**flags, "attention__sliding_window_pattern": 2}, 1),
        "class": ("gpt-oss", flags, 1),
        "ignored": ("llama", flags, 0),
    }
    for name, (arch, more, sliding) in cases.items():
        found = inspect_model(str(write_gguf(tmp_path / f"{name}.gguf", keys(arch, **more), DENSE)))
        assert found["kv_sliding_bytes_per_token"] == sliding * 256 and found["kv_full_bytes_per_token"] == (2 - sliding) * 256, name
        assert found["window"] == (64 if sliding else None)


def test_heads_of_their_own_per_layer_and_widths(tmp_path):
    # R36
    tensors = [*EDGES, HEAD, *attention(0), *mlp(0), *attention(1, q=512, kv=256), *mlp(1)]
    more = {
        "attention__head_count": [8, 16],
        "attention__head_count_kv": [2, 8],
        "attention__key_length": 32,
        "attention__value_length": 32,
    }
    path = write_gguf(tmp_path / "lists.gguf", keys("deci", **more), tensors)
    assert inspect_model(str(path))["kv_bytes_per_token"] == 2 * 2 * 32 * (2 + 8)


def test_layers_that_share_a_cache(tmp_path):
    # R34
    path = write_gguf(tmp_path / "shared.gguf", keys("gemma3n", attention__shared_kv_layers=1), DENSE)
    assert inspect_model(str(path))["kv_bytes_per_token"] == 2 * 64 * 2


def latent(i: int) -> list[T]:
    p = f"blk.{i}."
    return [
        tensor(p + "attn_norm.weight", 256, kind=F32),
        tensor(p + "attn_q.weight", 256, 8 * 64),
        tensor(p + "attn_kv_a_mqa.weight", 256, 128 + 32),
        tensor(p + "attn_kv_a_norm.weight", 128, kind=F32),
        tensor(p + "attn_kv_b.weight", 128, 8 * 96, kind=Q8),
        tensor(p + "attn_output.weight", 8 * 64, 256),
    ]


def test_latent_attention(tmp_path):
    more = {"attention__kv_lora_rank": 128, "attention__key_length": 64, "attention__value_length": 64, "rope__dimension_count": 32}
    more |= {"attention__head_count_kv": 8}
    tensors = [*EDGES, HEAD, *latent(0), *mlp(0), *latent(1), *mlp(1)]
    path = write_gguf(tmp_path / "mla.gguf", keys("deepseek2", **more), tensors)
    found = inspect_model(str(path))
    assert found["kv_bytes_per_token"] == 2 * (128 + 32) * 2 and found["weights_bytes"] == sum(t.size for t in tensors)
    assert rows(path)["attention"][0].op == "mla-attention"


@pytest.mark.parametrize(
    ("arch", "mixer", "flags", "state"),
    [
        ("mamba", [("ssm_in", 256, 1024), ("ssm_x", 512, 48), ("ssm_conv1d", 4, 512), ("ssm_out", 512, 256)], {}, 512 * 16 + 3 * 512),
        (
            "nemotron_h",
            [("ssm_in", 256, 1096), ("ssm_conv1d", 4, 544), ("ssm_out", 512, 256)],
            {"ssm__group_count": 1},
            512 * 16 + 3 * (512 + 32),
        ),
        (
            "qwen3next",
            [("ssm_in", 256, 1536), ("ssm_beta_alpha", 256, 16), ("ssm_conv1d", 4, 1024), ("ssm_out", 512, 256)],
            {"ssm__group_count": 4, "ssm__state_size": 64, "ssm__time_step_rank": 8},
            8 * 64 * 64 + 3 * (512 + 2 * 4 * 64),
        ),
        ("lfm2", [("shortconv.in_proj", 256, 768), ("shortconv.conv", 3, 256), ("shortconv.out_proj", 256, 256)], {}, 2 * 256),
    ],
)
def test_state_of_other_mixers(tmp_path, arch, mixer, flags, state):
    # R35
    layer = [tensor(f"blk.0.{n}.weight", *shape, kind=F32) for n, *shape in mixer]
    tensors = [*EDGES, HEAD, *layer, tensor("blk.0.attn_norm.weight", 256, kind=F32), *attention(1), *mlp(1)]
    ssm = {"ssm__conv_kernel": 4, "ssm__inner_size": 512, "ssm__state_size": 16, "ssm__time_step_rank": 16}
    path = write_gguf(tmp_path / "ssm.gguf", keys(arch, **{**ssm, **flags}), tensors)
    found = inspect_model(str(path))
    assert found["state_bytes"] == 4 * state and found["kv_bytes_per_token"] == 256
    assert found["params"] == elements(tensors)


def test_layers_that_predict_further_tokens_are_stored_only(tmp_path):
    # R31
    tensors = [*DENSE, *attention(2), *mlp(2), tensor("blk.2.nextn.eh_proj.weight", 512, 256)]
    path = write_gguf(tmp_path / "mtp.gguf", keys("glm4moe", block_count=3, nextn_predict_layers=1), tensors)
    plain = inspect_model(str(write_gguf(tmp_path / "plain.gguf", keys("glm4moe"), DENSE)))
    found = inspect_model(str(path))
    assert found["layers"] == 2 and found["weights_bytes"] == sum(t.size for t in tensors)
    for field in ("streamed_bytes_per_token", "kv_bytes_per_token", "active_params"):
        assert found[field] == pytest.approx(plain[field])


def test_unknown_tensors_and_types_still_add_up(tmp_path):
    odd = [
        tensor("blk.0.new_thing.weight", 256, 256),
        tensor("blk.0.scale", 256, kind=F32),
        T("blk.1.odd.weight", (256, 256), 137, 256 * 76),
    ]
    found = inspect_model(str(write_gguf(tmp_path / "odd.gguf", keys("newarch"), [*DENSE, *odd])))
    assert found["params"] == elements(DENSE) + 2 * 256 * 256 + 256
    assert found["weights_bytes"] == sum(t.size for t in [*DENSE, *odd])


def test_split_files_are_one_model(tmp_path):
    whole = inspect_model(str(write_gguf(tmp_path / "whole.gguf", keys("llama"), DENSE)))
    parts = write_split(tmp_path, "tiny", keys("llama"), [DENSE[:7], DENSE[7:]])
    found = inspect_model(str(parts[1]))
    assert found["params"] == whole["params"] and found["weights_bytes"] == whole["weights_bytes"] and found["parts"] == 2
    assert found["name"] == "tiny"


def test_a_missing_part_is_named(tmp_path):
    parts = write_split(tmp_path, "tiny", keys("llama"), [DENSE[:7], DENSE[7:]])
    parts[0].unlink()
    with pytest.raises(SpecError, match="00001-of-00002"):
        inspect_model(str(parts[1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"llama.block_count": 0}, "0 layers"),
        ({"llama.block_count": 10**6}, "layers"),
        ({"llama.block_count": 1}, "is in layer 1, but there are 1 layers"),
        ({"llama.attention.head_count": 0.5}, "want a size"),
        ({"llama.attention.head_count_kv": [2]}, "1 entries for 2 layers"),
        ({"llama.attention.key_length": 10**12}, "want a size"),
        ({"general.architecture": "clip"}, "projector"),
        ({"general.architecture": "clip", "clip.block_count": 2}, "projector"),
    ],
)
def test_keys_that_make_no_model(tmp_path, change, message):
    path = write_gguf(tmp_path / "bad.gguf", {**keys("llama"), **change}, DENSE)
    with pytest.raises(SpecError, match=message) as caught:
        inspect_model(str(path))
    assert "bad.gguf" in str(caught.value)


def test_a_file_without_a_table_is_no_language_model(tmp_path):
    with pytest.raises(SpecError, match=re.escape("token_embd")):
        inspect_model(str(write_gguf(tmp_path / "bare.gguf", keys("llama"), DENSE[1:])))


def test_names_and_texts_from_a_file_cannot_break_the_document(tmp_path):
    wild = {"general.name": 'a: {b}\n"c" # d\u202e ${{ 7 }} \x1b[31m' + "x" * 500, "general.size_label": "]]\n- x"}
    path = write_gguf(
        tmp_path / "it's a {wild}: name #1.gguf", {**keys("llama"), **wild}, [*DENSE, tensor('blk.0.a: "{b}\n#.weight', 256, kind=F32)]
    )
    found = inspect_model(str(path))
    assert re.fullmatch(r"[a-z0-9._+-]+", found["name"]) and "\n" not in found["title"] and len(found["title"]) <= 120
    assert costmodel.predict(str(path), "ddr5").tps.expected > 0


def test_pruned_and_overridden_files_weigh_what_is_left(tmp_path):
    """Bytes are kept per weight, so fewer layers or heads are fewer bytes; sliding layers go with the others."""
    tensors = [*EDGES, HEAD, *(t for i in range(4) for t in (*attention(i), *mlp(i)))]
    flags = {"block_count": 4, "attention__sliding_window": 64, "attention__sliding_window_pattern": [True, True, True, False]}
    path = str(write_gguf(tmp_path / "deep.gguf", keys("llama", **flags), tensors))
    plain = costmodel.predict(path, "ddr5").memory
    pruned = costmodel.predict(path, "ddr5", techniques="structured-pruning:channels=0,depth=0.5").memory
    edges = sum(t.size for t in [*EDGES, HEAD])
    assert pruned.weights_bytes - edges == pytest.approx((plain.weights_bytes - edges) / 2)
    fewer = costmodel.predict(path, "ddr5", sets=["model.dims.n_kv=1"]).memory
    assert fewer.weights_bytes == plain.weights_bytes - 4 * 32 * 256 * (144 + 210) // 256
    with pytest.raises(SpecError, match="at most L"):
        costmodel.predict(path, "ddr5", sets=["model.dims.L=2"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"llama.attention.head_count_kv": 8}, "`attn_k` of layer 0 has 64 rows, but its keys say 8 heads of 32"),
        ({"llama.attention.head_count": 7}, "whole multiple"),
        ({"llama.block_count": 3}, "layer 2 has no tensors"),
        ({"llama.expert_count": 8, "llama.expert_used_count": 20}, "20 experts used of 8"),
    ],
)
def test_keys_that_lie_about_the_tensors(tmp_path, change, message):
    with pytest.raises(SpecError, match=message):
        inspect_model(str(write_gguf(tmp_path / "lying.gguf", {**keys("llama"), **change}, DENSE)))


@pytest.mark.parametrize(
    ("more", "change"),
    [
        (T("blk.0.indexer.attn_k.weight", (256,), F32, 1024), {}),
        (T("blk.0.shortconv.conv.weight", (256,), F32, 1024), {}),
        (T("blk.0.shortconv.conv.weight", (4, 4, 16), F32, 1024), {}),
    ],
)
def test_tensors_of_odd_shapes_are_refused(tmp_path, more, change):
    with pytest.raises(SpecError, match="dimensions; want 2"):
        inspect_model(str(write_gguf(tmp_path / "odd.gguf", {**keys("llama"), **change}, [*DENSE, more])))


def test_a_head_size_of_nothing(tmp_path):
    mixer = tensor("blk.0.time_mix_output.weight", 256, 256)
    path = write_gguf(tmp_path / "rwkv.gguf", {**keys("llama"), "llama.wkv.head_size": 0}, [*DENSE, mixer])
    assert inspect_model(str(path))["state_bytes"] > 0


def test_experts_from_file_and_config_move_the_same_activations(tmp_path):
    names = [("ffn_gate_inp", 256, 8), ("ffn_gate_exps", 256, 256, 8), ("ffn_up_exps", 256, 256, 8), ("ffn_down_exps", 256, 256, 8)]
    moe = [tensor(f"blk.{i}.{n}.weight", *shape) for i in (0, 1) for n, *shape in names]
    norms = [
        tensor(f"blk.{i}.{n}.weight", w, kind=F32) for i in (0, 1) for n, w in (("ffn_norm", 256), ("attn_q_norm", 32), ("attn_k_norm", 32))
    ]
    more = {"expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 256, "attention__key_length": 32}
    path = write_gguf(tmp_path / "moe.gguf", keys("qwen3moe", **more), [*EDGES, HEAD, *attention(0), *attention(1), *moe, *norms])
    (tmp_path / "config.json").write_text(
        '{"model_type": "qwen3_moe", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 32,'
        ' "moe_intermediate_size": 256, "num_experts": 8, "num_experts_per_tok": 2, "vocab_size": 1000, "max_position_embeddings": 4096}'
    )
    one, two = (costmodel.predict(str(p), "ddr5", techniques="flash-attention") for p in (path, tmp_path / "config.json"))
    assert one.prefill.flops == two.prefill.flops
    assert one.decode.bytes_by.activations == pytest.approx(two.decode.bytes_by.activations, rel=0.02)


def test_layers_of_other_heads_split_over_devices_by_their_own(tmp_path):
    """Over four devices, eight key/value heads fall to two each, two heads to one each."""
    tensors = [*EDGES, HEAD, *attention(0, kv=256), *mlp(0), *attention(1, kv=64), *mlp(1)]
    path = str(write_gguf(tmp_path / "heads.gguf", keys("deci", attention__head_count_kv=[8, 2]), tensors))
    one, four = (costmodel.predict(path, "rtx4090", devices=n, prompt=1000, output=1).memory.kv_bytes for n in (1, 4))
    cells = one / (2 * 2 * 32 * (8 + 2))
    assert four == pytest.approx(cells * 2 * 2 * 32 * (2 + 1))
