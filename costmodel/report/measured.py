"""`costmodel evaluate` and `costmodel calibrate`: measurements read, predicted, scored, fitted, written."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from ..folders import SUFFIXES
from ..importers.document import slug
from ..importers.measurements import Measurement, read_measurements
from ..language.problem import Mark, Source, problem
from ..library import shared as library
from ..solve.errors import summary
from ..solve.measured.fit import Coefficients, Points, above_floor, fit, left_out, points_of, scored_with
from ..solve.measured.scores import scored
from .importing import is_there, target_of, write_all

KINDS = ("single", "batched", "multi", "aggregate")


class Chosen(NamedTuple):
    """Which measurements are read, and how they are predicted."""

    files: tuple[str, ...]
    engine: str | None = None
    columns: bool = False
    kinds: tuple[str, ...] = KINDS[:3]
    quality: str | None = None
    fill: dict[str, Any] = {}


def measurements(chosen: Chosen) -> tuple[list[Measurement], list[str]]:
    """The rows of all files, and what was left aside in reading them."""
    if chosen.engine is not None:
        library().load("engine", chosen.engine, mark=Mark(Source("--engine", chosen.engine), 1, 1))
    rows: list[Measurement] = []
    notes: list[str] = []
    for file in chosen.files:
        found = read_measurements(file, {k: v for k, v in chosen.fill.items() if v is not None})
        rows += [m for m in found if chosen.quality is None or (m.quality and m.quality in chosen.quality)]
        notes += found.notes
    return rows, notes


def evaluation(chosen: Chosen, without_family: bool = False) -> tuple[list, list[str], list[str]]:
    """Result rows of the chosen kinds, reasons of those left out, and notes of the reading.

    `without_family` refits for each hardware family.
    """
    rows, notes = measurements(chosen)
    if without_family:
        points = points_of(library(), rows, chosen.engine, chosen.columns, lambda m, run, phase: run.kind in chosen.kinds)
        return left_out(points), points.skipped, notes
    found, skipped = scored(library(), rows, chosen.engine, chosen.columns)
    if skipped and not found:
        raise problem(f"no measurement can be scored: {skipped[0]}")
    return [r for r in found if r["kind"] in chosen.kinds], skipped, notes


def calibrate(chosen: Chosen, output: str | None, name: str | None, force: bool) -> str:
    """Fit the engines of the measurements; a table of errors before and after, and the documents, written or printed."""
    rows, _ = measurements(chosen)
    points = points_of(library(), rows, chosen.engine, chosen.columns, lambda m, run, phase: run.kind in chosen.kinds)
    if not points:
        raise problem("no measurement can be fitted" + (f": {points.skipped[0]}" if points.skipped else ""))
    standing = {key: found[2].value for key, found in points.coefficients.items()}
    values = fit(points, standing_values(points.coefficients))
    engines = sorted({p.run.engine for p in points})
    if name is None and output is not None and len(engines) == 1 and Path(output).suffix in SUFFIXES:
        name = Path(output).stem
    names = {e: slug(name or f"{library().load('engine', e).name}-calibrated") for e in engines}
    made = {names[e]: document(e, points, values, chosen.files, names[e]) for e in engines}
    for called, text in made.items():
        library().load_text("engine", text, Path(f"{called}.yaml"))  # what is handed out can be read
    if len(made) < len(engines):
        raise problem(f"{len(engines)} engines are fitted under one name: {', '.join(engines)}", help="choose one with `--engine`")
    table = _before_after(points, standing, values)
    if output is None:
        return "\n\n".join([table, *made.values()])
    targets = [target_of(Path(output), called, len(made) > 1) for called in made]
    for path in targets:
        if is_there(path) and not force:
            raise problem(f"`{path}` is there", help="`--force` replaces it")
    write_all(targets, list(made.values()))
    return "\n".join([table, "", *(f"wrote {path}" for path in targets)])


def standing_values(coefficients: Coefficients) -> Coefficients:
    """The coefficients, pulled towards the documents' values: a few rows of one's own should not undo what many rows taught."""
    return Coefficients({k: (file, path, c.model_copy(update={"prior": None})) for k, (file, path, c) in coefficients.items()})


def document(engine: str, points: Points, values: dict[str, float], files: Sequence[str], name: str) -> str:
    """An engine document that extends the one that was fitted, with the fitted values of the coefficients that its rows touch."""
    mine = [p for p in points if p.run.engine == engine]
    keys = {k for p in mine for k in p.keys.values() if k in values}
    tree: dict = {}
    for key in sorted(keys):
        _, path, found = points.coefficients[key]
        at = tree
        for part in path[:-1]:
            at = at.setdefault(part, {})
        value = min(max(float(f"{values[key]:.4g}"), found.low), found.high)
        prior = found.value if found.prior is None else found.prior
        figures = {"value": value, "low": found.low, "high": found.high, "prior": prior}
        at[path[-1]] = "{" + ", ".join(f"{k}: {v:g}" for k, v in figures.items()) + "}"
    ref = f"costmodel calibrate, {len(mine)} figures of {', '.join(Path(f).name for f in files)}, {date.today().isoformat()}"
    lines = [
        "schema: costmodel/engine@1",
        f"name: {name}",
        f"extends: {_quoted(str(Path(engine).absolute())) if '/' in engine or engine.endswith('.yaml') else engine}",
        *_yaml(tree, 0),
        f"sources: {{efficiency: {{kind: measured, ref: {_quoted(ref)}}}}}",
        "",
    ]
    return "\n".join(lines)


def _yaml(tree: dict, depth: int) -> list[str]:
    lines = []
    for key, value in tree.items():
        shown = key if key.replace("-", "").replace("_", "").replace(".", "").isalnum() else _quoted(key)
        if isinstance(value, dict):
            lines += [f"{'  ' * depth}{shown}:", *_yaml(value, depth + 1)]
        else:
            lines.append(f"{'  ' * depth}{shown}: {value}")
    return lines


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def _before_after(points: Points, standing: dict, values: dict) -> str:
    """Errors by class and phase with the documents' coefficients, and with the fitted ones."""
    from .table import text_table

    possible = [p for p in points if not above_floor(p)]
    before, after = scored_with(possible, standing), scored_with(possible, standing | values)
    groups = sorted({(r["class"], r["phase"]) for r in before})
    body = []
    for group, phase in [*groups, *(("all", p) for p in sorted({g[1] for g in groups}))]:
        cells = [group, phase]
        for rows in (before, after):
            found = summary([r for r in rows if r["phase"] == phase and group in (r["class"], "all")])
            cells += [str(found["n"])] if rows is before else []
            cells += [f"{found['median']:.0%}", f"{found['near']:.0%}", f"{found['p90']:.0%}", f"{found['bias']:+.0%}"]
        body.append(cells)
    heads = ["class", "phase", "n", "median", "within 20 %", "p90", "bias", "fitted: median", "within 20 %", "p90", "bias"]
    return text_table(heads, body, 120, tuple(range(2, len(heads))))
