"""Published figures reproduced by the product: every golden case has an adapter, or a reason in `golden/skipped.yaml`."""

from __future__ import annotations

import ast
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
CORE = {"ridge", "linear", "attention", "llmviewer", "kv", "params", "quant", "flops", "latency", "memory"}
CORE |= {"moe", "metrics", "spec", "chunked", "sparsity", "device"}
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


@pytest.mark.parametrize("file", sorted((HERE / "golden" / "adapters").glob("*.py")), ids=lambda f: f.stem)
def test_adapters_do_no_arithmetic(file):
    """Figures come from the product: no arithmetic on names, and no ratio of bare inputs (`desk` only joins paths and counts `before`)."""
    arithmetic = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.BinOp) and isinstance(node.op, arithmetic) and file.stem != "desk":
            assert not any(isinstance(n, (ast.Name, ast.Call)) for n in ast.walk(node)), ast.unparse(node)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ratio":
            assert not any(isinstance(a, ast.Subscript) for a in node.args), ast.unparse(node)


def test_every_case_names_its_source():
    """A title, and an address where there is one."""
    for case in CASES.values():
        assert case["source"]["title"], case["id"]
        assert (case["source"]["url"] or "https").startswith("http"), case["id"]
