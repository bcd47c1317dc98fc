"""Plans against predictions made one by one, bad input, and the documents that the package ships."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator
from rigplan.cli import main
from rigplan.plan import Option, Refused, Want, plan, predict
from rigplan.prices import Offer, PlanError, Prices, read_prices

import costmodel
from costmodel.report.outputs import output_schema

PRICES = Prices("EUR", (Offer("ddr5", 1, 800), Offer("quiet-box", 1, 5200), Offer("rtx3090", 1, 1600)), ("q4_k_m", "q8_0"))


def test_the_cheapest_that_is_fast_enough_and_of_one_price_the_larger_format():
    want = Want(tok_s=20, ttft_s=5)
    (found,) = plan(["8b"], want, PRICES, budget=6000)
    fast = [o for o in PRICES.offers if costmodel.predict("8b", o.machine, sets=["model.weights.format=q8_0"]).tps.expected >= want.tok_s]
    assert found.cheapest is not None and found.cheapest.offer == min(fast, key=lambda o: o.price)
    assert found.cheapest.format == "q8_0" and found.cheapest.enough(want)


def test_the_slow_end_of_the_span_asks_for_more():
    option, sure = (predict("8b", PRICES.offers[0], "q4_k_m", Want(10, 60, sure=sure)) for sure in (False, True))
    assert isinstance(option, Option) and isinstance(sure, Option)
    assert sure.tok_s < option.tok_s and sure.ttft_s > option.ttft_s
    p = costmodel.predict("8b", "ddr5", sets=["model.weights.format=q4_k_m"])
    assert (option.tok_s, sure.tok_s) == (p.tps.expected, p.tps.low)


def test_what_does_not_fit_or_is_too_dear_is_no_offer():
    (found,) = plan(["llama-3.3-70b"], Want(1, 600), PRICES, budget=1600)
    assert found.cheapest is not None and found.cheapest.offer.machine == "ddr5"
    (none,) = plan(["llama-3.3-70b"], Want(20, 600), PRICES, budget=700)
    assert none.cheapest is none.fastest is None


def test_a_refused_combination_is_a_result():
    found = predict("8b", Offer("ddr5", 1, 800), "q4_k_m", Want(1, 60), ["sparsity-2-4"])
    assert isinstance(found, Refused) and "sparse_2_4" in found.why


def test_names_that_nobody_knows():
    with pytest.raises(PlanError, match="did you mean `8b`"):
        plan(["8bb", "1b"], Want(1, 60), PRICES, 1000)
    with pytest.raises(PlanError, match="no technique `promt-lookup`"):
        plan(["8b"], Want(1, 60), PRICES, 1000, ["promt-lookup"])


@pytest.mark.parametrize(
    "text",
    ["[", "machines: {}", "currency: EUR\nmachines: {ddr9000: {price: 1}}\nformats: [q8_0]", "currency: E\nmachines: 3\nformats: []"],
)
def test_price_lists_that_are_none(tmp_path, text):
    (tmp_path / "prices.yaml").write_text(text, "utf-8")
    with pytest.raises(PlanError, match=r"prices\.yaml"):
        read_prices(tmp_path / "prices.yaml")


def test_the_built_in_prices_are_read():
    assert {o.machine for o in read_prices().offers} >= {"ddr5", "quiet-box", "rtx4090"}


def test_own_documents_are_found_by_name():
    assert costmodel.load_hardware("quiet-box").doc.memory["dram"].bandwidth == 332.8e9
    for machine in ("quiet-box", "rtx4090"):
        plain, copied = (costmodel.predict("8b", machine, techniques=t) for t in ((), ("prompt-lookup:drafted=2,acceptance=0.5",)))
        assert copied.tokens_out == pytest.approx(1 + 0.5 + 0.5**2)
        assert copied.decode.bytes_by.weights == pytest.approx(plain.decode.bytes_by.weights, rel=1e-4)
        assert copied.tps.ceiling > plain.tps.ceiling


def test_json_keeps_to_the_schema_of_predictions(capsys):
    assert main(["8b", "--tok-s", "10", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    for which in ("cheapest", "fastest"):
        Draft202012Validator(output_schema("prediction")).validate(found[which]["data"])


def test_bad_input_is_a_line_on_stderr(capsys):
    assert main(["8bb", "--tok-s", "15"]) == 2
    printed = capsys.readouterr()
    assert not printed.out and printed.err.startswith("no model `8bb`")
