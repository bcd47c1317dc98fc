"""A measured run as a case that can be predicted: documents, techniques, engine, and the groups of its passes."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...compile.build import Case
from ...importers.measurements import Measurement
from ...language.problem import problem
from ...library import Library, Spec
from .documents import hardware_class, hardware_of, model_of

_SPREAD = re.compile(r"\b(tp|pp|ep)\s*-?(\d+)|layer split", re.IGNORECASE)


class Run(NamedTuple):
    """What is compiled for a measurement, and the labels of its class, engine and kind."""

    case: Case
    group: str
    engine: str
    kind: str
    """`single` (one sequence, one device), `batched`, `multi` (several devices) or `aggregate` (an unstated number of sequences)."""


def run_of(library: Library, m: Measurement, engine: str | None = None, columns: bool = False) -> Run:
    """The case of a measured run. Raises :class:`SpecError` where it cannot be told."""
    hardware = hardware_of(library, m, columns)
    model = model_of(library, m, columns)
    used = engine or m.engine or engine_of(library, m) or hardware.doc.engine or "rule-of-thumb"
    case = Case(model, hardware, used, techniques_of(m), m.devices or 1, _sets(library, used, m))
    return Run(case, hardware_class(library, m) or _class(library, hardware), used, kind_of(m))


def _class(library: Library, hardware: Spec) -> str:
    """The class of a machine: its nearest parent that is no machine itself."""
    return next((name for name in hardware.lineage[1:] if library.load("hardware", name).doc.abstract), hardware.name)


def kind_of(m: Measurement) -> str:
    """Which kind of run it is."""
    if m.aggregate:
        return "aggregate"
    if (m.devices or 1) > 1:
        return "multi"
    return "batched" if (m.batch or 1) > 1 and "micro-batch" not in (m.notes or "") else "single"


def engine_of(library: Library, m: Measurement) -> str | None:
    """The engine document for a tool and the date of its build: of several, the one of the lowest rank."""
    group = "" if "llama" in (m.version or "").lower() else m.source_group  # a project's own results, where no build is named
    words = " ".join(filter(None, (m.tool, m.backend, m.version, group))).lower()
    for spec in _engines(library):
        tools = spec.doc.tools
        named = any(re.search(rf"(^|[^a-z0-9]){re.escape(name.lower())}", words) for name in tools.names)
        if named and (tools.until is None or (m.source_date and m.source_date[: len(tools.until)] <= tools.until)):
            return spec.name
    return None


def _engines(library: Library) -> list[Spec]:
    kept = library.kept.get("engines with tools")
    if kept is None:
        loaded = [library.load("engine", name) for name in library.names("engine")]
        order = lambda s: (s.doc.tools.rank, s.name)  # noqa: E731
        kept = library.kept["engines with tools"] = sorted((s for s in loaded if s.doc.tools is not None), key=order)
    return kept


def techniques_of(m: Measurement) -> tuple[str, ...]:
    """Techniques of a run: how several devices share the model, where it says so. Raises :class:`SpecError` for others."""
    if m.technique:
        raise problem(f"technique `{m.technique[:40]}` is not told apart", m.source)
    found = _SPREAD.search(m.parallelism or "")
    if (m.devices or 1) == 1 or found is None:
        return ()
    by = "tensor-parallel:ways" if (found[1] or "").lower() in ("tp", "ep") else "pipeline-parallel:stages"
    return (f"{by}={m.devices}",)


def _sets(library: Library, engine: str, m: Measurement) -> tuple[str, ...]:
    if m.flash_attn is None or library.load("engine", engine).doc.fixed:
        return ()
    return (f"engine.fused={'true' if m.flash_attn else 'false'}",)
