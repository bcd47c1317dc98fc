"""What commands print with `--format json` against the published JSON Schemas: real outputs pass, altered ones do not."""

from __future__ import annotations

import copy
import inspect
import json
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import usable
from filewriters import write_gguf
from jsonschema import Draft202012Validator
from probed import MACHINES
from test_import_gguf import DENSE, keys
from test_import_safetensors import llama, write_safetensors

import costmodel
from costmodel.cli import main
from costmodel.commands import FILES
from costmodel.report.outputs import OUTPUTS, output_schema
from costmodel.report.probing import Wanted, probe
from costmodel.schema import KINDS

ROOT = Path(__file__).resolve().parent.parent
VALIDATORS = {name: Draft202012Validator(output_schema(name)) for name in OUTPUTS}


def output(*args, code: int = 0):
    """What a command prints, as data; numbers that are none (NaN, Infinity) are refused."""
    done = CliRunner().invoke(main, [*map(str, args), "--format", "json"], prog_name="costmodel")
    assert done.exit_code == code, done.output
    return json.loads(done.stdout, parse_constant=lambda text: pytest.fail(text))


def valid(name: str, data) -> None:
    """Fail with the places where an output is not as its schema says."""
    found = [f"{error.json_path}: {error.message[:300]}" for error in VALIDATORS[name].iter_errors(data)]
    assert not found, found[:5]


@pytest.mark.parametrize("name", OUTPUTS)
def test_schemas_are_sound_and_published(name):
    schema = output_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"costmodel/{name}@1" and schema["$schema"].endswith("2020-12/schema")
    assert json.loads((ROOT / "schemas" / "outputs" / f"{name}-1.json").read_text("utf-8")) == schema
    printed = CliRunner().invoke(main, ["schema", name], prog_name="costmodel")
    assert json.loads(printed.stdout) == schema


def test_descriptions_are_the_texts_under_the_fields():
    fields = output_schema("evaluation")["$defs"]["ClassGroup"]["properties"]  # its own, its parents', and of no text
    assert fields["near"]["description"] == "Share of rows whose error is at most `near_share`; a share"
    assert fields["median"]["description"] == "a ratio" and "description" not in fields["class"]


def test_names_of_outputs_and_documents_are_apart(tmp_path):
    assert not set(OUTPUTS) & set(KINDS)
    done = CliRunner().invoke(main, ["schema", "--write", str(tmp_path)])
    assert done.exit_code == 0
    written = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.json")}
    assert written == {f"{k}-1.json" for k in KINDS} | {f"outputs/{k}-1.json" for k in OUTPUTS}
    assert written == {str(p.relative_to(ROOT / "schemas")) for p in (ROOT / "schemas").rglob("*.json")}
    unknown = CliRunner().invoke(main, ["schema", "predicton"])
    assert unknown.exit_code == 2 and not unknown.stdout and "did you mean `prediction`" in unknown.stderr


@pytest.mark.parametrize("command", FILES)
def test_every_command_that_prints_json_has_a_schema(command):
    options = import_module(f"costmodel.commands.{FILES[command]}").command.params
    prints = any("json" in getattr(o.type, "choices", ()) for o in options)
    assert prints == (command in {printer for _, _, printer in OUTPUTS.values()})


PREDICT = {
    "plain": "8b --hw ddr5",
    "operators": "8b --hw rtx4090 --operators",
    "moe": "mixtral-8x7b --hw h100-sxm --batch 8 --operators",
    "mla": "deepseek-v3 --hw h100-sxm --devices 8 --operators",
    "hybrid": "tests/data/configs/jamba-v0.1.json --hw mi300x --operators",
    "state": "tests/data/configs/mamba-2.8b.json --hw rtx4090 --operators",
    "sliding": "tests/data/configs/gpt-oss-20b.json --hw rtx4090 --context 32k",
    "one token": "8b --hw ddr5 --output 1",
    "no context": "8b --hw ddr5 --context 0",
    "does not fit": "llama-3.3-70b --hw rtx4090",
    "host": "llama-3.3-70b --hw rtx4090 --gpu-layers 20 --operators",
    "disk": "deepseek-v3 --hw ddr5 -t mmap:share=0.5",
    "pipeline": "8b --hw h100-sxm -t pipeline-parallel:stages=4,micro=4 --batch 8",
    "disaggregation": "8b --hw h100-sxm -t disaggregation:decode=a100-sxm-80gb",
    "speculative": "8b --hw rtx4090 -t speculative-decoding --operators",
    "chunks": "8b --hw h100-sxm -t chunked-prefill:chunk=256 --prompt 4k --batch 4",
    "sets": "8b --hw ddr5 --set hw.memory.dram.bandwidth=180GB/s --engine ideal",
    "must fit": "gpt-oss-120b --hw rtx4090 --must-fit",
    "fits anyway": "8b --hw rtx4090 --must-fit --operators",
}


