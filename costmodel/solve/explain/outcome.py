"""A prediction as the figures that people measure: decode and prompt-processing tokens per second, with their spans."""

from __future__ import annotations

from copy import copy
from math import ceil, log
from typing import NamedTuple

from ..memory import fits
from ..prediction import Prediction

RATES = {
    "memory": "bw",
    "compute": "pk_",
    "link": "host",
    "peer": "peer",
    "disk": "disk",
    "host_memory": "hram",
    "host_compute": "hpk_",
}
"""What an explanation slows down or speeds up, and the rate (or the prefix of the rates) that it is."""


class Figure(NamedTuple):
    """Tokens per second: expected, the span that holds 80 % of such cases, and what nothing exceeds."""

    expected: float
    low: float
    high: float
    ceiling: float

    def scaled(self, factor: float) -> Figure:
        """All multiplied."""
        return Figure(*(factor * x for x in self))

    def within(self, low: float, high: float) -> Figure:
        """The same with another span, in multiples of the expected speed."""
        return self._replace(low=self.expected * low, high=min(self.ceiling, self.expected * high))


class Outcome(NamedTuple):
    """The figures of one case, and whether it fits."""

    decode: Figure
    prefill: Figure
    fits: bool | None


def figure_of(seconds, tokens: float, extra: float = 0.0) -> Figure:
    """A figure from a record of seconds (floor, expected, low, high); `extra` seconds come on top of all but the floor."""
    times = (seconds.expected + extra, seconds.high + extra, seconds.low + extra, seconds.floor)
    return Figure(*(tokens / t if t else 1e30 for t in times))


def outcome_of(p, tokens: float = 1.0, seconds: float = 0.0, measure: str = "user") -> Outcome:
    """The figures of a prediction.

    `tokens` per decode pass (which works on as many, rounded up), `seconds` added to each pass; `measure`: one user's
    speed, `total` over the batch, or `end_to_end` (output over the whole request).
    """
    decode = figure_of(_per_token(p, tokens), 1, seconds / (p.tokens_out * tokens))
    if measure == "total":
        decode = decode.scaled(p.plan[0] * p.plan[13])
    elif measure == "end_to_end":
        decode = decode.scaled(p.user_tps / p.tps.expected)
    prefill = figure_of(p.ttft_s, p.plan[0] * p.prompt, seconds * p.prefill.steps)
    return Outcome(decode, prefill, fits(p))


def _per_token(p, tokens: float):
    """Seconds per token, where a pass emits `tokens` times as many as scheduled."""
    if tokens == 1:
        return p.tpot_s
    plan, wide = p.plan, ceil(tokens - 1e-9)
    total = p.decoder.one(plan[14], plan[9] * wide, plan[10], plan[11] * wide)
    return p._span(total[7] / plan[12] / tokens, total[8] / plan[12] / tokens, "span")


def with_rates(p: Prediction, factors: dict[str, float]) -> Prediction:
    """The prediction on a machine whose rates are multiplied."""
    if all(f == 1 for f in factors.values()):
        return p
    return Prediction(_faster(p.runnable, factors), p.prompt, p.output, p.context, p.batch)


def _faster(runnable, factors: dict[str, float]):
    """A copy of a compiled case, and of those inside it, with other rates."""
    twin = copy(runnable)
    rates = dict(runnable.meta["rates"])
    for name, factor in factors.items():
        key = RATES[name]
        for rate in rates:
            if rate == key or (key[-1] == "_" and rate.startswith(key)):
                rates[rate] *= factor
    twin.meta = runnable.meta | {"rates": rates}
    twin.c = runnable.coefs(rates)
    twin.children = {name: _faster(child, factors) for name, child in runnable.children.items()}
    twin.draft = twin.children.get("draft")
    twin.draft_prefill = twin.children.get("draft_prefill", twin.draft)
    twin.other = twin.children.get("decode")
    return twin


def distance(figure: Figure, measured: float) -> float:
    """How far a measurement is from a prediction: in standard deviations of its span, of log speed."""
    edge = figure.high if measured > figure.expected else figure.low
    width = abs(log(edge / figure.expected)) / 1.28 if edge > 0 else 0.0
    return abs(log(measured / figure.expected)) / max(width, 0.08)
