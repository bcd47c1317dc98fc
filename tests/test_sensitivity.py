"""What each parameter weighs: against small steps, against predicting again, and as a picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from costmodel import SpecError, load_hardware, predict, sensitivity
from costmodel.cli import main

CASES = [
    ("8b", "ddr5", {}),
    ("8b", "rtx4090", {"techniques": ("speculative-decoding",), "batch": 8}),
    ("deepseek-v3", "h100-sxm", {"devices": 8, "engine": "vllm"}),
    ("llama-3.3-70b", "rtx4090", {"engine": "llama.cpp", "techniques": ("gpu-layers:layers=40",)}),
]


def row(found, name):
    return next(r for r in found.rows if r.name == name)


@pytest.mark.parametrize(("model", "hardware", "case"), CASES, ids=[f"{m}-{h}" for m, h, _ in CASES])
def test_ten_per_cent_more_bandwidth_is_what_predict_says(model, hardware, case):
    found = sensitivity(model, hardware, **case)
    memory, doc = next(iter(load_hardware(hardware).doc.memory.items()))
    p = predict(model, hardware, **case)
    assert found.value == pytest.approx(p.tps.expected, rel=1e-12)
    more = predict(model, hardware, **case, sets=[f"hw.memory.{memory}.bandwidth={1.1 * doc.bandwidth!r} B/s"])
    assert row(found, "bandwidth").up == pytest.approx(more.tps.expected / p.tps.expected - 1, rel=1e-6)


@pytest.mark.parametrize(("model", "hardware", "case"), CASES, ids=[f"{m}-{h}" for m, h, _ in CASES])
def test_elasticities_are_those_of_small_changes(model, hardware, case):
    exact, small = sensitivity(model, hardware, **case), sensitivity(model, hardware, change=1e-6, **case)
    for r in exact.rows:
        near = next(s for s in small.rows if s.input == r.input)
        if r.how == "steps" or r.kind in ("workload", "knob"):
            continue
        assert r.elasticity == pytest.approx(near.up / 1e-6, rel=1e-3, abs=1e-6), r.name


def test_times_of_a_step_add_up_to_it():
    """The elasticities of all rates, latencies and fixed times of a TPOT that scales with them are 1 together."""
    found = sensitivity("8b", "ddr5", of="tpot", engine="ideal")
    rates = [r.elasticity for r in found.rows if r.kind == "rate"]
    assert sum(rates) == pytest.approx(-1, abs=1e-9)
    ceiling = CliRunner().invoke(main, ["sensitivity", "8b", "--hw", "ddr5", "--ceiling", "--format", "json"])
    (only,) = [r for r in json.loads(ceiling.output)["rows"] if r["kind"] == "rate"]
    assert only["name"] == "bandwidth" and only["elasticity"] == pytest.approx(1)


def test_coefficients_say_where_they_stand_and_rows_are_sorted():
    found = sensitivity("8b", "ddr5")
    file, _, line = row(found, "reach").where.rpartition(":")
    assert "reach" in Path(file).read_text().splitlines()[int(line) - 1]
    weights = [max(abs(r.up or 0), abs(r.down or 0)) for r in found.rows]
    assert weights == sorted(weights, reverse=True)
    assert "output" in found.without and not found.left_out
    assert "gpu-layers.layers" in sensitivity("llama-3.3-70b", "rtx4090", techniques=("gpu-layers:layers=40",)).left_out


def test_another_regime_is_marked():
    found = sensitivity("8b", "ddr5")
    kink = row(found, "unpack")  # below 5.29 bits unpacking is no longer the slower part for some matrices
    assert kink.regime_changes == ["down"] and not row(found, "bandwidth").regime_changes


def test_steps_are_told_by_changed_values():
    found = sensitivity("deepseek-v3", "h100-sxm", of="ttft", devices=8, engine="vllm")
    r = row(found, "batch")
    assert r.how == "steps"
    p, two = (predict("deepseek-v3", "h100-sxm", devices=8, engine="vllm", batch=b).ttft_s.expected for b in (1, 2))
    assert r.up == pytest.approx(two / p - 1, rel=1e-9) and r.up_to == 2


def test_a_context_that_follows_the_prompt_moves_with_it():
    found = sensitivity("8b", "ddr5")
    longer = predict("8b", "ddr5", prompt=1126)
    assert row(found, "prompt = context").up == pytest.approx(longer.tps.expected / found.value - 1, rel=1e-9)
    assert row(sensitivity("8b", "ddr5", context=1024), "context")


def test_refused():
    for case in ({"of": "nope"}, {"of": "decode.bytes_by.state"}, {"change": 1.5}):
        with pytest.raises(SpecError):
            sensitivity("8b", "ddr5", **case)
    assert CliRunner().invoke(main, ["sensitivity", "8b", "--hw", "ddr5", "--change", "much"]).exit_code == 2


def test_a_picture_has_a_bar_for_each_and_no_overlaps(tmp_path):
    pytest.importorskip("matplotlib")
    from test_plots import check, shown

    from costmodel.report import plots

    for lang, case in (("en", {}), ("ko", {"of": "ttft"})):
        found = sensitivity("llama-3.3-70b", "rtx4090", techniques=("gpu-layers:layers=40",), **case)
        figure = plots.tornado(found, lang=lang)
        names = [t.get_text() for t in figure.axes[0].get_yticklabels()]
        assert check(figure) > 10 and [n.partition("  (")[0] for n in names] == [r.name for r in found.rows[: len(names)]]
        assert any(found.titles["model"]["en"] in t.get_text() for t in shown(figure))
    target = tmp_path / "t.svg"
    args = ["sensitivity", "8b", "--hw", "ddr5", "--lang", "ko", "--plot", str(target)]
    assert CliRunner().invoke(main, args).exit_code == 0 and target.read_text().startswith("<?xml")
    assert CliRunner().invoke(main, args).exit_code == 2 and CliRunner().invoke(main, [*args, "--force"]).exit_code == 0
    assert CliRunner().invoke(main, [*args[:-1], str(tmp_path / "t.txt")]).exit_code == 2
