"""What a program that embeds the package meets when it passes something else than is wanted, and how objects show themselves."""

from __future__ import annotations

import pytest

import costmodel

WRONG = {
    "techniques as a dict": (lambda: costmodel.predict("8b", "ddr5", techniques={"int4": 1}), "techniques: want a text, or a sequence"),
    "sets as a dict": (lambda: costmodel.predict("8b", "ddr5", sets={"hw.usable": 1}), "sets: want a text, or a sequence"),
    "no name": (lambda: costmodel.predict("", "ddr5"), "MODEL:1:1: no model ``\n    1 | \n      | ^ valid: "),
    "a kind to load": (lambda: costmodel.Library().load("hardwares", "ddr5"), "no kind `hardwares`\n  help: did you mean `hardware`?"),
    "a kind to list": (lambda: costmodel.Library().names("modl"), "no kind `modl`\n  help: did you mean `model`?"),
    "a kind to find": (lambda: costmodel.Library().locate("formats", "q4_k"), "no kind `formats`\n  help: did you mean `format`"),
}


@pytest.mark.parametrize(("call", "want"), WRONG.values(), ids=WRONG)
def test_what_is_not_wanted_is_refused(call, want):
    with pytest.raises(costmodel.SpecError) as refused:
        call()
    assert str(refused.value).startswith(want)


def test_true_is_no_number_of_devices_though_it_equals_one():
    assert costmodel.predict("8b", "ddr5", devices=1).tps.expected > 0  # kept under a key that equals the next one
    with pytest.raises(costmodel.SpecError, match="devices: want a whole number"):
        costmodel.predict("8b", "ddr5", devices=True)


def test_loaded_documents_show_what_they_are():
    shown = [costmodel.load_hardware("ddr5"), costmodel.load_technique("speculative-decoding:drafted=6")]
    assert [repr(x) for x in shown] == ["<Spec hardware ddr5>", "<Use speculative-decoding:draft=1b,drafted=6,acceptance=0.7>"]
