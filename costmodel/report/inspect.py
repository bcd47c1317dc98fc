"""`costmodel inspect`: what a model document holds."""

from __future__ import annotations

import json

from ..compile.program import compile_program
from ..language.problem import Mark, Source
from ..library import shared as library
from ..sizes import both_bytes, scaled
from ..solve.export import clean
from .table import text_table


def inspect_model(name: str) -> dict:
    """Counts of one model document: parameters (all that is stored), active, embedding; KV bytes per token; state."""
    spec = library().load("model", name, mark=Mark(Source("FILE", name), 1, 1))
    program = compile_program(spec, [], library())
    rows = [(r, program.repeat(r)) for r in program.rows]

    def total(term: str) -> float:
        return sum(n * program.value(r, term, {"B": 1, "T": 0, "S": 1, "M": 1, "R": 0, "H": 0}) for r, n in rows)

    return clean(
        {
            "name": spec.name,
            "params": program.params(),
            "text_params": program.params(),
            "active_params": program.active_params(),
            "embedding_params": program.params("embed") or (program.params("head") if program.dims.get("tied") else 0),
            "kv_bytes_per_token": total("holds.kv"),
            "state_bytes": total("holds.state"),
            "layers": program.dims.get("L"),
            "weights_bytes": total("stored"),
            "format": spec.doc.weights.format,
            "context": spec.doc.context,
            "dims": program.dims,
        }
    )


def inspect_text(files, fmt: str) -> str:
    """One document in full, several as a list."""
    found = [inspect_model(f) for f in files]
    if fmt == "json":
        return json.dumps(found[0] if len(found) == 1 else found, ensure_ascii=False, indent=2)
    if len(found) == 1:
        one = found[0]
        shown = {k: f"{v:,}" if isinstance(v, int) else v for k, v in one.items() if k not in ("dims", "weights_bytes")}
        shown["weights"] = both_bytes(one["weights_bytes"])
        return "\n".join(f"{k:<20} {v}" for k, v in shown.items())
    headers = ["name", "params", "active", "KV/token", "weights", "format"]
    rows = [
        [
            m["name"],
            scaled(m["params"]),
            scaled(m["active_params"]),
            scaled(m["kv_bytes_per_token"], "B"),
            scaled(m["weights_bytes"], "B"),
            m["format"],
        ]
        for m in found
    ]
    return text_table(headers, rows, right=(1, 2, 3, 4))
