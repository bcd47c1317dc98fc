"""Dimension check of every formula in a document, with its line."""

from __future__ import annotations

from ..language.formula import FormulaError, Node
from ..language.formula.dims import check
from ..language.problem import Problem, SpecError
from ..language.units import BYTE, BYTE_RATE, COUNT, FLOP, FLOP_RATE, SECOND
from .names import DEVICE, SCHEDULE, SYMBOLS, TERMS, WORKLOAD, term_dim

_ROW_NAMES = WORKLOAD | {n: d for n, (d, _) in SYMBOLS.items()} | DEVICE
ENGINE_NAMES = {"M": COUNT, "bits": COUNT, "layers": COUNT, "bandwidth": BYTE_RATE, "peak": FLOP_RATE, "second": SECOND}


class _Open(dict):
    """Names that are bound elsewhere (dims of whichever model is used) count as counts."""

    def __contains__(self, name) -> bool:
        return True

    def __missing__(self, name):
        return COUNT


def check_dimensions(kind: str, doc, document) -> None:
    """Raise :class:`SpecError` for every formula of `doc` whose names or dimension are wrong."""
    problems: list[Problem] = []

    def formula(node: Node | str | float | None, env, want, *path) -> None:
        if not isinstance(node, tuple):
            return
        try:
            check(node, env, want)
        except FormulaError as error:
            shown = ".".join(map(str, path))
            problems.append(Problem(f"{shown}: {error}", document.mark(path), error.help))

    {"operator": _operator, "technique": _technique, "engine": _engine}.get(kind, lambda *_: None)(doc, formula)
    if problems:
        raise SpecError(problems)


def _operator(doc, formula) -> None:
    env = _ROW_NAMES | dict.fromkeys(doc.args, COUNT)
    pending = dict(doc.let)
    for name, node in pending.items():
        env[name] = _let_dim(node, env)
    for name, node in pending.items():
        formula(node, env, env[name], "let", name)
    formula(doc.params, env, COUNT, "params")
    formula(doc.flops, env, (COUNT, FLOP), "flops")
    formula(doc.hops, env, COUNT, "hops")
    formula(doc.workspace, env, BYTE, "workspace")
    for group in ("bytes", "floor", "holds"):
        for field, node in getattr(doc, group):
            formula(node, env, BYTE, group, field)
            if group == "bytes" and field == "weights":
                _only_pass(doc, node, formula)


def _only_pass(doc, node, formula) -> None:
    """Weight bytes move once per pass: they may depend on M and H, not on one group's B, T, S, R."""
    from ..language.formula.fold import bind

    try:
        for _ in range(4):
            node = bind(node, doc.let)
    except FormulaError:
        return
    names = set(SYMBOLS) | {"M", "H"} | set(doc.args) | set(DEVICE) | set(doc.let)
    formula(node, {n: _ROW_NAMES.get(n, COUNT) for n in names}, BYTE, "bytes", "weights")


def _let_dim(node: Node, env):
    from ..language.formula.dims import dimension

    try:
        return dimension(node, env)
    except FormulaError:
        return COUNT


def _technique(doc, formula) -> None:
    env = _Open(_ROW_NAMES | dict.fromkeys(doc.knobs, COUNT))
    for i, item in enumerate(doc.rewrite):
        path = ("rewrite", i)
        formula(item.when, env, COUNT, *path, "when")
        for name, node in item.set.items():
            formula(node, env, SYMBOLS[name][0] if name in SYMBOLS else COUNT, *path, "set", name)
        for verb in ("replace", "add"):
            for name, node in getattr(item, verb).items():
                want = term_dim(name) if name in TERMS else SYMBOLS[name][0] if name in SYMBOLS else COUNT
                formula(node, env, (want, FLOP) if name == "flops" else want, *path, verb, name)
        for name, node in item.scale.items():
            formula(node, env, COUNT, *path, "scale", name)
        if item.place:
            formula(item.place.share, env, COUNT, *path, "place", "share")
    names = SCHEDULE | dict.fromkeys(doc.knobs, COUNT)
    _schedule(doc.schedule, _Open(names) if doc.knobs else names, formula)


def _schedule(schedule, names, formula) -> None:
    names = dict(names)
    for field in ("batch", "no_cache"):
        formula(getattr(schedule, field), names, COUNT, "schedule", field)
    for phase in ("prefill", "decode"):
        for field, node in getattr(schedule, phase):
            if field == "also" and node is not None:
                for name in ("T", "S", "R", "repeat"):
                    formula(getattr(node, name), names, COUNT, "schedule", phase, "also", name)
            else:
                formula(node, names, COUNT, "schedule", phase, field)


def _engine(doc, formula) -> None:
    _settings(doc, formula, ())
    for group in ("classes", "formats"):
        for key, settings in getattr(doc, group).items():
            _settings(settings, formula, (group, key))


def _settings(settings, formula, path) -> None:
    for field, node in settings.efficiency:
        formula(node, ENGINE_NAMES, COUNT, *path, "efficiency", field)
    for field, node in settings.overhead:
        formula(node, ENGINE_NAMES, SECOND, *path, "overhead", field)
    formula(settings.moe_overlap, ENGINE_NAMES, COUNT, *path, "moe_overlap")