@pytest.mark.parametrize("args", PREDICT.values(), ids=PREDICT)
def test_predictions(args):
    valid("prediction", output("predict", *args.split()))


def test_a_prediction_that_must_fit_and_does_not():
    data = output("predict", "deepseek-v3", "--hw", "rtx4090", "--must-fit", code=1)
    valid("prediction", data)
    assert data["placement"]["fits"] is False and {"placement", "flags", "changes"} <= set(data)


def test_a_prediction_of_unknown_capacity_and_of_a_size_alone(desk):
    desk.write("hardware", "open", "extends: cpu-desktop\nmemory: {main: {bandwidth: 90 GB/s}}\ncompute: {fp32: 1 TFLOP/s}\n")
    dims = "{params: 8.03e9, active_params: 8.03e9, embedding_params: 0.525e9, layers: 32, width: 4096, kv_bytes_per_token: 131072}"
    desk.write("model", "size", f"architecture: summary\ndims: {dims}\nweights: {{format: q4_k_m, size: 4.92 GB}}\n")
    p = desk.predict("size", "open")
    data = json.loads(json.dumps(p.to_dict()))
    valid("prediction", data)
    assert data["memory"]["fits"] is data["memory"]["max_batch"] is data["memory"]["capacity_bytes"] is None
    operators(p)


def operators(p) -> None:
    """Attributes of a prediction are those that their classes declare, no more and no less."""
    rows = [row for phase in p.operators.values() for row in phase]
    for figures in (p.tps, p.tpot_s, p.ttft_s, p.e2e_s, p.memory, p.prefill, p.decode, p.decode.bytes_by, *rows):
        declared = [f for cls in reversed(type(figures).__mro__) for f in inspect.get_annotations(cls)]
        assert sorted(declared) == sorted(vars(figures)), type(figures)


TECHNIQUE_MODELS = ("8b", "mixtral-8x7b", "deepseek-v3", "8b-mha")


@pytest.mark.parametrize("technique", usable("technique"))
def test_every_technique(technique):
    done = 0
    for model in TECHNIQUE_MODELS:
        try:
            p = costmodel.predict(model, "h100-sxm", techniques=[technique], devices=1, batch=4)
            valid("prediction", json.loads(json.dumps(p.to_dict(), allow_nan=False)))
        except costmodel.SpecError:
            continue
        operators(p)
        done += 1
        break
    assert done, "refused on every model"


@pytest.mark.parametrize("study", [None, *usable("study")])
def test_studies(study):
    for lang in ("en", "ko"):
        data = output("matrix", *([study] if study else []), "--lang", lang)
        valid("matrix", data)
        assert data["schema"] == "costmodel/matrix@1" and data["rows"]


def test_a_grid_with_a_refused_cell():
    data = output("matrix", "--model", "8b", "--hw", "ddr5", "--technique", "sparsity-2-4", "--technique", "none", "--batch", 2)
    valid("matrix", data)
    assert [row["refused"] is None for row in data["rows"]] == [False, True]
    valid("matrix", output("matrix", "--model", "8b", "--hw", "ddr5", "--filter", "tps>1e9"))


