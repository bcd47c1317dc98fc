"""Checkpoints: a folder's config with the exact bytes of its safetensors headers, packed weights, weights alone."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path

import pytest
from filewriters import write_safetensors as write_file
from test_import_config import BODY, LLAMA, REST

import costmodel
from costmodel import SpecError
from costmodel.report.inspect import inspect_model

LAYERS = range(4)
WIDTH = {"F32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1, "U8": 1, "I32": 4, "I64": 8}


def write_safetensors(path: Path, tensors: dict) -> Path:
    return write_file(path, {n: (dtype, shape, WIDTH[dtype] * prod(shape)) for n, (dtype, shape) in tensors.items()})


def llama(tied: bool = False, dtype: str = "BF16") -> dict:
    """The tensors of LLAMA, as Transformers names them."""
    found = {"model.embed_tokens.weight": (dtype, [1000, 256]), "model.norm.weight": (dtype, [256])}
    if not tied:
        found["lm_head.weight"] = (dtype, [1000, 256])
    for i in LAYERS:
        p = f"model.layers.{i}."
        found |= {p + f"self_attn.{n}_proj.weight": (dtype, [rows, 256]) for n, rows in (("q", 256), ("k", 64), ("v", 64), ("o", 256))}
        found |= {
            p + f"mlp.{n}_proj.weight": (dtype, shape) for n, shape in (("gate", [512, 256]), ("up", [512, 256]), ("down", [256, 512]))
        }
        found |= {p + f"{n}_layernorm.weight": (dtype, [256]) for n in ("input", "post_attention")}
    return found


def folder(tmp_path: Path, tensors: dict, name: str = "model.safetensors", **config) -> Path:
    home = tmp_path / "checkpoint"
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(json.dumps({**LLAMA, **config}))
    write_safetensors(home / name, tensors)
    return home


def test_a_checkpoint_is_counted_from_its_headers(tmp_path):
    home = folder(tmp_path, llama())
    for path in (home, home / "config.json", home / "model.safetensors"):
        found = inspect_model(str(path))
        assert found["params"] == BODY + REST and found["weights_bytes"] == 2 * (BODY + REST)
    assert costmodel.predict(str(home), "ddr5").memory.weights_bytes == 2 * (BODY + REST)


def test_stored_widths_win_over_what_the_config_says(tmp_path):
    home = folder(tmp_path, llama(dtype="F32"), torch_dtype="bfloat16")
    assert inspect_model(str(home))["weights_bytes"] == 4 * (BODY + REST)


def test_a_tied_table_is_stored_once(tmp_path):
    home = folder(tmp_path, llama(tied=True), tie_word_embeddings=True)
    found = inspect_model(str(home))
    assert found["params"] == BODY + REST - 256000 and found["weights_bytes"] == 2 * found["params"]
    assert found["streamed_bytes_per_token"] == 2 * found["params"] + 512


def test_fp8_with_block_scales_to_the_byte(tmp_path):
    tensors = llama()
    scales = 0
    for name, (_, shape) in list(tensors.items()):
        if "_proj" in name:
            blocks = [-(-n // 128) for n in shape]
            tensors[name] = ("F8_E4M3", shape)
            tensors[name + "_scale_inv"] = ("F32", blocks)
            scales += 4 * blocks[0] * blocks[1]
    home = folder(tmp_path, tensors, quantization_config={"quant_method": "fp8", "weight_block_size": [128, 128]})
    found = inspect_model(str(home))
    assert found["params"] == BODY + REST and found["weights_bytes"] == BODY + scales + 2 * REST


def packed(tensors: dict, how: str) -> tuple[dict, int]:
    """The matrices inside layers packed to 4 bits, as AWQ, GPTQ and compressed-tensors do; and their bytes."""
    out, size = {}, 0
    for name, (dtype, shape) in tensors.items():
        if "_proj" not in name:
            out[name] = (dtype, shape)
            continue
        stem, (rows, columns) = name.removesuffix(".weight"), shape
        groups = columns // 128
        parts = {
            "awq": {"qweight": ("I32", [columns, rows // 8]), "qzeros": ("I32", [groups, rows // 8]), "scales": ("F16", [groups, rows])},
            "gptq": {
                "qweight": ("I32", [columns // 8, rows]),
                "qzeros": ("I32", [groups, rows // 8]),
                "scales": ("F16", [groups, rows]),
                "g_idx": ("I32", [columns]),
            },
            "compressed": {
                "weight_packed": ("I32", [rows, columns // 8]),
                "weight_scale": ("BF16", [rows, groups]),
                "weight_shape": ("I64", [2]),
            },
        }[how]
        out |= {f"{stem}.{n}": t for n, t in parts.items()}
        size += sum(WIDTH[kind] * prod(dims) for kind, dims in parts.values())
    return out, size


@pytest.mark.parametrize(
    ("how", "quantization"),
    [
        ("awq", {"quant_method": "awq", "bits": 4, "group_size": 128}),
        ("gptq", {"quant_method": "gptq", "bits": 4, "group_size": 128}),
        (
            "compressed",
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}}},
            },
        ),
    ],
)
def test_packed_weights_are_parameters_and_scales_are_not(tmp_path, how, quantization):
    # R31
    tensors, size = packed(llama(), how)
    home = folder(tmp_path, tensors, quantization_config=quantization)
    found = inspect_model(str(home))
    assert found["params"] == BODY + REST and found["weights_bytes"] == size + 2 * REST
    (home / "config.json").unlink()
    alone = inspect_model(str(home / "model.safetensors"))
    assert alone["params"] == BODY + REST and alone["weights_bytes"] == size + 2 * REST


def test_eight_bits_in_32(tmp_path):
    tensors = {}
    for name, (dtype, shape) in llama().items():
        if "_proj" in name:
            tensors[name.replace(".weight", ".qweight")] = ("I32", [shape[1] // 4, shape[0]])
        else:
            tensors[name] = (dtype, shape)
    home = folder(tmp_path, tensors, quantization_config={"quant_method": "gptq", "bits": 8, "group_size": -1})
    found = inspect_model(str(home))
    assert found["params"] == BODY + REST and found["weights_bytes"] == BODY + 2 * REST


@pytest.mark.parametrize("kind", ["nvfp4", "bnb"])
def test_four_bits_in_bytes(tmp_path, kind):
    tensors, size = {}, 0
    for name, (dtype, (rows, *rest)) in llama().items():
        if "_proj" not in name:
            tensors[name] = (dtype, [rows, *rest])
        elif kind == "nvfp4":
            tensors |= {
                name: ("U8", [rows, rest[0] // 2]),
                name + "_scale": ("F8_E4M3", [rows, rest[0] // 16]),
                name + "_scale_2": ("F32", [1]),
            }
            size += rows * rest[0] // 2 + rows * rest[0] // 16 + 4
        else:
            tensors |= {name: ("U8", [rows * rest[0] // 2, 1]), name + ".absmax": ("F32", [rows * rest[0] // 64])}
            size += rows * rest[0] // 2 + rows * rest[0] // 16
    quant = (
        {"quant_method": "modelopt", "quant_algo": "NVFP4"} if kind == "nvfp4" else {"quant_method": "bitsandbytes", "load_in_4bit": True}
    )
    found = inspect_model(str(folder(tmp_path, tensors, quantization_config=quant)))
    assert found["params"] == BODY + REST and found["weights_bytes"] == size + 2 * REST


def test_a_tied_table_that_is_stored_twice(tmp_path):
    found = inspect_model(str(folder(tmp_path, llama(), tie_word_embeddings=True)))
    assert found["params"] == BODY + REST - 256000 and any("twice" in n for n in found["notes"])


def test_a_checkpoint_that_ties_against_its_config(tmp_path):
    found = inspect_model(str(folder(tmp_path, llama(tied=True), tie_word_embeddings=False)))
    assert found["params"] == BODY + REST - 256000 and found["weights_bytes"] == 2 * found["params"]
    assert any("doubles as it" in n for n in found["notes"])


def test_a_tower_that_no_document_describes_is_counted_from_the_files(tmp_path):
    # R32
    vision = {"vision_tower.blocks.0.mlp.weight": ("BF16", [64, 64]), "vision_tower.patch.weight": ("BF16", [64, 48])}
    tensors = {
        ("language_model." + n if n.startswith("lm_") else n.replace("model.", "model.language_model.", 1)): t for n, t in llama().items()
    }
    home = folder(tmp_path, tensors | vision)
    (home / "config.json").write_text(json.dumps({"model_type": "new_vl", "text_config": LLAMA, "vision_config": {"model_type": "new"}}))
    found = inspect_model(str(home))
    assert found["params"] == BODY + REST + 64 * 112 and found["text_params"] == BODY + REST


def test_weights_without_a_config_are_counted_but_not_predicted(tmp_path):
    path = write_safetensors(tmp_path / "only.safetensors", llama())
    found = inspect_model(str(path))
    assert found["params"] == BODY + REST and found["types"]["bf16"]["tensors"] == len(llama()) and "kv_bytes_per_token" not in found
    with pytest.raises(SpecError, match=r"its config\.json is not in the same folder"):
        costmodel.predict(str(path), "ddr5")


def sharded(home: Path, tensors: dict, extra: int = 0) -> Path:
    names = list(tensors)
    halves = names[: len(names) // 2], names[len(names) // 2 :]
    files = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    for file, half in zip(files, halves, strict=True):
        write_safetensors(home / file, {n: tensors[n] for n in half})
    index = {
        "metadata": {"total_size": 2 * (BODY + REST) + extra},
        "weight_map": {n: f for f, half in zip(files, halves, strict=True) for n in half},
    }
    path = home / "model.safetensors.index.json"
    path.write_text(json.dumps(index))
    return path


@pytest.fixture
def shards(tmp_path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    return sharded(tmp_path, llama())


def test_shards_are_one_checkpoint(shards):
    for path in (shards, shards.parent):
        assert inspect_model(str(path))["weights_bytes"] == 2 * (BODY + REST)


def test_a_missing_shard_is_named(shards):
    (shards.parent / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(SpecError, match="00002-of-00002"):
        inspect_model(str(shards))
    found = inspect_model(str(shards.parent))  # the config alone still answers, and says so
    assert found["params"] == BODY + REST and any("00002-of-00002" in n for n in found["notes"])


def test_layers_for_further_tokens_are_left_out(tmp_path):
    tensors = llama() | {"model.layers.4.eh_proj.weight": ("BF16", [256, 512]), "model.layers.4.mlp.up_proj.weight": ("BF16", [512, 256])}
    found = inspect_model(str(folder(tmp_path, tensors)))
    assert found["params"] == BODY + REST and found["weights_bytes"] == 2 * (BODY + REST)
    assert any("further tokens" in n for n in found["notes"])


def test_weights_of_another_model_are_noticed(tmp_path):
    home = folder(tmp_path, llama(), num_hidden_layers=3, intermediate_size=1024)
    with pytest.raises(SpecError, match=r"the files hold .* parameters, but the config makes"):
        inspect_model(str(home / "model.safetensors"))
    found = inspect_model(str(home))  # not named: the config alone answers, and says so
    assert found["weights_bytes"] == 2 * found["params"] and any("sizes from the config alone" in n for n in found["notes"])


def test_an_adapter_beside_the_config_is_not_the_model(tmp_path):
    home = folder(tmp_path, {"base.layers.0.lora_A.weight": ("F32", [8, 256])}, "adapter_model.safetensors")
    assert inspect_model(str(home))["params"] == BODY + REST


def test_names_that_nothing_lists_still_weigh(tmp_path):
    odd = {n.replace("mlp.", "feedforward.").replace("_proj", ""): t for n, t in llama(dtype="F32").items()}
    found = inspect_model(str(folder(tmp_path, odd)))
    assert found["weights_bytes"] == pytest.approx(4 * (BODY + REST))


def test_a_cut_download_says_what_is_missing(tmp_path):
    home = folder(tmp_path, llama())
    path = home / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(SpecError, match="1,000 of"):
        inspect_model(str(path))


@pytest.mark.parametrize(
    "swap",
    [("self_attn.o_proj", "self_attn.wo"), ("mlp.down_proj", "mlp.w_out"), ("mlp.", "mixer."), ("self_attn.", "norm_attn_norm.attn.")],
)
def test_tensors_under_other_names_keep_their_bytes(tmp_path, swap):
    tensors = {n.replace(*swap) if ".1." in n or ".3." in n or swap[0] != "mlp." else n: t for n, t in llama().items()}
    found = inspect_model(str(folder(tmp_path, tensors)))
    assert found["weights_bytes"] == pytest.approx(2 * (BODY + REST)) and found["params"] == BODY + REST


def test_a_config_of_fewer_layers_is_another_models(tmp_path):
    home = folder(tmp_path, {**llama(), "model.layers.9.mlp.up_proj.weight": ("BF16", [512, 256])}, num_hidden_layers=1)
    with pytest.raises(SpecError, match="the files hold"):
        inspect_model(str(home / "model.safetensors"))
