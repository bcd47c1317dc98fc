"""Properties that hold for every model, machine and technique: floors, monotonicity, sums, neutrality, order."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from conftest import usable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import costmodel
from costmodel.api import library
from costmodel.language.problem import SpecError

MODELS = ["1b", "8b", "llama-3.1-8b", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3", "gemma-3-27b", "gpt-oss-20b", "phi-4"]
MACHINES = ["ddr5", "rtx4090", "h100-sxm", "m3-max", "rx7900-xtx", "strix-halo"]
TECHNIQUES = usable("technique")
ENGINES = ["ideal", "rule-of-thumb"]
contexts = st.integers(1, 200_000)
batches = st.integers(1, 300)
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def allowed(model, hardware, techniques=(), **more):
    """A prediction, or None where the combination is refused."""
    try:
        return costmodel.predict(model, hardware, techniques=tuple(techniques), **more)
    except SpecError:
        return None


def figures(p) -> dict:
    """Every number of a prediction, without the words."""
    return {k: v for k, v in p.to_dict().items() if k not in ("techniques", "assumptions", "not_modelled")}


@few
@given(
    st.sampled_from(MODELS),
    st.sampled_from(MACHINES),
    st.lists(st.sampled_from(TECHNIQUES), max_size=2, unique=True),
    st.sampled_from(ENGINES),
    contexts,
    batches,
)
def test_no_estimate_beats_the_floor(model, hardware, techniques, engine, context, batch):
    # R10, R12
    p = allowed(model, hardware, techniques, engine=engine, context=context, batch=batch, prompt=min(context, 4096))
    if p is None:
        return
    for phase in (p.prefill, p.decode):
        assert phase.expected_s >= phase.floor_s > 0
    for span in (p.ttft_s, p.tpot_s):
        assert span.floor <= span.low <= span.expected <= span.high
    assert p.tps.ceiling >= p.tps.high >= p.tps.expected >= p.tps.low


@few
@given(st.sampled_from(MODELS), contexts, batches, st.floats(20, 4000), st.floats(1.01, 50), st.sampled_from(["bandwidth", "peak"]))
def test_more_bandwidth_or_flops_is_never_slower(tmp_path_factory, model, context, batch, bandwidth, factor, which):
    from conftest import Desk

    desk = Desk(tmp_path_factory.mktemp("m"))
    slow = costmodel.predict(model, desk.machine(bandwidth, 10), engine="ideal", context=context, batch=batch)
    better = (bandwidth * factor, 10) if which == "bandwidth" else (bandwidth, 10 * factor)
    fast = costmodel.predict(model, desk.machine(*better, name="better"), engine="ideal", context=context, batch=batch)
    for phase in ("prefill", "decode"):
        a, b = getattr(slow, phase), getattr(fast, phase)
        assert b.floor_s <= a.floor_s * (1 + 1e-12) and b.expected_s <= a.expected_s * (1 + 1e-12)


@few
@given(
    st.sampled_from(["llama-3.1-8b", "mixtral-8x7b", "qwen3-8b"]),
    contexts,
    batches,
    st.permutations(["fp32", "bf16", "int8", "int4-g128", "nf4_g64"]),
)
def test_fewer_bits_are_never_slower(model, context, batch, formats):
    runs = {}
    for name in formats[:3]:
        p = costmodel.predict(model, "rtx4090", engine="ideal", context=context, batch=batch, sets=(f"model.weights.format={name}",))
        runs[p.memory.weights_bytes] = p
    ordered = [runs[k] for k in sorted(runs)]
    for small, large in pairwise(ordered):
        assert small.decode.floor_s <= large.decode.floor_s and small.decode.expected_s <= large.decode.expected_s * (1 + 1e-12)


@few
@given(
    st.sampled_from(["8b", "mixtral-8x7b", "gemma-3-27b", "gpt-oss-20b", "qwen3-30b-a3b"]),
    st.integers(1, 9000),
    st.integers(1, 3000),
    st.sampled_from([(), ("flash-attention",)]),
)
def test_flops_of_chunked_prefill_sum_to_the_unchunked(model, prompt, chunk, more):
    whole = costmodel.predict(model, "rtx4090", prompt=prompt, techniques=more)
    parts = costmodel.predict(model, "rtx4090", prompt=prompt, techniques=(f"chunked-prefill:chunk={chunk}", *more))
    assert parts.prefill.steps == -(-prompt // chunk)
    assert parts.prefill.flops == pytest.approx(whole.prefill.flops, rel=1e-12)
    assert parts.prefill.bytes_by.weights >= whole.prefill.bytes_by.weights * (1 - 1e-12)


@few
@given(st.integers(1, 9000), st.integers(1, 3000))
def test_chunks_of_latent_attention_never_cost_less(prompt, chunk):
    """MLA decompresses or absorbs, whichever is cheaper, so chunks may add FLOPs but never save any."""
    whole, parts = (
        costmodel.predict("deepseek-v3", "h200-sxm", prompt=prompt, techniques=t) for t in ((), (f"chunked-prefill:chunk={chunk}",))
    )
    assert parts.prefill.flops >= whole.prefill.flops * (1 - 1e-12)


@few
@given(st.sampled_from(MODELS), st.sampled_from(MACHINES), contexts, batches)
def test_prefill_of_one_token_is_a_decode_step(model, hardware, context, batch):
    # R1
    runnable = costmodel.predict(model, hardware).runnable
    p = costmodel.predict(model, hardware, context=context, batch=batch)
    assert runnable.one(batch, 1, context, 1) == p.decode_step(context)


@few
@given(st.sampled_from(MODELS), st.sampled_from(MACHINES), st.sampled_from(TECHNIQUES), contexts, batches)
def test_operators_add_up(model, hardware, technique, context, batch):
    # R11
    p = allowed(model, hardware, (technique,), context=context, batch=batch, prompt=1500)
    if p is None or p.runnable.draft is not None:
        return
    for phase in ("prefill", "decode"):
        rows, total = p.operators[phase], getattr(p, phase)
        assert sum(r.flops for r in rows) == pytest.approx(total.flops, rel=1e-9)
        assert sum(r.bytes for r in rows) == pytest.approx(total.bytes, rel=1e-9)
        for kind in ("weights", "kv", "state", "activations"):
            assert sum(getattr(r.bytes_by, kind) for r in rows) == pytest.approx(getattr(total.bytes_by, kind), rel=1e-9)
        if not technique.startswith("pipeline"):
            assert max(sum(r.expected_s for r in rows) + p.overheads[phase], total.floor_s) == pytest.approx(total.expected_s, rel=1e-9)


@few
@given(
    st.sampled_from(MODELS),
    st.sampled_from(MACHINES),
    st.sampled_from([*TECHNIQUES, "offload:share=0.3,mode=compute", "offload:share=0.5,tier=disk"]),
    st.lists(st.tuples(st.integers(1, 64), st.integers(1, 600), st.integers(0, 5000), st.integers(0, 1)), min_size=1, max_size=3),
)
def test_mixed_steps_agree_with_single_ones(model, hardware, technique, groups):
    """One group through the general path equals the emitted step; more groups move no more bytes than apart."""
    # R2
    from costmodel.compile.mixed import mixed_step

    p = allowed(model, hardware, (technique,))
    if p is None:
        return
    runnable = p.runnable
    alone = [runnable.one(*g) for g in groups]
    assert mixed_step(runnable, groups[:1]) == pytest.approx(alone[0], rel=1e-9)
    together = runnable.mixed(groups)
    assert together[0] == pytest.approx(sum(a[0] for a in alone), rel=1e-9)
    assert together[1] <= sum(a[1] for a in alone) * (1 + 1e-9)
    assert together[8] >= together[7] > 0


@few
@given(
    st.sampled_from(MODELS), st.sampled_from(MACHINES), st.lists(st.sampled_from(TECHNIQUES), max_size=2, unique=True), contexts, batches
)
def test_memory_is_the_sum_of_its_lines(model, hardware, techniques, context, batch):
    # R21, R22
    p = allowed(model, hardware, techniques, context=context, batch=batch)
    if p is None:
        return
    m = p.memory
    assert m.total_bytes == m.weights_bytes + m.kv_bytes + m.state_bytes + m.workspace_bytes + m.draft_bytes
    if m.fits is not None and not m.tiers:
        assert m.fits == (m.total_bytes <= m.usable_bytes)
    if m.max_context is not None and not m.tiers:
        assert m.fits == (m.max_context >= context + p.output)
    if m.max_batch is not None and not m.tiers:
        assert m.fits == (m.max_batch >= p.to_dict()["workload"]["batch"])  # as served: batching fills its slots


@few
@given(
    st.lists(st.sampled_from(TECHNIQUES), min_size=2, max_size=3, unique=True), st.sampled_from(["8b-mha", "llama-3.1-8b", "mixtral-8x7b"])
)
def test_order_of_techniques_never_changes_a_number(techniques, model):
    # R26
    results = [allowed(model, "h100-sxm", order, context=5000) for order in permutations(techniques)]
    shown = [None if p is None else p.to_dict() for p in results]
    assert all(s == shown[0] for s in shown)


def neutral_settings() -> list[str]:
    """Every technique whose knobs name a neutral value, at it."""
    found = []
    for name in TECHNIQUES:
        knobs = library().load("technique", name).doc.knobs
        given_ = [f"{k}={v.neutral}" for k, v in knobs.items() if v.neutral is not None]
        if given_:
            found.append(f"{name}:{','.join(given_)}")
    return found


@pytest.mark.parametrize("technique", neutral_settings())
@pytest.mark.parametrize("model", ["8b", "llama-3.1-8b", "mixtral-8x7b"])
def test_a_technique_at_its_neutral_knob_changes_nothing(technique, model):
    # R27
    plain = costmodel.predict(model, "h100-sxm", context=9000)
    p = allowed(model, "h100-sxm", (technique,), context=9000)
    if p is not None:
        assert figures(p) == figures(plain)


def test_neutral_knobs_are_declared_where_a_technique_has_one():
    assert {t.split(":")[0] for t in neutral_settings()} >= {
        "structured-pruning", "unstructured-sparsity", "moe", "kv-eviction", "offload", "flash-attention", "batching", "continuous-batching",
        "speculative-decoding", "mtp", "chunked-prefill", "prefix-caching", "tensor-parallel", "pipeline-parallel",
    }  # fmt: skip


@few
@given(
    st.sampled_from(MODELS),
    st.sampled_from(["ddr5", "rtx4090"]),
    st.sampled_from([(), ("int4",), ("kv-int8", "flash-attention")]),
    st.integers(1, 20000),
)
def test_predict_equals_the_matrix_cell(model, hardware, techniques, context):
    from costmodel.solve.cases import Setting, evaluate

    p = costmodel.predict(model, hardware, techniques=techniques, context=context)
    assert evaluate(Setting(model, hardware, None, techniques, {"context": context}, ())).to_dict() == p.to_dict()


@few
@given(
    st.sampled_from(["8b", "gemma-3-27b", "gpt-oss-20b", "mixtral-8x7b"]),
    st.integers(1, 9000),
    st.integers(2, 700),
    st.sampled_from([(), ("speculative-decoding",), ("kv-eviction:budget=2000",), ("no-kv-cache",)]),
)
def test_e2e_sums_every_step_at_its_own_context(model, context, output, techniques):
    # R19
    p = costmodel.predict(model, "ddr5", context=context, output=output, techniques=techniques, prompt=128)
    slow = sum(p.decode_step(context + i)[8] for i in range(output - 1)) / p.tokens_out
    assert p.e2e_s.expected - p.ttft_s.expected == pytest.approx(slow, rel=1e-9)
    assert p.itl_mean_s == pytest.approx((p.e2e_s.expected - p.ttft_s.expected) / (output - 1))
    assert p.user_tps == pytest.approx(output / p.e2e_s.expected)


def test_one_output_token_has_no_gap():
    # R19
    assert costmodel.predict("8b", "ddr5", output=1).itl_mean_s is None


@pytest.mark.parametrize("batch", [1, 2, 8, 64])
def test_static_batch_occupancy_is_one_over_the_harmonic_number(batch):
    # R20
    p = costmodel.predict("8b", "h100-sxm", techniques=(f"batching:slots={batch}",))
    harmonic = sum(1 / i for i in range(1, batch + 1))
    assert p.system_tps == pytest.approx(batch * p.tps.expected / harmonic, rel=1e-4)


@pytest.mark.parametrize(("drafted", "acceptance"), [(1, 0.5), (4, 0.7), (8, 0.9)])
def test_speculation_emits_the_expected_tokens(drafted, acceptance):
    # R17
    p = costmodel.predict("llama-3.1-8b", "h100-sxm", techniques=(f"speculative-decoding:drafted={drafted},acceptance={acceptance}",))
    emitted = sum(acceptance**i for i in range(drafted + 1))
    assert p.tokens_out == pytest.approx(emitted)
    assert p.tpot_s.floor == pytest.approx(p.decode.floor_s / emitted)


@few
@given(st.integers(1, 5000), st.integers(1, 64))
def test_touched_experts_by_simulation_law(tokens, active):
    """Bytes of routed experts follow E (1 - (1 - k/E)^M) and stay between k and E."""
    # R9
    model = costmodel.predict("qwen3-30b-a3b", "h200-sxm", batch=tokens, context=1)
    rows = [r for r in model.operators["decode"] if r.op == "expert"]
    share = rows[0].bytes_by.weights / rows[0].repeat / (2048 * 768 * 2)
    assert share == pytest.approx(128 * (1 - (1 - 8 / 128) ** tokens), rel=1e-9)


def test_window_pairs_by_brute_force():
    """Pairs and keys of a sliding window against a direct count."""
    # R4, R5
    from costmodel.language.formula.fold import number

    let = library().load("operator", "attention-scores").doc.let
    for window in (1, 3, 7, 100):
        for cached in (0, 2, 6, 9):
            for new in (1, 2, 5, 12):
                env = {"kept": cached, "T": new, "window": window}
                for name in ("over", "before", "pairs", "keys"):
                    env[name] = number(let[name], env)
                pairs = [(q, k) for q in range(cached, cached + new) for k in range(q + 1) if q - k < window]
                assert env["pairs"] == len(pairs), (window, cached, new)
                assert env["keys"] == len({k for _, k in pairs})
