"""`costmodel list`: names, titles and the figures that people choose by."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase

from ..compile.machine import device_tier
from ..language.problem import Mark, Source, SpecError, problem, suggest
from ..language.units import BYTE, BYTE_RATE, FLOP_RATE, UnitError, quantity
from ..library import FOLDERS
from ..library import shared as library
from ..naming import squeeze
from ..sizes import billions, capacity, scaled, seconds
from ..solve.counts import FOREVER
from .table import text_table

KIND_WORDS = ("dense", "moe", "mla", "hybrid", "ssm", "sliding", "vision")
PEAKS = ("fp32", "fp16", "bf16", "fp8", "int8")
KINDS = {folder: kind for kind, folder in FOLDERS.items()}


def listing(kind: str | None, pattern: str | None, fmt: str, filters=(), sort: str | None = None) -> str:
    """Documents of one kind, or how many there are of each; `filters` and `sort` as for matrices."""
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
    if filters or sort:
        rows = _chosen(rows, filters, sort)
    if fmt == "json":
        return json.dumps(rows, ensure_ascii=False, indent=2)
    if not rows and filters:
        raise problem(f"no {found} meets {' and '.join(f'`{f}`' for f in filters)}")
    if not rows:
        raise problem(f"no {found} matches `{pattern}`", None, suggest(pattern or "", library().usable(found or "hardware")))
    headers = [h for h in rows[0] if found != "hardware" or h not in ("title", "bf16")]
    figures = ("bandwidth", "capacity", *PEAKS, "params", "active", "context", "bits")
    right = tuple(i for i, h in enumerate(headers) if h in figures)
    return text_table(headers, [[_shown(h, r) for h in headers] for r in rows], 100, right)


_LARGE = re.compile(r"(\w+)(<=|>=|!=|=|<|>)([\d.]+)([kKmMbBtT])")
_STEPS = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


def _chosen(rows: list[dict], filters, sort: str | None) -> list[dict]:
    """Rows that meet conditions such as `params<10B`."""
    from ..solve.grid import select

    plain = []
    for text in filters:
        text = _in_units(text)
        large = _LARGE.fullmatch(text.replace(" ", ""))
        if large and large[3].count(".") < 2:
            step = 1024 if large[1] == "context" and large[4] in "kK" else _STEPS[large[4].lower()]
            text = f"{large[1]}{large[2]}{float(large[3]) * step:.12g}"
        plain.append(text)
    return select({"rows": rows}, plain, sort)["rows"]


_QUANTITY = re.compile(r"\s*(capacity|bandwidth|fp32|fp16|bf16|fp8|int8)\s*(<=|>=|!=|=|<|>)\s*([\d.,]+ ?[A-Za-z/]*)\s*")


def _in_units(text: str) -> str:
    """`bandwidth>500 GB/s` in the base units of the rows; other conditions as they are. Raises :class:`SpecError`."""
    found = _QUANTITY.fullmatch(text)
    if not found:
        return text
    want = {"capacity": BYTE, "bandwidth": BYTE_RATE}.get(found[1], FLOP_RATE)
    try:
        return f"{found[1]}{found[2]}{quantity(found[3], want):.15g}"
    except UnitError as error:
        raise problem(str(error), Mark(Source("--filter", text), 1, 1), error.help) from None


def _shown(header: str, row: dict) -> str:
    """A cell as people read it."""
    value = row[header]
    if header == "fp16" and not value:  # the 16-bit rate of a machine that has only bfloat16
        value = row.get("bf16")
    if header in ("params", "active") and isinstance(value, (int, float)):
        return billions(value)
    if header == "context" and isinstance(value, int):
        return f"{value:,}"
    if header == "capacity" and value:
        return capacity(value)
    if header == "bandwidth" and value:
        return f"{value / 1e9:{'.4g' if 'latency' in row else ',.0f'}} GB/s"
    if header == "latency" and isinstance(value, (int, float)):
        return seconds(value)
    if header in PEAKS and value:
        return scaled(value)
    return ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)


def rows_of(kind: str, pattern: str | None) -> list[dict]:
    """One row per usable document whose name or class matches (a plain word matches anywhere in the name)."""
    rows = []
    for name in sorted(library().names(kind)):
        try:
            spec = library().load(kind, name)
            if spec.doc.abstract:
                continue
            if _matches(pattern, name, spec):
                rows.append({"name": name, **_columns(kind, spec)})
            elif kind == "model" and pattern in KIND_WORDS:
                row = {"name": name, **_columns(kind, spec)}
                rows += [row] if pattern in row["kind"].split() else []
        except SpecError as error:
            rows.append({"name": name, "title": f"(invalid: {error.problems[0].message})"})
    width = max(rows, key=len, default={})
    return [{k: r.get(k) for k in width} for r in rows]


def classes() -> list[dict]:
    """Hardware classes: what a machine's document extends."""
    specs = [library().load("hardware", n) for n in sorted(library().names("hardware"))]
    members = [s.lineage[1] for s in specs if len(s.lineage) > 1]
    return [{"name": s.name, "title": s.doc.label(), "machines": members.count(s.name)} for s in specs if s.doc.abstract]


