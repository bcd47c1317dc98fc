"""Rows of figures for `costmodel evaluate`: measured and predicted tokens per second of each phase of each run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...compile.build import build
from ...importers.measurements import Measurement
from ...language.problem import SpecError
from ...library import Library
from ..steps import prefill_pass
from .runs import Run, run_of


def figures(m: Measurement) -> dict[str, float]:
    """Measured tokens per second by phase: decode of all sequences together, prefill.

    Output over the whole time (`whole_run`) holds prefill and waiting too: there only the time per token tells of decode.
    """
    found = {}
    if m.decode_tps and not m.whole_run:
        found["decode"] = m.decode_tps
    elif m.tpot_s:
        found["decode"] = (m.batch or 1) / m.tpot_s
    if m.prefill_tps and m.prompt:
        found["prefill"] = m.prefill_tps
    return found


_UBATCH = re.compile(r"micro-batches of (\d{1,6})|n_batch (\d{1,6}) \(one", re.IGNORECASE)


def passes(runnable, m: Measurement, phase: str, c=None) -> tuple[float, float, float]:
    """(tokens, floor seconds, expected seconds) of what was measured; `c` are coefficients in place of the documents'."""
    batch = m.batch or 1
    if phase == "decode":
        context = max(1, round(m.mean_context))
        total = runnable.one(batch, 1, context, 1) if c is None else runnable.step(batch, 1, context, 1, batch, batch, c)
        return batch, total[7], total[8]
    prompt = m.prompt or 1
    depth = (m.context or 0) if (m.context or 0) != prompt else 0
    found = _UBATCH.search(m.notes or "")
    chunk = int(found[1] or found[2]) if found else m.ubatch
    batch = 1 if found else batch  # there the batch column holds the micro-batch
    total = prefill_pass(runnable, [(batch, prompt, depth, 1)], c, chunk)
    return batch * prompt, total[7], total[8]


def scored(library: Library, rows: Iterable[Measurement], engine: str | None = None, columns: bool = False):
    """(result rows, reasons of those left out): each measured figure beside its prediction."""
    results: list[dict[str, Any]] = []
    skipped: list[str] = []
    built: dict = {}
    for m in rows:
        try:
            run, runnable = compiled(library, m, built, engine, columns)
            found = figures(m)
            results += [result(m, run, runnable, phase, value) for phase, value in found.items()]
            skipped += [] if found else ["no speed of decode or prefill alone"]
        except SpecError as error:
            skipped.append(error.problems[0].message)
    return results, skipped


def compiled(library: Library, m: Measurement, built: dict, engine: str | None, columns: bool):
    """The run of a measurement and its compiled program; equal cases are compiled once."""
    run = run_of(library, m, engine, columns)
    key = compile_key(run.case)
    if key not in built:
        built[key] = build(run.case, library)
    return run, built[key]


def compile_key(case) -> tuple:
    """Equal for cases that compile to the same program."""
    return case.model.files, case.hardware.files, case.engine, case.techniques, case.devices, case.sets


def span_of(runnable, phase: str) -> tuple[float, float]:
    """The engine's span of a phase, in multiples of the expected speed."""
    return runnable.meta["span" if phase == "decode" else "prefill_span"]


def result(m: Measurement, run: Run, runnable, phase: str, measured: float) -> dict[str, Any]:
    """One row: figures in tokens per second, and the labels that it is grouped by."""
    tokens, floor, seconds = passes(runnable, m, phase)
    low, high = span_of(runnable, phase)
    expected = tokens / seconds
    return {
        "id": m.id or (f"{m.source.source.name}:{m.source.line}" if m.source else ""),
        "phase": phase,
        "measured": measured,
        "expected": expected,
        "low": expected * low,
        "high": min(expected * high, tokens / floor),
        "ceiling": tokens / floor,
        "class": run.group,
        "family": m.hw_family or runnable.meta["hardware"],
        "format": runnable.meta["format"],
        "engine": run.engine,
        "model": m.model or runnable.meta["model"],
        "hardware": m.hardware or runnable.meta["hardware"],
        "kind": run.kind,
    }
