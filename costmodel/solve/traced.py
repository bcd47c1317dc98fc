"""A prediction as formulas: the same solver, run on graph nodes in place of numbers."""

from __future__ import annotations

from typing import Any

from ..compile.graph.nodes import Graph, Node
from ..compile.graph.read import Functions, expression
from ..compile.runnable import PLAN_FIELDS, POSITIVE
from .either import ratio
from .memory import device_lines, lower_tiers, spare_bytes
from .prediction import Prediction
from .record import attainable, regime_number, ridge_of
from .varied import input_name

WORKLOAD = ("prompt", "output", "context", "batch")


class Traced:
    """A compiled case on graph nodes; it stands in place of a :class:`Runnable` in a prediction.

    `runnable` must be built with `open`. Rates, knobs and scales become inputs of the graph, under a prefix for the
    machine that only decodes; `inputs` maps each to its value. Where `vary` is given, other inputs are numbers.
    """

    def __init__(self, runnable, graph: Graph, inputs: dict[str, float], vary: frozenset[str] | None = None, prefix="", draft=False):
        self.graph, self.inputs, self.vary = graph, inputs, vary
        self.functions = Functions(runnable.text, graph)
        rates = {name: self._input(input_name(prefix, name, draft), value) for name, value in runnable.meta["rates"].items()}
        self.scale, self.kv_scale = (rates[n] for n in ("w_scale", "kv_scale"))
        stored = {tier: size * self.scale for tier, size in runnable.meta["stored"].items()}
        self.meta = {**runnable.meta, "rates": rates, "stored": stored, "file_size": runnable.meta["file_size"] * self.scale}
        self._limits(prefix)
        self.c = self.functions.call("coefs", rates)
        self.knobs = {name: self._input(name, value) for name, value in self.functions.defaults("plan").items()}
        other = runnable.other
        self.other = None if other is None else Traced(other, graph, inputs, vary, "decode_")
        beside = "decode_" if other is not None else prefix
        self.draft = None if runnable.draft is None else Traced(runnable.draft, graph, inputs, vary, beside, True)
        apart = runnable.draft_prefill is not runnable.draft
        self.draft_prefill = Traced(runnable.draft_prefill, graph, inputs, vary, prefix, True) if apart else self.draft
        self.also = self._also if runnable.also is not None else None

    def _limits(self, prefix: str) -> None:
        """Bytes that may be used of each tier, left open where `vary` names them: `usable`, `usable_host`, `usable_disk`."""
        vary = self.vary or frozenset()
        if prefix + "usable" in vary:
            self.meta["usable"] = self._input(prefix + "usable", self.meta["usable"])
        tiers = self.meta["tiers"].items()
        self.meta["tiers"] = {n: self._input(f"{prefix}usable_{n}", v) if f"{prefix}usable_{n}" in vary else v for n, v in tiers}

    def sound(self) -> list[Node]:
        """Conditions on rates without which the case would be refused: that efficiencies lie above 0, at most at 1."""
        shares = [self.graph.node(expression(text, self.graph, self.meta["rates"])) for text in self.meta["shares"]]
        mine = [self.graph.make("and", self.graph.make(">", s, 0), self.graph.make("<=", s, 1)) for s in shares]
        below = {id(p): p for p in (self.other, self.draft, self.draft_prefill) if p is not None}
        return mine + [c for p in below.values() for c in p.sound()]

    def _input(self, name: str, value: float) -> Node | float:
        self.inputs.setdefault(name, value)
        return self.graph.input(name) if self.vary is None or name in self.vary else value

    def step(self, *given) -> tuple:
        """One pass, see :class:`Runnable`."""
        return self.functions.call("step", *given)

    def one(self, B, T, S, R) -> tuple:
        """One pass of a single group."""
        return self.step(B, T, S, R, B * T, B * R, self.c)

    def mixed(self, groups) -> tuple:
        """One pass over several groups. Raises NotImplementedError for more than one."""
        if len(groups) > 1:
            raise NotImplementedError("a pass over several groups")
        return self.one(*groups[0])

    def held(self, B, S) -> tuple:
        """KV and state bytes by tier."""
        kv, state, host, disk, host_state = self.functions.call("held", B, S)
        return kv * self.kv_scale, state, host * self.kv_scale, disk * self.kv_scale, host_state

    def scratch(self, *given) -> tuple:
        """Workspace of one pass, on the device and on the host."""
        return self.functions.call("scratch", *given)

    def at(self, prompt, output, context, batch) -> tuple:
        """The schedule's fields; unlike those of numbers they are not checked."""
        return self.functions.call("plan", prompt, output, context, batch, **self.knobs)

    def _also(self, prompt, output, context, batch) -> tuple:
        return self.functions.call("also", prompt, output, context, batch, **self.knobs)


