"""Explanations of a measured figure: each applicable one is predicted again, solved where it has a free parameter, and ranked."""

from __future__ import annotations

from math import exp, log

from ...language.problem import SpecError
from ..cases import Setting
from ..judgement import Explanation
from ..record import Record
from .facts import facts_of, hardware_of
from .outcome import Figure, Outcome, distance
from .search import solve_range, solve_values
from .variant import Variants

NOTICEABLE = 0.1
"""Log distance from the expected speed below which there is nothing to explain."""
UNFIT = 0.1
"""Weight of an explanation under which the model would not fit."""
LEAST = 0.003
"""Share of the best score below which an explanation is not listed."""


def explain(p, setting: Setting, library, decode: float | None, prefill: float | None) -> Record:
    """Ranked explanations of the measured figures (tokens per second), and those that could not be evaluated.

    Raises :class:`SpecError` for an explanation document that is wrong, never for one that the case rules out.
    """
    facts = facts_of(p, setting, library, decode, prefill)
    variants = Variants(setting, p, facts, library, decode)
    measured = {k: v for k, v in (("decode", decode), ("prefill", prefill)) if v is not None}
    wanted = directions(measured, variants.base(), facts)
    lineage = hardware_of(setting, library).lineage
    specs = [library.load("explanation", name) for name in sorted(library.names("explanation"))]
    found, skipped, used = [], [], set()
    for spec in sorted(specs, key=lambda s: s.doc.instead_of is not None):
        doc = spec.doc
        if doc.abstract or doc.instead_of in used or not applies(doc, wanted, lineage) or (doc.target and doc.target not in measured):
            continue
        try:
            if doc.when is not None and not variants.value(doc.when, facts, spec, "when"):
                continue
            item = explained(spec, variants, measured)
        except SpecError as error:
            if any(q.mark and q.mark.source is spec.document.source for q in error.problems):
                raise
            skipped.append({"name": doc.name, "reason": error.problems[0].message})
            continue
        used.add(doc.name)
        found += [item] if item is not None else []
    found = [f for f in found if f.score > 0]
    found.sort(key=lambda f: (-f.score, f.name))
    best = found[0].score if found else 0
    return Record(found=[f for f in found if f.score >= LEAST * best], skipped=skipped)


def directions(measured: dict, base: Outcome, facts: dict) -> set[str]:
    """`slow` or `fast`, of figures that stand off the expected speed.

    A model that does not fit is slow anyhow, and fast where a figure is as if it did.
    """
    gaps = [log(value / getattr(base, name).expected) for name, value in measured.items()]
    out = {"slow" if gap < 0 else "fast" for gap in gaps if abs(gap) > NOTICEABLE}
    if facts["lacking"]:
        out.add("slow")
        out |= {"fast" for name, value in measured.items() if value > getattr(base, name).low}
    return out


def applies(doc, wanted: set[str], lineage: tuple) -> bool:
    """Whether an explanation is about this direction and class of machine."""
    return bool(wanted) and (doc.figure == "either" or doc.figure in wanted) and (not doc.classes or bool(set(doc.classes) & set(lineage)))


def explained(spec, variants: Variants, measured: dict) -> Explanation | None:
    """One explanation with its parameter solved; None where it changes nothing."""
    doc, facts = spec.doc, variants.facts
    prior = variants.value(doc.prior, facts, spec, "prior")
    free: dict = {}
    reach, plausible = None, 1.0
    if doc.solve is not None:
        target = _target(doc, measured)
        found = _solve(spec, variants, target, measured[target])
        if found is None:
            return None
        free, reach = {doc.solve.name: found.value}, _reach(spec, variants, target, found.reach)
        plausible = _plausible(spec, variants, found.value)
    outcome, setting = variants.outcome(spec, free)
    base = variants.base()
    if not _nearer(outcome, base, measured):
        return None
    score = prior * plausible * likelihood(outcome, measured, reach, doc.target)
    if outcome.fits is False:
        score *= UNFIT
    return Explanation(
        name=doc.name,
        title=_texts(doc.title, doc.name),
        look=_texts(doc.look, ""),
        parameter=None if doc.solve is None else _parameter(spec, variants, measured, free[doc.solve.name]),
        plausible=plausible >= 0.5,
        change=_change(spec, variants, setting, free),
        decode=_figure(outcome.decode, measured.get("decode")),
        prefill=_figure(outcome.prefill, measured.get("prefill")),
        fits=outcome.fits,
        prior=prior,
        score=score,
    )


def _target(doc, measured: dict) -> str:
    """The figure that the parameter is solved for."""
    return doc.target or ("decode" if "decode" in measured else "prefill")


def _cheap(spec) -> bool:
    """Whether another value of the parameter needs nothing compiled again."""
    free, texts = spec.doc.solve, (*spec.doc.change.techniques, *spec.doc.change.set)
    devices = spec.doc.change.workload.devices is not None
    return not free.values and not devices and not any("{" + free.name + "}" in t for t in texts)


