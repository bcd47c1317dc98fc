"""Peak rates of processors: each follows from cores, work per clock and clock, as its source writes them out."""

from __future__ import annotations

import math
import re

import pytest
from conftest import usable

from costmodel import predict
from costmodel.api import library

CLASSES = {"cpu-desktop", "cpu-server", "apple-cpu"}
ARTICLE = re.compile(r"ddr[45](-|$)")
"""Machines of the article, with the figures that it prints."""
TERM = re.compile(r"(\d+) [\w -]*?cores [\w ]*?x (\d+) (?:FLOP|OP)/clk[\w (),-]*? x (?:about )?([\d.]+) GHz")
AT_BASE = {  # no source at hand for the boost clock
    "epyc-7302",
    "epyc-7502",
    "epyc-7702",
    "epyc-9124",
    "epyc-9354",
    "epyc-9375f",
    "epyc-9454",
    "epyc-9555",
    "epyc-9655",
    "epyc-9684x",
    "threadripper-9980x",
    "core-i9-10900x",
}
FIXED = {"altra-max-m128-30", "altra-q80-30", "graviton2", "graviton3", "graviton4", "raspberry-pi-5"}
"""Processors whose base clock is their highest."""


def documents():
    found = {n: library().load("hardware", n) for n in usable("hardware")}
    return {n: s.doc for n, s in found.items() if s.doc.extends in CLASSES and not ARTICLE.match(n)}


DOCUMENTS = documents()


def product(ref: str) -> float:
    """Operations per second that the terms of a source add up to; 0 without terms."""
    return sum(int(cores) * int(width) * float(ghz) * 1e9 for cores, width, ghz in TERM.findall(ref))


def test_processors_are_found():
    assert len(DOCUMENTS) > 100 and {"ryzen-7950x", "xeon-8480", "raspberry-pi-4", "m2-max-cpu"} <= set(DOCUMENTS)


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_rates_follow_from_their_sources(name):
    doc = DOCUMENTS[name]
    assert "int8" in doc.compute, "no int8 rate"
    for dtype, rate in doc.compute.items():
        worked = product(doc.sources["compute" if dtype == "fp32" else dtype].ref)
        if dtype == "fp32" and not worked:  # printed by the maker, or counted otherwise
            assert name in {"grace", "orange-pi-5", "radxa-orion-o6"}
            continue
        assert math.isclose(worked, rate, rel_tol=0.025 if dtype == "fp32" else 0.001), (dtype, worked, rate)


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_narrower_types_are_faster_by_what_the_instructions_do(name):
    doc = DOCUMENTS[name]
    fp32, text = doc.compute["fp32"], " ".join(s.ref for s in doc.sources.values())
    wide = 32 if "AMX" in text else 8 if "SMMLA" in text else 4 if "VNNI (VPDPBUSD)" in text or "SDOT" in text else 2
    half = {"AMX": 16, "BFMMLA": 4, "BF16": 2, "half precision": 2}
    assert doc.compute["int8"] / fp32 == pytest.approx(wide, rel=0.025)
    sixteen = [doc.compute[d] for d in ("fp16", "bf16") if d in doc.compute]
    factor = next((f for word, f in half.items() if word in text), None)
    assert len(sixteen) == (factor is not None), "of two 16-bit rates the faster one is stated, which the other takes"
    assert not sixteen or sixteen[0] / fp32 == pytest.approx(factor, rel=0.025)


def test_no_ceiling_from_a_clock_that_boosts():
    based = {n for n, d in DOCUMENTS.items() if re.search(r"GHz base", d.sources["compute"].ref)}
    assert based - FIXED == AT_BASE


@pytest.mark.parametrize("name", ["ryzen-7950x", "core-i9-13900k", "xeon-8480", "raspberry-pi-5"])
def test_quantized_prefill_is_bound_by_integer_arithmetic(name):
    quick = predict("8b", name, engine="llama.cpp", prompt=512)
    rates = DOCUMENTS[name].compute
    floor = quick.prefill.flops / rates["int8"]
    assert quick.ttft_s.floor >= floor * 0.999
    assert quick.ttft_s.floor < quick.prefill.flops / rates["fp32"]
