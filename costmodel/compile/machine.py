"""A program placed on a machine: peak, bandwidth and efficiency of every row, and what each tier stores."""

from __future__ import annotations

from typing import Any

from ..language.formula import FormulaError, Node, Num, names
from ..language.formula.fold import bind, number
from ..language.formula.nodes import Bin
from ..language.problem import Problem, SpecError
from ..library import Spec
from ..schema.names import BOUNDS
from .placement import Placed, copied, split
from .program import Program
from .rows import Row

CHAIN = ("fp4", "fp6", "fp8", "int8", "fp16", "bf16", "tf32", "fp32")
KINDS = ("weights", "kv", "state", "activations")
TERM_NAMES = {
    "f": "flops",
    "w": "bytes.weights",
    "k": "bytes.kv",
    "s": "bytes.state",
    "a": "bytes.activations",
    "l": "bytes.link",
    "fw": "floor.weights",
    "fk": "floor.kv",
    "h": "hops",
    "hk": "holds.kv",
    "hs": "holds.state",
    "ws": "workspace",
}


class Machine:
    """A program bound to hardware and engine. `rates` are the numbers that a sweep may vary."""

    def __init__(self, program: Program, hardware: Spec, engine: Spec, devices: int = 1):
        self.program, self.hardware, self.engine, self.devices = program, hardware, engine, devices
        self.notes = list(program.notes)
        self.files = program.files | set(hardware.files) | set(engine.files)
        self.memory_name, self.memory = device_tier(hardware)
        self.device_flags = {
            "sparse_load": int("sparse_load" in hardware.doc.features),
            "sparse_2_4": int("sparse_2_4" in hardware.doc.features),
        }
        self.overlap = self._moe_overlap()
        self.rates: dict[str, float] = {"bw": self.memory.bandwidth}
        self.placed = [p for row in program.rows for p in self._place(row)]
        self._check_hardware_needs()

    def settings(self, name: str, field: str, family: str = "") -> Any:
        """One efficiency, overhead or other setting: by format family, then class, then the engine's general one."""
        doc = self.engine.doc
        layers = [doc.formats[family]] if family in doc.formats else []
        layers += [doc.classes[c] for c in self.hardware.lineage if c in doc.classes]
        for layer in [*layers, doc]:
            value = getattr(layer, name)
            value = getattr(value, field) if field and value is not None else value
            if value is not None:
                return value
        return None

    def efficiency(self, field: str, bits: float, family: str) -> Node:
        """Fraction of peak or bandwidth, over M alone."""
        own = self.hardware.doc.efficiency.get(field)
        if own is not None and not self.engine.doc.fixed:
            return Num(own)
        node = self.settings("efficiency", field, family)
        if node is None:
            return Num(1)
        found = self._engine_number(node, bits, f"efficiency.{field}")
        if isinstance(found, Num) and not 0 < found.value <= 1:
            raise SpecError(
                Problem(f"efficiency.{field} is {found.value:g}; want more than 0, at most 1", self.engine.mark("efficiency", field))
            )
        return found

    def _engine_number(self, node: Node, bits: float, path: str) -> Node:
        peaks = [v for k, v in self.hardware.doc.compute.items()]
        env = {"bits": bits, "layers": self.layers(), "bandwidth": self.memory.bandwidth, "peak": max(peaks, default=0), "second": 1}
        try:
            return bind(node, env, BOUNDS)
        except FormulaError as error:
            raise SpecError(Problem(f"{path}: {error}", self.engine.mark(*path.split(".")), error.help)) from None

    def layers(self) -> float:
        """Layers of the model, for overheads per layer."""
        return self.program.dims.get("L", 1)

    def overhead(self, field: str) -> Node:
        """Fixed time per step or per layer, in seconds, over M alone."""
        node = self.settings("overhead", field)
        return Num(0) if node is None else self._engine_number(node, 16, f"overhead.{field}")

    def pass_overhead(self) -> Node:
        """Fixed time of a whole pass, in seconds: the step's and every layer's, over M alone."""
        layers = Bin("*", Num(self.layers()), self.overhead("layer"))
        return bind(Bin("+", self.overhead("step"), layers), {}, BOUNDS)

    def _moe_overlap(self) -> Node:
        node = self.settings("moe_overlap", "")
        return Num(1) if node is None else self._engine_number(node, 16, "moe_overlap")

    def _place(self, row: Row) -> list[Placed]:
        row = row.copy()
        row.symbols.setdefault("overlap", self.overlap)
        terms = self.program.terms(row, TERM_NAMES, self.device_flags)
        stored = self.program.constant(row, "stored", self.device_flags)
        if stored < 0:
            raise SpecError(Problem(f"{row.block}.{row.name}: stores {stored:g} bytes", row.mark))
        self._once_per_pass(row, terms)
        for place in row.place:
            self._tier(place.tier, place.mode, place.mark)
        placed = split(row, self.program.repeat(row), terms, stored)
        copies = self.settings("op_offload", "")
        if copies and any(p.unit == "host" for p in placed) and self._copies_over():
            placed = [p for item in placed for p in copied(item, copies, self.settings("micro_batch", ""))]
        for item in placed:
            self._finish(item)
        return [p for p in placed if any(n != Num(0) for n in p.terms.values()) or any(p.stored.values())]

    def _copies_over(self) -> bool:
        """Whether there is a link over which weights on the host could be copied to the device."""
        host, links = self.hardware.doc.host, self.hardware.doc.links
        if host.dram is None or "host" not in links:
            return False
        self.rates["host"] = min(links["host"].bandwidth, host.dram.bandwidth)
        return True

    def _once_per_pass(self, row: Row, terms: dict) -> None:
        """Weight bytes move once per pass, whatever a technique makes of them."""
        for key in ("w", "fw"):
            found = sorted(names(terms[key]) & {"B", "T", "S", "R"})
            if found:
                also = tuple((mark, note) for note, mark in row.history[-3:])
                message = f"{row.block}.{row.name}: weight bytes move once per pass: they may depend on M and H, not on `{found[0]}`"
                raise SpecError(Problem(message, row.mark, None, also))

    def _finish(self, item: Placed) -> None:
        row = item.row
        width = row.width
        assert width is not None
        item.bits = 8 * number(row.symbols["w_format"])
        item.rate = row.resolve_arg("rate", {**self.program.dims, **self.device_flags})
        if not isinstance(item.rate, Num) or item.rate.value <= 0:
            also = tuple((mark, note) for note, mark in row.history[-3:])
            raise SpecError(Problem(f"{row.block}.{row.name}: `rate` must be a positive number", row.mark, None, also))
        stores = row.terms["params"] != Num(0)  # products without weights (attention) run in the engine's type
        wanted = (width.math if stores else None) or self.settings("math", "", width.family) or "fp16"
        item.math = self._rate(wanted, item.unit, item.terms["f"] != Num(0))
        for field in (*KINDS, "compute", "link", "host"):
            item.eff[field] = self.efficiency(field, item.bits, width.family)

    def _rate(self, wanted: str, unit: str, needed: bool) -> str:
        doc = self.hardware.doc
        table = doc.compute if unit == "device" else doc.host.compute
        found = pick_rate(str(wanted), table)
        if found is None:
            if not needed:
                return "none"
            path = ("compute",) if unit == "device" else ("host", "compute")
            help = f"give one: `--set hw.{'.'.join(path)}.{wanted}=…TFLOP/s`, or in the document"
            raise SpecError(
                Problem(f"{self.hardware.name} states no peak rate for {wanted} or a wider type", self.hardware.mark(*path), help)
            )
        if found != wanted and needed:
            note = f"{self.hardware.name} has no {wanted} rate{' on the host' if unit == 'host' else ''}: {found} is used"
            if note not in self.notes:
                self.notes.append(note)
        self.rates[("pk_" if unit == "device" else "hpk_") + found] = table[found]
        return found

    def _tier(self, tier: str, mode: str, mark) -> None:
        """Rates of a lower tier, refused where the machine has none."""
        host, links = self.hardware.doc.host, self.hardware.doc.links
        also = ((self.hardware.mark("name"), "the hardware"),)
        if tier == "host":
            if host.dram is None or ("host" not in links and mode == "stream"):
                raise SpecError(
                    Problem(
                        f"{self.hardware.name}: the device's memory is the host's memory; nothing to offload to",
                        mark,
                        "use tier=disk",
                        also,
                    )
                )
            if mode == "compute":
                self.rates["hram"] = host.dram.bandwidth
            else:
                self.rates["host"] = min(links["host"].bandwidth, host.dram.bandwidth)
            return
        if mode == "compute":
            raise SpecError(Problem("nothing can be computed on the disk tier", mark, "use mode=stream", also))
        if host.disk is None:
            raise SpecError(Problem(f"{self.hardware.name} has no disk tier", mark, "give `host: {disk: {bandwidth: …}}`", also))
        link = links["host"].bandwidth if "host" in links else host.disk.bandwidth
        self.rates["disk"] = min(host.disk.bandwidth, link)

    def _check_hardware_needs(self) -> None:
        doc = self.hardware.doc
        for use in self.program.uses:
            needs = use.spec.doc.requires
            for field, have in (("features", doc.features), ("links", doc.links)):
                for i, name in enumerate(getattr(needs, field)):
                    if name not in have:
                        mark = use.spec.mark("requires", field, i)
                        help = f"{self.hardware.name} has: {', '.join(have) or 'none'}"
                        also = ((self.hardware.mark(field), "the hardware"),)
                        raise SpecError(
                            Problem(f"`{use.name}` needs {field[:-1]} `{name}`, which {self.hardware.name} does not have", mark, help, also)
                        )
        for item in self.placed:
            if item.terms["l"] != Num(0) or item.terms["h"] != Num(0):
                self._link(item.row.link)

    def _link(self, name: str) -> None:
        """Rates of a link that rows use, refused where the machine has none."""
        link = self.hardware.doc.links.get(name)
        if link is None:
            what = "peer link between devices" if name == "peer" else f"{name} link"
            message, mark = f"{self.hardware.name} has no {what}", self.hardware.mark("links")
            raise SpecError(Problem(message, mark, f"give `links: {{{name}: {{bandwidth: …, latency: …}}}}`"))
        self.rates.setdefault(name, link.bandwidth)
        self.rates[f"{name}_latency"] = link.latency


def pick_rate(wanted: str, table) -> str | None:
    """The type that runs where `wanted` has no rate: the next in fp4 → fp8 → int8 → fp16 = bf16 → tf32 → fp32."""
    if wanted in table:
        return wanted
    if wanted == "bf16" and "fp16" in table:
        return "fp16"
    start = CHAIN.index(wanted) if wanted in CHAIN else CHAIN.index("int8") if wanted == "int4" else len(CHAIN)
    return next((d for d in CHAIN[start:] if d in table and d != "fp6"), None)


def device_tier(hardware: Spec):
    """(name, memory) of the device's own memory. Raises :class:`SpecError` for a class, or for other than one entry."""
    entries = list(hardware.doc.memory.items())
    if hardware.doc.abstract:
        raise SpecError(
            Problem(
                f"`{hardware.name}` is a class of hardware, not a machine", hardware.mark("abstract"), "name a document that extends it"
            )
        )
    if len(entries) != 1:
        mark = hardware.mark("memory") if entries else hardware.mark("name")
        raise SpecError(
            Problem(f"{hardware.name}: want exactly one entry under `memory`, got {len(entries)}", mark, "host RAM goes under `host:`")
        )
    return entries[0]
