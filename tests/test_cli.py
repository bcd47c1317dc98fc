"""The commands, run: formats, exit codes, the JSON contract, errors."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest
from click.testing import CliRunner

from costmodel.cli import main


def run(*args: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, [str(a) for a in args])
    assert result.exit_code == code, result.output + result.stderr
    if code == 2:
        assert result.stdout == "" and "Traceback" not in result.stderr
        return result.stderr
    return result.stdout


CONTRACT = {
    "memory": "weights_bytes kv_bytes state_bytes workspace_bytes total_bytes capacity_bytes fits max_context max_batch",
    "prefill": "flops bytes intensity ridge regime floor_s expected_s",
    "decode": "flops bytes intensity ridge regime floor_s expected_s bytes_by",
    "ttft_s": "floor expected low high",
    "tpot_s": "floor expected low high",
    "tps": "ceiling expected low high rule_of_thumb",
    "e2e_s": "expected",
    "workload": "prompt output context batch devices",
}


def finite(value) -> bool:
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    if isinstance(value, list):
        return all(map(finite, value))
    return not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize("model", ["8b", "llama-3.1-8b", "mixtral-8x7b", "deepseek-v3"])
def test_json_contract(model):
    data = json.loads(run("predict", model, "--hw", "h100-sxm", "--format", "json"))
    assert data["schema"] == "costmodel/prediction@1"
    for part, names in CONTRACT.items():
        assert set(names.split()) <= set(data[part]), part
    assert set(data["decode"]["bytes_by"]) == {"weights", "kv", "state", "activations"}
    assert {"model", "hardware", "engine", "techniques", "itl_mean_s", "user_tps", "system_tps", "not_modelled", "assumptions"} <= set(data)
    assert sum(data["decode"]["bytes_by"].values()) == pytest.approx(data["decode"]["bytes"])
    assert finite(data)


def test_sizes_with_k_and_defaults():
    data = json.loads(run("predict", "8b", "--hw", "ddr5", "--prompt", "2k", "--format", "json"))
    assert data["workload"] == {"prompt": 2048, "output": 256, "context": 2048, "batch": 1, "devices": 1}


def test_path_and_name_agree(desk):
    text = run("predict", "specs/models/8b.yaml", "--hw", "specs/hardware/ddr5.yaml", "--format", "json")
    assert json.loads(text)["tps"] == json.loads(run("predict", "8b", "--hw", "ddr5", "--format", "json"))["tps"]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_text_fits_eighty_columns(lang):
    from costmodel.sizes import width

    for args in (
        ("predict", "mixtral-8x7b", "--hw", "ddr5", "--operators"),
        ("matrix",),
        ("matrix", "techniques"),
        ("matrix", "phases"),
        ("matrix", "local-pcs"),
    ):
        for line in run(*args, "--lang", lang).splitlines():
            if "; " not in line:
                assert width(line) <= 80, line


@pytest.mark.parametrize("fmt", ["text", "markdown", "html", "csv", "json"])
@pytest.mark.parametrize("study", ["memory-vs-speed", "phases", "hardware", "decode-ceiling", "techniques", "local-pcs"])
def test_every_study_in_every_format(study, fmt):
    for lang in ("en", "ko"):
        shown = run("matrix", study, "--format", fmt, "--lang", lang)
        assert shown.strip()
        if fmt == "json":
            assert finite(json.loads(shown)) and json.loads(shown)["study"] == study
        if fmt == "csv":
            assert len({len(r) for r in csv.reader(io.StringIO(shown))}) == 1
        if fmt == "html":
            assert shown.startswith("<!doctype html>") and "</html>" in shown


def test_matrix_json_contract():
    data = json.loads(run("matrix", "--format", "json"))
    assert {"study", "baseline", "rows"} <= set(data)
    assert len(data["rows"]) == 9
    for row in data["rows"]:
        assert {"technique", "memory", "speed", "memory_ratio", "kv_ratio", "speed_ratio", "reason", "variants"} <= set(row)


def test_ad_hoc_grid_filters_and_sorts():
    args = (
        "matrix",
        "--model",
        "8b",
        "--model",
        "14b",
        "--hw",
        "ddr5",
        "--hw",
        "rtx4090",
        "--context",
        "1k",
        "--context",
        "8k",
        "--format",
        "json",
    )
    rows = json.loads(run(*args))["rows"]
    assert len(rows) == 8
    kept = json.loads(run(*args, "--filter", "tps>20", "--filter", "hardware=rtx*", "--sort", "-tps"))["rows"]
    assert [r["tps"] for r in kept] == sorted((r["tps"] for r in rows if r["tps"] > 20 and r["hardware"] == "rtx4090"), reverse=True)
    assert "did you mean `tps`" in run(*args, "--sort", "tpss", code=2)
    assert "no field" in run(*args, "--filter", "speed>1", code=2)


def test_grid_of_techniques_says_what_is_refused():
    rows = json.loads(
        run(
            "matrix",
            "--model",
            "8b",
            "--model",
            "deepseek-v3",
            "--hw",
            "h200-sxm",
            "-t",
            "none",
            "-t",
            "gqa",
            "-t",
            "int4+kv-int8",
            "--format",
            "json",
        )
    )["rows"]
    assert len(rows) == 6
    refused = [r for r in rows if r["refused"]]
    assert [(r["model"], r["techniques"]) for r in refused] == [("deepseek-v3", ["gqa"])]


def test_predict_equals_the_matrix_cell_on_the_command_line():
    cell = json.loads(run("matrix", "--model", "8b", "--hw", "rtx4090", "--format", "json"))["rows"][0]
    p = json.loads(run("predict", "8b", "--hw", "rtx4090", "--format", "json"))
    assert (cell["tps"], cell["ttft_s"], cell["total_bytes"]) == (p["tps"]["expected"], p["ttft_s"]["expected"], p["memory"]["total_bytes"])


@pytest.mark.parametrize(("speed", "verdict", "code"), [(50, "impossible", 1), (13, "normal", 0), (19, "fast", 0), (3, "slow", 0)])
def test_check(speed, verdict, code):
    # R50
    assert f"per user: {verdict}" in run("check", speed, "--model", "8b", "--hw", "ddr5", code=code)
    data = json.loads(run("check", speed, "--model", "8b", "--hw", "ddr5", "--format", "json", code=code))
    assert data["verdict"] == verdict and data["needed_by_rule"] == pytest.approx(speed * 4.7e9)


def test_check_of_a_model_that_does_not_fit():
    # R52
    text = run("check", 5, "--model", "llama-3.1-70b", "--hw", "rtx4090", code=1)
    assert "does not fit" in text


def test_must_fit():
    run("predict", "llama-3.1-405b", "--hw", "rtx4090", "--must-fit", code=1)
    run("predict", "8b", "--hw", "rtx4090", "--must-fit")
    assert "DOES NOT FIT" in run("predict", "llama-3.1-405b", "--hw", "rtx4090")


def test_set_overrides_are_typed_and_placed():
    data = json.loads(run("predict", "8b", "--hw", "ddr5", "--set", "hw.memory.dram.bandwidth=180GB/s", "--format", "json"))
    plain = json.loads(run("predict", "8b", "--hw", "ddr5", "--format", "json"))
    assert data["tps"]["ceiling"] == pytest.approx(2 * plain["tps"]["ceiling"])
    assert "--set #1" in run("predict", "8b", "--hw", "ddr5", "--set", "hw.memory.dram.bandwith=180GB/s", code=2)
    assert "write the unit" in run("predict", "8b", "--hw", "ddr5", "--set", "hw.memory.dram.bandwidth=180", code=2)


def test_devices_are_tensor_parallel():
    two = json.loads(run("predict", "llama-3.1-70b", "--hw", "h100-sxm", "--devices", "4", "--format", "json"))
    same = json.loads(run("predict", "llama-3.1-70b", "--hw", "h100-sxm", "-t", "tensor-parallel:ways=4", "--format", "json"))
    assert two["tps"] == same["tps"] and two["memory"]["fits"] is True


@pytest.mark.parametrize("kind", ["hardware", "models", "techniques", "engines", "studies", "formats", "operators"])
def test_list(kind):
    assert len(run("list", kind).splitlines()) > 2
    assert json.loads(run("list", kind, "--format", "json"))[0]["name"]


def test_list_filters():
    assert {r["name"] for r in json.loads(run("list", "hardware", "rtx40*", "--format", "json"))} >= {"rtx4090", "rtx4080"}
    assert "no hardware matches" in run("list", "hardware", "zzz", code=2)


def test_validate_and_schema(tmp_path, desk):
    assert "valid" in run("validate", "specs/models/8b.yaml", "specs/engines")
    bad = desk.write("model", "bad", "architecture: decoder\ndims: {L: 2, d: 64, n_q: 4, vocab: 100, d_f: 5}\n")
    assert "d_ff" in run("validate", bad, code=2)
    run("schema", "--write", tmp_path / "out")
    assert json.loads(run("schema", "hardware"))["properties"]["schema"] == {"const": "costmodel/hardware@1"}


def test_inspect():
    one = json.loads(run("inspect", "llama-3.1-8b", "--format", "json"))
    assert one["params"] == 8030261248 and one["kv_bytes_per_token"] == 131072 and one["embedding_params"] == 525336576
    assert one["layers"] == 32 and one["weights_bytes"] == 16060522496
    assert len(json.loads(run("inspect", "8b", "mixtral-8x7b", "--format", "json"))) == 2


@pytest.mark.parametrize(
    ("args", "want"),
    [
        (("predict", "8bb", "--hw", "ddr5"), "did you mean `8b`"),
        (("predict", "8b", "--hw", "rtx409"), "did you mean `rtx4090`"),
        (("predict", "no/such.yaml", "--hw", "ddr5"), "no file"),
        (("predict", "models/8b.yaml", "--hw", "ddr5"), "the built-in document is called `8b`"),
        (("predict", "8b", "--hw", "ddr5", "-t", "int5"), "did you mean `int"),
        (("predict", "8b", "--hw", "ddr5", "-t", "int4", "-t", "fp8"), "is set by two techniques"),
        (("predict", "8b", "--hw", "ddr5", "-t", "sparsity-2-4"), "needs feature `sparse_2_4`"),
        (("predict", "8b", "--hw", "ddr5", "-t", "offload"), "nothing to offload to"),
        (("predict", "decoder", "--hw", "ddr5"), "is abstract"),
        (("predict", "8b", "--hw", "cpu-desktop"), "is a class of hardware"),
        (("predict", "8b", "--hw", "ddr5", "-t", "moe:active=9,experts=8"), "active experts must not exceed"),
        (("predict", "8b", "--hw", "ddr5", "--prompt", "0"), "at least 1"),
        (("predict", "8b", "--hw", "ddr5", "--prompt", "many"), "is not a count"),
        (("matrix", "memory-vs-sped"), "did you mean `memory-vs-speed`"),
        (("pedict", "8b"), "did you mean `predict`"),
        (("list", "modles"), "did you mean `models`"),
        (("predict", "8b"), "--hw"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(args, want):
    assert want in run(*args, code=2)


def test_both_places_are_named_when_two_techniques_disagree():
    shown = run("predict", "8b", "--hw", "ddr5", "-t", "int4", "-t", "fp8", code=2)
    assert "int4.yaml:" in shown and "fp8.yaml:" in shown and "and here" in shown


def test_all_problems_of_a_stage_at_once(desk):
    path = desk.write(
        "hardware",
        "wrong",
        "extends: cpu-desktop\nmemory: {dram: {capcity: 64 GiB, bandwidth: 90}}\ncompute: {fp23: 1 TFLOP/s, fp32: -1 TFLOP/s}\n",
    )
    shown = run("predict", "8b", "--hw", path, code=2)
    assert all(w in shown for w in ("did you mean `capacity`", "write the unit", "did you mean `fp32`", "greater than 0")), shown


def test_progress_of_a_long_matrix(monkeypatch):
    from costmodel.solve.progress import Progress

    stream = io.StringIO()
    with Progress(stream, wait=0) as progress:
        progress(1, 100)
    assert stream.getvalue() == "1 of 100 cases\n"


def test_version():
    import costmodel

    assert costmodel.__version__ in run("--version")