CHECKS = {
    "impossible": ("50 --model 8b --hw ddr5", 1),
    "normal": ("13 --model 8b --hw ddr5", 0),
    "slow": ("2 --model 8b --hw rtx4090", 0),
    "fast, both figures": ("150 --prefill 90 --model 8b --hw rtx4090", 0),
    "prefill alone": ("--prefill 900 --model 8b --hw ddr5", 1),
    "does not fit": ("3 --model llama-3.3-70b --hw rtx4090", 0),
    "a batch": ("4000 --model 8b --hw h100-sxm --batch 32", 1),
    "moe": ("20 --model mixtral-8x7b --hw ddr5", 1),
}


@pytest.mark.parametrize(("args", "code"), CHECKS.values(), ids=CHECKS)
def test_checks(args, code):
    done = CliRunner().invoke(main, ["check", *args.split(), "--format", "json"], prog_name="costmodel")
    assert done.exit_code in (0, 1), done.output
    data = json.loads(done.stdout)
    valid("check", data)
    assert done.exit_code == (data["verdict"] == "impossible") == code


def test_inspected_models_and_files(tmp_path):
    gguf = write_gguf(tmp_path / "tiny.gguf", keys("llama"), DENSE)
    weights = write_safetensors(tmp_path / "w" / "model.safetensors", llama()) if (tmp_path / "w").mkdir() is None else None
    for args in (["8b"], ["deepseek-v3", "--context", "8k"], [gguf], [gguf, "--context", "4k"], [weights], ["8b", gguf, weights]):
        valid("inspect", output("inspect", *args))
    for config in sorted((ROOT / "tests/data/configs").glob("*.json"))[::6]:
        valid("inspect", output("inspect", config, "--context", "16k"))


def test_lists(tmp_path, monkeypatch):
    from costmodel.library import FOLDERS

    for kind in (
        [],
        *([folder] for folder in FOLDERS.values() if folder != "models"),
        ["classes"],
        ["models", "gpt*"],
        ["hardware", "zzzz"],
    ):
        valid("list", output("list", *kind))


def test_a_list_with_an_invalid_document(tmp_path, monkeypatch):
    import costmodel.library as library

    (tmp_path / "hardware").mkdir()
    (tmp_path / "hardware" / "rtx4090-broken.yaml").write_text(
        "schema: costmodel/hardware@1\nname: rtx4090-broken\nextends: nvidia-geforce\n"
    )
    monkeypatch.setenv("COSTMODEL_PATH", str(tmp_path))
    monkeypatch.setattr(library, "_shared", None)
    rows = output("list", "hardware", "rtx4090*")
    valid("list", rows)
    broken = next(row for row in rows if row["name"] == "rtx4090-broken")
    assert broken["title"].startswith("(invalid") and broken["capacity"] is None


def test_evaluations(tmp_path):
    for file in ("llama-bench.json", "ollama.txt", "batched.md"):
        valid("evaluation", output("evaluate", ROOT / "tests/data/measurements" / file, "--hw", "rtx4090", "--model", "8b"))
    impossible = tmp_path / "impossible.csv"
    impossible.write_text(
        "model,hardware,prompt,context,batch,decode_tps\n8b,ddr5,512,512,1,90\n8b,ddr5,512,512,1,12\nnope,ddr5,512,512,1,9\n"
    )
    data = output("evaluate", impossible)
    valid("evaluation", data)
    assert len(data["above_ceiling"]) == 1 and data["skipped"]


@pytest.mark.parametrize("machine", MACHINES)
def test_probes(machine):
    valid("probe", json.loads(probe(Wanted(fmt="json"), system=MACHINES[machine])))


