"""What `solve`, `crossovers` and `sensitivity` print, and their classes, against the published JSON Schemas."""

from __future__ import annotations

import inspect
import json

import pytest
from test_outputs import output, valid

import costmodel

SOLVED = {
    "a rate": "bandwidth 8b --hw ddr5 --for tps=30",
    "a ceiling": "bandwidth 8b --hw ddr5 --for tps=30 --ceiling",
    "a peak": "flops 8b --hw ddr5 --for ttft=2s",
    "of the host": "host-bandwidth llama-3.3-70b --hw rtx4090 --gpu-layers 40 --for tps=3",
    "a link": "link llama-3.3-70b --hw rtx4090 --devices 4 --for tps=17",
    "a latency": "link-latency llama-3.3-70b --hw h100-sxm --devices 4 --for tps=37",
    "capacity": "capacity llama-3.3-70b --hw rtx4090 --for fits",
    "bits": "bits llama-3.3-70b --hw rtx4090 --for fits",
    "kv-bits": "kv-bits 8b --hw rtx4090 --context 64k --for kv=4GB",
    "batch": "batch 8b --hw ddr5 --for compute-bound",
    "experts": "batch mixtral-8x7b --hw h100-sxm --devices 2 --for tps=60",
    "context": "context 8b --hw ddr5 --for tps=10",
    "prompt": "prompt 8b --hw ddr5 --for ttft=1s",
    "output": "output 8b --hw ddr5 --for e2e=30s",
    "acceptance": "acceptance 8b --hw rtx4090 -t speculative-decoding --for tps=150",
    "drafted": "drafted 8b --hw rtx4090 -t speculative-decoding --for tps=100",
    "layers": "gpu-layers llama-3.2-1b --hw rtx4090 --engine llama.cpp --for tps=100",
    "devices": "devices llama-3.3-70b --hw h100-sxm --for fits",
    "formats": "format 8b --hw ddr5 --for tps=10",
    "a coefficient": "reach 8b --hw ddr5 --for tps=14",
    "a path": "hw.memory.dram.bandwidth 8b --hw ddr5 --for tps=30",
    "a dim": "model.dims.L llama-3.3-70b --hw ddr5 --for weights=100GB",
    "of experts": "bandwidth qwen3-30b-a3b --hw ddr5 --batch 4 --for tps=20",
    "met everywhere": "bandwidth 8b --hw ddr5 --for memory=24GB",
}
UNSOLVED = {
    "out of reach": "bandwidth 8b --hw ddr5 --for tps=1000",
    "the same throughout": "output 8b --hw ddr5 --for tps=1000",
    "no format": "format llama-3.3-70b --hw ddr5 --for tps=1000",
    "no layers": "gpu-layers llama-3.2-1b --hw rtx4090 --engine llama.cpp --for tps=100000",
    "a mean over nothing": "batch 8b --hw ddr5 --output 1 --for itl=1s",
}


@pytest.mark.parametrize("args", [*SOLVED.values(), *UNSOLVED.values()], ids=[*SOLVED, *UNSOLVED])
def test_solutions(args):
    data = output("solve", *args.split(), "--no-suggest", code=int(args in UNSOLVED.values()))
    valid("solution", data)
    assert (data["found"] == "none") == (args in UNSOLVED.values())
    assert (data["value"] is None) == (data["check"] is None) == (data["found"] in ("any", "none"))


CROSSED = {
    "dense": "8b --hw ddr5",
    "moe": "mixtral-8x7b --hw h100-sxm --devices 2",
    "mla": "deepseek-v3 --hw h100-sxm --devices 8 --engine vllm -t mtp",
    "no kv": "tests/data/configs/mamba-2.8b.json --hw rtx4090",
    "speculation": "8b --hw rtx4090 --batch 8 --output 1 -t speculative-decoding:drafted=6",
}


@pytest.mark.parametrize("args", CROSSED.values(), ids=CROSSED)
def test_crossings(args):
    data = output("crossovers", *args.split())
    valid("crossovers", data)
    assert data["schema"] == "costmodel/crossovers@1" and data["rows"]
    assert all((row["reason"] is None) == (row["value"] is not None) for row in data["rows"] if row["found"] != "any")


WEIGHED = {
    "tps": "8b --hw ddr5",
    "ttft": "llama-3.3-70b --hw rtx4090 --gpu-layers 40 --of ttft",
    "memory": "8b --hw rtx4090 --of memory --context 8k",
    "steps": "deepseek-v3 --hw h100-sxm --devices 8 --engine vllm -t mtp --of ttft --change 50%",
    "a ceiling": "8b --hw ddr5 --of tpot --ceiling",
    "two machines": "8b --hw h100-sxm -t disaggregation:decode=rtx4090 --of e2e",
    "a quotient": "mixtral-8x7b --hw h100-sxm --devices 2 -t speculative-decoding --of decode.intensity",
}


@pytest.mark.parametrize("args", WEIGHED.values(), ids=WEIGHED)
def test_sensitivities(args):
    data = output("sensitivity", *args.split())
    valid("sensitivity", data)
    assert data["schema"] == "costmodel/sensitivity@1" and data["rows"]


def test_answers_have_what_their_classes_declare():
    answers = [
        costmodel.invert("bandwidth", "tps=30", "8b", "ddr5", suggest=False),
        costmodel.crossovers("8b", "ddr5"),
        costmodel.sensitivity("8b", "ddr5"),
    ]
    for answer in answers:
        for one in (answer, *getattr(answer, "rows", ())):
            assert sorted(f for cls in type(one).__mro__ for f in inspect.get_annotations(cls)) == sorted(vars(one)), type(one)
        data = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
        valid(data["schema"].removeprefix("costmodel/").removesuffix("@1"), data)
