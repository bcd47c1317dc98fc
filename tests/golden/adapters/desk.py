"""A folder of documents for one case, and the predictions made from them."""

from __future__ import annotations

from pathlib import Path

import yaml

import costmodel
from costmodel.compile.build import Case, build, program_of
from costmodel.library import FOLDERS, Library
from costmodel.solve.prediction import Prediction

UNLIMITED = "1e30"
"""A rate that never limits, where a case is about the other resource alone."""
LINK = {"bandwidth": f"{UNLIMITED} B/s", "latency": "0 us"}
"""A link that never limits."""
FORMATS = {1: "int8", 2: "fp16", 4: "fp32"}
"""The shipped format of so many bytes an element."""


class _Plain(yaml.SafeDumper):
    """YAML without anchors and aliases."""

    def ignore_aliases(self, data) -> bool:
        """Every value is written out."""
        return True


class Desk:
    """Writes documents into a folder and predicts with them."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self.library: Library | None = None

    def write(self, kind: str, name: str, **fields) -> str:
        """A document as a file; returns its path."""
        file = self.folder / FOLDERS[kind] / f"{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        head = {"schema": f"costmodel/{kind}@1", "name": name}
        file.write_text(yaml.dump(head | fields, Dumper=_Plain, sort_keys=False, allow_unicode=True), "utf-8")
        if kind in ("operator", "format"):
            self.library = Library(roots=(self.folder,))
        return str(file)

    def model(self, name: str = "model", **fields) -> str:
        """A model document."""
        return self.write("model", name, **fields)

    def machine(self, name: str = "machine", *, peak=UNLIMITED, bandwidth=UNLIMITED, dtype: str = "fp16", capacity=None, **fields) -> str:
        """A hardware document; plain numbers are FLOP/s, B/s and bytes."""
        memory = {"bandwidth": f"{bandwidth} B/s"} | ({} if capacity is None else {"capacity": f"{capacity} B"})
        return self.write("hardware", name, memory={"device": memory}, compute={dtype: f"{peak} FLOP/s"}, **fields)

    def predict(self, model: str, hardware: str, *, techniques=(), sets=(), engine="ideal", devices=1, **workload) -> Prediction:
        """A prediction, of one token and one sequence unless told; the folder's own operators and formats are found."""
        workload = {"prompt": 1, "output": 1, "context": 0, "batch": 1} | workload
        if self.library is None:
            return costmodel.predict(model, hardware, techniques=techniques, sets=sets, engine=engine, devices=devices, **workload)
        return Prediction(build(Case(model, hardware, engine, techniques, devices, sets), self.library), **workload)

    def compile(self, model: str):
        """The program of a model, without a machine."""
        return costmodel.compile(model) if self.library is None else program_of(self.library, model)


def before(tokens: int) -> int:
    """Cached tokens of the decode step that reads `tokens` positions: all but the new one."""
    return tokens - 1


def row(prediction: Prediction, phase: str, name: str):
    """The record of one operator."""
    return next(r for r in prediction.operators[phase] if r.name == name)


def summary(desk: Desk, name: str = "model", *, size: str | None = None, format: str = "fp16", **dims) -> str:
    """A model known by its parameters and KV bytes per token. Width 0: no activations are counted."""
    weights = {"format": "as-stated", "size": size} if size else {"format": format}
    known = {"params": 1, "width": 0, "kv_bytes_per_token": 0} | dims
    return desk.model(name, architecture="summary", dims=known, weights=weights)


def decoder(desk: Desk, name: str = "model", *, blocks: dict | None = None, weights: str = "fp16", kv: str = "fp16", **dims) -> str:
    """A decoder; dims that a case leaves open get ordinary values."""
    usual = {"L": 1, "n_q": 1, "d": "= n_q * d_h", "d_ff": "= 4 * d", "vocab": 32000}
    fields = {"architecture": "decoder", "dims": usual | dims, "weights": {"format": weights}, "kv": {"format": kv}}
    return desk.model(name, **fields, **({"blocks": blocks} if blocks else {}))


def bare(desk: Desk, name: str = "model", *, dims: dict | None = None, weights: str = "fp16", repeat=1, state: str = "fp32", **rows) -> str:
    """A model that is one block of rows."""
    formats = {"weights": {"format": weights}, "state": {"format": state}}
    return desk.model(name, dims=dims or {}, blocks={"block": {"repeat": repeat, "ops": rows}}, **formats)
