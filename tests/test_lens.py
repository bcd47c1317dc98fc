"""What is seen (sympy) and what runs (emitted source) are the same formulas: random points for models × techniques."""

from __future__ import annotations

import random

import pytest
from conftest import usable

import costmodel
from costmodel.api import library
from costmodel.compile.build import load_uses
from costmodel.compile.emit import ROW_TERMS
from costmodel.compile.machine import TERM_NAMES
from costmodel.language.formula.lens import symbol, to_sympy
from costmodel.language.problem import SpecError

MODELS, TECHNIQUES = usable("model"), usable("technique")
PAIRS = [(m, t) for m in MODELS for t in (None, *TECHNIQUES)]
SAMPLE = random.Random(7).sample(PAIRS, 45)
NAMES = ("B", "T", "S", "R", "M", "H")


def agree(model: str, technique: str | None, hardware: str = "h100-sxm") -> None:
    """Every row term, and the phase sums, at random points; of an engine that copies no weights from the host (R41)."""
    chosen = () if technique is None else (technique,)
    try:
        p = costmodel.predict(model, hardware, engine="ideal", techniques=chosen)
    except SpecError:
        pytest.skip("the combination is refused")
    program = costmodel.compile(model, chosen)
    rng = random.Random(f"{model} {technique}")
    rows_agree(program, p.runnable, rng)
    for _ in range(2):
        prompt, context, batch = rng.randint(1, 4000), rng.randint(1, 90000), rng.choice([1, 3, 40])
        point = costmodel.predict(model, hardware, engine="ideal", techniques=chosen, prompt=prompt, context=context, batch=batch)
        plan = point.plan
        steps = {
            "prefill": point.runnable.one(plan[0], plan[1], plan[2], plan[3]),
            "decode": point.runnable.one(plan[0], plan[9], plan[10], plan[11]),
        }
        values = {symbol("B"): batch, symbol("prompt"): prompt, symbol("context"): context, symbol("output"): 256}
        for phase, total in steps.items():
            assert evaluated(program.flops(phase, values=True), values) == pytest.approx(total[0], rel=1e-9)
            assert evaluated(program.bytes(phase, values=True), values) == pytest.approx(sum(total[1:5]), rel=1e-9)


def evaluated(expression, values) -> float:
    if isinstance(expression, (int, float)):
        return float(expression)
    return float(expression.xreplace(values).doit())


def rows_agree(program, runnable, rng) -> None:
    flags = {"sparse_load": 0, "sparse_2_4": 1}
    point = {"B": rng.randint(1, 9), "T": rng.randint(1, 500), "S": rng.randint(0, 70000), "R": rng.randint(0, 3)}
    point |= {"M": point["B"] * point["T"], "H": point["B"] * point["R"]}
    emitted = dict(zip([r[:2] for r in runnable.meta["rows"]], runnable.rows(*(point[n] for n in NAMES)), strict=True))
    values = {symbol(n): v for n, v in point.items()}
    dims = {symbol(n): v for n, v in program.dims.items()}
    for row in program.rows:
        if row.place or (row.block, row.name) not in emitted:
            continue
        for term, got in zip(ROW_TERMS, emitted[row.block, row.name], strict=True):
            expression = to_sympy(program.term(row, TERM_NAMES[term], symbolic=True, device=flags))
            assert evaluated(expression.xreplace(dims), values) == pytest.approx(got, rel=1e-9), (row.name, term)


@pytest.mark.parametrize(("model", "technique"), SAMPLE)
def test_sympy_and_emitted_source_agree(model, technique):
    agree(model, technique)


KINDS = (
    "8b", "llama-3.1-8b", "gpt-oss-20b", "deepseek-v3", "glm-5", "jamba-v0.1", "mamba-2.8b", "nemotron-3-super-120b-a12b",
    "qwen3.5-35b-a3b", "llama-3.2-90b-vision", "llama-3.3-nemotron-super-49b", "gemma-3n-e4b-text", "gemma-4-26b-a4b",
)  # fmt: skip
"""One model of each kind: between them they use every operator that a shipped model uses."""


@pytest.mark.full
def test_the_kinds_cover_every_operator():
    used = {m: {r.op for r in costmodel.compile(m).rows} for m in MODELS}
    assert set().union(*(used[m] for m in KINDS)) == set().union(*used.values())


@pytest.mark.full
@pytest.mark.parametrize("model", KINDS)
def test_sympy_and_emitted_source_agree_everywhere(model):
    for technique in (None, *random.Random(model).sample(TECHNIQUES, 10)):
        try:
            agree(model, technique)
        except pytest.skip.Exception:
            continue


def test_expressions_keep_dims_and_repeat_symbolic():
    import sympy

    program = costmodel.compile("llama-3.1-8b")
    flops = program.flops("decode")
    names = {s.name for s in flops.free_symbols}
    assert isinstance(flops, sympy.Expr) and {"L", "d", "n_q", "n_kv", "d_h", "d_ff", "vocab", "B", "context"} <= names
    by_hand = sympy.sympify(0)
    B, L, d, n_q, n_kv, d_h, d_ff, vocab, c = (symbol(n) for n in ("B", "L", "d", "n_q", "n_kv", "d_h", "d_ff", "vocab", "context"))
    by_hand += 2 * B * L * (2 * d * n_q * d_h + 2 * d * n_kv * d_h + 3 * d * d_ff) + 4 * B * L * n_q * d_h * (c + 1) + 2 * B * d * vocab
    assert sympy.expand(flops - by_hand) == 0


def test_kinds_of_bytes():
    program = costmodel.compile("llama-3.1-8b")
    kv = program.bytes("decode", "kv", values=True)
    assert evaluated(kv, {symbol("B"): 2, symbol("context"): 99}) == 2 * 100 * 131072
    with pytest.raises(ValueError, match="kind"):
        program.bytes("decode", "kvs")
    with pytest.raises(ValueError, match="phase"):
        program.flops("decoding")


def test_one_technique_is_read_once():
    assert [u.name for u in load_uses(library(), ("int4", "mtp"), (), 1)] == ["int4", "mtp"]
