"""A compiled case, ready to evaluate. Light: importing this brings in nothing but the standard library's basics."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PLAN_FIELDS = (
    "batch", "prefill_T", "prefill_S", "prefill_R", "chunk", "ride_B", "ride_S", "parts", "stages",
    "T", "S", "R", "tokens_out", "occupancy", "in_flight", "no_cache",
)  # fmt: skip


class Runnable:
    """Functions of one emitted source (see :mod:`costmodel.compile.emit`), its `meta`, and its child programs.

    `step(B, T, S, R, M, H, c)` returns FLOPs, bytes of weights, KV, state, activations, link and streams, floor seconds,
    expected seconds and compute seconds of one pass.
    """

    __slots__ = ("also", "c", "children", "coefs", "draft", "held", "meta", "other", "plan", "rows", "scratch", "step", "text")

    step: Callable
    rows: Callable
    held: Callable
    scratch: Callable
    plan: Callable
    also: Callable | None
    coefs: Callable

    def __init__(self, text: str):
        space: dict = {}
        exec(compile(text, "<costmodel program>", "exec"), space)  # our own emitted source, see docs/design.md
        self.text = text
        self.meta = space["META"]
        for name in ("step", "rows", "held", "scratch", "plan", "also", "coefs"):
            setattr(self, name, space[name])
        self.c = self.coefs(self.meta["rates"])
        self.children = {name: Runnable(source) for name, source in space["CHILDREN"].items()}
        self.draft = self.children.get("draft")
        self.other = self.children.get("decode")

    def one(self, B, T, S, R):
        """One pass of a single group."""
        return self.step(B, T, S, R, B * T, B * R, self.c)

    def mixed(self, groups):
        """One pass over several groups (B, T, S, R): weights move once, everything else per group."""
        if len(groups) == 1:
            return self.one(*groups[0])
        from .mixed import mixed_step

        return mixed_step(self, groups)
