"""config.json to model documents: exact counts for a corpus of real configurations, quantization, refusals, new families."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import costmodel
from costmodel import SpecError
from costmodel.api import library
from costmodel.compile.program import compile_program
from costmodel.importers.model import read_model
from costmodel.library import Library
from costmodel.report.inspect import inspect_model

DATA = Path(__file__).parent / "data"
TRUTH = {row["name"]: row for row in csv.DictReader((DATA / "truth.csv").open())}


def config(name: str) -> str:
    return str(DATA / "configs" / f"{name}.json")


def write(tmp_path: Path, data: dict, folder: str = "model", **beside: dict) -> str:
    home = tmp_path / folder
    home.mkdir(exist_ok=True)
    for name, content in {"config": data, **beside}.items():
        (home / f"{name}.json").write_text(json.dumps(content))
    return str(home / "config.json")


LLAMA = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": 512,
    "vocab_size": 1000,
}
BODY = 4 * (2 * 256 * 256 + 2 * 256 * 64 + 3 * 256 * 512)
"""Parameters of the matrices inside LLAMA's layers."""
REST = 2 * 1000 * 256 + 9 * 256


@pytest.mark.parametrize("name", TRUTH)
def test_corpus_counts_are_exact(name):
    want, got = TRUTH[name], inspect_model(config(name))
    text_only = "text stack only" in want["how_established"]
    total = want["text_params_exact" if text_only else "total_params_exact"]
    assert got["params"] == pytest.approx(int(total), rel=1e-4)
    assert got["text_params"] == pytest.approx(int(want["text_params_exact"]), rel=1e-4)
    assert got["active_params"] == pytest.approx(int(want["active_params"]), rel=1e-4)
    assert got["embedding_params"] == pytest.approx(int(want["embedding_params"]), rel=1e-4)
    assert got["kv_bytes_per_token"] == int(want["kv_bytes_per_token_fp16"])
    assert got["kv_full_bytes_per_token"] == int(want["kv_full_bytes_per_token_fp16"])
    assert got["kv_sliding_bytes_per_token"] == int(want["kv_sliding_bytes_per_token_fp16"])
    assert got["state_bytes"] == int(want["state_bytes"])
    if int(want["kv_sliding_bytes_per_token_fp16"]):
        assert got["window"] == int(want["sliding_window"])


def test_a_config_is_used_like_a_model_of_its_own():
    direct = costmodel.predict(config("qwen3-8b"), "ddr5")
    named = costmodel.predict("qwen3-8b", "ddr5")
    assert direct.decode.flops == named.decode.flops and direct.tps.ceiling == named.tps.ceiling
    assert costmodel.load_model(config("qwen3-8b")).doc.context == 40960


def test_a_folder_is_a_model(tmp_path):
    write(tmp_path, LLAMA)
    found = inspect_model(str(tmp_path / "model"))
    assert found["params"] == BODY + REST and found["name"] == "model"
    with pytest.raises(SpecError, match=r"no config\.json"):
        inspect_model(str(tmp_path))


@pytest.mark.parametrize(
    "name", ["llama-3.3-nemotron-super-49b", "gemma-4-26b-a4b", "jamba-v0.1", "glm-5", "kimi-k2.5", "qwen3-next-80b-a3b"]
)
def test_the_written_document_reads_back_the_same(name, tmp_path):
    text = read_model(Path(config(name)), library()).text
    path = tmp_path / f"{name}.yaml"
    path.write_text(text)
    again, direct = inspect_model(str(path)), inspect_model(config(name))
    assert {k: v for k, v in again.items() if k != "notes"} == {k: v for k, v in direct.items() if k != "notes"}


# quantization: bytes by hand

FP8 = 1 + 4 / 16384


@pytest.mark.parametrize(
    ("quantization", "width"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, FP8),
        ({"quant_method": "fp8", "weight_block_size": [64, 128]}, 1 + 4 / 8192),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, 0.5 + 2.5 / 128),
        ({"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True}, 0.5 + 2.5 / 64),
        ({"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": True}, 0.5 + 2.5 / 32),
        ({"quant_method": "gptq", "bits": 3, "group_size": 128}, 0.375 + 2.375 / 128),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, 1 + 3 / 4096),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, 0.5 + 4 / 64),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, 0.5 + 1 / 64 + 4 / 16384),
        ({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}}, 0.5 + 4 / 64),
        ({"quant_method": "mxfp4"}, 17 / 32),
    ],
)
def test_packed_weights_with_their_scales(tmp_path, quantization, width):
    found = inspect_model(write(tmp_path, {**LLAMA, "torch_dtype": "bfloat16", "quantization_config": quantization}))
    assert found["params"] == BODY + REST
    assert found["weights_bytes"] == pytest.approx(BODY * width + REST * 2, rel=1e-9)


