"""Questions that broke `solve`, `explain`, `diff`, `crossovers` or `sensitivity`: each answer by another path."""

from __future__ import annotations

import pytest

from costmodel import predict
from costmodel.compile.runnable import Runnable
from costmodel.solve.invert.question import Question
from costmodel.solve.invert.solution import solve


@pytest.mark.parametrize("unknown", ["output", "context", "prompt"])
def test_counts_that_a_request_is_long_by(unknown):
    answer = solve(Question("8b", "ddr5"), unknown, "e2e=60s", suggest=False)
    last, more = (predict("8b", "ddr5", **{unknown: answer.value + i}).e2e_s.expected for i in (0, 1))
    assert isinstance(answer.value, int) and last <= 60 < more


def test_trying_values_compiles_nothing(monkeypatch):
    question = Question("8b", "ddr5", techniques=("speculative-decoding",))
    slow = question.at({}).tps.expected
    monkeypatch.setattr(Runnable, "__init__", None)
    fast = question.at({"bw": 2 * question.point["bw"]}).tps.expected
    assert fast > slow == question.base.tps.expected