class Formulas:
    """The figures of a case as nodes of one graph: `prediction` on nodes, and `inputs` with the values that the case gives them.

    `runnable` is built with `open`. Where `vary` names inputs, only those stay open; of the others the numbers are used.
    """

    def __init__(self, runnable, prompt: int = 1024, output: int = 256, context: int | None = None, batch: int = 1, *, vary=None):
        self.graph = Graph()
        self.inputs: dict[str, float] = dict(zip(WORKLOAD, (prompt, output, prompt if context is None else context, batch), strict=True))
        self.vary = None if vary is None else frozenset(vary)
        self.runnable = Traced(runnable, self.graph, self.inputs, self.vary)
        given: Any = (self.runnable, *(self._given(name) for name in WORKLOAD))  # nodes and a traced case where numbers and a runnable are
        self.prediction = Prediction(*given)
        self._known: dict[str, Node] = {}

    def _given(self, name: str):
        return self.graph.input(name) if self.vary is None or name in self.vary else self.graph.const(self.inputs[name])

    def sound(self, later: bool = False) -> Node:
        """1 where `predict` would accept the inputs, as far as these were checked by :class:`Runnable` and the compiler.

        `later`: the schedule of the last decode step is checked too, which end-to-end figures take.
        """
        p, graph = self.prediction, self.graph
        plans = [p.plan, p.runnable.at(p.prompt, p.output, p.context + p.output - 1, p.batch)] if later else [p.plan]
        holds = graph.const(True)
        for plan in plans:
            for name, value in zip(PLAN_FIELDS, plan, strict=True):
                holds = graph.make("and", holds, graph.make(">" if name in POSITIVE else ">=", value, 0))
        for condition in self.runnable.sound():
            holds = graph.make("and", holds, condition)
        return holds

    def figure(self, name: str) -> Node:
        """A figure by its name in :data:`FIGURES`. Raises KeyError for others, NotImplementedError where it has no formula."""
        if name not in self._known:
            self._known[name] = self.graph.node(FIGURES[name](self.prediction))
        return self._known[name]


def _bytes(total) -> Node:
    return total[1] + total[2] + total[3] + total[4]


def _line(name: str):
    return lambda p: device_lines(p, p.context + p.output, p.batch)[name]


def _below(tier: str, what: str):
    """Bytes of one kind in a lower tier; 0 where nothing of the case can lie there."""
    return lambda p: lower_tiers(p, p.context + p.output).get(tier, {}).get(what, 0)


def _total(p) -> Node:
    return sum(device_lines(p, p.context + p.output, p.batch).values())


def _fits(p) -> Node:
    """1 where every tier holds what lies in it, 0 where one does not; without a stated capacity there is no answer."""
    spare = spare_bytes(p)
    if spare is None:
        raise NotImplementedError("whether it fits a machine of unknown capacity")
    graph = p.runnable.graph
    return graph.where(graph.make(">=", spare, 0), 1, 0)


FIGURES = {
    **{f"tps.{k}": lambda p, k=k: getattr(p.tps, k) for k in ("ceiling", "expected", "low", "high", "rule_of_thumb")},
    **{f"tpot_s.{k}": lambda p, k=k: getattr(p.tpot_s, k) for k in ("floor", "expected", "low", "high")},
    **{f"ttft_s.{k}": lambda p, k=k: getattr(p.ttft_s, k) for k in ("floor", "expected", "low", "high")},
    "e2e_s.expected": lambda p: p.e2e_s.expected,
    "itl_mean_s": lambda p: p.itl_mean_s,
    "user_tps": lambda p: p.user_tps,
    "system_tps": lambda p: p.system_tps,
    "tokens_out": lambda p: p.tokens_out,
    **{
        f"{phase}.{name}": lambda p, total=total, made=made: made(total(p))
        for phase, total in (("decode", lambda p: p._decode), ("prefill", lambda p: p._prefill[0]))
        for name, made in {
            "flops": lambda t: t[0],
            "bytes": _bytes,
            "intensity": lambda t: ratio(t[0], _bytes(t)),
            "ridge": lambda t: ridge_of(t[0], _bytes(t) - t[6], t[9], t[10]),
            "attainable_flops": lambda t: attainable(t[0], t[9], t[10]),
            "link_bytes": lambda t: t[5] + t[6],
            "bytes_by.weights": lambda t: t[1],
            "bytes_by.kv": lambda t: t[2],
            "bytes_by.state": lambda t: t[3],
            "bytes_by.activations": lambda t: t[4],
            "floor_s": lambda t: t[7],
            "expected_s": lambda t: t[8],
            "compute_s": lambda t: t[9],
            "memory_s": lambda t: t[10],
            "link_s": lambda t: t[11],
            "regime": lambda t: regime_number(t[9], t[10], t[11]),
        }.items()
    },
    "memory.weights_bytes": _line("weights"),
    "memory.kv_bytes": _line("kv"),
    "memory.state_bytes": _line("state"),
    "memory.workspace_bytes": _line("workspace"),
    "memory.draft_bytes": _line("draft"),
    "memory.total_bytes": _total,
    "memory.fits": _fits,
    **{
        f"memory.tiers.{tier}.{what}": _below(tier, what)
        for tier in ("host", "disk")
        for what in ("weights_bytes", "kv_bytes", "state_bytes", "workspace_bytes")
    },
}
"""Figures that have formulas, by their paths in `predict`'s JSON (and `regime` as a number, see `record.REGIMES`)."""