def compressed(weights: dict, **more) -> dict:
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": weights, "targets": ["Linear"], **more}}}


@pytest.mark.parametrize(
    ("quantization", "width"),
    [
        (compressed({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True}), 0.5 + 2 / 32),
        (compressed({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128, "symmetric": False}), 0.5 + 2.5 / 128),
        (
            compressed({"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": True}, input_activations={"num_bits": 8}),
            1 + 2 / 4096,
        ),
        (compressed({"num_bits": 8, "type": "float", "strategy": "tensor"}, input_activations={"num_bits": 8}), 1),
        (compressed({"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]}), FP8),
        (
            {
                **compressed({"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}),
                "format": "nvfp4-pack-quantized",
            },
            0.5 + 1 / 16,
        ),
    ],
)
def test_compressed_tensors(tmp_path, quantization, width):
    found = inspect_model(write(tmp_path, {**LLAMA, "quantization_config": quantization}))
    assert found["weights_bytes"] == pytest.approx(BODY * width + REST * 2, rel=1e-9)


ATTENTION = 4 * (2 * 256 * 256 + 2 * 256 * 64)
MLP = 4 * 3 * 256 * 512


@pytest.mark.parametrize(
    ("ignore", "kept"),
    [
        (["lm_head"], 0),
        (["lm_head", "re:.*self_attn.*"], ATTENTION),
        (["re:.*mlp\\.(gate|up)_proj.*"], MLP * 2 / 3),
        (["model.layers.0.mlp.down_proj", "model.layers.3.mlp.down_proj"], MLP / 3 / 2),
        (["model.layers.1.*"], (ATTENTION + MLP) / 4),
        (["model.layers.0"], (ATTENTION + MLP) / 4),
        (["*self_attn.q_proj"], 4 * 256 * 256),
    ],
)
def test_ignored_modules_stay_wide(tmp_path, ignore, kept):
    quantization = {**compressed({"num_bits": 8, "type": "float", "strategy": "tensor"}), "ignore": ignore}
    found = inspect_model(write(tmp_path, {**LLAMA, "quantization_config": quantization}))
    assert found["weights_bytes"] == pytest.approx((BODY - kept) * 1 + (kept + REST) * 2, rel=1e-9)


def quantized(tmp_path, quantization: dict, **more) -> float:
    return inspect_model(write(tmp_path, {**LLAMA, **more, "quantization_config": quantization}, "quantized"))["weights_bytes"]


def test_mixed_precision_by_module(tmp_path):
    """Attention in FP8, the MLPs of two layers in NVFP4, the others at 16 bits."""
    layers = {f"model.layers.{i}.self_attn.{n}_proj": {"quant_algo": "FP8"} for i in range(4) for n in "qkvo"}
    layers |= {f"model.layers.{i}.mlp.{n}_proj": {"quant_algo": "NVFP4", "group_size": 16} for i in (1, 2) for n in ("gate", "up", "down")}
    quant = {"quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": layers}}
    found = inspect_model(write(tmp_path, LLAMA, hf_quant_config=quant))
    fp8 = ATTENTION * (1 + 4 / 4096)
    assert found["weights_bytes"] == pytest.approx(fp8 + MLP / 2 * 0.5625 + MLP / 2 * 2 + REST * 2, rel=1e-3)
    with pytest.raises(SpecError, match="mixed precision without `quantized_layers`"):
        quantized(tmp_path, {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"})


def test_config_groups_of_different_widths(tmp_path):
    groups = {
        "fp8": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float", "strategy": "tensor"}},
        "int4": {"targets": ["re:.*mlp.*"], "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32}},
    }
    size = quantized(tmp_path, {"quant_method": "compressed-tensors", "config_groups": groups, "ignore": ["lm_head"]})
    assert size == pytest.approx(ATTENTION + MLP * 0.5625 + REST * 2, rel=1e-9)


def test_mlx_packs_embedding_and_head_too(tmp_path):
    found = inspect_model(write(tmp_path, {**LLAMA, "quantization": {"bits": 4, "group_size": 64}}))
    assert found["weights_bytes"] == pytest.approx((BODY + 512000) * 0.5625 + 9 * 256 * 2, rel=1e-9)
    kept = inspect_model(write(tmp_path, {**LLAMA, "quantization": {"bits": 4, "group_size": 64, "lm_head": False}}, "kept"))
    assert kept["weights_bytes"] == pytest.approx((BODY + 256000) * 0.5625 + (256000 + 9 * 256) * 2, rel=1e-9)
    with pytest.raises(SpecError, match="names no `quant_method`"):
        quantized(tmp_path, {"load_in_4bit": True})


@pytest.mark.parametrize(
    "more", [{"dynamic": {"-:.*self_attn.*": {}}}, {"extra_config": {f"model.layers.{i}.self_attn": {"bits": 16} for i in range(4)}}]
)
def test_exceptions_in_mappings(tmp_path, more):
    size = quantized(tmp_path, {"quant_method": "gptq", "bits": 4, "group_size": 128, **more})
    assert size == pytest.approx(MLP * (0.5 + 2.5 / 128) + (ATTENTION + REST) * 2, rel=1e-9)


def test_a_quantized_head(tmp_path):
    size = quantized(tmp_path, {"quant_method": "gptq", "bits": 4, "group_size": 128, "lm_head": True})
    assert size == pytest.approx((BODY + 256000) * (0.5 + 2.5 / 128) + (REST - 256000) * 2, rel=1e-9)


def test_an_infinity_that_nobody_needs(tmp_path):
    path = write(tmp_path, {**LLAMA, "time_step_limit": [0.0, float("inf")], "other": float("nan")})
    assert inspect_model(path)["params"] == BODY + REST
    with pytest.raises(SpecError, match="not a plausible value"):
        inspect_model(write(tmp_path, {**LLAMA, "hidden_size": float("nan")}, "nan"))


HELD = {row["name"]: row for row in csv.DictReader((DATA / "heldout" / "counts.csv").open())}


@pytest.mark.parametrize("name", HELD)
def test_configs_that_no_family_was_written_for(name):
    """Gathered after the families were written; counts from the published checkpoints, Transformers, or by hand."""
    want, got = HELD[name], inspect_model(str(DATA / "heldout" / f"{name}.json"))
    for field in ("params", "active_params", "kv_bytes_per_token", "state_bytes"):
        if want[field]:
            assert got[field] == pytest.approx(int(want[field]), rel=1e-4 if "params" in field else 0), field


def test_an_exception_that_could_run_long_is_not_run(tmp_path):
    evil = "re:" + "(a+)+" * 20 + "$"
    quantization = {**compressed({"num_bits": 8, "type": "float", "strategy": "tensor"}), "ignore": [evil]}
    found = inspect_model(write(tmp_path, {**LLAMA, "quantization_config": quantization}))
    assert any("not understood" in note for note in found["notes"])


def test_quantization_beside_the_config(tmp_path):
    quant = {"quantization": {"quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    path = write(tmp_path, LLAMA, hf_quant_config=quant)
    found = inspect_model(path)
    assert found["weights_bytes"] == pytest.approx(BODY * 0.5625 + REST * 2)
    assert found["kv_bytes_per_token"] == 4 * 2 * 64 * 1


def test_real_quantized_checkpoints():
    gpt = inspect_model(config("gpt-oss-20b"))
    experts = 24 * 32 * 3 * 2880 * 2880
    assert gpt["weights_bytes"] == pytest.approx(experts * 4.25 / 8 + (gpt["params"] - experts) * 2, rel=1e-9)
    kimi = inspect_model(config("kimi-k2.5"))
    experts = 60 * 384 * 3 * 7168 * 2048
    assert kimi["weights_bytes"] == pytest.approx(experts * 0.5625 + (kimi["params"] - experts) * 2, rel=1e-9)
    awq = inspect_model(config("qwen3-4b-awq"))
    table = 151936 * 2560
    norms = 36 * (2 * 2560 + 256) + 2560
    assert awq["weights_bytes"] == pytest.approx((awq["params"] - table - norms) * 66.5 / 128 + (table + norms) * 2, rel=1e-9)


# refusals


def test_what_a_config_leaves_out_is_said_and_slips_are_refused(tmp_path):
    left = {k: v for k, v in LLAMA.items() if k not in ("num_hidden_layers", "vocab_size")}
    notes = inspect_model(write(tmp_path, left))["notes"]
    assert any("class default: num_hidden_layers 32, vocab_size 32,000" in n for n in notes)
    with pytest.raises(SpecError, match="no `num_hidden_layers`") as caught:
        inspect_model(write(tmp_path, {**left, "num_hiden_layers": 4}, "slip"))
    assert "num_hiden_layers` a slip" in str(caught.value)


def test_a_name_that_promises_quantization(tmp_path):
    notes = inspect_model(write(tmp_path, LLAMA, "Llama-FP8"))["notes"]
    assert any("the name says FP8" in n for n in notes)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, "`bert` is not known"),
        ({"model_type": "qwen33", "hidden_size": 1}, r"architecture `qwen33` is not known; its keys are: hidden_size, model_type"),
        ({"hidden_size": 64}, "no `model_type`"),
        ({}, "no `model_type`"),
        ({**LLAMA, "hidden_size": "big"}, "hidden_size"),
        ({**LLAMA, "hidden_size": -5}, "not a plausible|at least|whole number"),
        ({**LLAMA, "hidden_size": 1e300}, "not a plausible value"),
        ({**LLAMA, "num_hidden_layers": 0}, "layers; want a whole number"),
        ({**LLAMA, "num_hidden_layers": 10**9}, "layers; want a whole number"),
        ({**LLAMA, "num_hidden_layers": 2.5}, "layers; want a whole number"),
        ({**LLAMA, "num_attention_heads": 7}, "whole multiple|whole number"),
        ({**LLAMA, "num_key_value_heads": 3}, "whole multiple"),
        ({**LLAMA, "vocab_size": {"a": 1}}, "want a number"),
        ({**LLAMA, "layer_types": ["full_attention"]}, "fewer than there are layers"),
        ({**LLAMA, "layer_types": ["full_attention", "odd", "odd", "odd"]}, "`odd` has no meaning"),
        ({**LLAMA, "quantization_config": {"quant_method": "magic"}}, "quantization method `magic` is not known"),
        ({"model_type": "gemma3", "text_config": {"model_type": "gemma33"}}, "architecture `gemma33` is not known"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path, data, message):
    path = write(tmp_path, data)
    with pytest.raises(SpecError, match=message) as caught:
        inspect_model(path)
    assert len(caught.value.problems) == 1 and "config.json" in str(caught.value)


def test_the_line_of_a_bad_value(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{\n "model_type": "llama",\n "hidden_size": [1],\n "num_hidden_layers": 4\n}')
    with pytest.raises(SpecError, match=r"config\.json:3:2"):
        inspect_model(str(path))


def test_an_unknown_wrapper_around_a_known_text_model_says_what_it_counts(tmp_path):
    found = inspect_model(write(tmp_path, {"model_type": "new_vl", "text_config": LLAMA, "vision_config": {"hidden_size": 1}}))
    assert found["params"] == BODY + REST
    assert any("`new_vl` is not known" in n for n in found["notes"]) and any("not counted" in n for n in found["notes"])


def test_a_new_family_is_a_yaml_file(desk, tmp_path):
    """Keys with names of their own, one attention head for keys in odd layers, an MLP twice as wide in listed layers."""
    desk.write(
        "family",
        "zebra",
        """extends: base
title: Zebra
model_types: [zebra]
keys:
  layers: {key: depth}
  hidden: {key: stripe.width}
  heads: {key: stripe.heads}
  vocab: {key: words}
  kv_heads: {key: [], default: "where(2 * floor(i / 2) == i, heads, 1)"}
  wide: {key: wide_layers, members: 1, default: 0}
  ffn: {key: [], default: "hidden * (2 + 2 * wide)"}
  mixer: {key: pattern, letters: {A: 0, S: 1}, cyclic: true}
  window: {key: reach}
let:
  gated: 0
  local: mixer
""",
    )
    data = {
        "model_type": "zebra",
        "depth": 6,
        "stripe": {"width": 64, "heads": 4},
        "words": 500,
        "wide_layers": [1, 6],
        "pattern": "ASS",
        "reach": 32,
    }
    path = write(tmp_path, data)
    own = Library(roots=(desk.root,))
    program = compile_program(own.load("model", path), [], own)
    attention = 6 * 2 * 64 * 64 + 3 * 2 * 64 * 64 + 3 * 2 * 64 * 16
    mlp = 4 * 2 * 64 * 128 + 2 * 2 * 64 * 256
    assert program.params() == 2 * 500 * 64 + 13 * 64 + attention + mlp
    held = {r.block: program.value(r, "holds.kv", {"B": 1, "T": 0, "S": 100, "M": 1, "R": 0, "H": 0}) for r in program.rows}
    assert sum(v > 0 for v in held.values()) >= 4
    # layers 0 and 3 are full (A), 1 2 4 5 see 32 tokens; even layers hold 4 heads, odd ones one
    cached = sum(program.value(r, "holds.kv", {"B": 1, "T": 0, "S": 100, "M": 1, "R": 0, "H": 0}) * program.repeat(r) for r in program.rows)
    heads = {0: 4, 1: 1, 2: 4, 3: 1, 4: 4, 5: 1}
    assert cached == sum(2 * 2 * 16 * heads[i] * (100 if i % 3 == 0 else 32) for i in range(6))
    with pytest.raises(SpecError, match="`zebra` is not known"):
        inspect_model(path)


def test_read_as_another_family(tmp_path):
    path = Path(write(tmp_path, {**LLAMA, "model_type": "unheard_of"}))
    text = read_model(path, library(), family="llama").text
    assert "read as family llama" in text
    with pytest.raises(SpecError, match="lama"):
        read_model(path, library(), family="lama")


@pytest.mark.parametrize(
    "flags", [{"tie_word_embeddings": True}, {"attention_bias": True}, {"mlp_bias": True}, {"head_dim": 64}, {"num_key_value_heads": None}]
)
def test_flags_of_llama_by_hand(tmp_path, flags):
    data = {**LLAMA, **flags}
    head = data.get("head_dim", 32)
    kv = data["num_key_value_heads"] or 8
    attention = 256 * head * (8 + 2 * kv) + 8 * head * 256
    bias = (head * (8 + 2 * kv) + 256) * bool(flags.get("attention_bias")) + (2 * 512 + 256) * bool(flags.get("mlp_bias"))
    tables = 1000 * 256 * (1 if flags.get("tie_word_embeddings") else 2)
    assert inspect_model(write(tmp_path, data))["params"] == 4 * (attention + 3 * 256 * 512 + bias) + tables + 9 * 256


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("family", "extends: base\nlet: {norms: 2 * nroms}\n", r"let\.norms: no variable `nroms`"),
        ("family", "extends: base\nparts: {mlp: {blocks: [mpl]}}\n", "no block `mpl`"),
        ("family", "extends: base\nparts: {mlp: {dims: {d_fff: ffn}}}\n", "`d_fff` is no dim"),
        ("family", "extends: base\narchitecture: decodr\n", "no model `decodr`"),
        ("family", "extends: base\nkeys: {window: {default: contxt}}\n", "no variable `contxt`"),
        ("family", "extends: base\nvision: {tower: siglp}\n", "no tower `siglp`"),
        ("tower", "keys: {hidden: {key: hidden_size}}\nparams: hiden * 2\n", "no variable `hiden`"),
        ("recipe", "format: {fp9: 1}\n", "no format `fp9`"),
        ("recipe", "format: {fp8: 1}\nroles: [atn]\n", "no role `atn`"),
        ("recipe", "format: {fp8: 1}\nbytes: bits / 8\n", "no variable `bits`"),
        ("layout", 'tensors: {"*": mlp.dwon}\n', "no role `mlp.dwon`"),
        ("layout", 'files: {"1": f17}\n', "no format `f17`"),
    ],
)
def test_documents_of_importers_are_checked(desk, kind, text, message):
    from costmodel.solve.validate import validate_file

    path = desk.write(kind, "mine", text)
    with pytest.raises(SpecError, match=message):
        validate_file(Library(roots=(desk.root,)), Path(path))


def test_a_type_that_nothing_lists_is_read_by_its_class(tmp_path):
    found = inspect_model(write(tmp_path, {**LLAMA, "model_type": "unheard_of", "architectures": ["LlamaForCausalLM"]}))
    assert found["params"] == BODY + REST and any("as its class says" in n for n in found["notes"])
    bare = {k: v for k, v in LLAMA.items() if k != "model_type"}
    assert inspect_model(write(tmp_path, {**bare, "architectures": ["LlamaForCausalLM"]}, "bare"))["params"] == BODY + REST
    with pytest.raises(SpecError, match="`unheard_of` is not known"):
        inspect_model(write(tmp_path, {**LLAMA, "model_type": "unheard_of", "architectures": ["UnheardForCausalLM"]}, "other"))


def test_config_groups_of_nothing(tmp_path):
    with pytest.raises(SpecError, match="config_groups"):
        quantized(tmp_path, {"quant_method": "compressed-tensors", "config_groups": {"group_0": None}})
