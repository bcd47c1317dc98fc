"""`config.json` to a model document, through the family of its model type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..language.problem import Mark, Problem, Source, SpecError, nearest
from .layers import Structure, structure
from .quantization import weights_of
from .variables import Variables

Load = Callable[[str, str], Any]
MAX_NOTE = 300


class Config(NamedTuple):
    """What a config says: its family, dims and blocks, context, number formats, vision part, and notes for the reader."""

    family: Any
    variables: Variables
    structure: Structure
    context: int | None
    weights: dict
    vision: int
    notes: list[str]


def read_config(data: Mapping, path: Path, library, family: str | None = None, extra: Mapping | None = None) -> Config:
    """Interpret a parsed config.json. `extra` is the `hf_quant_config.json` beside it, `family` overrides the look-up.

    Raises :class:`SpecError` for an unknown architecture, a missing key or a value without meaning.
    """
    place = Mark(Source(str(path), ""), 1, 1)
    outer_doc = _family(data, place, library, family)
    text, doc, notes = _text_part(data, outer_doc, place, library, family)
    variables = Variables(doc, text, data, place)
    _hold(doc.requires, variables)
    found = structure(variables, library.load("model", doc.architecture))
    vision, more = _vision(data, outer_doc, variables, library)
    if vision:
        found.dims["vision"] = vision
    notes += more + [m for m, node in doc.notes.items() if variables.eval(node)]
    context = variables.value("context") if "context" in doc.keys else None
    weights, said = weights_of(data, text, variables, found, library, extra)
    return Config(doc, variables, found, int(context) if context else None, weights, vision, notes + said)


def _hold(requires: Mapping, variables: Variables) -> None:
    for message, node in requires.items():
        if not variables.eval(node):
            raise variables.error(message)


def _text_part(data: Mapping, doc, place: Mark, library, family: str | None):
    """The text model's config, its family, and notes: nested where the family (or the config) says so."""
    for key in doc.text if doc is not None else ("text_config", "llm_config", "language_config", "thinker_config"):
        inner = data.get(key)
        if isinstance(inner, Mapping):
            if isinstance(inner.get("text_config"), Mapping):
                inner = inner["text_config"]
            if family and doc is not None:
                return inner, doc, []
            named = doc.text_family if doc is not None and not inner.get("model_type") else None
            found = library.load("family", named).doc if named else _family(inner, place, library, None)
            if found is not None:
                notes = [] if doc is not None else [f"`{_type(data)}` is not known: only its {key} is counted"]
                return inner, found, notes
    if doc is None:
        raise unknown(data, place, library)
    if doc.text_family and not doc.parts:
        return data, library.load("family", doc.text_family).doc, []
    return data, doc, []


def _type(data: Mapping) -> str:
    value = data.get("model_type")
    if isinstance(value, str) and value:
        return value
    classes = data.get("architectures")
    return str(classes[0]) if isinstance(classes, list) and classes else ""


def _family(data: Mapping, place: Mark, library, named: str | None):
    """The family document of a config's type; None where there is none."""
    if named:
        return library.load("family", named, mark=Mark(Source("--family", named), 1, 1)).doc
    kind = _type(data)
    name = type_index(library, "family").get(kind)
    return None if name is None else library.load("family", name).doc


def type_index(library, kind: str) -> dict[str, str]:
    """Model type to the name of the family (or tower) document that lists it, read from the `model_types:` lines."""
    known = library.__dict__.setdefault("_type_index", {})
    if kind not in known:
        known[kind] = table = {}
        for name, file in library.names(kind).items():
            line = re.search(r"(?m)^model_types: *\[?([^\]\n]*)\]?", file.read_text("utf-8"))
            for item in line.group(1).split(",") if line else ():
                table.setdefault(item.strip().strip("'\""), name)
    return known[kind]


def unknown(data: Mapping, place: Mark, library) -> SpecError:
    """The refusal of a model type that no family lists."""
    kind = _type(data)
    keys = ", ".join(sorted(str(k)[:40] for k in data)[:40])
    near = nearest(kind, type_index(library, "family")) or ""
    help = f"{near} `--family NAME` reads it as another (`costmodel list families`); a new one is a YAML file".strip()
    what = f"architecture `{kind[:60]}` is not known" if kind else "no `model_type`, so the architecture is not known"
    return SpecError(Problem(f"{what}; its keys are: {keys or 'none'}", place, help))


def _vision(data: Mapping, doc, text: Variables, library) -> tuple[int, list[str]]:
    """Parameters of the image part, counted apart; a note where it cannot be counted."""
    rules = doc.vision if doc is not None else None
    names = rules.config if rules else ("vision_config", "vit_config", "audio_config")
    found = next(((n, data[n]) for n in names if isinstance(data.get(n), Mapping)), None)
    if found is None:
        return 0, []
    name, inner = found
    kind = str(inner.get("model_type") or "")
    table = type_index(library, "tower")
    tower = table.get(kind) or (rules.tower if rules else None)
    if tower is None or rules is None:
        what = f"`{kind}`" if kind else f"`{name}`"
        return 0, [f"the vision part {what} is not counted: no tower document describes it"]
    tower_doc = library.load("tower", tower).doc
    vision = Variables(tower_doc, inner, data, text.place)
    total = vision.eval(tower_doc.params)
    if rules.params is not None:
        total += _Joined(doc, text, vision).eval(rules.params)
    return round(total), []


class _Joined(Variables):
    """Variables of the text model and, under `v_…`, of its tower."""

    def __init__(self, doc, text: Variables, vision: Variables):
        super().__init__(doc, text.outer, text.outer, text.place)
        self.text, self.vision = text, vision

    def value(self, name: str, layer: int | None = None):
        """A number of either part."""
        if name.startswith("v_"):
            return self.vision.value(name[2:])
        if name in self.doc.keys:
            return super().value(name)
        return self.text.value(name)
