"""Layers, experts and the KV cache on the host, links, memory that the system keeps, and `--must-fit`."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_cli import run

from costmodel import predict
from costmodel.api import library
from costmodel.compile.mixed import mixed_step
from costmodel.language.problem import SpecError
from costmodel.solve.where import placed

Q4 = ("model.weights.format=q4_k_m",)
MODELS = ["8b", "llama-3.3-70b", "gpt-oss-120b", "deepseek-v3", "gemma-3-27b", "jamba-v0.1", "llama-3.2-1b"]
MOE = ["gpt-oss-120b", "deepseek-v3", "mixtral-8x7b"]
few = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
layers = st.integers(0, 90)


def stored(p) -> float:
    return sum(p.runnable.meta["stored"].values())


def figures(p) -> dict:
    return {k: v for k, v in p.to_dict().items() if k not in ("techniques", "assumptions", "not_modelled")}


@few
@given(st.sampled_from(MODELS), layers, st.booleans(), st.integers(0, 1))
def test_moving_layers_loses_no_byte(model, count, kv, head_first):
    # R38
    plain = predict(model, "rtx4090", context=3000)
    more = ("kv-on-host",) if kv else ()
    p = predict(model, "rtx4090", context=3000, techniques=(f"gpu-layers:layers={count},head_first={head_first}", *more))
    assert stored(p) == pytest.approx(stored(plain), rel=1e-12)
    host = p.memory.tiers.get("host", {"kv_bytes": 0, "state_bytes": 0})
    assert p.memory.kv_bytes + host["kv_bytes"] == pytest.approx(plain.memory.kv_bytes, rel=1e-12)
    assert p.memory.state_bytes + host["state_bytes"] == pytest.approx(plain.memory.state_bytes, rel=1e-12)
    assert p.decode.bytes_by.weights == pytest.approx(plain.decode.bytes_by.weights, rel=1e-9)


@few
@given(st.sampled_from(MOE), layers, layers)
def test_experts_and_layers_overlap_once(model, experts, count):
    # R40
    p = predict(model, "h100-sxm", techniques=(f"experts-on-host:layers={experts}", f"gpu-layers:layers={count}"))
    assert stored(p) == pytest.approx(stored(predict(model, "h100-sxm")), rel=1e-12)
    crossings = [r for r in p.runnable.meta["rows"] if r[1] == "experts-on-host.cross"]
    rows = [r for r in p.runnable.meta["rows"] if r[1] == "expert_down"]
    whole = sum(r[5] for r in rows)
    alone = predict(model, "h100-sxm", techniques=(f"gpu-layers:layers={count}",)).runnable.meta["rows"]
    there = sum(r[5] for r in rows if r[4] == "host") - sum(r[5] for r in alone if r[1] == "expert_down" and r[4] == "host")
    assert sum(r[5] for r in crossings) == there <= whole  # only layers that live on the device pay the way to their experts


@few
@given(st.sampled_from(MODELS), layers, st.sampled_from(["rule-of-thumb", "llama.cpp", "ideal"]), st.integers(1, 3000), st.integers(1, 40))
def test_no_placement_beats_its_floor(model, count, engine, prompt, batch):
    # R24, R40
    p = predict(model, "rtx4090", techniques=(f"gpu-layers:layers={count}",), engine=engine, prompt=prompt, batch=batch)
    for phase in (p.prefill, p.decode):
        assert phase.expected_s >= phase.floor_s > 0
    rates = p.runnable.meta["rates"]
    on_host = [r for r in p.operators["decode"] if r.unit == "host" and r.op == "linear"]
    if batch < 32:
        assert p.decode.floor_s >= sum(r.bytes_by.weights for r in on_host) / rates.get("hram", 1) * (1 - 1e-9)


@few
@given(
    st.sampled_from(MODELS),
    layers,
    st.sampled_from(["rule-of-thumb", "llama.cpp"]),
    st.lists(st.tuples(st.integers(1, 64), st.integers(1, 600), st.integers(0, 5000), st.integers(0, 1)), min_size=1, max_size=1),
)
def test_both_paths_agree_on_what_crosses(model, count, engine, groups):
    runnable = predict(model, "rtx4090", techniques=(f"gpu-layers:layers={count}", "kv-on-host"), engine=engine).runnable
    assert mixed_step(runnable, groups) == pytest.approx(runnable.one(*groups[0]), rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_all_layers_and_the_head_change_nothing(model):
    # R27, R39
    plain = predict(model, "rtx4090", context=5000)
    count = int(plain.runnable.meta["layers"]) + 1
    assert figures(predict(model, "rtx4090", context=5000, techniques=(f"gpu-layers:layers={count}",))) == figures(plain)


@pytest.mark.parametrize("model", ["llama-3.1-8b", "gpt-oss-20b", "gemma-3-27b"])
def test_no_layers_is_the_host_alone(desk, model):
    host = library().load("hardware", "rtx4090").doc.host
    alone = desk.write(
        "hardware",
        "host-alone",
        f"extends: cpu-desktop\nmemory: {{dram: {{capacity: 64 GiB, bandwidth: {host.dram.bandwidth} B/s}}}}\n"
        f"compute: {{fp32: {host.compute['fp32']} FLOP/s}}\nsources: {{bandwidth: {{kind: assumed, ref: test}}, compute: {{kind: assumed, ref: test}}}}\n",
    )
    a = predict(model, "rtx4090", techniques=("gpu-layers:layers=0",), engine="ideal")
    b = predict(model, alone, engine="ideal")
    assert a.tpot_s.expected == pytest.approx(b.tpot_s.expected, rel=1e-9)
    assert a.tpot_s.floor == pytest.approx(b.tpot_s.floor, rel=1e-9)
    assert a.ttft_s.expected == pytest.approx(b.ttft_s.expected, rel=1e-9)
    assert a.memory.weights_bytes == 0 and a.memory.kv_bytes == 0


@pytest.mark.parametrize("model", ["llama-3.3-70b", "gpt-oss-120b", "gemma-3-27b"])
def test_more_layers_on_the_gpu_are_never_slower(model):
    runs = [predict(model, "rtx4090", techniques=(f"gpu-layers:layers={n}",), sets=Q4) for n in range(1, 82, 8)]
    speeds = [p.tps.expected for p in runs]
    assert speeds == sorted(speeds) and speeds[0] < speeds[-1]
    sizes = [p.memory.weights_bytes for p in runs]
    assert sizes == sorted(sizes)


def test_the_head_is_the_first_unit_and_heavy():
    # R39
    first = predict("gemma-3-27b", "rtx4090", techniques=("gpu-layers:layers=1",))
    program_bytes = {r.name: r for r in first.operators["decode"] if r.unit == "device"}
    assert "lm_head" in program_bytes
    last = predict("gemma-3-27b", "rtx4090", techniques=("gpu-layers:layers=1,head_first=0",))
    assert "lm_head" not in {r.name for r in last.operators["decode"] if r.unit == "device" and r.bytes}
    head = library().load("model", "gemma-3-27b").doc.dims
    assert first.memory.weights_bytes == pytest.approx((head["vocab"] + 1) * head["d"] * 2, rel=1e-6)


def test_dense_layers_before_experts_are_the_first_on_the_host():
    # R38
    dims = library().load("model", "deepseek-v3").doc.dims
    count = dims["L"] + 1 - dims["L_dense"]
    p = predict("deepseek-v3", "h200-sxm", techniques=(f"gpu-layers:layers={count}",))
    on_host = {(r.block, r.name): r.repeat for r in p.operators["decode"] if r.unit == "host"}
    assert on_host["mlp", "down"] == on_host["layer", "o"] == dims["L_dense"] and ("moe", "expert_down") not in on_host
    none = predict("deepseek-v3", "h200-sxm", techniques=(f"experts-on-host:layers={dims['L_dense']}",))
    assert figures(none) == figures(predict("deepseek-v3", "h200-sxm"))


def test_a_summary_is_split_by_shares_and_says_so(desk):
    # R38
    text = "architecture: summary\ndims: {params: 8e9, embedding_params: 0.5e9, layers: 32, width: 4096, kv_bytes_per_token: 131072}\n"
    model = desk.write("model", "some-8b", text + "weights: {format: q8_0}\nsources: {dims: {kind: assumed, ref: test}}\n")
    p = predict(model, "rtx4090", techniques=("gpu-layers:layers=17",))
    assert any("equal share" in note for note in p.assumptions)
    assert p.memory.tiers["host"]["kv_bytes"] == pytest.approx(predict(model, "rtx4090").memory.kv_bytes / 2)


def test_the_70b_half_on_a_24_gb_card_and_the_120b_with_its_experts_in_ram():
    half = predict("llama-3.3-70b", "rtx4090", techniques=("gpu-layers:layers=44",), sets=Q4)
    assert half.memory.fits and 1.5 < half.tps.expected < 6
    moe = predict("gpt-oss-120b", "rtx4090", techniques=("experts-on-host",))
    assert moe.memory.fits and 15 < moe.tps.expected < 40


def test_large_passes_copy_the_weights_where_the_engine_does():
    # R41
    slow, fast = (
        predict("llama-3.3-70b", "rtx4090", techniques=("gpu-layers:layers=40",), engine=e, sets=Q4) for e in ("rule-of-thumb", "llama.cpp")
    )
    assert fast.ttft_s.expected < slow.ttft_s.expected / 4  # attention of the host layers stays on the host
    rates, moved = fast.runnable.meta["rates"], fast.prefill.link_bytes
    assert fast.ttft_s.expected > moved / rates["host"]
    assert fast.prefill.floor_s >= fast.memory.tiers["host"]["weights_bytes"] * 0.9 / rates["host"]
    short = predict("llama-3.3-70b", "rtx4090", techniques=("gpu-layers:layers=40",), engine="llama.cpp", sets=Q4, prompt=31)
    assert short.prefill.link_bytes < 1e9 < moved


def test_experts_of_a_dense_model_are_refused():
    with pytest.raises(SpecError, match="needs a row of role"):
        predict("8b", "rtx4090", techniques=("experts-on-host",))
    with pytest.raises(SpecError, match="nothing to offload to"):
        predict("8b", "ddr5", techniques=("gpu-layers:layers=3",))
    with pytest.raises(SpecError, match="cannot be combined"):
        predict("8b", "rtx4090", techniques=("gpu-layers:layers=3", "offload"))


def test_the_host_can_be_too_small():
    # R42
    p = predict("llama-3-70b", "rtx4090", techniques=("gpu-layers:layers=10",))
    assert p.memory.total_bytes < p.memory.usable_bytes and p.memory.tiers["host"]["fits"] is False and p.memory.fits is False
    host = library().load("hardware", "rtx4090").doc.host.dram
    assert p.memory.tiers["host"]["capacity_bytes"] == host.capacity - host.reserve


def test_memory_that_the_system_keeps():
    # R42
    plain = predict("8b", "ddr5")
    kept = predict("8b", "ddr5", sets=("hw.memory.dram.reserve=8 GiB",))
    assert kept.memory.usable_bytes == plain.memory.usable_bytes - 8 * 2**30
    for name in library().usable("hardware"):
        spec = library().load("hardware", name)
        if "apple-silicon" in spec.lineage and spec.doc.usable != 1:
            capacity = next(iter(spec.doc.memory.values())).capacity
            assert spec.doc.usable == pytest.approx(2 / 3 if capacity <= 36 * 2**30 else 3 / 4), name


def test_links_by_name():
    techniques, sets = placed((), (), links=("nvlink3,host=pcie3-x4",))
    assert (techniques, sets) == ((), ("hw.links.peer=nvlink3", "hw.links.host=pcie3-x4"))
    slow, fast = (predict("llama-3-70b", "h100-sxm", devices=4, sets=(f"hw.links.peer={n}",), batch=64) for n in ("pcie4-x4", "nvlink4"))
    assert slow.decode.expected_s > fast.decode.expected_s
    link = library().load("link", "pcie4-x4").doc
    assert slow.runnable.meta["rates"]["peer"] == link.bandwidth == pytest.approx(16e9 * 4 * 128 / 130 / 8, rel=1e-4)
    assert slow.runnable.meta["rates"]["peer_latency"] == link.latency
    assert "did you mean `nvlink3`" in run("predict", "8b", "--hw", "h100-sxm", "--link", "nvlnk3", code=2)
    assert "is not a link" in run("predict", "8b", "--hw", "h100-sxm", "--link", "peers=nvlink3", code=2)


@pytest.mark.parametrize("name", sorted(library().names("link")))
def test_pcie_rates_follow_from_lanes(name):
    doc = library().load("link", name).doc
    assert doc.latency > 0
    if name.startswith("pcie"):
        generation, lanes = (int(part) for part in name[4:].split("-x"))
        coded = 242 / 256 if generation == 6 else 128 / 130
        assert doc.bandwidth == pytest.approx(2 ** (generation - 3) * 8e9 * lanes * coded / 8, rel=1e-3)


def test_expert_parallelism_spreads_experts_and_sequences():
    # R43, R44
    plain, spread = (
        predict("deepseek-v3", "h200-sxm", batch=64),
        predict("deepseek-v3", "h200-sxm", batch=64, techniques=("expert-parallel:ways=8",)),
    )
    experts = sum(r.bytes_by.weights for r in plain.operators["decode"] if r.op == "expert")
    assert sum(r.bytes_by.weights for r in spread.operators["decode"] if r.op == "expert") == pytest.approx(experts / 8)
    assert spread.memory.kv_bytes == pytest.approx(plain.memory.kv_bytes / 8)
    exchange = next(r for r in spread.operators["decode"] if r.op == "all-to-all")
    dims = library().load("model", "deepseek-v3").doc.dims
    assert exchange.link_bytes == pytest.approx(2 * dims["k"] * 7 / 8 * 8 * dims["d"] * 2 * exchange.repeat)
    uneven = predict("deepseek-v3", "h200-sxm", batch=64, techniques=("expert-parallel:ways=8,imbalance=2",))
    assert uneven.tpot_s.expected > spread.tpot_s.expected and uneven.tpot_s.floor >= spread.tpot_s.floor


def test_a_pipeline_does_not_speed_up_one_request():
    # R25, R43
    plain, split = predict("llama-3-70b", "h100-sxm"), predict("llama-3-70b", "h100-sxm", techniques=("pipeline-parallel:stages=4",))
    latency = library().load("hardware", "h100-sxm").doc.links["peer"].latency
    assert split.tpot_s.expected >= plain.tpot_s.expected + 3 * latency
    assert split.memory.weights_bytes == pytest.approx(plain.memory.weights_bytes / 4)


def fit(*args: str, code: int = 0) -> dict:
    return json.loads(run("predict", *args, "--must-fit", "--format", "json", code=code))


def test_must_fit_puts_as_many_layers_on_the_card_as_it_holds():
    # R45
    found = fit("llama-3.3-70b", "--hw", "rtx4090", "--set", Q4[0])
    (technique,) = found["placement"]["techniques"]
    count = int(technique.removeprefix("gpu-layers:layers="))
    assert found["memory"]["fits"] is True and f"-ngl {count} -c 1280" in found["flags"]["llama.cpp"]
    one_more = predict("llama-3.3-70b", "rtx4090", techniques=(f"gpu-layers:layers={count + 1}",), sets=Q4)
    assert one_more.memory.total_bytes > one_more.memory.usable_bytes
    assert found["tps"] == predict("llama-3.3-70b", "rtx4090", techniques=(technique,), sets=Q4).to_dict()["tps"]


def test_must_fit_leaves_as_few_experts_to_the_host_as_it_can():
    found = fit("gpt-oss-120b", "--hw", "rtx4090")
    (technique,) = found["placement"]["techniques"]
    count = int(technique.removeprefix("experts-on-host:layers="))
    assert f"--n-cpu-moe {count}" in found["flags"]["llama.cpp"] and "--cpu-offload-gb" in found["flags"]["vllm"]
    one_less = predict("gpt-oss-120b", "rtx4090", techniques=(f"experts-on-host:layers={count - 1}",))
    assert found["memory"]["fits"] is True and one_less.memory.fits is False
    assert found["tps"]["expected"] > predict("gpt-oss-120b", "rtx4090", techniques=("gpu-layers:layers=8",)).tps.expected


def test_changes_are_predictions_that_fit():
    # R45
    found = fit("llama-3.1-8b", "--hw", "rtx4060", "--context", "8k")
    assert found["changes"]
    for change in found["changes"]:
        option, value = change["option"].split()
        p = json.loads(run("predict", "llama-3.1-8b", "--hw", "rtx4060", "--context", "8k", option, value, "--format", "json"))
        assert p["memory"]["fits"] is True and p["memory"]["total_bytes"] == change["total_bytes"] and p["tps"]["expected"] == change["tps"]
    crowded = fit("8b", "--hw", "rtx4060", "--context", "8k", "--batch", "64", code=1)
    assert {c["change"] for c in crowded["changes"]} >= {"batch"} and crowded["placement"]["lacking_bytes"] > 0


def test_the_disk_is_shown_but_is_no_memory():
    found = fit("llama-3.1-405b", "--hw", "rtx4090", code=1)
    assert (
        found["flags"] == {}
        and found["placement"]["fits"] is False
        and any(t.startswith("mmap:share=") for t in found["placement"]["techniques"])
    )
    host = library().load("hardware", "rtx4090").doc.host.dram
    total = predict("llama-3.1-405b", "rtx4090").memory.total_bytes
    assert found["placement"]["lacking_bytes"] == pytest.approx(
        total - found["memory"]["usable_bytes"] - host.capacity + host.reserve, rel=0.05
    )


@pytest.mark.parametrize("engine", ["rule-of-thumb", "llama.cpp"])
@pytest.mark.parametrize("model", ["llama-3.1-405b", "deepseek-v3"])
def test_a_file_larger_than_ram_is_read_from_disk(model, engine):
    moved = ("gpu-layers:layers=3",)
    held, mapped = (predict(model, "rtx4090", techniques=t, engine=engine) for t in (moved, (*moved, "mmap:share=0.8")))
    assert stored(mapped) == pytest.approx(stored(held)) and mapped.memory.weights_bytes == held.memory.weights_bytes
    assert mapped.memory.tiers["disk"]["weights_bytes"] == pytest.approx(0.8 * held.memory.tiers["host"]["weights_bytes"])
    assert mapped.decode.link_bytes - held.decode.link_bytes == pytest.approx(
        0.8 * sum(r.bytes_by.weights for r in held.operators["decode"] if r.unit == "host"), rel=1e-6
    )
    assert mapped.decode.floor_s > 5 * held.decode.floor_s
    for group in ((1, 1, 500, 1), (2, 300, 0, 1)):
        assert mixed_step(mapped.runnable, [group]) == pytest.approx(mapped.runnable.one(*group), rel=1e-9)


def test_must_fit_with_devices_and_without_need():
    plain = fit("8b", "--hw", "rtx4090")
    assert plain["placement"] == {"fits": True, "techniques": [], "lacking_bytes": 0} and "-ngl 33" in plain["flags"]["llama.cpp"]
    four = fit("llama-3-70b", "--hw", "rtx4090", "--devices", "8")
    assert "--tensor-parallel-size 8" in four["flags"]["vllm"] and "-sm row" in four["flags"]["llama.cpp"]
    assert "-ngl 0" in fit("8b", "--hw", "ddr5")["flags"]["llama.cpp"] and "vllm" not in fit("8b", "--hw", "ddr5")["flags"]
    small = fit("8b", "--hw", "rtx4090", "-t", "kv-int8")["flags"]
    assert "-ctk q8_0 -ctv q8_0" in small["llama.cpp"] and "--kv-cache-dtype fp8" in small["vllm"]


def test_options_are_short_for_techniques():
    a = json.loads(run("predict", "gpt-oss-20b", "--hw", "rtx4060", "-ngl", "12", "--n-cpu-moe", "20", "-nkvo", "--format", "json"))
    techniques = ["gpu-layers:layers=12,head_first=1", "experts-on-host:layers=20", "kv-on-host"]
    assert sorted(a["techniques"]) == sorted(techniques)
    whole = json.loads(run("predict", "8b", "--hw", "rtx4090", "-ngl", "all", "--format", "json"))
    assert whole["tps"] == predict("8b", "rtx4090").to_dict()["tps"]
    grid = json.loads(run("matrix", "--model", "8b", "--hw", "rtx4090", "-t", "none", "-t", "kv-int8", "-ngl", "20", "--format", "json"))
    assert all("gpu-layers:layers=20" in str(row) for row in grid["rows"]) and len(grid["rows"]) == 2
    assert "not a number of layers" in run("predict", "8b", "--hw", "rtx4090", "-ngl", "some", code=2)
    run("check", "500", "--model", "8b", "--hw", "rtx4090", "-ngl", "5", code=1)


def test_two_answers_to_where_the_experts_are_is_one_too_many():
    assert "give one of the two" in run("predict", "gpt-oss-20b", "--hw", "rtx4060", "-cmoe", "-ncmoe", "3", code=2)
