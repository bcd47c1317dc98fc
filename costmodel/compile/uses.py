"""A technique in use: `speculative-decoding:drafted=4,acceptance=0.7` read against the document's knobs."""

from __future__ import annotations

import re

from ..language.formula.nodes import Bin, Call, Name, Neg, Num, names
from ..language.problem import Mark, Problem, Source, SpecError, problem, suggest
from ..language.yamlread import parse
from ..library import Library, Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Use:
    """A technique document with a value for every knob (`values`), and where each value was given (`marks`)."""

    __slots__ = ("marks", "open", "spec", "values")

    def __init__(self, spec: Spec, values: dict[str, Any], marks: dict):
        self.spec, self.values, self.marks = spec, values, marks
        self.open: tuple[str, ...] = ()  # knobs that stay names in the schedule

    def __repr__(self) -> str:
        return f"<Use {self.text()}>"

    @property
    def name(self) -> str:
        """The technique's name."""
        return self.spec.doc.name

    def numbers(self) -> dict[str, Num]:
        """Numeric knobs as formula nodes."""
        return {k: Num(v) for k, v in self.values.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}

    def open_knobs(self) -> dict[str, float]:
        """Names and values of the knobs that stay names in the schedule."""
        return {open_name(self.name, knob): self.values[knob] for knob in self.open}

    def with_sets(self, sets: tuple) -> Use:
        """A copy with the `tech.<name>.<knob>` overrides that are meant for it."""
        twin = Use(self.spec, dict(self.values), dict(self.marks))
        _apply_sets(twin, sets)
        return twin

    def text(self) -> str:
        """Canonical spelling, with every knob."""
        given = ",".join(f"{k}={v}" for k, v in self.values.items() if v is not None)
        return f"{self.name}:{given}" if given else self.name


def open_name(technique: str, knob: str) -> str:
    """The name of a knob in a schedule where it is left open."""
    return re.sub(r"\W", "_", f"knob_{technique}_{knob}")


def schedule_knobs(spec: Spec) -> tuple[str, ...]:
    """The number knobs of a technique that only its schedule uses: they can be varied after compiling."""
    doc = spec.doc
    elsewhere = set().union(*(_names_in(getattr(doc, field)) for field in type(doc).model_fields if field not in ("schedule", "knobs")))
    used = _names_in(doc.schedule) - elsewhere
    return tuple(k for k, knob in doc.knobs.items() if knob.range is not None and k in used)


def _names_in(value) -> set[str]:
    """Every symbol of the formulas in a part of a document."""
    from pydantic import BaseModel

    if isinstance(value, (Num, Name, Neg, Bin, Call)):
        return names(value)
    if isinstance(value, BaseModel):
        arguments = re.findall(r"[^\W\d]\w*", " ".join(map(str, (value.model_extra or {}).values())))  # of an inserted row
        return set(arguments).union(*(_names_in(getattr(value, field)) for field in type(value).model_fields))
    if isinstance(value, dict):
        value = list(value.values())
    return set().union(*map(_names_in, value)) if isinstance(value, (list, tuple)) else set()


def read_use(library: Library, text: str, sets: tuple = ()) -> Use:
    """Read `name:knob=value,…`. Raises :class:`SpecError` with the nearest technique or knob."""
    name, _, rest = str(text).partition(":")
    if "/" in text and text.endswith((".yaml", ".yml")):
        name, rest = text, ""
    elif ".yaml:" in text:
        head, _, rest = text.partition(".yaml:")
        name = head + ".yaml"
    source = Source("--technique", text)
    spec = library.load("technique", name.strip(), mark=Mark(source, 1, 1))
    use = Use(spec, {}, {})
    for knob_name, knob in spec.doc.knobs.items():
        use.values[knob_name] = _default(spec, knob_name, knob)
        use.marks[knob_name] = spec.mark("knobs", knob_name)
    column = len(name) + 2
    given: dict[str, Mark] = {}
    for part in rest.split(",") if rest else ():
        key, equals, value = part.partition("=")
        mark = Mark(source, 1, column)
        column += len(part) + 1
        if not equals:
            raise problem(f"`{part}` is not knob=value", mark, suggest(key, spec.doc.knobs))
        key = key.strip()
        if key in given:
            raise problem(f"knob `{key}` is given twice", mark, "keep one", [(given[key], "and here")])
        given[key] = mark
        assign(use, key, parse(Source(source.name, value.strip() or "null")).data, mark)
    _apply_sets(use, sets)
    return use


def _apply_sets(use: Use, sets: tuple) -> None:
    for path, value, mark in sets:
        if path[0] == use.name:
            if len(path) != 2:
                raise problem("set a knob as tech.<technique>.<knob>=value", mark, suggest("", use.spec.doc.knobs))
            assign(use, path[1], value, mark)


def assign(use: Use, key: str, value, mark: Mark) -> None:
    """Give a knob a value, checked against its range or choices."""
    knob = use.spec.doc.knobs.get(key)
    if knob is None:
        raise problem(
            f"technique `{use.name}` has no knob `{key}`", mark, suggest(key, use.spec.doc.knobs) if use.spec.doc.knobs else "it has none"
        )
    use.values[key] = _checked(use.spec, key, knob, value, mark)
    use.marks[key] = mark


def _default(spec: Spec, name: str, knob):
    if knob.model is not None or knob.hardware is not None:
        return knob.model or knob.hardware or None
    if knob.default is None:
        raise SpecError(Problem(f"knob `{name}` has no default", spec.mark("knobs", name), "add `default:`"))
    return _checked(spec, name, knob, knob.default, spec.mark("knobs", name))


def _checked(spec: Spec, name: str, knob, value, mark: Mark):
    declared = [(spec.mark("knobs", name), "declared here")] if mark.source.name == "--technique" or mark.source.name[:5] == "--set" else []
    if knob.model is not None or knob.hardware is not None:
        if not isinstance(value, str):
            raise problem(f"knob `{name}` is the name of a document", mark, also=declared)
        return value
    if knob.one_of is not None:
        if value not in knob.one_of:
            raise problem(f"knob `{name}`: `{value}` is not a choice", mark, suggest(str(value), knob.one_of), declared)
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise problem(f"knob `{name}` is a number, got `{value}`", mark, also=declared)
    if knob.whole and value != int(value):
        raise problem(f"knob `{name}` is a whole number, got {value}", mark, also=declared)
    if knob.range and not knob.range[0] <= value <= knob.range[1]:
        raise problem(f"knob `{name}`: {value} is outside {knob.range[0]:g} … {knob.range[1]:g}", mark, also=declared)
    return value


def spread_of(library: Library, engine: Spec) -> str:
    """How an engine shares a model among devices, as `technique:knob`. Raises :class:`SpecError` for a technique or knob that is none."""
    name, _, knob = engine.doc.devices.partition(":")
    mark = engine.mark("devices")
    spec = library.load("technique", name, mark=mark)
    if spec.doc.devices is None or knob not in spec.doc.knobs:
        message = f"`{engine.doc.devices}` does not spread a model over devices"
        raise SpecError(Problem(message, mark, "name a technique and its knob, such as `pipeline-parallel:stages`"))
    return f"{spec.name}:{knob}"
