"""`docs/semantics.md` and the tests hold one another: every rule is cited, every citation is a rule; and rules that no other test holds."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from conftest import usable

import costmodel
from costmodel.api import library
from costmodel.language.problem import SpecError
from costmodel.solve.cases import Setting
from costmodel.solve.check import check, soft_bandwidth

ROOT = Path(__file__).resolve().parent.parent
RULES = [int(n) for n in re.findall(r"^- \*\*R(\d+)\*\*", (ROOT / "docs/semantics.md").read_text("utf-8"), re.M)]
CITED = re.compile(r"(?<![\w-])R(\d{1,3})\b")


def cited(path: Path) -> set[int]:
    """Rules that a file cites: in comments and docstrings of Python, anywhere in a page."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        text = "\n".join(re.findall(r"#[^\n]*|\"\"\".*?\"\"\"", text, re.S))
    return set(map(int, CITED.findall(text)))


def test_rules_are_numbered_without_gaps():
    assert list(range(1, len(RULES) + 1)) == RULES


def test_every_rule_is_cited_by_a_test():
    found = set().union(*(cited(p) for p in (ROOT / "tests").glob("test_*.py")))
    assert not set(RULES) - found, "cite the rule (`# R7`) in the test that holds it"


@pytest.mark.parametrize("pattern", ["tests/*.py", "costmodel/**/*.py", "docs/*.md", "docs/_ext/*.py", "reports/**/*.j2", "*.md"])
def test_no_citation_of_a_rule_that_is_not_there(pattern):
    files = list(ROOT.glob(pattern))
    assert files and not {p.name: sorted(cited(p) - set(RULES)) for p in files if cited(p) - set(RULES)}


def test_messages_cite_rules_that_are_there():
    texts = [m for p in (ROOT / "costmodel").rglob("*.py") for m in re.findall(r'"[^"\n]*"', p.read_text("utf-8"))]
    assert not {int(n) for text in texts for n in CITED.findall(text)} - set(RULES)


# --- rules that no other test holds by itself


def rows(p, phase="decode"):
    return {f"{r.block}.{r.name}": r for r in p.operators[phase]}


def test_only_matrix_products_and_recurrences_are_work():
    # R3
    p = costmodel.predict("qwen2.5-7b", "h100-sxm", prompt=100)
    for row in p.operators["prefill"]:
        if row.op in ("norm", "softmax", "attention-softmax", "vector", "elementwise", "gather", "embedding"):
            assert row.flops == 0 and row.bytes > 0, row.name
    biases = [r for r in p.operators["prefill"] if r.role == "bias"]
    dims = library().load("model", "qwen2.5-7b").doc.dims
    assert sum(r.bytes for r in biases) == pytest.approx(dims["L"] * (dims["n_q"] + 2 * dims["n_kv"]) * dims["d_h"] * 2)
    gate = rows(p, "prefill")["mlp.gate"]
    assert gate.flops == 2 * 100 * dims["d"] * dims["d_ff"] * gate.repeat


def test_the_head_runs_once_for_a_prompt_and_the_table_is_a_gather():
    # R6
    p = costmodel.predict("llama-3.1-8b", "h100-sxm", prompt=1000, batch=3)
    dims = library().load("model", "llama-3.1-8b").doc.dims
    head, table = (rows(p, "prefill")[n] for n in ("head.lm_head", "embed.tokens"))
    assert head.flops == 2 * 3 * dims["d"] * dims["vocab"] and table.flops == 0
    assert table.bytes_by.weights == 3 * 1000 * dims["d"] * 2


def test_the_rule_of_thumb_is_bandwidth_over_what_is_stored():
    # R13
    p = costmodel.predict("llama-3.1-8b", "rtx4090")
    assert p.tps.rule_of_thumb == pytest.approx(1008e9 / p.memory.weights_bytes)
    halves = costmodel.predict("llama-3.1-8b", "rtx4090", devices=2)
    assert halves.tps.rule_of_thumb == pytest.approx(1008e9 / halves.memory.weights_bytes)
    routed = costmodel.predict("qwen3-30b-a3b", "h100-sxm").assumptions
    assert any("file size says little here" in n for n in routed), routed


