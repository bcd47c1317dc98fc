"""A program placed on a machine: peak, bandwidth and efficiency of every row, and what each tier stores."""

from __future__ import annotations

from typing import Any

from ..language.formula import Name, Node, Num, names
from ..language.formula.fold import number
from ..language.formula.nodes import Bin
from ..language.problem import Problem, SpecError
from ..library import Spec
from .placement import Placed, copied, split
from .program import Program
from .rows import Row
from .tuning import Tuning, held

CHAIN = ("fp4", "fp6", "fp8", "int8", "fp16", "bf16", "tf32", "fp32")
KINDS = ("weights", "kv", "state", "activations")
SCALES = ("w_scale", "kv_scale")
"""Rates of a machine that is left open: multiples of the bytes of weights and of KV."""
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
    """A program bound to hardware and engine. `rates` are the numbers that a sweep may vary.

    With `open`, what engines make of bandwidth and peak rates stays a formula of `bw` and `pk_…`, and weight and KV bytes
    are multiplied by the rates `w_scale` and `kv_scale` (1), so that all of these can be varied after compiling.
    """

    def __init__(self, program: Program, hardware: Spec, engine: Spec, devices: int = 1, free: dict | None = None, open: bool = False):
        self.program, self.hardware, self.engine, self.devices, self.open = program, hardware, engine, devices, open
        self.notes = list(program.notes)
        self.files = program.files | set(hardware.files) | set(engine.files)
        self.memory_name, self.memory = device_tier(hardware)
        self.device_flags = {
            "sparse_load": int("sparse_load" in hardware.doc.features),
            "sparse_2_4": int("sparse_2_4" in hardware.doc.features),
        }
        self.free = free
        self._tunings: dict[str, Tuning] = {}
        self.overlap = self.tuning("device").moe_overlap()
        self.fused = self.setting("fused")
        self.rates: dict[str, float] = {"bw": self.memory.bandwidth}
        self.placed = [p for row in program.rows for p in self._place(row)]
        self._check_hardware_needs()
        self.fixed = self.tuning("device").pass_overhead()
        self.rates |= {label: found.value for label, (*_, found) in (free or {}).items()}
        self.rates |= dict.fromkeys(SCALES, 1.0) if open else {}

    def tuning(self, unit: str) -> Tuning:
        """The engine's settings on the device or on the host's processor."""
        if unit not in self._tunings:
            host = self.hardware.doc.host
            lineage, own, memory = self.hardware.lineage, self.hardware.doc.efficiency, self.memory
            if unit == "host" and host.dram is not None:
                memory, own = host.dram, {}
                lineage = self._class_of(host.processor) if host.processor else ()
            figures = {
                "layers": self.layers(),
                "moe_layers": self.moe_layers(),
                "latent_layers": self.latent_layers(),
                "bandwidth": Name("hram" if unit == "host" else "bw") if self.open else memory.bandwidth,
            }
            power, limit = self.hardware.doc.power, self.hardware.doc.power_limit
            throttle = held(limit / power) if power and limit and unit == "device" else 1
            self._tunings[unit] = Tuning(self.engine, lineage, figures, own, self.free, throttle)
        return self._tunings[unit]

    def tunings(self) -> list[Tuning]:
        """The engine's settings of every unit that was asked for."""
        return list(self._tunings.values())

    def _class_of(self, processor: str) -> tuple[str, ...]:
        """The lineage of the host processor's class."""
        return self.program.library.load("hardware", processor, mark=self.hardware.mark("host", "processor")).lineage

    def left(self) -> dict[str, float]:
        """The rates that formulas may name, with their values."""
        names = [n for n in self.free or () if n in self.rates]  # other machines of the case add theirs
        return {n: self.rates[n] for n in ([*names, *self.rates] if self.open else names)}

    def setting(self, name: str) -> Any:
        """One setting of the engine on the device."""
        return self.tuning("device").setting(name)

    def layers(self) -> float:
        """Layers of the model, for overheads per layer."""
        return self.program.dims.get("L", 1)

    def moe_layers(self) -> float:
        """Layers with routed experts; of a model known by its sums, all, where fewer parameters are active than stored."""
        rows = self.program.rows
        found = sum(self.program.repeat(r) for r in rows if r.role == "expert.down")
        body = [r for r in rows if r.role == "body" and "active" in r.args]
        if found or not body:
            return found
        active, stored = (body[0].resolve_arg(n, self.program.dims) for n in ("active", "stored"))
        return self.layers() if number(active) < number(stored) else 0

    def latent_layers(self) -> float:
        """Layers whose attention reads latents."""
        return sum(self.program.repeat(r) for r in self.program.rows if r.op.startswith("mla-"))

    def _place(self, row: Row) -> list[Placed]:
        row = row.copy()
        row.symbols.setdefault("overlap", self.overlap)
        if self.fused:
            row.symbols.setdefault("spill", Num(0))
        terms = self.program.terms(row, TERM_NAMES, self.device_flags)
        stored = self.program.constant(row, "stored", self.device_flags)
        if stored < 0:
            raise SpecError(Problem(f"{row.block}.{row.name}: stores {stored:g} bytes", row.mark))
        self._once_per_pass(row, terms)
        for place in row.place:
            self._tier(place.tier, place.mode, place.mark)
        placed = split(row, self.program.repeat(row), terms, stored)
        copies = self.setting("op_offload")
        if copies and any(p.unit == "host" for p in placed) and self._copies_over():
            placed = [p for item in placed for p in copied(item, copies, self.setting("micro_batch"))]
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
        self._tune(item, width)

    def _tune(self, item: Placed, width) -> None:
        """Math type and efficiencies of one row."""
        row, tuning = item.row, self.tuning(item.unit)
        stores = row.terms["params"] != Num(0)  # products without weights (attention) run in the engine's type
        formats = width.labels if stores else ()
        wanted = (width.math if stores else None) or tuning.setting("math", "", formats) or "fp16"
        item.math = self._rate(wanted, item.unit, item.terms["f"] != Num(0))
        rate = ("pk_" if item.unit == "device" else "hpk_") + item.math
        peak = Name(rate) if self.open and rate in self.rates else self.rates.get(rate, 0)
        tokens = self._tokens(row)
        for field in (*KINDS, "compute", "link", "host"):
            name = _special(field, row, stores)
            item.eff[field] = tuning.efficiency(name, width.labels, item.bits, peak, tokens, item.math)

    def _tokens(self, row: Row) -> Node | None:
        """Tokens that each of a row's matrices meets, where that is not M: routed experts share them out."""
        if not row.role.startswith("expert.") or not {"active", "experts"} <= row.args.keys():
            return None
        active, experts = (number(row.resolve_arg(n, self.program.dims)) for n in ("active", "experts"))
        return Bin("*", Num(active / experts), Name("M")) if experts else None

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


def _special(field: str, row: Row, stores: bool) -> str:
    """The efficiency that a row takes in place of the general one."""
    if field == "weights" and row.role.startswith("expert."):
        return "experts"
    return "attention" if field == "compute" and not stores and row.role.startswith("attn.") else field


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
