"""The cases that the page can show: those of the study, each in its own number format and in others."""

from __future__ import annotations

from typing import Any

from ...compile.build import program_of
from ...language.problem import Mark, Source, SpecError
from ...solve.cases import DEFAULT_WORKLOAD, Setting
from ...solve.settings import Named, settings_of
from .controls import controls_of
from .programs import Program, Programs
from .words import told

FORMATS = ("q2_k", "q3_k_m", "q4_k_m", "q5_k_m", "q6_k", "q8_0", "bf16")
"""Number formats of weights that the page offers beside a case's own, where nothing else is asked for."""
MOST_PROGRAMS = 240
"""Most compiled programs of one page: each is some ten kilobytes and takes some 0.1 s to write."""
SET_FORMAT = "model.weights.format="
AXES = ("model", "hardware", "engine", "technique", "workload")


def collect(study, library, words, formats=FORMATS, progress=None) -> dict[str, Any]:
    """`{axes, cases, programs, functions, left_out, few_formats, refused}` for a study. Cases that `predict` refuses are left out.

    `words` are the study's texts in the page's language. Raises :class:`SpecError` for a format that is none.
    """
    for name in formats:
        library.load("format", name, mark=Mark(Source("--formats", name), 1, 1))
    named = settings_of(study)
    kept, left_out = _first_of_each(named)
    made = _Maker(library, formats if len({_compiled(one) for one in kept}) * (len(formats) + 1) <= MOST_PROGRAMS else ())
    fields = [k for k in DEFAULT_WORKLOAD if len({(DEFAULT_WORKLOAD | one.setting.workload)[k] for one in kept}) > 1]
    cases = []
    for done, one in enumerate(kept, 1):
        case = made.case(one)
        if case is not None:
            cases.append(case | {"labels": labels(one, made.meta(one), words, fields)})
        if progress:
            progress(done, len(kept))
    several = [a for a in AXES if len({c["labels"][a] for c in cases}) > 1]
    axes = ["technique"] if study.rows else several or (["technique"] if len(cases) > 1 else [])
    _told_apart(cases, axes or ["technique"])
    found = {"axes": axes, "cases": cases, "programs": made.data, "functions": made.programs.source()}
    return found | {"left_out": left_out, "few_formats": made.formats != tuple(formats), "refused": len(kept) - len(cases)}


def _first_of_each(named: list[Named]) -> tuple[list[Named], int]:
    """(settings that differ, at most as many as the page holds; how many more there are)."""
    seen: dict = {}
    for one in named:
        seen.setdefault((_compiled(one), tuple(sorted(one.setting.workload.items()))), one)
    found = list(seen.values())
    return found[:MOST_PROGRAMS], max(0, len(found) - MOST_PROGRAMS)


def _compiled(one: Named) -> tuple:
    """What a case's program depends on: all but the workload, of which it is the devices alone."""
    s = one.setting
    return (s.model, s.hardware, s.engine, s.techniques, s.set, (DEFAULT_WORKLOAD | s.workload)["devices"])


class _Maker:
    """Compiles cases; those that differ in the workload alone share their programs."""

    def __init__(self, library, formats):
        self.library, self.formats = library, formats
        self.programs = Programs(library)
        self.data: list[dict] = []
        self.known: dict = {}

    def case(self, one: Named) -> dict | None:
        """A case: its programs by format, its workload, its controls; None where it is refused."""
        s = one.setting
        work, key = DEFAULT_WORKLOAD | s.workload, _compiled(one)
        if key not in self.known:
            found = self._formats(s)
            self.known[key] = (found, formulas_of(s, self.library) if found else [])
        found, formulas = self.known[key]
        if not found:
            return None
        context = work["prompt"] if work["context"] is None else work["context"]
        point = {"prompt": work["prompt"], "output": work["output"], "context": context, "batch": work["batch"]}
        controls = controls_of(found[0][1], point, s.techniques, self.library)
        return {"controls": controls, "programs": [number for number, _ in found], "formulas": formulas}

    def meta(self, one: Named) -> dict:
        """What is known of a case's program that was made."""
        return self.known[_compiled(one)][0][0][1].meta

    def _formats(self, setting: Setting) -> list[tuple[int, Program]]:
        """(number, program) of the setting itself, then of it in every format that makes a difference."""
        own = self._program(setting)
        if own is None:
            return []
        found = [(self._keep(own), own)]
        sets = tuple(s for s in setting.set if not s.startswith(SET_FORMAT))
        for name in self.formats:
            if name == own.meta["format"]:
                continue
            other = self._program(setting._replace(set=(*sets, SET_FORMAT + name)))
            if other is None or (other.function, other.constants) == (own.function, own.constants):
                break  # the format is not the model's to choose: a technique or the checkpoint states it
            found.append((self._keep(other), other))
        return found

    def _program(self, setting: Setting) -> Program | None:
        try:
            return self.programs.add(setting)
        except SpecError:
            return None

    def _keep(self, program: Program) -> int:
        self.data.append(_data(program))
        return len(self.data) - 1


def _data(program: Program) -> dict:
    """A program as the page's JSON. Memory is that of the machine that decodes, as :class:`Memory` has it."""
    meta, held = program.meta, program.memory
    return {
        "function": program.function,
        "k": program.constants,
        "inputs": program.inputs,
        "fixed": program.fixed,
        "format": meta["format"],
        "bits": 8 * sum(meta["stored"].values()) * meta["devices"] / meta["params"],
        "usable": held["usable"],
        "tiers": held["tiers"],
        "devices": held["devices"],
        "trained": meta["context"],
        "notes": [*meta["notes"], *(f"not modelled: {text}" for text in meta["not_modelled"])],
    }


def labels(one: Named, meta: dict, words, fields) -> dict[str, str]:
    """What the page calls a case, by axis; its workload by `fields`, those in which cases differ."""
    s = one.setting
    work = DEFAULT_WORKLOAD | s.workload
    used = " + ".join(s.techniques)
    return {
        **{kind: words.pick(meta["titles"][kind]) for kind in ("model", "hardware", "engine")},
        "technique": _row_label(one, words) or (used if one.grid else "") or words("baseline"),
        "workload": ", ".join(told(k, work["prompt"] if work[k] is None else work[k], words.lang) for k in fields),
        "used": used,
        "sets": ", ".join(s.set),
    }


def _row_label(one: Named, words) -> str:
    """The title of a study's row, with the variant's name where it has several or is what the row is compared with."""
    if one.row is None:
        return ""
    title = words.pick(one.row.title)
    several = len(one.row.variants) + len(one.row.printed) > 0
    return f"{title}: {one.variant or words('baseline')}" if several or not one.variant else title


def _told_apart(cases: list[dict], axes) -> None:
    """Number the cases that have the same labels, on the last axis."""
    seen: dict[tuple, int] = {}
    for case in cases:
        key = tuple(case["labels"][a] for a in axes)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            case["labels"][axes[-1]] += f" ({seen[key]})"


def formulas_of(setting: Setting, library) -> list[list[str]]:
    """(key of a text, formula) of FLOPs and KV bytes, with numbers for the model's dims; of all devices together."""
    program = program_of(library, setting.model, setting.techniques, setting.set)
    found = {f"formula_{phase}": program.flops(phase, values=True) for phase in ("prefill", "decode")}
    found["formula_kv"] = program.bytes("decode", "kv", values=True)
    return [[key, str(formula)] for key, formula in found.items()]