@pytest.mark.parametrize(("batch", "context"), [(1, 0), (1, 4000), (300, 10)])
def test_ridge_attainable_rate_and_regime(desk, batch, context):
    # R14
    bandwidth, peak = 500e9, 40e12
    p = desk.predict("llama-3.1-8b", desk.machine(500, 40), context=context, batch=batch, prompt=700)
    for phase in (p.prefill, p.decode):
        assert phase.ridge == pytest.approx(peak / bandwidth)
        assert phase.intensity == pytest.approx(phase.flops / phase.bytes)
        assert phase.attainable_flops == pytest.approx(min(peak, phase.intensity * bandwidth))
        assert phase.regime == ("compute" if phase.intensity >= phase.ridge else "memory")
    assert rows(p)["norms.norm"].attainable_flops is None and rows(p)["norms.norm"].regime == "memory"


def test_a_missing_rate_takes_the_next_wider_type_or_is_refused(desk):
    # R15
    text = "extends: cpu-desktop\nmemory: {{main: {{capacity: 1 TB, bandwidth: 90 GB/s}}}}\ncompute: {{{}: 2 TFLOP/s}}\n"
    wide = desk.predict("llama-3.1-8b", desk.write("hardware", "wide", text.format("fp32")), engine="ideal")
    assert any("has no fp16 rate: fp32 is used" in n for n in wide.assumptions)
    assert wide.ttft_s.floor == pytest.approx(wide.prefill.flops / 2e12)
    with pytest.raises(SpecError, match="fp16"):
        desk.predict("llama-3.1-8b", desk.write("hardware", "narrow", text.format("int8")), engine="ideal")


def test_the_first_token_waits_for_the_hand_over_of_the_cache():
    # R18
    plain, apart = (costmodel.predict("llama-3.1-8b", "h100-sxm", prompt=4096, techniques=t) for t in ((), ("disaggregation",)))
    network = library().load("hardware", "h100-sxm").doc.links["network"]
    cache = 131072 * 4096
    assert apart.ttft_s.floor - plain.ttft_s.floor == pytest.approx(cache / network.bandwidth, rel=0.01)
    assert apart.tpot_s.expected == plain.tpot_s.expected


def test_memory_is_printed_in_decimal_and_binary():
    # R23
    from costmodel.report.predict import predict_text

    text = predict_text(costmodel.predict("8b", "ddr5"))
    shown = re.findall(r"^memory: [\w ]+?  +([\d.]+) ([GM])B = ([\d.]+) \2iB$", text, re.M)
    assert len(shown) >= 4
    for decimal, prefix, binary in shown:
        power = {"G": 3, "M": 2}[prefix]
        assert float(decimal) * 1000**power == pytest.approx(float(binary) * 1024**power, rel=0.006)
    assert "GiB/s" not in text


def test_a_stand_in_takes_the_formats_of_the_model_it_replaces():
    # R29
    p = costmodel.predict("llama-3.1-8b", "rtx4090", techniques=("distillation:student=1b",), sets=("model.weights.format=q8_0",))
    alone = costmodel.predict("1b", "rtx4090", sets=("model.weights.format=q8_0", "model.weights.size=null"))
    assert p.memory.weights_bytes == alone.memory.weights_bytes != costmodel.predict("1b", "rtx4090").memory.weights_bytes


