"""Cases as JavaScript: the solver's formulas, where cases that differ in numbers alone share one function."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...compile.build import Case, build
from ...compile.graph.nodes import Node
from ...compile.graph.order import Layout
from ...compile.graph.text import JavaScript
from ...solve.cases import DEFAULT_WORKLOAD, Setting
from ...solve.traced import FIGURES, WORKLOAD, Formulas

LEFT_OUT = ("e2e_s.", "itl_mean_s", "user_tps")
"""Figures that the page does not show: sums over every output token, too slow to follow a slider."""


class Program(NamedTuple):
    """A case as the page holds it: which function, its numbers, what is open, and what cannot vary."""

    function: int
    constants: list[float]
    inputs: dict[str, float]
    fixed: dict[str, float | None]
    """Figures without a formula, at the case's own point."""
    meta: dict[str, Any]
    memory: dict[str, Any]
    """What is known of the machine whose memory the figures are of: the one that decodes."""


class Shared(JavaScript):
    """JavaScript whose numbers are fields of an array, so that programs of one shape are one text."""

    def __init__(self, layout: Layout):
        super().__init__(layout)
        self.constants: list[float] = []
        self.known: dict[float, str] = {}

    def number(self, value: float) -> str:
        """The next field of `k`; what is not finite, 0 and 1 stand for themselves."""
        if value in (0, 1) or not math.isfinite(value):
            return super().number(value)
        if value not in self.known:
            self.known[value] = f"k[{len(self.constants)}]"
            self.constants.append(float(value))
        return self.known[value]


class Programs:
    """Functions of the page, each once, and the programs that call them."""

    def __init__(self, library):
        self.library = library
        self.functions: dict[str, int] = {}

    def add(self, setting: Setting) -> Program:
        """The program of a setting. Raises :class:`SpecError` where `predict` refuses it."""
        work = DEFAULT_WORKLOAD | setting.workload
        case = Case(setting.model, setting.hardware, setting.engine, setting.techniques, work["devices"], setting.set)
        runnable = build(case, self.library, None, True)
        formulas = Formulas(runnable, **{name: work[name] for name in WORKLOAD})
        outputs, fixed = figures_of(formulas)
        writer = Shared(Layout(outputs.values()))
        text = writer.source(outputs)
        number = self.functions.setdefault(text, len(self.functions))
        if fixed:
            fixed = _numbers(runnable, work, fixed)
        return Program(number, writer.constants, formulas.inputs, fixed, runnable.meta, formulas.prediction.decoder.meta)

    def source(self) -> str:
        """`[(k) => (x) => {…}, …]`, in the order of their numbers."""
        return "[" + ",\n".join(f"(k) => {text}" for text in self.functions) + "]"


def figures_of(formulas: Formulas) -> tuple[dict[str, Node], dict]:
    """(nodes of all figures that the page shows, names of those without a formula)."""
    outputs: dict[str, Node] = {}
    fixed: dict = {}
    for name in (n for n in FIGURES if not n.startswith(LEFT_OUT)):
        try:
            outputs[name] = formulas.figure(name)
        except (NotImplementedError, ZeroDivisionError):
            fixed[name] = None
    return outputs, fixed


def _numbers(runnable, work: dict, names: dict) -> dict:
    """Figures of the plain prediction, for those that have no formula."""
    from ...solve.prediction import Prediction
    from ...solve.record import REGIMES

    context = work["prompt"] if work["context"] is None else work["context"]
    found = Prediction(runnable, work["prompt"], work["output"], context, work["batch"])
    out: dict = {}
    for name in names:
        value: Any = found
        for part in name.split("."):
            value = value.get(part, {}) if isinstance(value, dict) else getattr(value, part, None)
        out[name] = REGIMES.index(value) if isinstance(value, str) else 0 if value == {} else value
    return out
