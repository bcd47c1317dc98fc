"""`import` and `inspect` at the command line, files in place of MODEL, hostile files, and the cache of their predictions."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import tracemalloc
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from filewriters import write_gguf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_import_config import BODY, LLAMA, REST, config
from test_import_gguf import DENSE, keys
from test_import_safetensors import llama, write_safetensors

import costmodel.library as module
from costmodel.cli import main
from costmodel.language.problem import SpecError
from costmodel.library import Library


def run(*args: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, list(args), prog_name="costmodel")
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "_shared", None)
    (tmp_path / "tiny-llama").mkdir()
    (tmp_path / "tiny-llama" / "config.json").write_text(json.dumps(LLAMA))
    write_gguf(tmp_path / "tiny.gguf", keys("llama"), DENSE)
    return tmp_path


def test_import_writes_a_document_that_works(home):
    assert "specs/models/x.yaml: 2.74 M parameters" in run("import", "tiny-llama", "-o", "specs/models/x.yaml")
    text = (home / "specs/models/x.yaml").read_text()
    assert text.startswith("schema: costmodel/model@1\nname: x\n") and "config.json" in text
    data = yaml.safe_load(text)
    assert data["dims"]["d"] == 256 and data["sources"]["dims"]["kind"] == "datasheet"
    assert "1 document valid" in run("validate", "specs/models/x.yaml")
    direct, written = (json.loads(run("predict", m, "--hw", "ddr5", "--format", "json")) for m in ("./tiny-llama", "./specs/models/x.yaml"))
    assert direct["decode"] == written["decode"] and direct["memory"] == written["memory"]


def test_import_without_a_place_prints(home):
    assert yaml.safe_load(run("import", "tiny.gguf"))["weights"]["format"] == "q4_k_m"
    assert not (home / "specs").exists()


def test_import_into_a_folder_names_documents_by_their_files(home):
    printed = run("import", "tiny-llama", "tiny.gguf", "-o", "out")
    assert sorted(p.name for p in (home / "out").iterdir()) == ["tiny-llama.yaml", "tiny.yaml"]
    assert len(printed.splitlines()) == 2


def test_import_replaces_nothing_unasked(home):
    (home / "x.yaml").write_text("precious")
    assert "is there already" in run("import", "tiny-llama", "-o", "x.yaml", code=2)
    assert (home / "x.yaml").read_text() == "precious"
    run("import", "tiny-llama", "-o", "x.yaml", "--force")
    assert "name: x" in (home / "x.yaml").read_text()


def test_import_writes_nothing_when_one_file_is_bad(home):
    (home / "bad").mkdir()
    (home / "bad" / "config.json").write_text('{"model_type": "nothing"}')
    run("import", "tiny-llama", "bad", "-o", "out", code=2)
    assert not (home / "out").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("import", "tiny-llama", "tiny.gguf"), "give a folder"),
        (("import", "tiny-llama", "-o", "x.json"), "no YAML file's name"),
        (("predict", "Qwen/Qwen3-8B", "--hw", "ddr5"), "called `qwen3-8b`; `hf:Qwen/Qwen3-8B`"),
        (("predict", "./weights.bin", "--hw", "ddr5"), "no file"),
        (("import", "8b"), "a model document already"),
        (("import", "tiny-llama", "tiny.gguf", "--name", "x"), "--name is for one file"),
        (("import", "tiny-llama", "tiny.gguf", "-o", "x.yaml"), "several files were given"),
        (("import", "tiny-llama", "tiny-llama", "-o", "out"), "two of the files"),
        (("import", "nowhere.gguf"), "no file `nowhere.gguf`"),
        (("import", "tiny-llama", "--family", "lama"), "did you mean `llama`"),
        (("import", "tiny-llama", "-o", "tiny.gguf/x.yaml"), "cannot write"),
        (("predict", "hf:../etc/passwd", "--hw", "ddr5"), "not a model's name"),
        (("predict", "hf:a/b/c", "--hw", "ddr5"), "not a model's name"),
        (("inspect", "tiny.gguf", "-c", "4k", "--engine", "rule-of-thumb"), "does not say what it allocates"),
        (("inspect", "tiny.gguf", "-c", "4k", "-ctk", "q9"), "no format `q9`"),
    ],
)
def test_refusals_are_one_message(home, args, message):
    out = run(*args, code=2)
    assert message in out and out.count("error:") <= 1


def test_inspect_one_and_several(home):
    one = json.loads(run("inspect", "tiny-llama", "--format", "json"))
    assert one["params"] == BODY + REST and one["kv_bytes_per_token"] == 4 * 2 * 64 * 2
    text = run("inspect", "tiny.gguf")
    assert "bits per weight" in text and "q4_k" in text and "KV per token" in text
    table = run("inspect", "tiny-llama", "tiny.gguf", "8b")
    assert len(table.splitlines()) == 5 and "8.03 B" in table
    assert len(json.loads(run("inspect", "tiny-llama", "8b", "--format", "json"))) == 2


def test_inspect_says_what_llama_cpp_allocates(home):
    text = run("inspect", "tiny.gguf", "-c", "1000", "-ctk", "q8_0", "-np", "2")
    assert "llama.cpp, 1,000 tokens" in text and "1,024 cells" in text
    found = json.loads(run("inspect", "tiny.gguf", "-c", "1000", "-ctk", "q8_0", "--format", "json"))["buffers"]
    assert found["k"] == 2 * 1024 * 64 * 34 / 32 and found["v"] == 2 * 1024 * 64 * 2 and found["cells"] == 1024


def test_files_stand_in_for_models_everywhere(home):
    assert "5.00 tok/s per user: slow" in run("check", "5", "--model", "tiny.gguf", "--hw", "ddr5")
    assert "impossible" in run("check", "1e9", "--model", "tiny.gguf", "--hw", "ddr5", code=1)
    rows = json.loads(run("matrix", "--model", "tiny.gguf", "--model", "./tiny-llama", "--hw", "ddr5", "--format", "json"))["rows"]
    assert len(rows) == 2
    assert run("predict", "8b", "--hw", "ddr5", "-t", "speculative-decoding:draft=./tiny.gguf")


def test_list_models_by_kind_and_size():
    rows = json.loads(run("list", "models", "mla", "--filter", "params<20B", "--format", "json"))
    assert [r["name"] for r in rows] == ["deepseek-v2-lite"] and rows[0]["kind"] == "moe mla" and rows[0]["active"] == 2661150208
    names = [r["name"] for r in json.loads(run("list", "models", "--sort", "-params", "--format", "json"))]
    assert names[0] == "kimi-k2.5" and len(names) >= 100
    assert {"exaone-4.0-32b", "solar-open-100b", "polyglot-ko-1.3b"} <= set(names)
    assert "vision" in run("list", "models", "gemma-4*")
    assert "not a number" in run("list", "models", "--filter", "params<x", code=2)


# the cache follows the files


def predicted(path: str) -> float:
    """As a process of its own would predict it: with the cache on disk, and nothing in memory."""
    module._shared = None
    return json.loads(run("predict", path, "--hw", "ddr5", "--format", "json"))["memory"]["weights_bytes"]


def test_a_changed_file_is_read_again(home):
    before = predicted("./tiny.gguf")
    assert predicted("./tiny.gguf") == before
    fewer = [t for t in DENSE if not t.name.startswith("blk.1")]
    write_gguf(home / "tiny.gguf", keys("llama", block_count=1), fewer)
    assert predicted("./tiny.gguf") < before


def test_weights_that_arrive_later_are_seen(home):
    assert predicted("./tiny-llama") == 2 * (BODY + REST)
    write_safetensors(home / "tiny-llama" / "model.safetensors", llama(dtype="F32"))
    assert predicted("./tiny-llama") == 4 * (BODY + REST)


# hostile files


def refuse(path: Path) -> str:
    tracemalloc.start()
    try:
        out = run("inspect", str(path), code=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6 and out.startswith("error:") and len(out) < 3000
    return out


JSON_BOMBS = {
    "deep": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "list": '{"model_type": "llama", "layer_types": ' + "[" * 5000 + "]" * 5000 + "}",
    "twice": '{"model_type": "llama", "model_type": "gpt2"}',
    "nan": '{"model_type": "llama", "hidden_size": NaN}',
    "inf": '{"model_type": "llama", "hidden_size": 1e999}',
    "digits": '{"model_type": "llama", "hidden_size": ' + "9" * 5000 + "}",
    "array": "[1, 2]",
    "text": '"llama"',
    "cut": '{"model_type": "lla',
    "empty": "",
    "binary": "\x00\x01\x02",
    "wide": '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "layer_types": ['
    + '"full_attention",' * 10
    + '"'
    + "x" * 10**6
    + '"]}',
    "type": '{"model_type": {"a": 1}}',
    "number": '{"model_type": 7}',
    "long": '{"model_type": "' + "a" * 10**6 + '"}',
    "heads": '{"model_type": "llama", "num_attention_heads": 0}',
    "layers": '{"model_type": "llama", "num_hidden_layers": 1e15}',
}


@pytest.mark.parametrize("name", JSON_BOMBS)
def test_hostile_json(tmp_path, name):
    path = tmp_path / "config.json"
    path.write_text(JSON_BOMBS[name])
    refuse(path)


def test_paths_that_are_no_files(tmp_path):
    (tmp_path / "loop.gguf").symlink_to("loop.gguf")
    (tmp_path / "folder.gguf").mkdir()
    os.mkfifo(tmp_path / "pipe.gguf")
    for name in ("loop.gguf", "folder.gguf", "pipe.gguf", "nothing.gguf"):
        refuse(tmp_path / name)
    big = tmp_path / "config.json"
    with big.open("wb") as file:
        file.truncate(100 * 2**20)
    assert "at most" in refuse(big)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = write_gguf(tmp_path / "secret.gguf", keys("llama"), DENSE)
    path.chmod(0)
    refuse(path)


WORDS = st.sampled_from(
    [0, 1, -1, 2, 7, 8, 1.5, 10**9, 10**15, 10**30, None, True, False, "x", "silu", "full_attention", [], [1, 2], ["a"], {}, {"a": 1}]
)
KEYS = st.sampled_from(
    [
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "intermediate_size",
        "vocab_size",
        "sliding_window",
        "layer_types",
        "tie_word_embeddings",
        "num_experts",
        "num_experts_per_tok",
        "moe_intermediate_size",
        "attention_bias",
        "quantization_config",
        "text_config",
        "vision_config",
        "max_position_embeddings",
        "kv_lora_rank",
        "q_lora_rank",
        "hybrid_override_pattern",
        "block_configs",
        "n_routed_experts",
        "first_k_dense_replace",
    ]
)
TYPES = st.sampled_from(
    [
        "llama",
        "qwen3_moe",
        "gemma3_text",
        "gemma3",
        "deepseek_v3",
        "nemotron_h",
        "jamba",
        "gpt2",
        "falcon",
        "nemotron-nas",
        "openelm",
        "mllama",
        "gpt_oss",
        "mamba",
    ]
)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(kind=TYPES, changes=st.dictionaries(KEYS, WORDS, max_size=6), base=st.booleans())
def test_any_config_is_read_or_refused(tmp_path, kind, changes, base):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**(LLAMA if base else {}), "model_type": kind, **changes}))
    library = Library()
    try:
        spec = library.load("model", str(path))
        from costmodel.compile.program import compile_program
        from costmodel.solve.counts import counts

        found = counts(compile_program(spec, [], library))
        assert 0 < found["params"] < 1e40
    except SpecError as error:
        assert 0 < len(str(error)) < 20_000


def test_the_depth_of_json_does_not_reach_the_interpreter(tmp_path):
    limit = sys.getrecursionlimit()
    (tmp_path / "config.json").write_text(JSON_BOMBS["deep"])
    refuse(tmp_path / "config.json")
    assert sys.getrecursionlimit() == limit


def test_real_configs_are_quick(tmp_path):
    """The largest configuration of the corpus: 712 exceptions and 78 layers, in a fraction of a second."""
    from time import perf_counter

    start = perf_counter()
    Library().load("model", config("glm-5-fp8"))
    assert perf_counter() - start < 5


@pytest.mark.parametrize(
    "entry", ["re:*", "re:a**", "re:(a\\)", "re:(\\x)", "re:(\\1)", "re:[0-9]+*", "re:(?:a|b)*^*", "re:(.|..)*X", "re:" + ".*" * 9 + "X"]
)
def test_exceptions_that_are_no_plain_patterns(tmp_path, entry):
    from time import perf_counter

    quant = {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "int", "strategy": "channel"}}},
    }
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "quantization_config": {**quant, "ignore": [entry]}}))
    start = perf_counter()
    run("inspect", str(tmp_path / "config.json"))
    assert perf_counter() - start < 5


def test_ten_thousand_exceptions_are_quick(tmp_path):
    from time import perf_counter

    quant = {
        "quant_method": "awq",
        "bits": 4,
        "modules_to_not_convert": [f"*a{i}*" for i in range(10_000)] + [f"re:x{i}" for i in range(10_000)],
    }
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "num_hidden_layers": 200, "quantization_config": quant}))
    start = perf_counter()
    assert "not understood" in run("inspect", str(tmp_path / "config.json"))
    assert perf_counter() - start < 5


def test_import_follows_no_link_and_keeps_its_input(home):
    (home / "victim.txt").write_text("precious")
    (home / "out").mkdir()
    (home / "out" / ".b.yaml.tmp").symlink_to(home / "victim.txt")
    run("import", "tiny-llama", "-o", "out/b.yaml")
    assert (home / "victim.txt").read_text() == "precious" and not (home / "out" / "b.yaml").is_symlink()
    before = (home / "tiny.gguf").read_bytes()
    assert "no YAML file's name" in run("import", "tiny.gguf", "-o", "tiny.gguf", "--force", code=2)
    assert (home / "tiny.gguf").read_bytes() == before
    run("import", "tiny-llama", "-o", "out/v1.5")
    assert (home / "out" / "v1.5" / "tiny-llama.yaml").exists()


def test_import_writes_all_or_nothing(home, monkeypatch):
    calls = []
    real = tempfile.mkstemp

    def full(*args, **more):
        calls.append(args)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return real(*args, **more)

    monkeypatch.setattr(tempfile, "mkstemp", full)
    assert "No space left" in run("import", "tiny-llama", "tiny.gguf", "-o", "out", code=2)
    assert list((home / "out").iterdir()) == []


def test_what_an_importer_has_to_say_is_said_by_predict(home):
    write_safetensors(home / "tiny-llama" / "model.safetensors", llama())
    whole = (home / "tiny-llama" / "model.safetensors").read_bytes()
    (home / "tiny-llama" / "model.safetensors").write_bytes(whole[:-100])
    assert "sizes from the config alone" in " ".join(run("predict", "./tiny-llama", "--hw", "ddr5").split())


def test_the_cache_follows_families_recipes_sidecars_and_completed_downloads(home, monkeypatch):
    specs = home / "mine"
    for folder in ("families", "recipes"):
        (specs / folder).mkdir(parents=True)
    monkeypatch.setenv("COSTMODEL_PATH", str(specs))
    family = specs / "families" / "heron.yaml"
    family.write_text("schema: costmodel/family@1\nname: heron\nextends: llama\nmodel_types: [heron]\n")
    data = {**LLAMA, "model_type": "heron"}
    (home / "h").mkdir()
    (home / "h" / "config.json").write_text(json.dumps(data))
    plain = predicted("./h")
    family.write_text(family.read_text() + "let: {norms: 3}\n")
    assert predicted("./h") == plain + 4 * 256 * 2
    (home / "h" / "hf_quant_config.json").write_text("{}")
    assert predicted("./h") == plain + 4 * 256 * 2
    (home / "h" / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "FP8"}}')
    assert predicted("./h") < plain
    child = home / "child.yaml"
    child.write_text("schema: costmodel/model@1\nname: child\nextends: ./tiny-llama/config.json\n")
    before = predicted("./child.yaml")
    whole = write_safetensors(home / "tiny-llama" / "model.safetensors", llama(dtype="F32")).read_bytes()
    (home / "tiny-llama" / "model.safetensors").write_bytes(whole[:-100])
    assert predicted("./child.yaml") == before
    (home / "tiny-llama" / "model.safetensors").write_bytes(whole)
    assert predicted("./child.yaml") == 2 * before


def test_problems_of_a_config_point_into_it(home):
    (home / "tiny-llama" / "config.json").write_text(json.dumps({**LLAMA, "num_key_value_heads": 3}, indent=1))
    out = run("predict", "./tiny-llama", "--hw", "ddr5", code=2)
    assert out.startswith("error: tiny-llama/config.json:5:2: n_q is a whole multiple of n_kv; here n_kv = 3, n_q = 8")


def test_many_threads_load_at_once():
    from concurrent.futures import ThreadPoolExecutor

    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(3):
            shared = Library()
            with ThreadPoolExecutor(16) as pool:
                done = list(
                    pool.map(
                        lambda n, lib=shared: lib.load("model", config(n)).name, ["gemma-3-4b", "qwen3-8b", "llava-1.5-7b", "gpt2"] * 8
                    )
                )
            assert len(done) == 32
    finally:
        sys.setswitchinterval(old)


def test_flags_of_an_allocation_need_a_context(home):
    assert "--context" in run("inspect", "tiny.gguf", "-ctk", "q8_0", code=2)