def _solve(spec, variants: Variants, target: str, measured: float, which: str = "expected"):
    """The free parameter of an explanation where the expected speed (or the ceiling) is the measured figure."""
    free = spec.doc.solve

    def speed(value) -> float:
        return getattr(getattr(variants.outcome(spec, {free.name: value})[0], target), which)

    if free.values:
        return solve_values(speed, measured, free.values)
    low, high = (variants.value(getattr(free, k), variants.facts, spec, "solve", k) for k in ("low", "high"))
    if low >= high:
        return None
    neutral = None if free.neutral is None else variants.value(free.neutral, variants.facts, spec, "solve", "neutral")
    base = getattr(getattr(variants.base(), target), which)
    ends = (base if neutral == low else None, base if neutral == high else None)
    return solve_range(speed, measured, (low, high), _cheap(spec), free.whole, ends)


def _edges(spec, variants: Variants) -> tuple[float, float] | None:
    """The plausible values of the parameter."""
    if spec.doc.solve.plausible is None:
        return None
    low, high = (variants.value(node, variants.facts, spec, "solve", "plausible", i) for i, node in enumerate(spec.doc.solve.plausible))
    return low, high


def _reach(spec, variants: Variants, target: str, reach: float) -> float:
    """Log of how far the plausible values move the speed; of the whole range (`reach`) where each value must be compiled."""
    edges = _edges(spec, variants)
    if edges is None or not _cheap(spec) or not 0 < edges[0] < edges[1]:
        return reach
    slow, fast = (getattr(variants.outcome(spec, {spec.doc.solve.name: v})[0], target).expected for v in edges)
    return min(reach, abs(log(fast / slow)))


def _plausible(spec, variants: Variants, value) -> float:
    """1 inside the plausible values, falling with the log distance from them."""
    edges = _edges(spec, variants)
    if edges is None or not isinstance(value, (int, float)) or edges[0] <= value <= edges[1]:
        return 1.0
    edge = edges[0] if value < edges[0] else edges[1]
    gap = abs(log(value / edge)) if value > 0 and edge > 0 else 1.0
    return exp(-2 * gap) * 0.8


def likelihood(outcome: Outcome, measured: dict, reach: float | None, target: str | None) -> float:
    """Density of the measured figures, in log speed: a span that is wide, or a parameter that reaches far, explains less."""
    total = 1.0
    solved = None if reach is None else target or ("decode" if "decode" in measured else "prefill")
    for name, value in measured.items():
        figure: Figure = getattr(outcome, name)
        if value > figure.ceiling * 1.02:
            return 0.0
        width = _width(figure, value)
        z = distance(figure, value)
        if name == solved and reach is not None:
            total *= exp(-0.5 * z * z) / max(reach, 2.5 * width)
        else:
            total *= exp(-0.5 * z * z) / (2.5 * width)
    return total


def _width(figure: Figure, value: float) -> float:
    edge = figure.high if value > figure.expected else figure.low
    return max(0.08, abs(log(edge / figure.expected)) / 1.28 if edge > 0 else 0.0)


def _figure(figure: Figure, measured: float | None) -> dict:
    ratio = None if measured is None else figure.expected / measured
    return {"expected": figure.expected, "low": figure.low, "high": figure.high, "ceiling": figure.ceiling, "ratio": ratio}


def _nearer(outcome: Outcome, base: Outcome, measured: dict) -> bool:
    """Whether an outcome comes clearly nearer to the figures than the case as stated, or fits where that does not."""
    now, before = (sum(abs(log(getattr(o, k).expected / v)) for k, v in measured.items()) for o in (outcome, base))
    return now < 0.9 * before or (base.fits is False and outcome.fits is not False)


def _parameter(spec, variants: Variants, measured: dict, value) -> dict:
    """The solved parameter; `least` is what the figure needs even at the ceiling, where it raises speed and costs nothing to solve."""
    free = spec.doc.solve
    least = None
    if spec.doc.figure == "fast" and _cheap(spec):
        target = _target(spec.doc, measured)
        found = _solve(spec, variants, target, measured[target], "ceiling")
        least = found.value if found is not None and found.value < value else None
    label = _texts(free.label, free.name.replace("_", " "))
    return {"name": free.name, "value": value, "least": least, "shown": free.shown, "label": label}


def _texts(title, name: str) -> dict[str, str]:
    en = name if title is None else title.en
    return {"en": en, "ko": (title.ko if title is not None else None) or en}


def _change(spec, variants: Variants, setting: Setting, free: dict) -> dict:
    """What was changed, as plain data: documents and options that `predict` takes, and multiples of rates."""
    old, change = variants.setting, spec.doc.change
    values = variants.facts | {k: v for k, v in free.items() if isinstance(v, (int, float))}
    out: dict = {k: str(getattr(setting, k)) for k in ("model", "engine") if getattr(setting, k) != getattr(old, k)}
    if setting.hardware != old.hardware:
        out["hardware"] = getattr(setting.hardware, "name", setting.hardware)
    out["techniques"] = [t for t in setting.techniques if t not in old.techniques]
    out["set"] = [s for s in setting.set if s not in old.set]
    out["workload"] = {k: v for k, v in setting.workload.items() if old.workload.get(k) != v}
    out["rates"] = {k: variants.value(n, values, spec, "change", "rates", k) for k, n in change.rates.items()}
    for key in ("tokens", "seconds"):
        node = getattr(change, key)
        out[key] = None if node is None else variants.value(node, values, spec, "change", key)
    out["measure"] = change.measure if change.measure != "user" else None
    return {k: v for k, v in out.items() if v}
