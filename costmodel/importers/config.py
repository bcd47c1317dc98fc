"""`config.json` to a model document, through the family of its model type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..language.problem import Mark, Problem, Source, SpecError, nearest
from .layers import Structure, structure
from .quantization import weights_of
from .types import type_index
from .variables import Variables, at, place_of

MAX_NOTE = 300
_CLASS = re.compile(r"(ForCausalLM|LMHeadModel|ForConditionalGeneration)$")
MAX_SHOWN = 2**20


class Config(NamedTuple):
    """What a config says: its family, dims and blocks, context, number formats, vision part, and notes for the reader."""

    family: Any
    variables: Variables
    structure: Structure
    context: int | None
    weights: dict
    kv: dict
    vision: int
    notes: list[str]


def read_config(data: Mapping, path: Path, library, family: str | None = None, extra: Mapping | None = None) -> Config:
    """Interpret a parsed config.json. `extra` is the `hf_quant_config.json` beside it, `family` overrides the look-up.

    Raises :class:`SpecError` for an unknown architecture, a missing key or a value without meaning.
    """
    place = Mark(Source(str(path), _text(path)), 1, 1)
    outer_doc = _family(data, place, library, family)
    text, doc, notes = _text_part(data, outer_doc, place, library, family)
    whole = None if outer_doc is None or outer_doc is doc else _Joined(outer_doc, data, Variables(doc, text, data, place), None)
    variables = Variables(doc, text, data, place, _above(whole, doc))
    notes += [note for level in (whole, variables) if level for note in _hold(level)]
    found = structure(variables, library.load("model", doc.architecture))
    vision, more = _vision(data, outer_doc, variables, library)
    if vision:
        found.dims["vision"] = vision
    notes += more
    context = variables.value("context") if "context" in doc.keys else None
    kind = _type(text)
    if family is None and kind and kind not in type_index(library, "family"):
        notes.append(f"`{kind[:60]}` is read as its class says, as family {doc.name}")
    notes += _defaulted(variables)
    weights, cache, said = weights_of(data, text, variables, library, extra)
    return Config(doc, variables, found, int(context) if context else None, weights, cache, vision, notes + said)


def _defaulted(variables: Variables) -> list[str]:
    """What a config leaves to the defaults of its class."""
    shown = [f"{key} {variables.value(name):,}" for name, key in variables.absent.items() if name != "kv_heads"]
    return [f"not in the config, so at the class default: {', '.join(shown)}"] if shown else []


def _above(whole: Variables | None, doc) -> dict[str, float]:
    """What a wrapping family says of the text family's variables, such as which key ties the embeddings."""
    if whole is None:
        return {}
    names = (*whole.doc.keys, *whole.doc.let)
    return {name: whole.value(name) for name in names if name in doc.keys or name in doc.let}


def _text(path: Path) -> str:
    """The file's text, for the line that a message points to; nothing where it is very long."""
    try:
        return path.read_text("utf-8", "replace") if path.stat().st_size < MAX_SHOWN else ""
    except OSError:
        return ""


def _hold(variables: Variables) -> list[str]:
    """The notes that a family has for a config; raises :class:`SpecError` for what it refuses."""
    for message, node in variables.doc.requires.items():
        if not variables.eval(node):
            raise variables.error(message)
    return [message for message, node in variables.doc.notes.items() if variables.eval(node)]


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
            if doc is not None or inner.get("model_type"):
                raise unknown(inner, place, library)
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
        mark = Mark(Source("--family", named), 1, 1)
        doc = library.load("family", named, mark=mark).doc
        if doc.abstract:
            raise SpecError(Problem(f"family `{named}` is a parent of others", mark, "name one of those (`costmodel list families`)"))
        return doc
    name = type_index(library, "family").get(_type(data)) or _by_class(data, library)
    return None if name is None else library.load("family", name).doc


