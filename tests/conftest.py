"""Shared fixtures: a private program cache, documents written on the fly, and the shipped names."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import pytest

os.environ["COSTMODEL_CACHE"] = tempfile.mkdtemp(prefix="costmodel-test-cache-")
os.environ.pop("COSTMODEL_PATH", None)

from costmodel.api import library
from costmodel.library import FOLDERS

gc.set_threshold(200_000, 50, 50)  # documents stay for the whole run: looking through them again and again frees nothing


def usable(kind: str) -> list[str]:
    """Names of the shipped documents of a kind that can be used by themselves."""
    found = library()
    return [n for n in sorted(found.names(kind)) if not found.load(kind, n).doc.abstract]


MACHINE = """schema: costmodel/hardware@1
name: {name}
extends: {parent}
memory: {{main: {{capacity: {capacity}, bandwidth: {bandwidth} GB/s}}}}
compute: {{fp32: {peak} TFLOP/s, fp16: {peak} TFLOP/s, bf16: {peak} TFLOP/s, int8: {peak} TFLOP/s}}
sources: {{bandwidth: {{kind: assumed, ref: "a test machine"}}, compute: {{kind: assumed, ref: "a test machine"}}}}
"""


class Desk:
    """Writes documents into a folder laid out like `specs/`, and loads from it first."""

    def __init__(self, root: Path):
        self.root = root

    def write(self, kind: str, name: str, text: str) -> str:
        """Write a document; returns its path."""
        folder = self.root / FOLDERS[kind]
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.yaml"
        head = "" if text.startswith("schema:") else f"schema: costmodel/{kind}@1\nname: {name}\n"
        path.write_text(head + text, "utf-8")
        return str(path)

    def machine(self, bandwidth: float, peak: float, name: str = "test-box", capacity: str = "1 TB", parent: str = "cpu-desktop") -> str:
        """A machine with exactly the given GB/s and TFLOP/s."""
        return self.write("hardware", name, MACHINE.format(name=name, parent=parent, capacity=capacity, bandwidth=bandwidth, peak=peak))

    def predict(self, model, hardware, techniques=(), engine=None, devices=1, sets=(), **workload):
        """A prediction whose names are looked up in this folder first."""
        from costmodel.compile.build import Case, build
        from costmodel.library import Library
        from costmodel.solve.prediction import Prediction

        runnable = build(Case(model, hardware, engine, techniques, devices, sets), Library(roots=(self.root,)))
        return Prediction(runnable, **workload)


@pytest.fixture
def desk(tmp_path) -> Desk:
    return Desk(tmp_path)
