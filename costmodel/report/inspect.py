"""`costmodel inspect`: what a model document, a config, a checkpoint or a GGUF file holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..folders import as_path, foreign
from ..language.problem import Mark, Source, SpecError
from ..library import shared as library
from ..sizes import billions, both_bytes, scaled
from ..solve.export import clean
from .table import text_table

ALLOCATED = {
    "kv_bytes": "KV cache",
    "k": "  K",
    "v": "  V",
    "latent": "  latents",
    "sliding": "  in sliding layers",
    "index_keys": "attention index",
    "state_bytes": "recurrent state",
    "compute": "scratch (estimate)",
    "host": "scratch on the host",
}
BYTES = ("kv_bytes_per_token", "kv_full_bytes_per_token", "kv_sliding_bytes_per_token", "index_bytes_per_token", "streamed_bytes_per_token")
LABELS = {
    "kv_bytes_per_token": "KV per token",
    "kv_full_bytes_per_token": "  full attention",
    "kv_sliding_bytes_per_token": "  sliding window",
    "index_bytes_per_token": "  attention index",
    "state_bytes": "state per sequence",
    "streamed_bytes_per_token": "read per token",
    "weights_bytes": "weights",
    "file_bytes": "file",
    "text_params": "  text part",
    "active_params": "  active per token",
    "embedding_params": "  embedding table",
}


def inspect_model(name: str, run=None, engine: str = "llama.cpp") -> dict:
    """Counts of one model: parameters (all that is stored), active, embedding; KV and state; stored and streamed bytes.

    `run` (:class:`costmodel.solve.buffers.Run`) adds what `engine` allocates for it. A safetensors file without a
    config.json beside it is counted as it is, with no KV. Raises :class:`SpecError`.
    """
    from ..compile.program import compile_program
    from ..solve.counts import counts

    if as_path(name) != name and library().path_of("model", name) is None:
        name = as_path(name)
    mark = Mark(Source("FILE", name), 1, 1)
    try:
        spec = library().load("model", name, mark=mark)
    except SpecError:
        if not _weights_alone(name):
            raise
        return clean(_checkpoint(Path(name)))
    program = compile_program(spec, [], library())
    found: dict[str, Any] = {"name": spec.name, "title": spec.doc.label(), **counts(program)}
    found |= {"layers": program.dims.get("L"), "format": spec.doc.weights.format, "context": spec.doc.context}
    found |= {"dims": {n: v for n, v in program.dims.items() if "__" not in n}, "notes": _notes(spec)}
    found |= _file(spec.files[0])
    if run is not None:
        from ..solve.buffers import buffers

        b = buffers(program, run, engine, library())
        found["buffers"] = {"engine": engine, **run._asdict(), "kv_bytes": b.kv, "state_bytes": b.state, **b._asdict()}
    return clean(found)


def _notes(spec) -> list[str]:
    return [n for n in spec.doc.description.split("; ") if n] if foreign(spec.files[0]) else []


def _weights_alone(name: str) -> bool:
    """Whether a name is that of a checkpoint without its config."""
    path = Path(name)
    weights = path.suffix == ".safetensors" or path.name.endswith(".index.json")
    return weights and path.exists() and not (path.parent / "config.json").exists()


def _checkpoint(path: Path) -> dict:
    """A checkpoint counted as it is."""
    from ..importers.weights import held

    found = held(path, library())
    types: dict[str, dict] = {}
    for tensor in found.file.tensors:
        entry = types.setdefault(tensor.dtype.lower(), {"tensors": 0, "bytes": 0})
        entry["tensors"] += 1
        entry["bytes"] += tensor.bytes
    return {
        "name": path.name,
        "title": path.name,
        "params": found.params,
        "weights_bytes": found.file.tensor_bytes,
        "file_bytes": found.file.file_bytes,
        "format": max(types, key=lambda t: types[t]["bytes"], default=None),
        "tensors": len(found.file.tensors),
        "types": types,
        "notes": [*found.file.notes, "no config.json beside it: heads, KV and speeds are not known"],
    }


def _file(path: Path) -> dict:
    """What the file itself says: of a GGUF file, its size and the bytes of each type."""
    if path.suffix != ".gguf":
        return {}
    from ..importers.ggufmodel import header

    file = header(path, library())
    types: dict[str, dict] = {}
    for tensor in file.tensors:
        entry = types.setdefault(tensor.type, {"tensors": 0, "bytes": 0})
        entry["tensors"] += 1
        entry["bytes"] += tensor.bytes
    bytes_ = sum(t.bytes for t in file.tensors)
    elements = sum(t.elements for t in file.tensors)
    return {
        "file_bytes": file.file_bytes,
        "tensor_bytes": bytes_,
        "tensors": len(file.tensors),
        "parts": len(file.files),
        "bits_per_weight": 8 * bytes_ / elements if elements else None,
        "types": dict(sorted(types.items(), key=lambda item: -item[1]["bytes"])),
    }


def inspect_text(files, fmt: str, run=None, engine: str = "llama.cpp") -> str:
    """One model in full, several as a list."""
    found = [inspect_model(f, run, engine) for f in files]
    if fmt == "json":
        marked = [{"schema": "costmodel/inspect@1"} | one for one in found]
        return json.dumps(marked[0] if len(marked) == 1 else marked, ensure_ascii=False, indent=2, allow_nan=False)
    if run is not None:
        return "\n\n".join(map(_one, found))
    return _one(found[0]) if len(found) == 1 else _several(found)


def _one(found: dict) -> str:
    lines = [found["title"]]
    hidden = {"name", "title", "dims", "notes", "types", "buffers", "window", "tensor_bytes"}
    if found.get("text_params") == found.get("params"):
        hidden.add("text_params")
    if found.get("active_params") == found.get("text_params"):
        hidden.add("active_params")
    for key, value in found.items():
        if key in hidden or value in (None, []) or (value == 0 and key != "kv_bytes_per_token"):
            continue
        lines.append(f"{LABELS.get(key, key.replace('_', ' ')):<20} {_shown(key, value, found)}".rstrip())
    if found.get("types"):
        lines.append(
            "types                " + ", ".join(f"{t['tensors']:,} {n} ({scaled(t['bytes'], 'B')})" for n, t in found["types"].items())
        )
    lines += [f"note                 {n}" for n in found.get("notes", ())]
    return "\n".join(lines + _allocated(found.get("buffers")))


def _shown(key: str, value, found: dict) -> str:
    if key == "kv_sliding_bytes_per_token":
        return f"{value:,} B, at most {found['window']:,} tokens"
    if key in BYTES and key != "streamed_bytes_per_token":
        return f"{value:,} B"
    if key.endswith("bytes") or key == "streamed_bytes_per_token":
        return both_bytes(value)
    if key == "bits_per_weight":
        return f"{value:.3f}"
    if key == "params" or key.endswith("_params"):
        return f"{value:,} ({billions(value)})"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _allocated(given: dict | None) -> list[str]:
    """The buffers of a run, as an engine's log prints them."""
    if given is None:
        return []
    mib = {k: v / 2**20 for k, v in given.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}
    flash = "on" if given["fused"] else "off"
    run = f"{given['context']:,} tokens, ubatch {given['ubatch']:,}, sequences {given['sequences']}, flash attention {flash}"
    lines = ["", f"{given['engine']}, {run}"]
    for key, label in ALLOCATED.items():
        if mib[key] or key == "kv_bytes":
            cells = f", {given['window_cells']:,} cells" if key == "sliding" else f", {given['cells']:,} cells" if key == "kv_bytes" else ""
            lines.append(f"{label:<20} {mib[key]:,.2f} MiB{cells}")
    return lines


def _several(found: list[dict]) -> str:
    headers = ["name", "params", "active", "KV/token", "state", "weights", "format"]
    rows = [
        [
            m["name"],
            billions(m["params"]),
            billions(m.get("active_params")),
            scaled(m.get("kv_bytes_per_token"), "B"),
            scaled(m.get("state_bytes"), "B"),
            scaled(m["weights_bytes"], "B"),
            str(m["format"]),
        ]
        for m in found
    ]
    return text_table(headers, rows, right=(1, 2, 3, 4, 5))
