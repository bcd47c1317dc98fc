"""The documents of a measured run: library documents where its names are known, else documents made of its columns."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ...compile.build import program_of
from ...importers.measurements import Measurement
from ...language.problem import SpecError, problem
from ...library import Library, Spec

FLOP_PER_BYTE = {"apple-cpu": 2.5, "": 20}
"""Assumed peak FLOPs per byte of bandwidth where no peak is stated: of current server processors, and of Apple's cores, which
share the memory of a GPU."""
_BITS = re.compile(r"(?<![\d.])(\d{1,2}(?:\.\d{1,6})?)[ -]?(bpw|bit)", re.IGNORECASE)
_TWO = re.compile(r"(2 ?x|dual)\b", re.IGNORECASE)
_WATTS = re.compile(r"\b(\d{2,4}) ?W power limit", re.IGNORECASE)
CPU_WORDS = ("cpu",)
HYBRID = 1024
"""Bytes of KV per token and layer where none is stated: a quarter of the layers with eight heads of 128, as hybrids have."""
SERVER = 150e9
"""Bytes per second from which a processor's memory is that of a server or workstation: more than two channels."""


def label(text: str) -> str:
    """A name as documents are named: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")


def made(library: Library, kind: str, lines: list[str]) -> Spec:
    """A document from lines of YAML, without a file; equal lines are read once."""
    text = "\n".join([f"schema: costmodel/{kind}@1", *lines, ""])
    found = library.kept.get((kind, text))
    if found is None:
        name = f"<{kind} {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
        found = library.kept[kind, text] = library.load_text(kind, text, Path(name))
    return found


def on_processor(m: Measurement) -> bool:
    """Whether the run used the processor's cores only."""
    return (m.backend or "").lower() in CPU_WORDS or (m.gpu_layers == 0 and not m.backend)


def hardware_class(library: Library, m: Measurement) -> str | None:
    """The class document of a measured machine, by its `hw_class` column."""
    if not m.hw_class:
        return None
    if label(m.hw_class) == "cpu":
        if _TWO.match(m.hardware or ""):
            return "cpu-two-socket"
        return "cpu-server" if (m.bandwidth or 0) >= SERVER else "cpu-desktop"
    name = library.load("hardware", m.hw_class).name
    return "apple-cpu" if name == "apple-silicon" and on_processor(m) else name


def hardware_of(library: Library, m: Measurement, columns: bool = False) -> Spec:
    """The machine: a document of the library with the stated bandwidth, or its class with the stated figures.

    `columns`: never by name, so that only the class and the maker's figures speak. Raises :class:`SpecError`.
    """
    group = hardware_class(library, m)
    found = None if columns or not m.hardware else library.find_hardware(m.hardware)
    if found is not None and (group is None or group in found.lineage):
        tier = next(iter(found.doc.memory))
        stated = [] if m.bandwidth is None else [f"memory: {{{tier}: {{bandwidth: {m.bandwidth:.9g} B/s}}}}"]
        limit = _WATTS.search(m.notes or "")
        stated += [f"power_limit: {limit[1]} W"] if limit else []
        return made(library, "hardware", ["name: measured", f"extends: {found.files[0]}", *stated]) if stated else found
    if group is None or m.bandwidth is None:
        raise problem(f"no machine `{m.hardware}`", m.source, "give the name of a hardware document, or `hw_class` and the bandwidth")
    capacity = "" if m.capacity is None else f"capacity: {m.capacity:.9g} B, "
    lines = ["name: measured", f"extends: {group}", f"memory: {{main: {{{capacity}bandwidth: {m.bandwidth:.9g} B/s}}}}"]
    rate, kind = (m.fp16, "fp16") if m.fp16 else (m.bandwidth * FLOP_PER_BYTE.get(group, FLOP_PER_BYTE[""]), "fp32")
    return made(library, "hardware", [*lines, f"compute: {{{kind}: {rate:.9g} FLOP/s}}"])


