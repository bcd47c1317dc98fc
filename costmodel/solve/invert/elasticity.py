"""How much each parameter of a case weighs: elasticities by exact derivatives, and the figure at the changed value."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...compile.graph.evaluate import gradient, values
from ...compile.graph.nodes import needed
from ...language.problem import SpecError, problem
from ..traced import FIGURES
from .answers import Effect, Sensitivity
from .question import Question
from .targets import path_of, unit_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from ..shapes.inverse import FoundUnit, Way

    class Called(TypedDict):
        """What a parameter is."""

        name: str
        input: str
        kind: Literal["rate", "coefficient", "knob", "workload", "bytes"]
        unit: FoundUnit
        where: str | None
        of: str | None


DIFFERS = 0.05
"""The change of a figure counts as one that the derivative does not tell where it is off by this share (and by 0.05 % of the figure)."""
COUNTED = ("prompt", "output", "context", "batch")


def elasticities(question: Question, of: str = "tps", change: float = 0.1, ceiling: bool = False) -> Sensitivity:
    """Parameters by what a relative `change` of each makes of a figure. Raises :class:`SpecError`.

    A row's `elasticity` is d ln figure / d ln parameter at the case; `up` and `down` are the relative changes of the figure
    when it is computed again at the parameter times 1 ± change.
    """
    if not (isinstance(change, (int, float)) and 0 < change < 1):
        raise problem(f"change: want a share above 0 and below 1, got {change!r}")
    path = path_of(of, ceiling, "--of")
    formulas = question.formulas(None)
    try:
        node = formulas.figure(path)
    except NotImplementedError:  # such as chunks of a prompt: computed again at changed values alone
        node = None
    point = dict(formulas.inputs)
    evaluate = _computed(question, node, path)
    figure = evaluate(point)
    if not figure or not math.isfinite(figure):
        shown = f"is {figure:g}" if math.isfinite(figure) else "has no value"
        raise problem(f"`{path}` {shown} here: relative changes of it have no meaning")
    there = sorted(name for name in point if name != "context" or not question.follows) if node is None else sorted(node.deps)
    slopes = dict.fromkeys(there, 0.0) if node is None else gradient(node, point)
    stepped = there if node is None else _stepped(node)
    found = [_row(question, (node, evaluate), point, figure, name, slopes[name], change, name in stepped) for name in there]
    rows = _distinct([r for r in found if r is not None])
    weighing = [r for r in rows if r.elasticity or r.up or r.down]
    return Sensitivity(
        schema="costmodel/sensitivity@1",
        **question.head,
        figure=path,
        value=figure,
        unit=unit_of(path),
        change=change,
        rows=sorted(weighing, key=lambda r: (-_weight(r), r.name)),
        without=[r.name for r in rows if r not in weighing] + _absent(question, point, there),
        left_out=_left_out(question, point),
    )


def _computed(question: Question, node, path: str) -> Callable[[dict], float]:
    """The figure at a point: of its formula, or predicted where it has none."""

    def predicted(point: dict) -> float:
        gone = ("context",) if question.follows else ()
        return float(FIGURES[path](question.at({name: x for name, x in point.items() if name not in gone})))

    return predicted if node is None else lambda point: values([node], point)[0]


def _distinct(rows: list[Effect]) -> list[Effect]:
    """Coefficients of one name told apart by the class that they are of."""
    names = [r.name for r in rows]
    for row in rows:
        if row.of and names.count(row.name) > 1:
            row.name = f"{row.name} ({row.of})"
    return rows


def _weight(row: Effect) -> float:
    return max(abs(row.up or 0.0), abs(row.down or 0.0))


def _stepped(node) -> frozenset[str]:
    """Inputs that go through a `floor` or `ceil`, of which the gradient takes no notice."""
    return frozenset().union(
        *(n.deps for n in needed([node]) if n.op in ("floor", "ceil")), *(n.args[0].deps for n in needed([node]) if n.op == "sum")
    )


def _row(
    question: Question, made: tuple, point: dict, figure: float, name: str, slope: float, change: float, stepped: bool
) -> Effect | None:
    """One parameter; `made` are the figure's formula (or None) and what computes it at a point."""
    node, evaluate = made
    now = point[name]
    if not now:
        return None
    whole = name in COUNTED or name.endswith("_drafted")

    def at(x: float) -> float | None:
        if whole and (x < 1 or x == now):
            return None
        try:
            found = evaluate({**point, name: x})
        except (SpecError, ZeroDivisionError, ValueError, OverflowError):
            return None
        return found / figure - 1 if math.isfinite(found) else None

    high, low = now * (1 + change), now * (1 - change)
    if whole:
        high, low = max(now + 1, round(high)), min(now - 1, round(low))
    high, low = _within(question, name, high, low)
    up, down = at(high) if high != now else None, at(low) if low != now else None
    elasticity = slope * now / figure
    how: Literal["derivative", "steps"] = "derivative"
    if stepped:
        ends = [(x, f) for x, f in ((high, up), (low, down)) if f is not None]
        slopes = [math.log1p(f) / math.log(x / now) for x, f in ends]
        elasticity, how = (sum(slopes) / len(slopes) if slopes else 0.0), "steps"
    bends = [x for x, f in ((high, up), (low, down)) if f is not None and how == "derivative" and _differs(elasticity, x / now, f)]
    ways: list[Way] = ["up" if x == high else "down" for x in bends if _bends(node, point, name, x)]
    scale = _bits(question, name)
    return Effect(
        **_called(question, name),
        value=now * scale,
        elasticity=elasticity,
        how=how,
        local=elasticity * (high / now - 1),
        up_to=high * scale,
        down_to=low * scale,
        up=up,
        down=down,
        regime_changes=ways,
    )


