"""What an engine document states and nothing takes up: classes that no machine has, formats and coefficients of no use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from pydantic import BaseModel

from ..language.formula import names
from ..language.problem import Problem, suggest
from ..library import Library, Spec


def unused(library: Library, spec: Spec) -> list[Problem]:
    """A warning for each name in an engine's own file that matches nothing: mostly a slip of the pen."""
    hardware = library.names("hardware")
    formats = {f: library.load("format", f).doc.family for f in library.names("format")}
    kinds = {*formats, *filter(None, formats.values())}
    taken = _taken(spec.doc)
    found: list[tuple[tuple, str, Iterable[str]]] = []
    found += [(("classes", c), "hardware class", hardware) for c in spec.doc.classes if not any(fnmatchcase(h, c) for h in hardware)]
    for path, stage in _stages(spec.doc):
        found += [((*path, "formats", f), "number format or family", kinds) for f in getattr(stage, "formats", ()) if f not in kinds]
        found += [((*path, "coefficients", c), "name in a formula", taken) for c in stage.coefficients if c not in taken]
    own = spec.mark("name").source
    marked = [(spec.mark(*path, key=True), path[-1], what, known) for path, what, known in found]
    return [Problem(f"warning: no {what} matches `{name}`", m, suggest(name, known)) for m, name, what, known in marked if m.source is own]


def _stages(doc: Any, path: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """An engine's settings, those of its classes and of their formats, each with its path."""
    yield path, doc
    for field in ("classes", "formats"):
        for name, stage in getattr(doc, field, {}).items():
            yield from _stages(stage, (*path, field, name))


def _taken(value: Any) -> set[str]:
    """Every name that a formula of the document uses."""
    if isinstance(value, BaseModel):
        return set().union(*(_taken(getattr(value, field)) for field in type(value).model_fields))
    if isinstance(value, dict):
        return set().union(*map(_taken, value.values()))
    return set(names(value)) if hasattr(value, "__slots__") and type(value).__module__.endswith("formula.nodes") else set()