def test_sparse_weights_are_a_bitmap_and_the_kept_ones_and_are_moved_dense(desk):
    # R30
    plain = costmodel.predict("llama-3.1-8b", "rtx4090")
    half, little = (costmodel.predict("llama-3.1-8b", "rtx4090", techniques=(f"unstructured-sparsity:sparsity={s}",)) for s in (0.5, 0.01))
    assert half.decode.bytes_by.weights == little.decode.bytes_by.weights == plain.decode.bytes_by.weights
    assert little.memory.weights_bytes == plain.memory.weights_bytes  # a bitmap would be larger than what it saves
    dims = library().load("model", "llama-3.1-8b").doc.dims
    left_alone = 2 * (2 * dims["vocab"] + 2 * dims["L"] + 1) * dims["d"]  # tables and norms
    matrices = plain.memory.weights_bytes - left_alone
    assert half.memory.weights_bytes == pytest.approx(left_alone + (0.5 + 1 / 16) * matrices)
    loads = desk.write(
        "hardware", "loads", 'extends: rtx4090\nfeatures: [sparse_load]\nsources: {features: {kind: assumed, ref: "a test"}}\n'
    )
    moved = desk.predict("llama-3.1-8b", loads, ("unstructured-sparsity:sparsity=0.5",))
    assert rows(moved)["mlp.up"].bytes_by.weights == pytest.approx(rows(plain)["mlp.up"].bytes_by.weights * (0.5 + 1 / 16))
    with pytest.raises(SpecError, match="sparse_2_4"):
        costmodel.predict("llama-3.1-8b", "ddr5", techniques=("sparsity-2-4",))


def test_a_sustained_bandwidth_can_be_reached_whole(desk):
    # R51
    def soft(hardware, *sets):
        return soft_bandwidth(Setting("8b", hardware, None, (), {}, sets), library())

    assert not soft("rtx4090") and not soft("ddr5") and soft("rtx4090", "hw.memory.vram.bandwidth=900GB/s")
    given = ("hw.memory.vram.bandwidth=900GB/s",)
    p = costmodel.predict("8b", "rtx4090", sets=given)
    just = 0.99 * p.tps.ceiling
    assert p.tps.high < just
    assert check(p, just, library(), setting=Setting("8b", "rtx4090", None, (), {}, given)).verdict == "normal"
    nominal = costmodel.predict("8b", "rtx4090")
    assert check(nominal, 0.99 * nominal.tps.ceiling, library(), setting=Setting("8b", "rtx4090", None, (), {}, ())).verdict == "fast"


def test_no_shipped_machine_has_a_factor_of_its_own(desk):
    # R55
    machines = {n: library().load("hardware", n) for n in library().names("hardware")}
    assert not [n for n, spec in machines.items() if spec.doc.efficiency]
    classes = [n for n, spec in machines.items() if spec.doc.abstract]
    for engine in usable("engine"):
        for key in library().load("engine", engine).doc.classes:
            assert any(fnmatchcase(c, key) for c in classes), (engine, key)
    twins = [desk.predict("8b", desk.machine(700, 60, name, parent="nvidia-geforce")) for name in ("one", "two")]
    assert twins[0].tps.to_dict() == twins[1].tps.to_dict() and twins[0].ttft_s.to_dict() == twins[1].ttft_s.to_dict()


def test_spans_are_what_accuracy_states_them_to_be():
    # R12, R58
    for name in usable("engine"):
        doc = library().load("engine", name).doc
        fitted = "docs/accuracy.md" in doc.sources["efficiency"].ref
        assert not fitted or ("docs/accuracy.md" in doc.sources["span"].ref and doc.sources["span"].kind == "measured"), name
        for settings in (doc, *doc.classes.values()):
            for span in (settings.span, settings.prefill_span):
                assert span is None or 0 < span.low <= 1 <= span.high
    p = costmodel.predict("8b", "ddr5")
    doc = library().load("engine", "typical").doc
    span = next((s.span for k, s in doc.classes.items() if fnmatchcase("cpu-desktop", k) and s.span), doc.span)
    assert p.tps.low == pytest.approx(span.low * p.tps.expected)
    assert p.tps.high == pytest.approx(min(span.high * p.tps.expected, p.tps.ceiling))
