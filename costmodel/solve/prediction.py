"""A prediction: workload in, figures out. Attributes are evaluated when they are read and then kept.

Seconds, bytes and FLOPs throughout. Meanings: docs/semantics.md.
"""

from __future__ import annotations

from .either import is_open, most, ratio
from .figures import BytesBy, Memory, Phase, Prefill, Rates, Times, Whole
from .record import attainable, once, regime_of, ridge_of
from .steps import drafts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..compile.runnable import Runnable
    from .figures import Operator


class Prediction:
    """Figures of one model on one machine under one workload."""

    def __init__(self, runnable: Runnable, prompt: int = 1024, output: int = 256, context: int | None = None, batch: int = 1) -> None:
        self.runnable, self.prompt, self.output, self.batch = runnable, prompt, output, batch
        self.context = prompt if context is None else context
        self.plan = runnable.at(prompt, output, self.context, batch)

    def __repr__(self) -> str:
        meta = self.runnable.meta
        return (
            f"<Prediction {meta['model']} on {meta['hardware']}: {self.tps.expected:.4g} tok/s per user, TTFT {self.ttft_s.expected:.3g} s>"
        )

    @property
    def decoder(self) -> Runnable:
        """The program that decodes: this machine's, or the other one's under disaggregation."""
        return self.runnable.other or self.runnable

    def decode_step(self, context: int) -> tuple[float, ...]:
        """One decode step at `context` cached tokens: totals as `step` gives them, draft steps included."""
        runnable = self.runnable
        plan = (
            self.plan
            if context is self.context or (not is_open(context) and context == self.context)
            else runnable.at(self.prompt, self.output, context, self.batch)
        )
        total = self.decoder.one(plan[14], plan[9], plan[10], plan[11])
        if runnable.also is None or runnable.draft is None:
            return total
        T, S, R, repeat = runnable.also(self.prompt, self.output, context, self.batch)
        if not drafts(repeat):
            return total
        extra = runnable.draft.one(plan[14], T, S, R)
        return tuple(x + repeat * y for x, y in zip(total, extra, strict=True))

    @once
    def _decode(self):
        return self.decode_step(self.context)

    @once
    def _prefill(self):
        from .steps import prefill_total

        return prefill_total(self)

    @once
    def decode(self) -> Phase:
        """The decode step at `context` (per step, not per token, where a step emits several)."""
        return Phase(**_roofline(self._decode, self.decoder))

    @once
    def prefill(self) -> Prefill:
        """All prefill steps together."""
        total, steps, longest, _ = self._prefill
        return Prefill(**_roofline(total, self.runnable), steps=steps, longest_step_s=longest)

    @property
    def file_size(self) -> float:
        """Bytes of the model that one request passes through: a device's share, of every stage of a pipeline."""
        return self.runnable.meta["file_size"] * self.plan[8]

    @once
    def tokens_out(self) -> float:
        """Tokens a decode step emits per sequence."""
        return self.plan[12]

    @once
    def tpot_s(self) -> Times:
        """Seconds per output token and user, at `context`."""
        total = self._decode
        return self._span(total[7] / self.plan[12], total[8] / self.plan[12], "span")

    def _span(self, floor: float, expected: float, which: str) -> Times:
        low, high = self.runnable.meta[which]
        return Times(floor=floor, expected=expected, low=most(floor, expected / high), high=expected / low)

    @once
    def tps(self) -> Rates:
        """Tokens per second and user, at `context`; `ceiling` is the floor's, `rule_of_thumb` bandwidth ÷ file size."""
        tpot = self.tpot_s
        rule = ratio(self.decoder.meta["rates"]["bw"], self.file_size)
        ceiling, expected, low, high = map(_inverse, (tpot.floor, tpot.expected, tpot.high, tpot.low))
        return Rates(ceiling=ceiling, expected=expected, low=low, high=high, rule_of_thumb=rule)

    @once
    def ttft_s(self) -> Times:
        """Seconds to the first token: prefill (and a draft's, and the KV hand-off), no queueing or network."""
        total = self._prefill[0]
        extra_floor, extra = self._prefill[3]
        return self._span(total[7] + extra_floor, total[8] + extra, "prefill_span")

    @once
    def memory(self) -> Memory:
        """Bytes by tier, fit, longest context and largest batch."""
        from .memory import memory_of

        return memory_of(self)

    @once
    def e2e_s(self) -> Whole:
        """Seconds from request to last token: TTFT and every decode step at its own context."""
        from .steps import decode_total

        return Whole(expected=self.ttft_s.expected + decode_total(self))

    @once
    def itl_mean_s(self) -> float | None:
        """Mean gap between output tokens; None for fewer than two."""
        from .metrics import itl_mean

        return itl_mean(self.e2e_s.expected, self.ttft_s.expected, self.output)

    @once
    def user_tps(self) -> float:
        """Output tokens over end-to-end seconds."""
        from .metrics import user_tps

        return user_tps(self.output, self.e2e_s.expected)

    @once
    def system_tps(self) -> float:
        """Tokens per second over the batch: B · tps, times the slots' occupancy."""
        return self.plan[0] * self.tps.expected * self.plan[13]

    @once
    def not_modelled(self) -> list[str]:
        """What the figures leave out."""
        return list(self.runnable.meta["not_modelled"])

    @once
    def assumptions(self) -> list[str]:
        """What the figures assume, and why the exact ceiling differs from the rule of thumb."""
        from .notes import assumptions_of

        return assumptions_of(self)

    @once
    def operators(self) -> dict[str, list[Operator]]:
        """Per phase, one record per row: FLOPs, bytes by kind, intensity, ridge, regime, floor and expected seconds."""
        from .operators import operators_of

        return operators_of(self)

    @once
    def overheads(self) -> dict[str, float]:
        """Seconds of `prefill` and of the `decode` step that are fixed times of passes: launches and host."""
        from .operators import overheads_of

        return overheads_of(self)

    def to_dict(self) -> dict[str, Any]:
        """The figures as `costmodel/prediction@1`."""
        from .export import prediction_dict

        return prediction_dict(self)


def _roofline(total, runnable) -> dict:
    """The figures of a phase, from the totals of its steps."""
    f, w, k, s, a, link, streamed, floor, expected, compute, memory, slow = total
    size = w + k + s + a
    return {
        "flops": f,
        "bytes": size,
        "intensity": ratio(f, size),
        "ridge": ridge_of(f, size - streamed, compute, memory) or _ridge(runnable),
        "attainable_flops": attainable(f, compute, memory),
        "regime": regime_of(compute, memory, slow),
        "floor_s": floor,
        "expected_s": expected,
        "link_bytes": link + streamed,
        "bytes_by": BytesBy(weights=w, kv=k, state=s, activations=a),
    }


def _inverse(seconds: float) -> float:
    if not is_open(seconds) and not seconds:
        from ..language.problem import problem

        raise problem("a decode step has no FLOPs, weights or KV: nothing bounds its speed", help="give its operators `flops` and `bytes`")
    return 1 / seconds


def _ridge(runnable) -> float | None:
    rates = runnable.meta["rates"]
    peaks = [v for k, v in rates.items() if k.startswith("pk_")]
    return peaks[0] / rates["bw"] if peaks else None
