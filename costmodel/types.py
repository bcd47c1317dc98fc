"""Types of documents and figures, for annotations in other packages. Importing this loads no document and compiles nothing.

JSON forms have schemas instead: `costmodel schema prediction`.
"""

from __future__ import annotations

from .compile.uses import Use
from .documents import Spec
from .language.problem import Mark, Problem, Source
from .solve.figures import BytesBy, Memory, Operator, Phase, Prefill, Rates, Times, Whole
from .solve.invert.answers import Crossing, Crossovers, Effect, Sensitivity, Solution
from .solve.judgement import Explanation, Judgement
from .solve.shapes.check import FigureVerdict, Verdict
from .solve.shapes.prediction import Regime, Tier

__all__ = [
    "BytesBy",
    "Crossing",
    "Crossovers",
    "Effect",
    "Explanation",
    "FigureVerdict",
    "Judgement",
    "Mark",
    "Memory",
    "Operator",
    "Phase",
    "Prefill",
    "Problem",
    "Rates",
    "Regime",
    "Sensitivity",
    "Solution",
    "Source",
    "Spec",
    "Tier",
    "Times",
    "Use",
    "Verdict",
    "Whole",
]