def model_of(library: Library, m: Measurement, columns: bool = False) -> Spec:
    """The model: a document of the library in the stated format and size, or what the columns say of it."""
    found = None if columns else _named(library, m)
    kind, size = format_of(library, m)
    kv = _kv(m)
    stated = [f'weights: {{format: "{kind}"{"" if size is None else f", size: {size:.12g} B"}}}'] if kind else []
    stated += [f"kv: {{format: {kv}}}"] if kv else []
    if found is not None:
        return made(library, "model", ["name: measured", f"extends: {found.files[0]}", *stated]) if stated else found
    if m.params is None or not kind:
        raise problem(f"no model `{m.model}`", m.source, "give a model document, or params_B and the weight format")
    return made(library, "model", ["name: measured", "architecture: summary", *_dims(m), *stated])


def _named(library: Library, m: Measurement) -> Spec | None:
    for name in (m.model, m.model_key):
        if not name:
            continue
        if "/" in name or name.endswith((".gguf", ".json", ".yaml")):
            try:
                return library.load("model", name)
            except SpecError:
                continue
        file = library.path_of("model", label(name))
        if file is None:
            continue
        found = library.load("model", label(name))
        if not found.doc.abstract and (not m.params or abs(program_of(library, found).params() / m.params - 1) < 0.05):
            return found
    return None


def _dims(m: Measurement) -> list[str]:
    """Dims of the `summary` architecture; layers and width that are not stated follow from the size."""
    params = m.params or 0
    active = min(m.active_params or params, params)
    layers, width = shape(active)
    dims = {
        "params": params,
        "active_params": active,
        "embedding_params": min(m.embedding_params or 0, active / 4),
        "layers": m.layers or layers,
        "width": m.width or width,
        "kv_bytes_per_token": m.kv_bytes_per_token or HYBRID * (m.layers or layers),
    }
    return ["dims: {" + ", ".join(f"{k}: {v:.12g}" for k, v in dims.items()) + "}"]


def shape(params: float) -> tuple[int, int]:
    """Layers and width that a decoder of so many (active) parameters usually has: 12 · layers · width² with a width of 128 · layers."""
    layers = max(1, round((params / (12 * 128**2)) ** (1 / 3)))
    return layers, 128 * layers


def format_of(library: Library, m: Measurement) -> tuple[str | None, float | None]:
    """The weights' format as a declared name where it is one, else as given beside the file's size; and that size."""
    if not m.weight_format:
        return None, None
    size = m.file_bytes
    name = _declared(library, m.weight_format)
    if name == "mxfp4" and "vllm" not in (m.tool or "").lower():  # files of llama.cpp keep the other weights at Q8_0
        name = "mxfp4_moe"
    if name is None and size is None:
        from ...compile.weights import likeness

        name, size = likeness(library, m.weight_format), stated_size(m)
        if name is None and size is None:
            raise problem(f"no number format `{m.weight_format}`", m.source, "give model_file_GiB beside it")
    return name or re.sub(r"[^a-z0-9_.]+", "-", m.weight_format.lower()), size


def stated_size(m: Measurement) -> float | None:
    """Bytes of the weights by bits per weight in the format's name: `exl3-6.0bpw`, `4-bit` (and half a bit for its scales)."""
    found = _BITS.search(m.weight_format or "")
    if found is None or m.params is None:
        return None
    bits = float(found[1]) + (0 if found[2].lower() == "bpw" or float(found[1]) >= 16 else 0.5)
    return m.params * bits / 8 if 0 < bits <= 32 else None


def _declared(library: Library, text: str) -> str | None:
    for name in (text.lower(), label(text).replace("-", "_"), label(text)):
        file = library.path_of("format", name)
        if file is not None:
            return file.stem
    return None


def _kv(m: Measurement) -> str | None:
    text = (m.kv_dtype or "").lower()
    for word, name in (("q8", "kv_q8_0"), ("q4", "kv_q4_0"), ("fp8", "fp8"), ("int8", "kv_q8_0")):
        if word in text:
            return name
    return None