def _matches(pattern: str | None, name: str, spec) -> bool:
    if not pattern:
        return True
    wanted = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
    if spec.kind != "hardware":
        return fnmatchcase(name, wanted)
    known = (name, spec.doc.label(), *spec.doc.aliases)
    return (
        fnmatchcase(name, wanted)
        or pattern in spec.lineage[1:]
        or (bool(squeeze(pattern)) and any(squeeze(pattern) in squeeze(n) for n in known))
    )


def model_kinds(program) -> list[str]:
    """What a model is, in the words of the field: dense or moe, how it attends, what it mixes in."""
    rows = [r for r in program.rows if program.repeat(r)]
    ops, roles = {r.op for r in rows}, {r.role for r in rows}
    attends = bool(ops & {"attention-scores", "mla-attention", "summary-attention"})
    recurrent = "state" in roles
    words = ["moe" if program.active_params() < program.params() - program.params("vision") else "dense"]
    words += ["mla"] if "attn.latent" in roles else []
    words += ["hybrid" if attends else "ssm"] if recurrent else []
    sliding = any("window" in r.args and r.resolve_arg("window", program.dims).value < FOREVER for r in rows)
    words += ["sliding"] if sliding else []
    return words + (["vision"] if "vision" in roles else [])


def _columns(kind: str, spec) -> dict:
    doc = spec.doc
    if kind == "hardware":
        memory = device_tier(spec)[1]
        return {
            "title": doc.label(),
            "class": spec.lineage[1] if len(spec.lineage) > 1 else None,
            "capacity": memory.capacity,
            "bandwidth": memory.bandwidth,
            **{t: doc.compute.get(t) for t in PEAKS},
            "aliases": list(doc.aliases),
        }
    if kind == "model":
        from ..compile.program import compile_program

        program = compile_program(spec, [], library())
        return {
            "title": doc.label(),
            "params": program.params(),
            "active": program.active_params(),
            "context": doc.context,
            "format": doc.weights.format,
            "kind": " ".join(model_kinds(program)),
        }
    if kind == "technique":
        return {
            "title": doc.label(),
            "knobs": ", ".join(f"{k}={v.default if v.default is not None else v.model or v.hardware}" for k, v in doc.knobs.items()),
        }
    if kind == "format":
        bits = f"{8 * doc.size / doc.block:.4g}" if doc.block and doc.size else "mix"
        return {"title": doc.label(), "bits": bits, "family": doc.family}
    if kind == "link":
        return {"title": doc.label(), "bandwidth": doc.bandwidth, "latency": doc.latency}
    return {"title": doc.label()}
