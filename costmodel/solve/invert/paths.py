"""Unknowns that stand in documents: which path sets which input, and those for whose every value the case is compiled again."""

from __future__ import annotations

from typing import Any

from ...language.problem import Mark, Source, SpecError, problem, suggest
from .question import Question
from .unknown import Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.inverse import FoundUnit
    from ..shapes.unfold import Titles

UNITS: dict[str, FoundUnit] = {"bandwidth": "B/s", "capacity": "B", "reserve": "B", "latency": "s", "power": "W", "power_limit": "W"}
"""Unit of a path's last part; entries of `compute` are FLOP/s."""
MANY = 40
"""So many values are all compiled; of more, some, and then those between two of them."""


def inputs(question: Question) -> dict[str, str]:
    """Paths of the machine → the inputs of the formulas that they set."""
    from ...compile.machine import device_tier

    hardware = question.document("hw")
    found = {f"hw.memory.{device_tier(hardware)[0]}.bandwidth": "bw", "hw.host.dram.bandwidth": "hram", "hw.host.disk.bandwidth": "disk"}
    for name in question.point:
        kind, here, rate = name.rpartition("pk_")
        if here and kind in ("", "h"):
            found[f"hw.{'host.' if kind else ''}compute.{rate}"] = name
    for link in ("peer", "host"):
        found |= {f"hw.links.{link}.bandwidth": link, f"hw.links.{link}.latency": f"{link}_latency"}
    return {path: name for path, name in found.items() if name in question.point}


def setter(question: Question, input_: str, unit: str):
    """The change of a case that gives an input of the machine a value; None for one that no path sets."""
    path = next((p for p, name in inputs(question).items() if name == input_), None)
    return None if path is None else lambda x: {"sets": (f"{path}={x!r} {unit}",)}


def gpu_layers(question: Question) -> Unknown:
    """Layers on the GPU, the head one more."""
    layers = int(question.base.runnable.meta["layers"]) + 1
    found = _knob_of(question, "gpu-layers", "layers", (0, layers))
    question.predict(techniques=("gpu-layers:layers=0",))  # refused where there is no other memory
    found.name, found.title, found.unit = "gpu-layers", {"en": "layers on the GPU", "ko": "GPU 레이어"}, "layers"
    return found


def devices(question: Question) -> Unknown:
    """How many devices share the model, as the engine does."""
    values = (*range(1, 9), *(2**i for i in range(4, 9)))
    now = question.base.runnable.meta["devices"]
    return Unknown(
        "devices",
        {"en": "devices", "ko": "장치 수"},
        "devices",
        now,
        1,
        values[-1],
        True,
        True,
        changes=lambda x: {"devices": int(x)},
        values=values,
        kind="compiled",
    )


def format(question: Question) -> Unknown:
    """The number format of the weights: those that files are published in, by size."""
    size: dict[str, float] = {}
    for name in proposed(question.library):
        try:
            size[name] = question.predict(sets=(f"model.weights.format={name}",)).runnable.meta["file_size"]
        except SpecError:
            continue
    order = tuple(sorted(size, key=lambda n: size[n]))
    if not order:
        raise problem("this model takes none of the formats that are proposed")
    return Unknown(
        "format",
        {"en": "number format", "ko": "수 포맷"},
        "",
        question.base.runnable.meta["format"],
        0,
        len(order) - 1,
        False,
        True,
        changes=lambda name: {"sets": (f"model.weights.format={name}",)},
        values=order,
        kind="compiled",
    )


def proposed(library) -> list[str]:
    """Formats that files of whole models are published in."""
    return [n for n in library.usable("format") if library.load("format", n).doc.proposed]


def open_knob(question: Question, technique: str, knob: str, input_: str) -> Unknown:
    """A knob that only the schedule uses: an input of the formulas."""
    spec = question.library.load("technique", technique).doc.knobs[knob]
    low, high = map(int, spec.range) if spec.whole else spec.range
    now = question.point[input_]
    return Unknown(
        f"{technique}.{knob}",
        {"en": f"{technique} {knob}", "ko": f"{technique} {knob}"},
        "share" if high <= 1 else "",
        int(now) if spec.whole else now,
        low,
        high,
        True,
        spec.whole,
        input_,
        changes=lambda x: {"sets": (f"tech.{technique}.{knob}={x!r}",)},
        linear=high <= 64,
        kind="knob",
    )


def knob(question: Question, technique: str, name: str) -> Unknown:
    """A knob for whose every value the case is compiled. Raises :class:`SpecError` for none, and for one that is no number."""
    mark = Mark(Source("UNKNOWN", f"{technique}.{name}"[:60]), 1, 1)
    spec = question.library.load("technique", technique, mark=mark).doc
    if name not in spec.knobs or spec.knobs[name].range is None:
        numbers = [k for k, v in spec.knobs.items() if v.range is not None]
        raise problem(f"`{technique}` has no number `{name[:40]}`", mark, suggest(name, numbers))
    return _knob_of(question, technique, name, spec.knobs[name].range)


def _knob_of(question: Question, technique: str, name: str, span) -> Unknown:
    spec = question.library.load("technique", technique).doc.knobs[name]
    used = next((t for t in question.base.runnable.meta["techniques"] if t.partition(":")[0] == technique), technique)
    given = dict(part.split("=", 1) for part in used.partition(":")[2].split(",") if part)
    now = float(given[name]) if name in given else None

    def changes(x) -> dict:
        knobs = ",".join(f"{k}={v}" for k, v in (given | {name: x}).items())
        return {"techniques": (f"{technique}:{knobs}",)}

    low, high = int(span[0]), int(min(span[1], 2**20)) if spec.whole else span[1]
    values = tuple(range(low, high + 1)) if spec.whole and high - low <= MANY else None
    title: Titles = {"en": f"{technique} {name}", "ko": f"{technique} {name}"}
    shown = int(now) if now is not None and spec.whole else now
    return Unknown(
        f"{technique}.{name}",
        title,
        "",
        shown,
        low,
        high,
        True,
        spec.whole,
        changes=changes,
        values=values,
        linear=high <= 256,
        kind="compiled",
    )


def by_path(question: Question, name: str) -> Unknown:
    """A number of the model, the machine or the engine. Raises :class:`SpecError` where none stands."""
    head, *rest = name.split(".")
    mark = Mark(Source("UNKNOWN", name[:60]), 1, 1)
    now = _number(question, head, rest)
    if now is None:
        raise problem(f"no number stands at `{name[:60]}`", mark, "give a path as `--set` takes it, such as model.dims.L")
    unit = "FLOP/s" if "compute" in rest else UNITS.get(rest[-1], "")
    whole = isinstance(now, int) and not unit
    low, high = (1, max(64, 64 * now)) if whole else (now / 1000, now * 1000)
    return Unknown(
        name,
        {"en": name, "ko": name},
        unit,
        now,
        low,
        high,
        head != "model",
        whole,
        changes=lambda x: {"sets": (f"{name}={x!r} {unit}".strip(),)},
        kind="compiled",
    )


def _number(question: Question, head: str, rest: list[str]) -> float | int | None:
    if head == "engine":
        spec = question.library.load("engine", question.base.runnable.meta["engine"])
    elif head in ("model", "hw"):
        spec = question.document(head)
    else:
        return None
    value: Any = spec.doc
    for part in rest:
        value = value.get(part) if isinstance(value, dict) else getattr(value, part, None)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
        return value
    plain = getattr(value, "value", None)  # a number that stands as a formula
    return plain if isinstance(plain, (int, float)) and not isinstance(plain, bool) and plain > 0 else None
