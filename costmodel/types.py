"""Types of predictions and outputs, for annotations in other packages. Plain classes: importing this compiles and loads nothing else.

Classes of figures (`Rates` …) are what attributes of a prediction are; `…Data` are the JSON forms (TypedDicts).
"""

from __future__ import annotations

from .compile.uses import Use
from .documents import Spec
from .language.problem import Mark, Problem
from .report.shapes import CheckpointData, InspectData, ProbeData
from .solve.figures import BytesBy, Memory, Operator, Phase, Prefill, Rates, Times, Whole
from .solve.judgement import Explanation, Judgement
from .solve.shapes.check import CheckData, Verdict
from .solve.shapes.evaluation import EvaluationData
from .solve.shapes.prediction import PredictionData, Regime, Tier, Workload
from .solve.shapes.study import MatrixData

__all__ = [
    "BytesBy",
    "CheckData",
    "CheckpointData",
    "EvaluationData",
    "Explanation",
    "InspectData",
    "Judgement",
    "Mark",
    "MatrixData",
    "Memory",
    "Operator",
    "Phase",
    "PredictionData",
    "Prefill",
    "ProbeData",
    "Problem",
    "Rates",
    "Regime",
    "Spec",
    "Tier",
    "Times",
    "Use",
    "Verdict",
    "Whole",
    "Workload",
]
