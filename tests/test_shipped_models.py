"""The shipped models of the corpus are what the importer makes of their configurations, with independent counts as checks."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from test_import_config import TRUTH, config

from costmodel.importers.model import model_fields
from costmodel.library import Library

SPECS = Path(__file__).parent.parent / "specs" / "models"
RENAMED = {"phi-4-14b": "phi-4", "nemotron-3-super-120b-a12b-fp8": "nemotron-3-super-120b-a12b"}
KOREAN = ("exaone-3.0-7.8b", "exaone-4.0-32b", "exaone-4.5-33b", "polyglot-ko-1.3b", "solar-open-100b")
SHIPPED = [name for name in TRUTH if (SPECS / f"{RENAMED.get(name, name)}.yaml").exists()]


def document(name: str) -> dict:
    return yaml.safe_load((SPECS / f"{RENAMED.get(name, name)}.yaml").read_text())


def test_enough_are_shipped():
    assert len(SHIPPED) >= 90 and set(KOREAN) <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_model_is_the_imported_one(name):
    made, *_ = model_fields(Path(config(name)), Library(), None, RENAMED.get(name, name))
    shipped = document(name)
    for field in ("architecture", "dims", "blocks", "context", "weights", "kv"):
        assert shipped.get(field) == (made.get(field) or None), field


@pytest.mark.parametrize("name", SHIPPED)
def test_its_checks_are_the_independent_counts(name):
    want, checks = TRUTH[name], document(name)["checks"]
    total = "text_params_exact" if "text stack only" in want["how_established"] else "total_params_exact"
    assert checks["params"] == f"{want[total]} +- 0.01%"
    if int(want["routed_expert_params"]):
        assert checks["active_params"] == f"{want['active_params']} +- 0.01%"
