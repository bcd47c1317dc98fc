"""Grids given on the command line, and choosing among a result's rows."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import product
from math import prod
from typing import NamedTuple

from ..language.problem import Mark, Source, problem, suggest

MAX_CELLS = 100_000
"""Most cells of one grid."""
DEFAULT, GRID = "memory-vs-speed", "local-pcs"
_OPERATORS = (">=", "<=", "!=", "=", ">", "<")


class Axes(NamedTuple):
    """Axes of a grid as the command line gives them; empty ones are not given."""

    models: tuple = ()
    hardware: tuple = ()
    engines: tuple = ()
    techniques: tuple = ()
    prompts: tuple = ()
    contexts: tuple = ()
    batches: tuple = ()
    devices: tuple = ()
    output: int | None = None
    sets: tuple = ()


def ad_hoc(library, name: str, axes: Axes):
    """(study, its loaded document) of a name or path; with any axis given, a grid over it. Raises :class:`SpecError`."""
    given = any(axes)
    bare = given and name == DEFAULT
    spec = library.load("study", GRID if bare else name, mark=Mark(Source("STUDY", name), 1, 1))
    study = spec.doc
    if study.abstract:
        raise problem(f"study `{study.name}` is abstract", spec.mark("abstract"))
    if not given:
        return study, spec
    if study.view != "grid":
        help = "leave STUDY out for a grid of these options, or write a study of your own"
        raise problem(f"study `{study.name}` is a table of its own rows: the options are for grids", spec.mark("view"), help)
    if bare:
        base = study.base.model_copy(update={"engine": None})  # each machine's own, as in `predict`
        study = study.model_copy(update={"models": ("8b",), "hardware": ("ddr5",), "workloads": (), "base": base})
    changed: dict = {"models": axes.models or study.models, "hardware": axes.hardware or study.hardware}
    changed["engines"] = axes.engines or study.engines
    if axes.techniques:
        changed["techniques"] = tuple(tuple(x for x in t.split("+") if x) for t in axes.techniques)
    if axes.sets:
        changed["base"] = study.base.model_copy(update={"set": (*study.base.set, *axes.sets)})
    if axes.prompts or axes.contexts or axes.batches or axes.devices or axes.output:
        changed["workloads"] = _workloads(axes)
    _check_names(library, changed)
    grid = study.model_copy(update={"name": "grid", "title": study.texts.get("combinations"), "notes": (), **changed})
    return grid, None if bare else spec


def _workloads(axes: Axes) -> tuple:
    from ..schema.study import Workload

    lists = [a or (None,) for a in (axes.prompts, axes.contexts, axes.batches, axes.devices)]
    total = prod(map(len, lists))
    if total > MAX_CELLS:
        raise problem(f"the grid has {total:,} workloads; at most {MAX_CELLS:,} cells")
    return tuple(Workload(prompt=p, context=c, batch=b, devices=d, output=axes.output) for p, c, b, d in product(*lists))


def _check_names(library, changed: dict) -> None:
    """A name that no document has is an error, not a refused cell."""
    from ..compile.uses import read_use

    for field, kind, option in (("models", "model", "--model"), ("hardware", "hardware", "--hw"), ("engines", "engine", "--engine")):
        for name in changed[field]:
            library.load(kind, name, mark=Mark(Source(option, name), 1, 1))
    for used in changed.get("techniques", ()):
        for text in (used,) if isinstance(used, str) else used:
            if text not in ("none", ""):
                read_use(library, text)


def select(result: dict, filters, sort: str | None) -> dict:
    """Rows that satisfy every filter, sorted. Raises :class:`SpecError` for an unknown field."""
    rows = result["rows"]
    fields = list(dict.fromkeys(k for r in rows for k in r))
    for text in filters:
        field, op, want = _condition(text, fields)
        _refuse_misfit(text, op, want, [r.get(field) for r in result["rows"]])
        rows = [r for r in rows if _holds(r.get(field), op, want)]
    if sort:
        name = sort.lstrip("-")
        if name not in fields:
            raise problem(f"no field `{name}`", Mark(Source("--sort", sort), 1, 1), suggest(name, fields))
        known = [r for r in rows if r.get(name) is not None]
        known.sort(
            key=lambda r: (isinstance(r[name], str), str(r[name]) if isinstance(r[name], (str, list, dict)) else r[name]),
            reverse=sort.startswith("-"),
        )
        rows = known + [r for r in rows if r.get(name) is None]
    return result | {"rows": rows}


def _condition(text: str, fields) -> tuple[str, str, str]:
    found = [(text.find(op), -len(op), op) for op in _OPERATORS if op in text]
    mark = Mark(Source("--filter", text), 1, 1)
    if not found:
        raise problem(f"`{text}` is not a condition", mark, "for example `tps>20`, `fits=true`, `hardware=rtx*`")
    _, _, op = min(found)
    field, want = (part.strip() for part in text.split(op, 1))
    if field not in fields:
        raise problem(f"no field `{field}`", mark, suggest(field, fields))
    return field, op, want


def _refuse_misfit(text: str, op: str, want: str, values: list) -> None:
    """Refuse a condition that no value of the field could meet: a number against text, or text against a number."""
    mark = Mark(Source("--filter", text), 1, 1)
    numeric = any(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    if numeric:
        try:
            good = float(want) == float(want)
        except ValueError:
            good = want in ("null", "none") and op in ("=", "!=")
        if not good:
            raise problem(f"`{want}` is not a number", mark, "for example `tps>20`")
    elif op not in ("=", "!=") and any(v is not None for v in values):
        raise problem(f"`{op}` compares numbers; this field holds text", mark, "use `=` or `!=`, with `*` for any text")


def _holds(value, op: str, want: str) -> bool:
    """Whether one value meets a condition."""
    if isinstance(value, bool):
        want = {"yes": "true", "no": "false"}.get(want, want)
    if isinstance(value, bool) or value is None or isinstance(value, (str, list)):
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value).lower() if not isinstance(value, str) else value
        same = fnmatchcase(text, want) or (value is None and want in ("", "null", "none"))
        return same if op == "=" else not same if op == "!=" else False
    if want in ("null", "none"):
        return op == "!="
    number = float(want)
    return {
        "=": value == number,
        "!=": value != number,
        ">": value > number,
        "<": value < number,
        ">=": value >= number,
        "<=": value <= number,
    }[op]