EXPLAINED = {
    "a formula": "8b tps --hw ddr5 --level 1",
    "plain": "8b ttft --hw rtx4090",
    "operators": "8b e2e --hw rtx4090 --level 3",
    "a count": "tests/data/configs/gpt-oss-20b.json max_context --hw rtx4090",
    "moe": "mixtral-8x7b tps.low --hw h100-sxm --batch 8 --level 3",
    "mla": "deepseek-v3 tps --hw h100-sxm --devices 8 --level 3",
    "state": "tests/data/configs/jamba-v0.1.json decode --hw mi300x --level 3",
    "speculative": "8b tpot --hw rtx4090 -t speculative-decoding --level 3",
    "disaggregation": "8b ttft --hw h100-sxm -t disaggregation:decode=a100-sxm-80gb --level 3",
    "pipeline": "8b prefill.floor_s --hw h100-sxm -t pipeline-parallel:stages=4,micro=4 --batch 8 --level 3",
    "host": "llama-3.3-70b memory --hw rtx4090 --gpu-layers 20 --level 3",
    "a lower tier": "llama-3.3-70b memory.tiers.host.kv_bytes --hw rtx4090 --gpu-layers 20 --level 3",
    "disk": "deepseek-v3 floor --hw ddr5 -t mmap:share=0.5 --level 3",
    "chunks": "8b prefill --hw h100-sxm -t chunked-prefill:chunk=256 --prompt 4k --batch 4 --level 3",
    "stored": "gpt-oss-120b stored_bytes --hw ddr5 --level 3",
    "one token": "8b itl_mean --hw ddr5 --output 1",
    "a name": "8b regime --hw ddr5 --level 3",
    "a verdict": "llama-3.3-70b fits --hw rtx4090 --level 3",
    "sets": "8b rule_of_thumb --hw ddr5 --set hw.memory.dram.bandwidth=180GB/s --level 3",
    "expression": "8b tpot --hw ddr5 --symbolic --level 1",
    "in latex": "8b kv --hw ddr5 --latex",
}


@pytest.mark.parametrize("args", EXPLAINED.values(), ids=EXPLAINED)
def test_unfolded_figures(args):
    if "--symbolic" in args or "--latex" in args:
        pytest.importorskip("sympy")
    data = output("explain", *args.split())
    valid("unfolded-figure", data)
    assert data["schema"] == "costmodel/unfolded-figure@1" and data["steps"][0]["value"] == data["value"]


DIFFS = {
    "the same": "8b@ddr5 8b",
    "format": "8b@ddr5 +int4",
    "model": "8b@h100-sxm mixtral-8x7b+batch=8",
    "machine": "deepseek-v3@h100-sxm+devices=8 @mi300x",
    "mla against gqa": "deepseek-v3@h100-sxm+devices=8 llama-3.3-70b",
    "speculative": "8b@rtx4090 +speculative-decoding",
    "disaggregation": "8b@h100-sxm +disaggregation:decode=a100-sxm-80gb",
    "pipeline": "8b@h100-sxm+batch=8 +pipeline-parallel:stages=4,micro=4",
    "host": "llama-3.3-70b@rtx4090 +kv-on-host",
    "chunks": "8b@h100-sxm+prompt=4k +chunked-prefill:chunk=256",
    "state": "8b@rtx4090 tests/data/configs/mamba-2.8b.json",
    "sets": "8b@ddr5 +hw.memory.dram.bandwidth=180GB/s+engine=ideal",
    "disk": "deepseek-v3@ddr5 +mmap:share=0.5",
}


@pytest.mark.parametrize("args", DIFFS.values(), ids=DIFFS)
def test_diffs(args):
    a, b = args.split()
    data = output("diff", a, b, "--hw", a.rpartition("@")[2].partition("+")[0])
    valid("diff", data)
    assert data["schema"] == "costmodel/diff@1" and all(len(term["bills"]) == 2 for term in data["terms"])


FREE = {
    "axes",
    "base",
    "best",
    "quantiles",
    "histograms",
    "pareto",
    "rows",
    "dims",
    "types",
    "flags",
    "skipped",
    "compute",
    "rates",
    "figures",
    "document",
    "streams",
    "seconds",
    "resources",
}
"""Objects whose keys are names, not fields."""
OPTIONAL = {
    "operators", "placement", "changes", "memory_ratio_range", "speed_ratio_range", "buffers", "in_sample", "symbolic", "latex", "scaled", "rows",
}  # fmt: skip


def places(data, path=()):
    """Paths of all objects that have fields."""
    if isinstance(data, dict):
        if not path or path[-1] not in FREE:
            yield path
        for key, value in data.items():
            if isinstance(value, list) or key not in ("rates", "figures", "document", "workload"):
                yield from places(value, (*path, key))
    elif isinstance(data, list) and data:
        yield from places(data[0], (*path, 0))


