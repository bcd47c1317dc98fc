"""The program cache changes nothing but the time, and is never trusted blindly."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import costmodel
from costmodel import cache
from costmodel.cache import cached_runnable
from costmodel.solve.prediction import Prediction


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("COSTMODEL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(hardware: str = "ddr5", **extra):
    return Prediction(cached_runnable("8b", hardware, None, extra.get("techniques", ()), 1, ()))


def test_hit_equals_miss(home):
    first = run(techniques=("speculative-decoding", "kv-int8")).to_dict()
    assert list(home.glob("*.py"))
    assert run(techniques=("speculative-decoding", "kv-int8")).to_dict() == first
    assert costmodel.predict("8b", "ddr5", techniques=("speculative-decoding", "kv-int8")).to_dict() == first


def test_a_changed_document_is_seen(home, desk, monkeypatch):
    path = desk.machine(100, 1)
    assert run(path).tps.rule_of_thumb == pytest.approx(100 / 4.7)
    Path(path).write_text(Path(path).read_text().replace("100 GB/s", "200 GB/s"))
    assert cache.load(("8b", path, None, (), 1, (), ())) is None


def test_a_tampered_entry_is_ignored(home):
    run()
    entry = next(home.glob("*.py"))
    entry.write_text(entry.read_text().replace("META =", "raise SystemExit(7)\nMETA ="))
    assert run().tps.expected == costmodel.predict("8b", "ddr5").tps.expected


def test_a_shared_folder_is_not_used(home):
    home.mkdir(mode=0o777)
    os.chmod(home, 0o777)
    run()
    assert not list(home.glob("*.py"))


def test_no_cache_at_all(monkeypatch):
    monkeypatch.setenv("COSTMODEL_CACHE", "off")
    assert cache.folder() is None
    assert run().tps.expected > 0


def test_a_new_file_that_shadows_is_seen(home, desk, monkeypatch):
    (desk.root / "hardware").mkdir()
    monkeypatch.setenv("COSTMODEL_PATH", str(desk.root))
    from costmodel.library import Library

    first = Prediction(cached_runnable("8b", "ddr5", None, (), 1, (), Library()))
    desk.write("hardware", "ddr5", "extends: ddr5\nmemory: {mine: {capacity: 8 GiB, bandwidth: 45 GB/s}}\n")
    second = Prediction(cached_runnable("8b", "ddr5", None, (), 1, (), Library()))
    assert second.tps.ceiling == pytest.approx(first.tps.ceiling / 2)
