"""Every shipped document: valid without warnings, sourced, reproducible; and what the project promises to ship."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from conftest import usable

import costmodel
from costmodel.api import library
from costmodel.library import FOLDERS
from costmodel.report.schemas import schema_of, schema_text
from costmodel.schema import KINDS
from costmodel.solve.validate import validate_file

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "specs").rglob("*.yaml"))
MODELS = [
    "1b",
    "3b",
    "8b",
    "14b",
    "llama-2-7b",
    "llama-3-8b",
    "llama-3.3-70b",
    "llama-3.1-405b",
    "mistral-7b",
    "mixtral-8x7b",
    "qwen3-8b",
    "qwen3-32b",
    "qwen3-30b-a3b",
    "gemma-3-27b",
    "gpt-oss-20b",
    "gpt-oss-120b",
    "deepseek-v3",
    "phi-4",
    "exaone-3.5-2.4b",
]
CLASSES = [
    "cpu-desktop",
    "cpu-server",
    "apple-silicon",
    "nvidia-geforce",
    "nvidia-workstation",
    "nvidia-datacenter",
    "nvidia-soc",
    "amd-radeon",
    "amd-instinct",
    "amd-apu",
    "intel-arc",
    "tpu",
]
TECHNIQUES = [
    "int8",
    "int4",
    "fp8",
    "structured-pruning",
    "unstructured-sparsity",
    "sparsity-2-4",
    "distillation",
    "moe",
    "gqa",
    "mqa",
    "mla",
    "kv-int8",
    "kv-int4",
    "kv-eviction",
    "offload",
    "no-kv-cache",
    "flash-attention",
    "batching",
    "continuous-batching",
    "speculative-decoding",
    "mtp",
    "chunked-prefill",
    "disaggregation",
    "prefix-caching",
    "tensor-parallel",
    "pipeline-parallel",
    "expert-parallel",
    "gpu-layers",
    "experts-on-host",
    "kv-on-host",
    "spill",
    "mmap",
]


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_valid_without_warnings(file):
    assert validate_file(library(), file) == []


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_first_line_and_sources(file):
    assert file.read_text("utf-8").startswith("schema: costmodel/")
    kind = {v: k for k, v in FOLDERS.items()}[file.relative_to(ROOT / "specs").parts[0]]
    spec = library().load(kind, str(file))
    if not (kind == "model" and spec.doc.abstract) and spec.name != "words":
        assert spec.doc.sources, "no sources"


def test_what_is_shipped():
    assert set(MODELS) <= set(usable("model"))
    assert set(TECHNIQUES) == set(usable("technique"))
    assert {"ddr4", "ddr5", "m3-pro", "m3-max", "rtx4090"} <= set(usable("hardware")) and len(usable("hardware")) >= 35
    assert all(library().load("hardware", c).doc.abstract for c in CLASSES)
    assert {"ideal", "rule-of-thumb"} <= set(usable("engine"))
    assert {"fp32", "fp16", "bf16", "fp8", "int8", "int4", "q4_k_m", "q6_k", "q8_0", "mxfp4", "nvfp4"} <= set(usable("format"))


@pytest.mark.parametrize("name", usable("hardware"))
def test_every_machine_predicts(name):
    spec = library().load("hardware", name)
    assert {"bandwidth"} <= set(spec.doc.sources)
    if not spec.doc.compute:
        pytest.skip("no published peak rate")
    p = costmodel.predict("8b", name)
    assert p.tps.ceiling > p.tps.expected > 0 and p.prefill.flops > 0


@pytest.mark.parametrize("name", usable("model"))
def test_every_model_predicts_and_has_a_published_size(name):
    p = costmodel.predict(name, "h200-sxm")
    assert library().load("model", name).doc.checks.params is not None
    assert p.memory.weights_bytes > p.decode.bytes_by.weights * 0.99 or library().load("model", name).doc.dims.get("tied") == 1


@pytest.mark.parametrize("name", TECHNIQUES)
def test_every_technique_is_named_in_both_languages_and_changes_something(name):
    doc = library().load("technique", name).doc
    assert doc.title.ko and doc.title.en
    for model in ("mixtral-8x7b",) if any("expert" in role for role in doc.requires.roles) else ("8b-mha", "8b"):
        base = ("gpu-layers",) if name == "mmap" else ()  # of what lies on the host
        plain, used = (costmodel.predict(model, "h100-sxm", context=9000, techniques=t) for t in (base, (*base, name)))
        if plain.to_dict()["tps"] != used.to_dict()["tps"] or plain.memory.total_bytes != used.memory.total_bytes:
            return
        if plain.ttft_s.expected != used.ttft_s.expected or plain.system_tps != used.system_tps:
            return
    pytest.fail("it changes nothing at its defaults")


def test_article_files_have_their_stated_sizes():
    for name, size in (("1b", 0.8e9), ("3b", 2.0e9), ("8b", 4.7e9), ("14b", 8.5e9)):
        assert costmodel.predict(name, "ddr5").memory.weights_bytes == pytest.approx(size, rel=1e-9)


def test_aliases_are_unique():
    seen: dict[str, str] = {}
    for kind in ("hardware", "model", "format"):
        for name in library().names(kind):
            doc = library().load(kind, name).doc
            for alias in doc.aliases:
                assert (kind, alias) not in seen and alias not in library().names(kind), alias
                seen[kind, alias] = name


@pytest.mark.parametrize(("alias", "name"), [("4090", "rtx4090"), ("rtx-4090", "rtx4090"), ("h100", "h100-sxm"), ("m3max", "m3-max")])
def test_names_people_type(alias, name):
    assert library().load("hardware", alias).name == name


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_fresh_and_accept_the_shipped_documents(kind):
    stored = (ROOT / "schemas" / f"{kind}-1.json").read_text("utf-8")
    assert stored == schema_text(kind) + "\n", "run `costmodel schema --write schemas`"
    validator = jsonschema.Draft7Validator(schema_of(kind))
    for file in sorted((ROOT / "specs" / FOLDERS[kind]).rglob("*.yaml"))[:40]:
        data = json.loads(json.dumps(yaml.safe_load(file.read_text("utf-8"))))
        errors = [e.message for e in validator.iter_errors(data)]
        assert not errors, (file.name, errors[:3])


def test_no_document_names_a_workplace():
    for file in [*FILES, *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        text = file.read_text("utf-8")
        assert "/work/" not in text and "../shared" not in text, file
