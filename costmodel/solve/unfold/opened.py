"""A case opened up: its prediction, and the placed programs that the prediction was emitted from."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from ...compile.build import Case, emitted, machines_of
from ...compile.machine import Machine
from ...compile.mixed import mixed_rows, resources, row_parts
from ...compile.placement import Placed
from ..cases import DEFAULT_WORKLOAD, Setting
from ..figures import Operator
from ..operators import fixed_seconds, phases_of, table_of
from ..prediction import Prediction
from ..steps import draft_prompt, draft_steps, prefills_draft

KINDS = ("weights", "kv", "state", "activations")


class Part(NamedTuple):
    """Steps that one program takes in a phase: `model` or `draft`; expected times are of `passes`, all of it `times` over."""

    name: str
    machine: Machine
    runnable: Any
    steps: list
    passes: list
    times: float


class Work(NamedTuple):
    """One placed operator in a part: its figures of one time (`record`), and expected seconds by what bounds it, of all times."""

    part: Part
    placed: Placed
    record: Operator
    seconds: dict

    @property
    def name(self) -> str:
        """`block.name`, with what runs it where that is not the model on the device."""
        row = self.placed.row
        host = " (host)" if self.placed.unit == "host" else ""
        return ("" if self.part.name == "model" else f"{self.part.name}: ") + f"{row.block}.{row.name}{host}"


class Opened:
    """One case: `prediction`, `machine`, and the `others` (decode machine, draft model) by name."""

    def __init__(self, setting: Setting, library):
        w = DEFAULT_WORKLOAD | setting.workload
        case = Case(setting.model, setting.hardware, setting.engine, setting.techniques, w["devices"], setting.set)
        self.setting, self.library = setting, library
        self.machine, self.others = machines_of(case, library)
        runnable = emitted(self.machine, self.others, tuple(setting.set))
        self.prediction = Prediction(runnable, w["prompt"], w["output"], w["context"], w["batch"])
        self._works: dict[str, list[Work]] = {}

    @property
    def decoder(self) -> Machine:
        """The placed program that decodes."""
        return self.others.get("decode", self.machine)

    @cached_property
    def parts(self) -> dict[str, list[Part]]:
        """Programs and steps of `prefill`, `decode` and, where a draft model computes the prompt too, `draft_prefill`."""
        p, runnable = self.prediction, self.prediction.runnable
        phases = phases_of(p)
        found = {
            "prefill": [_part(self.machine, *phases["prefill"])],
            "decode": [_part(self.decoder, *phases["decode"])],
            "draft_prefill": [],
        }
        times = draft_steps(p)
        if times and runnable.also is not None:
            T, S, R, _ = runnable.also(p.prompt, p.output, p.context, p.batch)
            steps = [[(p.plan[14], T, S, R)]]
            found["decode"].append(Part("draft", self.others["draft"], runnable.draft, steps, steps, times))
        if prefills_draft(p):
            steps = [[draft_prompt(p)]]
            machine = self.others.get("draft_prefill", self.others["draft"])
            found["draft_prefill"] = [Part("draft", machine, runnable.draft_prefill, steps, steps, 1)]
        return found

    def works(self, phase: str) -> list[Work]:
        """Every operator of a phase."""
        if phase not in self._works:
            self._works[phase] = [work for part in self.parts[phase] for work in _works(part)]
        return self._works[phase]

    def fixed(self, phase: str) -> float:
        """Fixed seconds of all passes of a phase."""
        return sum(part.times * fixed_seconds(part.runnable, part.passes) for part in self.parts[phase])

    def floors(self, phase: str) -> list[tuple[float, dict]]:
        """(times, seconds by resource) of every step of a phase."""
        found = []
        for part in self.parts[phase]:
            for groups in part.steps:
                seconds = resources(part.runnable.meta, mixed_rows(part.runnable, groups))
                found.append((part.times, {k if "." in k else f"link.{k}": v for k, v in seconds.items()}))
        return found

    def total(self, phase: str) -> tuple:
        """Totals of a phase as `step` gives them (see :class:`costmodel.compile.runnable.Runnable`)."""
        p = self.prediction
        if phase == "draft_prefill":
            drafter = p.runnable.draft_prefill
            return drafter.one(*draft_prompt(p)) if drafter is not None and prefills_draft(p) else (0.0,) * 12
        return p._prefill[0] if phase == "prefill" else p._decode


def _part(machine: Machine, runnable, steps: list, passes: list) -> Part:
    return Part("model", machine, runnable, steps, passes, 1)


def _works(part: Part) -> list[Work]:
    """The operators of a part. Seconds go to the longest of compute, memory (by kind of bytes) and streams, then to the link."""
    records = table_of(part.runnable, part.steps, part.passes)
    tables = [(mixed_rows(part.runnable, groups), sum(B * T for B, T, _, _ in groups)) for groups in part.passes]
    rates, found = part.runnable.meta["rates"], []
    for index, (info, record) in enumerate(zip(part.runnable.meta["rows"], records, strict=True)):
        seconds = dict.fromkeys(("compute", *KINDS, "link"), 0.0)
        for table, M in tables:
            compute, kinds, slow, comm = row_parts(info, table[index], rates, M)
            if compute >= max(sum(kinds), slow):
                seconds["compute"] += compute
            elif slow > sum(kinds):
                seconds["link"] += slow
            else:
                for kind, value in zip(KINDS, kinds, strict=True):
                    seconds[kind] += value
            seconds["link"] += comm
        scale = record.repeat * part.times
        found.append(Work(part, part.machine.placed[index], record, {k: scale * v for k, v in seconds.items()}))
    return found
