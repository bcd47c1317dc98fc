"""Compiling a case in a warm process (documents read anew), beside reading the model's YAML documents with PyYAML."""

from __future__ import annotations

from pathlib import Path

import yaml
from yardstick import seconds

from costmodel.compile.build import Case, build
from costmodel.library import Library

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
CASES = (
    ("8b", "ddr5", ()),
    ("llama-3.3-70b", "h100-sxm", ()),
    ("gpt-oss-120b", "rtx4090", ("experts-on-host",)),
    ("deepseek-v3", "h100-sxm", ()),
    ("gemma-3-27b", "rtx4090", ()),
    ("jamba-v0.1", "a100-80gb", ()),
    ("8b", "rtx4090", ("int4", "kv-int8", "speculative-decoding")),
)


def measure() -> dict[str, dict]:
    """Milliseconds by model, with documents known and not."""
    found = {}
    for model, hardware, techniques in CASES:
        case, kept = Case(model, hardware, None, techniques), Library()
        files = [f for f in build_files(case, kept) if str(f).endswith(".yaml")]
        texts = [Path(f).read_text("utf-8") for f in files]
        parse = seconds(lambda texts=texts: [yaml.load(t, LOADER) for t in texts])
        warm = seconds(lambda case=case, kept=kept: build(case, kept))
        fresh = seconds(lambda case=case: build(case, Library()))
        name = " + ".join((f"{model} on {hardware}", *techniques))
        found[name] = {
            "ms, documents known": round(1e3 * warm, 2),
            "ms, documents read": round(1e3 * fresh, 2),
            "documents": len(files),
            "x PyYAML of the same": round(fresh / parse, 2),
        }
    return found


def build_files(case: Case, library: Library) -> set:
    """The files that a case is made of."""
    from costmodel.compile.build import build_with_files

    return build_with_files(case, library)[1]