def mutants(data, needed=frozenset()):
    """Copies of an output that are each wrong in one place, and what was done; `needed` are not optional here."""
    for path in places(data):
        if path and (path[-1] in ("tiers", "title", "look", "label", "change") or "titles" in path[:-1]):
            continue
        for change in ("add", *reach(data, path)):
            made = copy.deepcopy(data)
            at = reach(made, path)
            if change == "add":
                at["surprise"] = 1
            elif change in OPTIONAL - needed or (change in FREE and not isinstance(at[change], list)):
                continue
            else:
                del at[change]
            yield (*path, change), made


def reach(data, path):
    for part in path:
        data = data[part]
    return data


SAMPLES = {
    "prediction": ("predict", "8b", "--hw", "rtx4090", "-t", "kv-on-host", "--operators"),
    "matrix": ("matrix", "phases"),
    "check": ("check", "50", "--model", "8b", "--hw", "ddr5"),
    "inspect": ("inspect", "8b", "--context", "4k"),
    "list": ("list", "links"),
    "sweep": ("sweep", "8b", "--hw", "rtx4090", "--axis", "batch=1,4", "--best", "tps.expected", "--histogram", "tps.expected=0:200:4"),
    "sweep of all points": ("sweep", "8b", "--hw", "wse3", "--hw", "ddr5", "--axis", "model.weights.format=q8_0,fp16", "--skip-invalid"),
    "unfolded-figure": ("explain", "8b", "decode", "--hw", "ddr5", "--level", "3"),
    "unfolded-figure of a formula": ("explain", "8b", "rule_of_thumb", "--hw", "ddr5", "--level", "1"),
    "unfolded-figure of bytes": ("explain", "8b", "bytes", "--hw", "ddr5", "--level", "3"),
    "unfolded-figure of memory": ("explain", "8b", "kv", "--hw", "ddr5", "-t", "kv-int8", "--level", "3"),
    "diff": ("diff", "8b@ddr5", "14b@rtx4090+int4+batch=8"),
    "solution": ("solve", "bandwidth", "8b", "--hw", "ddr5", "--for", "tps=30"),
    "solution that is tried": ("solve", "format", "8b", "--hw", "ddr5", "--for", "tps=10", "--no-suggest"),
    "crossovers": ("crossovers", "mixtral-8x7b", "--hw", "h100-sxm", "--devices", "2"),
    "sensitivity": ("sensitivity", "8b", "--hw", "ddr5"),
}
"""Commands by the schema of what they print, and what it is of."""


@pytest.mark.parametrize("name", [*SAMPLES, "probe", "evaluation"])
def test_an_altered_output_fails(name):
    if name == "probe":
        data = json.loads(probe(Wanted(fmt="json"), system=MACHINES["desktop"]))
    elif name == "evaluation":
        data = output("evaluate", ROOT / "tests/data/measurements/llama-bench.json", "--hw", "rtx4090", "--model", "8b")
    else:
        data = output(*SAMPLES[name], code=1 if name == "check" else 0)
    name = name.partition(" ")[0]
    for group in data.get("operators", ()) if name == "unfolded-figure" else ():
        del group["operators"][1:]  # one of each is altered anyway
    valid(name, data)
    passed = [
        where for where, made in mutants(data, {"operators"} if name == "unfolded-figure" else set()) if VALIDATORS[name].is_valid(made)
    ]
    passed = [w for w in passed if name != "sweep" or w[0] not in ("best", "pareto", "rows")]  # points are maps of names to values
    assert not passed, passed


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "costmodel/prediction@2"),
        (("tps", "expected"), "12"),
        (("tps", "expected"), None),
        (("memory", "fits"), "yes"),
        (("memory", "max_batch"), 1.5),
        (("decode", "regime"), "bandwidth"),
        (("prefill", "floor_s"), -1),
        (("memory", "tiers", "tape"), {}),
        (("techniques",), "int4"),
    ],
)
def test_a_value_of_another_kind_fails(path, value):
    data = json.loads(json.dumps(costmodel.predict("8b", "ddr5").to_dict()))
    valid("prediction", data)
    reach(data, path[:-1])[path[-1]] = value
    assert not VALIDATORS["prediction"].is_valid(data)