def _by_class(data: Mapping, library) -> str | None:
    """The family of a config's class (`LlamaForCausalLM` → llama), for types that nothing lists."""
    classes = data.get("architectures")
    named = classes[0] if isinstance(classes, list) and classes and isinstance(classes[0], str) else ""
    stem = _CLASS.sub("", named)
    table = {kind.replace("_", "").replace("-", "").lower(): name for kind, name in type_index(library, "family").items()}
    return table.get(stem.lower()) if stem and stem != named else None


def unknown(data: Mapping, place: Mark, library) -> SpecError:
    """The refusal of a model type that no family lists."""
    kind = _type(data)
    keys = _listed(sorted(str(k)[:40] for k in data))
    near = nearest(kind, type_index(library, "family")) or ""
    help = f"{near} `costmodel import --family NAME` reads it as another (`costmodel list families`); a new one is a YAML file".strip()
    classes = data.get("architectures")
    named = str(classes[0]) if isinstance(classes, list) and classes else ""
    if data.get("is_encoder_decoder") is True or named.endswith(("ForMaskedLM", "ForSequenceClassification", "ForPreTraining")):
        near, help = "", "encoders and encoder-decoders are not modelled, only decoders that write text"
    what = f"architecture `{kind[:60]}` is not known" if kind else "no `model_type`, so the architecture is not known"
    return SpecError(Problem(f"{what}; its keys are: {keys or 'none'}", place_of(place, "model_type"), help))


def _listed(names: list[str], most: int = 220) -> str:
    """Names, as many as fit."""
    shown = ""
    for name in names:
        if len(shown) + len(name) > most:
            return f"{shown}, … ({len(names)} in all)"
        shown += f", {name}" if shown else name
    return shown


def _vision(data: Mapping, doc, text: Variables, library) -> tuple[int, list[str]]:
    """Parameters of the image and audio parts, counted apart; a note for each that cannot be counted."""
    if doc is None or not doc.vision:
        names = (name for name in data if isinstance(data[name], Mapping) and any(w in name for w in ("vision", "visual", "vit_", "audio")))
        return 0, [_uncounted(f"`{name}`", "no tower document describes it") for name in names]
    total, notes = 0, []
    for part in doc.vision:
        found = {name: at(data, name.split(".")) for name in part.config}
        name = next((n for n, inner in found.items() if isinstance(inner, Mapping)), None)
        if name is None and part.config:
            continue
        try:
            total += _tower(data, doc, part, found[name] if name else None, text, library)
        except SpecError as error:
            notes.append(_uncounted(f"`{name or doc.name}`", error.problems[0].message))
    return total, notes


def _uncounted(what: str, why: str) -> str:
    return f"the vision part {what} is not counted: {why}"


def _tower(data: Mapping, doc, part, inner: Mapping | None, text: Variables, library) -> int:
    """Parameters of one part and of what joins it to the text model."""
    vision, total = None, 0
    if inner is not None:
        kind = str(inner.get("model_type") or "")
        name = type_index(library, "tower").get(kind) if kind and kind not in doc.model_types else part.tower
        if name is None:
            raise text.error(f"no tower document describes `{kind[:60]}`" if kind else "no tower document describes it")
        tower = library.load("tower", name).doc
        vision = Variables(tower, inner, data, text.place)
        total += vision.eval(tower.params)
    if part.params is not None:
        total += _Joined(doc, data, text, vision).eval(part.params)
    return round(total)


class _Joined(Variables):
    """Variables of a wrapping family, of its text model (`t_…` where the wrapper has the same name) and, under `v_…`, of a tower."""

    def __init__(self, doc, data: Mapping, text: Variables, vision: Variables | None):
        super().__init__(doc, data, data, text.place)
        self.text, self.vision = text, vision

    def value(self, name: str, layer: int | None = None):
        """A number of either part."""
        if name.startswith("v_") and self.vision is not None:
            return self.vision.value(name[2:])
        if name.startswith("t_"):
            return self.text.value(name[2:])
        if name in self.doc.keys or name in self.doc.let:
            return super().value(name)
        return self.text.value(name)