def _bits(question: Question, name: str) -> float:
    """What one unit of an input is shown as: of the scales of bytes, the bits of now."""
    scale = name.removeprefix("draft_")
    if scale not in ("w_scale", "kv_scale"):
        return 1.0
    whole = question.compiled[0]
    meta = whole.meta if scale == name else whole.draft.meta
    return 8 * meta["file_size"] * meta["devices"] / meta["params"] if scale == "w_scale" else 8 * float(meta["kv_width"])


def _differs(elasticity: float, ratio: float, change: float) -> bool:
    """Whether a constant elasticity would make something else of the figure."""
    return abs(ratio**elasticity - 1 - change) > max(DIFFERS * abs(change), 5e-4)


def _bends(node, point: dict, name: str, x: float) -> bool:
    """Whether another argument of a maximum, or another branch, holds at the changed value."""
    order = [
        n for n in needed([node]) if n.op in ("max", "min", "where") and not any(d.startswith("i") and d[1:].isdigit() for d in n.deps)
    ]
    args = [a for n in order for a in n.args[:2]]

    def chosen(at: dict) -> list[bool]:
        found = values(args, at)
        return [
            bool(a) if n.op == "where" else (a >= b if n.op == "max" else a <= b)
            for n, a, b in zip(order, found[::2], found[1::2], strict=True)
        ]

    return bool(args) and chosen(point) != chosen({**point, name: x})


def _within(question: Question, name: str, high: float, low: float) -> tuple[float, float]:
    """Ends inside what a knob may be."""
    if not name.startswith("knob_"):
        return high, low
    technique, knob = _knob(question, name)
    span = question.library.load("technique", technique).doc.knobs[knob].range
    return min(high, span[1]), max(low, span[0])


def _knob(question: Question, name: str) -> tuple[str, str]:
    for use in question.base.runnable.meta["techniques"]:
        technique = use.partition(":")[0]
        start = f"knob_{technique}_".replace("-", "_")
        if name.startswith(start):
            knobs = question.library.load("technique", technique).doc.knobs
            return technique, next(k for k in knobs if name == start + k.replace("-", "_"))
    raise KeyError(name)


def _called(question: Question, name: str) -> Called:
    """Name, kind, unit and, of a coefficient, where it stands."""
    free = question.compiled[1]
    if name in free:
        file, path, _ = free[name]
        return {
            "name": path[-1],
            "input": name,
            "kind": "coefficient",
            "unit": "",
            "where": _place(question, file, path),
            "of": path[1] if path[0] in ("classes", "formats") else "engine",
        }
    if name.startswith("knob_"):
        technique, knob = _knob(question, name)
        return {"name": f"{technique}.{knob}", "input": name, "kind": "knob", "unit": "", "where": None, "of": None}
    if name in COUNTED:
        shown = "prompt = context" if name == "prompt" and question.follows else name
        return {
            "name": shown,
            "input": name,
            "kind": "workload",
            "unit": "sequences" if name == "batch" else "tokens",
            "where": None,
            "of": None,
        }
    if name.endswith(("w_scale", "kv_scale")):
        return {
            "name": ("draft " if name.startswith("draft_") else "") + ("kv-bits" if name.endswith("kv_scale") else "bits"),
            "input": name,
            "kind": "bytes",
            "unit": "bit",
            "where": None,
            "of": None,
        }
    return {"name": _rate_name(name), "input": name, "kind": "rate", "unit": _rate_unit(name), "where": None, "of": None}


def _rate_name(name: str) -> str:
    from .names import RATES

    plain = name.removeprefix("decode_")
    before = "decode machine's " if plain != name else ""
    found = next((n for n, (input_, _) in RATES.items() if input_ == plain), None)
    if found is None and "pk_" in plain:
        kind = plain.rpartition("pk_")[2]
        found = f"host {kind}" if plain.startswith("h") else kind
    return before + (found or plain)


def _rate_unit(name: str) -> FoundUnit:
    return "s" if name.endswith("latency") else "FLOP/s" if "pk_" in name else "B/s"


def _place(question: Question, file: str, path: tuple) -> str:
    """File and line of a coefficient in its document."""
    from pathlib import Path

    from ..unfold.origins import place

    for name in question.library.names("engine"):
        spec = question.library.load("engine", name)
        mark = spec.mark(*path)
        if mark.source.name == file or str(Path(mark.source.name)) == file:
            return place(mark)
    return file


def _absent(question: Question, point: dict, there) -> list[str]:
    """Parameters that the figure does not depend on at all."""
    gone = [n for n in sorted(point) if n not in there and not (n == "context" and question.follows)]
    return list(dict.fromkeys(_called(question, name)["name"] for name in gone))


def _left_out(question: Question, point: dict) -> list[str]:
    """Knobs of techniques in use that stand in the model's shape or placement: they have no derivative."""
    found = []
    for use in question.base.runnable.meta["techniques"]:
        technique = use.partition(":")[0]
        for knob, doc in question.library.load("technique", technique).doc.knobs.items():
            if doc.range is not None and f"knob_{technique}_{knob}".replace("-", "_") not in point:
                found.append(f"{technique}.{knob}")
    return found
