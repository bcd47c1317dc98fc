"""The plan: every model on every offer in every format, predicted; for each model the cheapest that is fast enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import costmodel
from costmodel.types import Memory, Regime

from .prices import Offer, PlanError, Prices, problems_of


class Want(NamedTuple):
    """What is wanted of each model: tokens per second and user, seconds to the first token, and for which workload."""

    tok_s: float
    ttft_s: float
    prompt: int = 1024
    output: int = 256
    batch: int = 1
    sure: bool = False
    """Hold the slow end of the span to it, not the expected speed."""


class Option(NamedTuple):
    """A way to run a model, with its prediction."""

    model: str
    offer: Offer
    format: str
    techniques: tuple[str, ...]
    tok_s: float
    ttft_s: float
    regime: Regime
    memory: Memory
    data: dict[str, Any]
    """The prediction as JSON (`costmodel schema prediction`)."""

    def enough(self, want: Want) -> bool:
        """Whether it is as fast as wanted, and known to fit."""
        return self.memory.fits is True and self.tok_s >= want.tok_s and self.ttft_s <= want.ttft_s


class Refused(NamedTuple):
    """A combination that cannot be, and why."""

    model: str
    offer: Offer
    format: str
    why: str


class Plan(NamedTuple):
    """For one model: the cheapest option that is enough (None: no offer is), the fastest that fits, and what was refused."""

    model: str
    cheapest: Option | None
    fastest: Option | None
    refused: tuple[Refused, ...]


def predict(model: str, offer: Offer, format: str, want: Want, techniques: Sequence[str] = ()) -> Option | Refused:
    """One combination. What costmodel refuses is a result, not an error."""
    try:
        p = costmodel.predict(
            model,
            offer.machine,
            techniques=techniques,
            prompt=want.prompt,
            output=want.output,
            batch=want.batch,
            devices=offer.devices,
            sets=[f"model.weights.format={format}"],
        )
        tok_s, ttft_s = (p.tps.low, p.ttft_s.high) if want.sure else (p.tps.expected, p.ttft_s.expected)
        return Option(model, offer, format, tuple(techniques), tok_s, ttft_s, p.decode.regime, p.memory, p.to_dict())
    except costmodel.SpecError as error:
        return Refused(model, offer, format, "; ".join(problem.message for problem in error.problems))


def plan(models: Iterable[str], want: Want, prices: Prices, budget: float, techniques: Sequence[str] = ()) -> list[Plan]:
    """A plan for each model, from offers within the budget. Raises PlanError for a model or technique that is not known."""
    models = list(models)
    wrong = problems_of(*(("model", m) for m in models), *(("technique", t.partition(":")[0]) for t in techniques))
    if wrong:
        raise PlanError("\n".join(wrong))
    cases = [(m, o, f) for m in models for o in prices.offers if o.price <= budget for f in prices.formats]
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda case: predict(case[0], case[1], case[2], want, techniques), cases))
    return [_best(model, [r for r in results if r.model == model], want) for model in models]


def _best(model: str, results: list[Option | Refused], want: Want) -> Plan:
    options = [r for r in results if isinstance(r, Option) and r.memory.fits]
    # of the same price, the format that loses least: most bytes
    cheapest = min((o for o in options if o.enough(want)), key=lambda o: (o.offer.price, -o.memory.weights_bytes), default=None)
    fastest = max(options, key=lambda o: o.tok_s, default=None)
    return Plan(model, cheapest, fastest, tuple(r for r in results if isinstance(r, Refused)))
