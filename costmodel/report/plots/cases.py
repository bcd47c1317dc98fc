"""What a picture says about its predictions: what all of them share (title), and what tells each from the others (label)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...language.problem import SpecError, clean, problem
from ...solve.prediction import Prediction
from .fonts import drawable
from .style import MOST, tokens
from .words import Texts

WORKLOAD = ("prompt", "output", "context", "batch", "devices")
FIELDS = ("model", "hardware", "engine", "sets", "techniques", *WORKLOAD)
_LONGEST = 60


def listed(predictions, most: int = MOST) -> list[Prediction]:
    """One or several predictions as a list. Raises :class:`costmodel.SpecError` for none, and for too many to tell apart."""
    found = [predictions] if isinstance(predictions, Prediction) else list(predictions)
    if not found:
        raise problem("nothing to draw")
    if len(found) > most:
        raise problem(f"{len(found)} cases in one picture; at most {most} can be told apart", help="give fewer")
    return found


def facts(p: Prediction) -> dict[str, Any]:
    """What a prediction was asked for: names, techniques, overrides and workload."""
    meta = p.runnable.meta
    values = (p.prompt, p.output, p.context, p.batch, meta["devices"])
    asked = {k: meta[k] for k in ("model", "hardware", "engine")}
    return asked | {"techniques": tuple(meta["techniques"]), "sets": tuple(meta["sets"])} | dict(zip(WORKLOAD, values, strict=True))


def title_of(meta: dict, kind: str, lang: str) -> str:
    """A document's title by a program's `meta`, or its name where the fonts lack a character of it."""
    text = clean(str(meta["titles"][kind][lang]))[:_LONGEST]
    return text if drawable(text) else clean(str(meta[kind]))


class Names(NamedTuple):
    """What a picture says of its cases."""

    title: str
    lines: list[str]
    """Below the title: what all cases share."""
    long: list[str]
    """What tells each case from the others, machines by their titles."""
    short: list[str]
    """The same, machines by their names."""


def memory_word(cases: list[Prediction]) -> str:
    """The word of an axis of memory: that of each device where any case has several."""
    return "memory_each" if any(p.decoder.meta["devices"] > 1 for p in cases) else "memory"


def naming(predictions: list[Prediction], t: Texts, free: Iterable[str] = ()) -> Names:
    """The words of some predictions; `free` are the fields that the picture varies itself."""
    asked = [facts(p) for p in predictions]
    vary = [k for k in FIELDS if k not in free and len({a[k] for a in asked}) > 1]
    shared = {k: asked[0][k] for k in FIELDS if k not in free and k not in vary}
    shared |= _common(asked, vary)
    if "techniques" in vary and "devices" in vary:
        vary.remove("devices")  # a technique that spreads the model says so
    first = predictions[0]
    named = [title_of(first.runnable.meta, k, t.lang) for k in ("model", "hardware") if k in shared]
    title = f" {t('on')} ".join(named) or _several(predictions, asked, t)
    apart = [tuple(a[k] for k in free if k in a) for a in asked]
    labels = [
        _distinct([_label(p, a, vary, shared, t, full) for p, a in zip(predictions, asked, strict=True)], apart) for full in (True, False)
    ]
    return Names(title, _lines(first.runnable.meta, shared, t), *labels)


def heading(meta: dict, asked: dict, t: Texts) -> tuple[str, list[str]]:
    """(title, lines below it) of one case: `meta` as :func:`title_of` takes it, `asked` as of :func:`facts`."""
    return f" {t('on')} ".join(title_of(meta, k, t.lang) for k in ("model", "hardware")), _lines(meta, asked, t)


def _lines(meta: dict, shared: dict, t: Texts) -> list[str]:
    return [_engine(shared, meta, t), *_extras(shared, t)]


def _several(predictions, asked: list[dict], t: Texts) -> str:
    """A title where neither model nor machine is shared: the machines, or how many of both."""
    machines = list(dict.fromkeys(title_of(p.runnable.meta, "hardware", t.lang) for p in predictions))
    if len(machines) < 3:
        return ", ".join(machines)
    return t("several", models=len({a["model"] for a in asked}), machines=len(machines))


def _common(asked: list[dict], vary: list[str]) -> dict:
    """Techniques and overrides that all have where some have more."""
    return {f"{k}+": tuple(x for x in asked[0][k] if all(x in a[k] for a in asked)) for k in ("techniques", "sets") if k in vary}


def _engine(shared: dict, meta: dict, t: Texts) -> str:
    parts = [f"{t('engine')}: {title_of(meta, 'engine', t.lang)}"] if "engine" in shared else []
    keys = {"context": "at_context", "batch": "at_batch"}
    parts += [t(keys.get(k, k), value=f"{shared[k]:,g}" if k == "batch" else f"{shared[k]:,}") for k in WORKLOAD if k in shared]
    return ", ".join(parts)


def _extras(shared: dict, t: Texts) -> list[str]:
    lines = []
    for key, word in (("techniques", t("techniques")), ("sets", t("set"))):
        items = shared.get(key) or shared.get(f"{key}+")
        if items:
            lines.append(f"{word}: {', '.join(drawn_text(i) for i in items)}")
    return lines


def _label(p: Prediction, asked: dict, vary: list[str], shared: dict, t: Texts, full: bool) -> str:
    """What of a prediction is not shared, in as few words as tell it."""
    parts: list[str] = []
    for key in vary:
        if key in ("model", "hardware", "engine"):
            parts.append(title_of(p.runnable.meta, key, t.lang) if key == "hardware" and full else asked[key])
        elif key in ("techniques", "sets"):
            parts += [short_name(x) for x in asked[key] if x not in shared[f"{key}+"]]
        elif key == "context" and not full:
            parts.append(tokens(asked[key]))
        elif key in ("context", "batch"):
            parts.append(t(f"at_{key}", value=tokens(asked[key])))
        else:
            parts.append(t(key, value=tokens(asked[key])))
    return ", ".join(drawn_text(x) for x in parts) or t("plain")


def short_name(text: str) -> str:
    """A technique with the knobs that are not at their defaults, an override as its value: `batching slots=16`, `q4_k_m`."""
    from ...api import load_technique

    name, _, knobs = text.partition(":")
    if name.startswith(("model.", "hw.", "tech.", "engine.")):
        return text.partition("=")[2]
    try:
        default = load_technique(name).text().partition(":")[2].split(",")
    except SpecError:
        default = []
    given = [k for k in knobs.split(",") if k and k not in default]
    return f"{name} {' '.join(given)}".strip()


def drawn_text(text: str) -> str:
    """A text, shortened, with `?` for what the fonts lack."""
    text = clean(text)[:_LONGEST]
    return text if drawable(text) else "".join(c if drawable(c) else "?" for c in text)


def _distinct(labels: list[str], apart: list[tuple]) -> list[str]:
    """Labels that are the same get a number, unless something else tells their cases apart."""
    keys = list(zip(labels, apart, strict=True))
    seen: dict[tuple, int] = {}
    out = []
    for key in keys:
        seen[key] = seen.get(key, 0) + 1
        out.append(key[0] if keys.count(key) == 1 else f"{key[0]} ({seen[key]})")
    return out
