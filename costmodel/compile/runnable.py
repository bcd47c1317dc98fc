"""A compiled case, ready to evaluate. Light: importing this brings in nothing but the standard library's basics."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PLAN_FIELDS = (
    "batch", "prefill_T", "prefill_S", "prefill_R", "chunk", "ride_B", "ride_S", "parts", "stages",
    "T", "S", "R", "tokens_out", "occupancy", "B", "no_cache",
)  # fmt: skip
POSITIVE = ("batch", "B", "prefill_T", "T", "tokens_out", "parts", "stages")
FAULTS = (ZeroDivisionError, ValueError, OverflowError, TypeError)


def no_value(runnable, where: str, error, field: str = ""):
    """The error for a workload at which a case's formulas have no value."""
    from ..language.problem import Mark, Source, problem

    places = runnable.meta["places"]
    known = [v for k, v in places.items() if k.rpartition(".")[2] == field or k.replace(".", "_") == field]
    name, line, column, text = (known or [v for k, v in places.items() if k != "model"] or [places["model"]])[0]
    mark = Mark(Source(name, "\n" * (line - 1) + text), line, column)
    names = ", ".join([runnable.meta["model"], *runnable.meta["techniques"]])
    return problem(f"{names}: no value at {where}: {error}", mark, "change the document or the workload")


class Runnable:
    """Functions of one emitted source (see :mod:`costmodel.compile.emit`), its `meta`, and its child programs.

    `step(B, T, S, R, M, H, c)` returns FLOPs, bytes of weights, KV, state, activations, link and streams, floor seconds,
    expected seconds, and seconds of compute, of memory and of the slowest link or lower tier, of one pass.
    """

    __slots__ = (
        "also", "c", "children", "coefs", "draft", "draft_prefill", "held", "meta", "other", "plan", "rows", "scratch", "shares", "step",
        "text",
    )  # fmt: skip

    step: Callable
    rows: Callable
    held: Callable
    scratch: Callable
    plan: Callable
    also: Callable | None
    coefs: Callable

    def __init__(self, text: str) -> None:
        space: dict = {}
        exec(compile(text, "<costmodel program>", "exec"), space)  # our own emitted source, see docs/design.md
        self.text = text
        self.meta = space["META"]
        for name in ("step", "rows", "held", "scratch", "plan", "also", "coefs"):
            setattr(self, name, space[name])
        self.c = self.coefs(self.meta["rates"])
        self.shares: dict = {}  # efficiencies at these rates, by formula and tokens
        self.children = {name: Runnable(source) for name, source in space["CHILDREN"].items()}
        self.draft = self.children.get("draft")
        self.draft_prefill = self.children.get("draft_prefill", self.draft)
        self.other = self.children.get("decode")

    def __reduce__(self):
        return Runnable, (self.text,)

    def __copy__(self) -> Runnable:
        """The same functions and values, of which fields can be changed: nothing is compiled again, as `__reduce__` would."""
        twin = Runnable.__new__(Runnable)
        for name in Runnable.__slots__:
            setattr(twin, name, getattr(self, name))
        twin.shares = {}
        return twin

    def one(self, B, T, S, R):
        """One pass of a single group."""
        try:
            return self.step(B, T, S, R, B * T, B * R, self.c)
        except FAULTS as error:
            raise no_value(self, f"B={B}, T={T}, S={S}", error) from None

    def at(self, prompt, output, context, batch):
        """The schedule's fields for a workload (see `PLAN_FIELDS`), checked."""
        try:
            plan = self.plan(prompt, output, context, batch)
            if (
                plan[0] > 0
                and plan[1] > 0
                and plan[9] > 0
                and plan[12] > 0
                and plan[14] > 0
                and plan[7] > 0
                and plan[8] > 0
                and min(plan) >= 0
            ):
                return plan
        except FAULTS as error:
            raise no_value(self, f"prompt={prompt}, context={context}, batch={batch}", error) from None
        name, value = next((n, v) for n, v in zip(PLAN_FIELDS, plan, strict=True) if v < 0 or (v == 0 and n in POSITIVE))
        raise no_value(self, f"prompt={prompt}, context={context}, batch={batch}", f"the schedule has {name} = {value:g}", name)

    def mixed(self, groups):
        """One pass over several groups (B, T, S, R): weights move once, everything else per group."""
        if len(groups) == 1:
            return self.one(*groups[0])
        from .mixed import mixed_step

        return mixed_step(self, groups)
