"""Documents that an explanation may put in place of the stated ones: the host as a machine, another machine, another model."""

from __future__ import annotations

import re
from pathlib import Path

from ...language.problem import SpecError, problem
from .facts import hardware_of

SERVER = 150e9
"""Byte/s of main memory above which a host of no stated class counts as a server (a desktop has two channels)."""
_SIZE = re.compile(r"\d+(\.\d+)?[bm](-a\d+(\.\d+)?b)?(?=$|[-_.])|e\d+b", re.I)


def host_machine(variants, _word: str):
    """The processor and RAM around a device, as a machine of its own. Raises :class:`SpecError` where there is none."""
    spec = hardware_of(variants.setting, variants.library)
    host = spec.doc.host
    if host.dram is None or not host.compute:
        raise problem(f"{spec.name} states no host that could compute", spec.mark("host"))
    parent = host.processor or ("cpu-server" if host.dram.bandwidth > SERVER else "cpu-desktop")
    rates = ", ".join(f"{k}: {v:.12g} FLOP/s" for k, v in host.compute.items())
    capacity = "null" if host.dram.capacity is None else f"{host.dram.capacity:.12g} B"
    text = (
        f"schema: costmodel/hardware@1\nname: host-of-{spec.name}\nextends: {parent}\n"
        f"memory: {{dram: {{capacity: {capacity}, bandwidth: {host.dram.bandwidth:.12g} B/s}}}}\ncompute: {{{rates}}}\n"
    )
    return variants.library.load_text("hardware", text, Path(f"host-of-{spec.name}"))


def other_machine(variants, _word: str) -> str:
    """The smallest machine of the library on which the measured speed would be a usual share of the ceiling."""
    from ..check import machines_for

    if variants.decode is None:
        raise problem("no decode figure to find a machine for")
    found = machines_for(variants.prediction, variants.decode, variants.library)
    if not found:
        raise problem("no machine in the library would allow the figure")
    need = found[0]["bandwidth"] / variants.prediction.tps.expected * variants.prediction.tps.ceiling
    return next((h["name"] for h in found if h["bandwidth"] >= need), found[-1]["name"])


def family(name: str) -> str:
    """A model's name without its size: `llama-3.1-8b` and `llama-3.1-70b` are of one family."""
    return re.sub(r"[-_.]{2,}", "-", _SIZE.sub("", name)).strip("-_. ")


def other_model(variants, word: str) -> str:
    """The model of the same family whose parameters come closest to what the figure asks for. Raises :class:`SpecError`."""
    meta = variants.prediction.runnable.meta
    own, size = meta["model"], meta["params"]
    name_of = "decode" if variants.decode else "prefill"
    wanted = size / variants.facts[f"{name_of}_ratio"]
    figure = getattr(variants.base(), name_of)
    most = wanted * figure.ceiling / figure.expected
    best: tuple[float, str] | None = None
    for name in variants.library.names("model"):
        if name == own or not own or family(name) != family(own) or not _SIZE.search(name):
            continue
        params = _params(variants.library, name)
        if params and (params > 1.1 * size if word == "larger" else params < 0.9 * size and params <= most):
            gap = max(params / wanted, wanted / params)
            best = min(best or (gap, name), (gap, name))
    if best is None:
        raise problem(f"no {word} model of the family of {own} in the library")
    return best[1]


def _params(library, name: str) -> float | None:
    """Parameters as the document's published check or dims say, without compiling it."""
    try:
        doc = library.load("model", name).doc
    except SpecError:
        return None
    stated = doc.dims.get("params")
    if isinstance(stated, (int, float)):
        return float(stated)
    check = str(doc.checks.params or "").split("+-")[0]
    try:
        return float(check)
    except ValueError:
        return None
