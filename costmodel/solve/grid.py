"""Grids given on the command line, and choosing among a result's rows."""

from __future__ import annotations

from fnmatch import fnmatchcase

from ..language.problem import Mark, Source, problem, suggest

MAX_CELLS = 100_000
"""Most cells of one grid."""
DEFAULT, GRID = "memory-vs-speed", "local-pcs"
_OPERATORS = (">=", "<=", "!=", "=", ">", "<")


def ad_hoc(library, name: str, models, hardware, engines, techniques, prompts, contexts, batches, output):
    """(study, its loaded document) of a name or path; with any axis given, a grid over it. Raises :class:`SpecError`."""
    given = any((models, hardware, engines, techniques, prompts, contexts, batches, output))
    bare = given and name == DEFAULT
    spec = library.load("study", GRID if bare else name, mark=Mark(Source("STUDY", name), 1, 1))
    study = spec.doc
    if study.abstract:
        raise problem(f"study `{study.name}` is abstract", spec.mark("abstract"))
    if not given:
        return study, spec
    from ..schema.study import Workload

    if bare:
        study = study.model_copy(update={"models": ("8b",), "hardware": ("ddr5",), "workloads": ()})
    axes = {"models": models or study.models, "hardware": hardware or study.hardware, "engines": engines or study.engines}
    if techniques:
        axes["techniques"] = tuple(tuple(x for x in t.split("+") if x) for t in techniques)
    if prompts or contexts or batches or output:
        total = max(1, len(prompts)) * max(1, len(contexts)) * max(1, len(batches))
        if total > MAX_CELLS:
            raise problem(f"the grid has {total:,} workloads; at most {MAX_CELLS:,} cells")
        axes["workloads"] = tuple(
            Workload(prompt=p, context=c, batch=b, output=output)
            for p in prompts or (None,)
            for c in contexts or (None,)
            for b in batches or (None,)
        )
    grid = study.model_copy(update={"view": "grid", "name": "grid", "title": None, "rows": (), "notes": (), **axes})
    return grid, None if bare else spec


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
