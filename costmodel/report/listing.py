"""`costmodel list`: names, titles and the figures that people choose by."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase

from ..compile.machine import device_tier
from ..language.problem import SpecError, problem, suggest
from ..library import FOLDERS
from ..library import shared as library
from ..sizes import capacity, scaled
from .table import text_table

KINDS = {folder: kind for kind, folder in FOLDERS.items()}


def listing(kind: str | None, pattern: str | None, fmt: str) -> str:
    """Documents of one kind, or how many there are of each."""
    if kind is None:
        counts = {folder: len(rows_of(k, None)) for folder, k in KINDS.items()}
        return (
            json.dumps(counts, indent=2)
            if fmt == "json"
            else text_table(["kind", "documents"], [[k, str(v)] for k, v in counts.items()], right=(1,))
        )
    found = KINDS.get(kind) or (kind if kind in FOLDERS else None)
    if kind == "classes":
        rows = [r for r in classes() if not pattern or fnmatchcase(r["name"], pattern if "*" in pattern else f"*{pattern}*")]
    elif found is None:
        raise problem(f"no kind `{kind}`", None, suggest(kind, [*KINDS, "classes"]))
    else:
        rows = rows_of(found, pattern)
    if fmt == "json":
        return json.dumps(rows, ensure_ascii=False, indent=2)
    if not rows:
        raise problem(f"no {found} matches `{pattern}`", None, suggest(pattern or "", library().usable(found or "hardware")))
    headers = list(rows[0])
    right = tuple(i for i, h in enumerate(headers) if h in ("bandwidth", "capacity", "fp16/fp32", "params", "active", "context", "bits"))
    return text_table(headers, [[str(r[h]) for h in headers] for r in rows], 100, right)


def rows_of(kind: str, pattern: str | None) -> list[dict]:
    """One row per usable document whose name or class matches (a plain word matches anywhere in the name)."""
    rows = []
    for name in sorted(library().names(kind)):
        try:
            spec = library().load(kind, name)
            if not spec.doc.abstract and _matches(pattern, name, spec):
                rows.append({"name": name, **_columns(kind, spec)})
        except SpecError as error:
            rows.append({"name": name, "title": f"(invalid: {error.problems[0].message})"})
    width = max(rows, key=len, default={})
    return [{k: r.get(k, "") for k in width} for r in rows]


def classes() -> list[dict]:
    """Hardware classes: what a machine's document extends."""
    specs = [library().load("hardware", n) for n in sorted(library().names("hardware"))]
    members = [s.lineage[1] for s in specs if len(s.lineage) > 1]
    return [{"name": s.name, "title": s.doc.label(), "machines": members.count(s.name)} for s in specs if s.doc.abstract]


def _matches(pattern: str | None, name: str, spec) -> bool:
    if not pattern:
        return True
    wanted = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
    return fnmatchcase(name, wanted) or (spec.kind == "hardware" and pattern in spec.lineage[1:])


def _columns(kind: str, spec) -> dict:
    doc = spec.doc
    if kind == "hardware":
        memory = device_tier(spec)[1]
        rate = doc.compute.get("fp16") or doc.compute.get("bf16") or doc.compute.get("fp32")
        return {
            "title": doc.label(),
            "class": spec.lineage[1] if len(spec.lineage) > 1 else "",
            "bandwidth": f"{memory.bandwidth / 1e9:,.0f} GB/s",
            "capacity": capacity(memory.capacity),
            "fp16/fp32": scaled(rate, "FLOP/s"),
        }
    if kind == "model":
        from ..compile.program import compile_program

        program = compile_program(spec, [], library())
        total, active = program.params(), program.active_params()
        what = "moe" if active < total else "dense"
        return {
            "title": doc.label(),
            "params": scaled(total),
            "active": scaled(active),
            "context": f"{doc.context:,}" if doc.context else "",
            "format": doc.weights.format,
            "kind": what,
        }
    if kind == "technique":
        return {
            "title": doc.label(),
            "knobs": ", ".join(f"{k}={v.default if v.default is not None else v.model or v.hardware}" for k, v in doc.knobs.items()),
        }
    if kind == "format":
        bits = f"{8 * doc.size / doc.block:.4g}" if doc.block and doc.size else "mix"
        return {"title": doc.label(), "bits": bits, "family": doc.family}
    return {"title": doc.label()}
