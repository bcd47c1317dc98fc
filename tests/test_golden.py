"""Published figures reproduced by the product: every golden case has an adapter, or a reason in `golden/skipped.yaml`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

from costmodel.language.units import BYTE, BYTE_RATE, FLOP_RATE, SECOND, quantity

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

from golden.adapters import ADAPTERS  # noqa: E402

CASES = {case["id"]: case for case in yaml.safe_load((HERE / "golden" / "cases.yaml").read_text("utf-8"))}
SKIPPED = yaml.safe_load((HERE / "golden" / "skipped.yaml").read_text("utf-8"))
CORE = set("ridge linear attention llmviewer kv params quant flops latency memory moe metrics spec chunked sparsity device".split())
WANTED = 170
SCALED = {"ms": SECOND, "us": SECOND, "GiB": BYTE, "GB/s": BYTE_RATE, "Gbit/s": BYTE_RATE, "TFLOP/s": FLOP_RATE, "GFLOP/s": FLOP_RATE}
"""Units of published figures that are no SI units, with their dimension."""


def expected(case: dict):
    """The published value in SI units (a label as it is); `per …` says what one device it is for."""
    value, unit = case["expected"], case["unit"].partition(" per ")[0]
    return quantity(f"{value!r} {unit}", SCALED[unit]) if unit in SCALED else value


def agrees(figure, case: dict) -> bool:
    """Whether a figure is the case's, within the case's own tolerance."""
    want = expected(case)
    if isinstance(want, str) or isinstance(figure, str):
        return figure == want
    return abs(figure - want) <= case.get("tolerance_rel", 1e-6) * abs(want)


@pytest.mark.parametrize("case", sorted(ADAPTERS))
def test_case(case, tmp_path):
    """The product gives the published figure."""
    figure = ADAPTERS[case](CASES[case]["inputs"], tmp_path)
    assert agrees(figure, CASES[case]), f"{case}: got {figure!r}, want {expected(CASES[case])!r} ({CASES[case]['formula']})"


def test_every_case_is_adapted_or_skipped():
    """No case is left out, none is both."""
    assert set(ADAPTERS) | set(SKIPPED) == set(CASES)
    assert not set(ADAPTERS) & set(SKIPPED)
    assert all(isinstance(reason, str) and len(reason) > 10 for reason in SKIPPED.values())


def test_enough_are_reproduced():
    """At least 170 of the 228 cases that a cost model can be asked for."""
    core = [case for case in CASES.values() if case["kind"] in CORE]
    assert (len(CASES), len(core)) == (268, 228)
    assert sum(case["id"] in ADAPTERS for case in core) >= WANTED


@pytest.mark.parametrize("case", sorted(CASES))
def test_source(case):
    """Every case names its source."""
    assert CASES[case]["source"]["title"] and CASES[case]["source"]["url"].startswith("http")
