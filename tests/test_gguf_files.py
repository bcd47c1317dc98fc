"""Published GGUF files and llama.cpp load logs, predicted from configurations alone."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from costmodel.api import library
from costmodel.compile.program import compile_program
from costmodel.language.merge import parse_sets
from costmodel.solve.buffers import Run, buffers

DATA = Path(__file__).parent / "data"
SIZES = list(csv.DictReader((DATA / "gguf_sizes.csv").open()))
LOGS = [log for log in yaml.safe_load((DATA / "gguf_logs.yaml").read_text()) if log.get("config")]
MIB = 2**20


def program(name: str, fmt: str | None = None):
    sets = tuple(parse_sets([f"model.weights.format={fmt}"])["model"]) if fmt else ()
    return compile_program(library().load("model", str(DATA / "configs" / f"{name}.json"), sets), [], library())


def file_bytes(name: str, fmt: str) -> float:
    """Bytes of the tensors of a GGUF file: the image part is another file."""
    found = program(name, fmt)
    return sum(found.constant(r, "stored") * found.repeat(r) for r in found.rows if r.role != "vision")


@pytest.mark.parametrize("row", [r for r in SIZES if r["quant"] == "Q8_0"], ids=lambda r: r["file"])
def test_q8_0_is_exact(row):
    assert file_bytes(row["config"], "q8_0") == int(row["q8_0_tensor_bytes_predicted"])


@pytest.mark.parametrize("name", ["llama-2-7b", "llama-2-13b", "llama-1-30b", "mistral-7b-v0.1"])
def test_f16_is_two_bytes_for_matrices_and_four_for_vectors(name):
    found = program(name)
    norms = found.params("norm")
    assert file_bytes(name, "gguf-f16") == 2 * (found.params() - norms) + 4 * norms
    log = next(log for log in LOGS if log["config"] == name and log.get("ftype") == "F16")
    assert file_bytes(name, "gguf-f16") / 2**30 == pytest.approx(log["size_gib"], abs=0.006)


def test_mixes_are_near_the_published_files():
    """Nine of ten within 1.5 %; the others are known: files with a second output matrix, a mix of 2023, a large tokenizer."""
    known = {"granite-3.0-2b": "a second output matrix", "llama-2-7b Q2_K": "the Q2_K of 2023", "gemma-3-1b": "a tokenizer of 1 %"}
    rows = [r for r in SIZES if r["quant"] != "Q8_0"]
    off = [r for r in rows if abs(file_bytes(r["config"], r["quant"].lower()) / int(r["file_bytes"]) - 1) > 0.015]
    assert len(off) <= len(rows) / 10
    assert all(r["config"] in known or f"{r['config']} {r['quant']}" in known for r in off)


FORMATS = {"f16": "fp16", "q8_0": "q8_0", "q4_0": "q4_0", "iq4_nl": "iq4_nl"}


def flags(log: dict) -> Run:
    """The flags of a logged run; old logs do not say whether flash attention was on: the padding of their cells does."""
    runtime, kv = log.get("runtime") or {}, log.get("kv") or {}
    cells = (kv.get("swa") or {}).get("cells", 1)
    fused = bool(runtime.get("flash_attn", cells % 256 == 0))
    gpus = [name for name in log.get("compute_buffers_mib", {}) if name.startswith("CUDA") and name[4:].isdigit()]
    k, v = ((kv.get(w) or kv.get("ckv") or {}).get("type", "f16") for w in "kv")
    return Run(
        runtime.get("n_ctx", 512),
        runtime.get("n_ubatch", 512),
        (log.get("recurrent") or {}).get("n_seq", 1),
        FORMATS[k],
        FORMATS[v],
        fused,
        max(1, len(gpus)),
        latent=runtime.get("mla", 1) != 0,
        cpu_moe=log["config"] == "deepseek-v3" and bool(gpus),
        gpu_layers=0 if log["id"] in ("log047", "log081") else None,
    )


def allocated(log: dict):
    return buffers(program(log["config"], "q8_0"), flags(log), "llama.cpp", library())


@pytest.mark.parametrize("log", [log for log in LOGS if log.get("kv") or log.get("recurrent")], ids=lambda log: log["id"])
def test_kv_and_state_as_logged(log):
    # R37
    got, kv, state = allocated(log), log.get("kv") or {}, log.get("recurrent") or {}
    want = {"kv": kv.get("total_mib"), "k": (kv.get("k") or {}).get("mib"), "v": (kv.get("v") or {}).get("mib")}
    want |= {"latent": (kv.get("ckv") or {}).get("mib"), "sliding": (kv.get("swa") or {}).get("mib")}
    want |= {"full": (kv.get("non_swa") or {}).get("mib"), "state": state.get("total_mib"), "conv": state.get("r_f32_mib")}
    for name, mib in want.items():
        if mib is not None:
            assert getattr(got, name) / MIB == pytest.approx(mib, abs=0.05), name
    if "swa" in kv:
        assert got.window_cells == kv["swa"]["cells"]


def on_host(name: str, log: dict) -> bool:
    return name.endswith("_Host") or (name == "CPU" and len(log["compute_buffers_mib"]) > 1)


def test_scratch_is_within_a_quarter_of_what_was_logged():
    """On the device for all but the logs named, of which one is a build of 2023; on the host, an estimate of less worth."""
    # R37
    off: dict[bool, list] = {False: [], True: []}
    total = {False: 0, True: 0}
    for log in LOGS:
        for name, mib in (log.get("compute_buffers_mib") or {}).items():
            if name == "vram_scratch":
                continue
            host = on_host(name, log)
            got = getattr(allocated(log), "host" if host else "compute") / MIB
            total[host] += 1
            if abs(got / mib - 1) > 0.25:
                off[host].append(log["id"])
    assert off[False] == ["log069"] and total[False] >= 20
    assert len(off[True]) <= total[True] / 3
