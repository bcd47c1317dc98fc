"""Where values come from: document and line, the kind of source that the document states, and the path that `--set` would take."""

from __future__ import annotations

from os.path import abspath, sep
from typing import Any, NamedTuple

from ...folders import data_root
from ...language.formula.write import text
from ...language.problem import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.unfold import StatedAt
    from ..shapes.unfolded_operator import OriginKind


class Origin(NamedTuple):
    """A value's `path` in its document, `where` (file:line), the `kind` of its source, what the source says, and the formula if any."""

    path: str
    where: str
    kind: OriginKind = ""
    ref: str = ""
    formula: str = ""

    def data(self) -> StatedAt:
        """The same, JSON-ready."""
        return {"path": self.path, "where": self.where, "kind": self.kind, "ref": self.ref, "formula": self.formula}


def place(mark) -> str:
    """`specs/hardware/ddr5.yaml:7`; built-in documents from the top of the repository, wherever they are installed."""
    if mark is None:
        return ""
    name, root = mark.source.name, abspath(data_root("specs"))
    if abspath(name).startswith(root + sep):  # names are relative below the working directory
        name = "specs" + abspath(name)[len(root) :]
    return f"{clean(name)}:{mark.line}"


def stated(spec, *path) -> str:
    """The place of a value that a document (or a parent, or an override) states; empty for a default."""
    return place(spec.mark(*path)) if path in spec.document.marks else ""


def hardware_origin(machine, *path) -> Origin:
    """Of a value of a machine's hardware document."""
    keys = (path[0],) if path[0] in ("host", "links") else (path[-1], path[0])
    return _origin(machine, machine.hardware, "hw", path, keys)


def engine_origin(machine, *path, formula: str = "") -> Origin:
    """Of a value of an engine document."""
    return _origin(machine, machine.engine, "engine", path, (path[-1], *path[-2:-1], path[0]), formula)


def _origin(machine, spec, kind: str, path: tuple, keys: tuple, formula: str = "") -> Origin:
    """A value's place, and the source that the very document states for it, not a child that gives other values of the kind."""
    mark, name = spec.mark(*path), ".".join((kind, *map(str, path)))
    if not any(path[:n] in spec.document.marks for n in range(1, len(path) + 1)):
        return Origin(name, "", "default", "", formula)
    if mark.source.name.startswith("--set"):
        return Origin(name, place(mark), "given", "", formula)
    documents = (machine.program.library.read(file) for file in spec.files)
    own = next((d for d in documents if d.source is mark.source), None)
    sources = {} if own is None else own.data.get("sources") or {}
    source: dict = next((sources[k] for k in keys if k in sources), {})
    return Origin(name, place(mark), source.get("kind", ""), str(source.get("ref", "")), formula)


def rate_origin(machine, key: str) -> Origin:
    """Of one of a machine's rates, by its name in `rates`."""
    doc = machine.hardware.doc
    if key.startswith(("pk_", "hpk_")):
        head = ("compute",) if key.startswith("pk_") else ("host", "compute")
        return hardware_origin(machine, *head, key.partition("_")[2])
    if key.endswith("_latency"):
        return hardware_origin(machine, "links", key.removesuffix("_latency"), "latency")
    paths: dict[str, list[tuple]] = {
        "bw": [("memory", machine.memory_name, "bandwidth")],
        "hram": [("host", "dram", "bandwidth")],
        "host": [("links", "host", "bandwidth"), ("host", "dram", "bandwidth")],
        "disk": [("host", "disk", "bandwidth"), ("links", "host", "bandwidth")],
    }
    for path in paths.get(key, [("links", key, "bandwidth")]):
        if _at(doc, path) == machine.rates.get(key):
            return hardware_origin(machine, *path)
    return hardware_origin(machine, *paths.get(key, [("links", key, "bandwidth")])[0])


def _at(doc: Any, path: tuple) -> Any:
    for part in path:
        doc = doc.get(part) if isinstance(doc, dict) else getattr(doc, part, None)
    return doc


def schedule_origin(program, field: str) -> Origin:
    """Of a field of the schedule: the technique that sets it, or nothing."""
    entry = program.fields[field]
    if entry.mark is None:
        return Origin("", "", "default", "", text(entry.node))
    written: Any = entry.use.spec.doc.schedule
    for part in field.split("."):
        written = getattr(written, part)
    return Origin(entry.use.text(), place(entry.mark), "technique", "", text(written))


def leaf_origin(opened, path: str) -> Origin | None:
    """Of a value that no other figure explains; None where it has no place of its own."""
    machine, decoder, program = opened.machine, opened.decoder, opened.machine.program
    if path in ("span.low", "span.high", "prefill_span.low", "prefill_span.high"):
        head, _, end = path.partition(".")
        at, _ = machine.tuning("device").found(head)
        return engine_origin(machine, *at, end) if at else None
    if path.startswith("network."):
        bandwidth = opened.prediction.decoder.meta["network"]
        slower = decoder if bandwidth and bandwidth <= (machine.hardware.doc.links["network"].bandwidth, 1e9) else machine
        return hardware_origin(slower, "links", "network", path.partition(".")[2])
    fields = {"decode.tokens_out": "decode.tokens_out", "occupancy": "decode.occupancy", "stages": "prefill.stages", "batch": "batch"}
    if path in fields:
        found = schedule_origin(program, fields[path])
        return found if found.where else Origin(path, "", "given") if path == "batch" else found
    places = {
        "decoder.bandwidth": ("memory", decoder.memory_name, "bandwidth"),
        "memory.capacity_bytes": ("memory", decoder.memory_name, "capacity"),
        "reserve": ("memory", decoder.memory_name, "reserve"),
        "usable_share": ("usable",),
    }
    if path in places:
        return hardware_origin(decoder, *places[path])
    return Origin(path, "", "given") if path in ("prompt", "output", "context") else None
