"""Dimension check of every formula in a document, with its line."""

from __future__ import annotations

import re
from typing import Any

from ..language.formula import Bin, Call, FormulaError, Neg, Node, Num, names
from ..language.formula.dims import check
from ..language.formula.fold import number
from ..language.formula.nodes import FUNCTIONS
from ..language.problem import Problem, SpecError, suggest
from ..language.units import BYTE, BYTE_RATE, COUNT, FLOP, FLOP_RATE, SECOND
from .names import DEVICE, FACTS, ROLES, SCHEDULE, SYMBOLS, TERMS, WORKLOAD, term_dim

_ROW_NAMES = WORKLOAD | {n: d for n, (d, _) in SYMBOLS.items()} | DEVICE
ENGINE_NAMES = {
    "M": COUNT,
    "tokens": COUNT,
    "bits": COUNT,
    "math_bits": COUNT,
    "layers": COUNT,
    "moe_layers": COUNT,
    "latent_layers": COUNT,
    "bandwidth": BYTE_RATE,
    "peak": FLOP_RATE,
    "second": SECOND,
    "GB": BYTE,
    "TFLOP": FLOP,
}
"""What engine formulas may name beside their coefficients; `tokens` is M, for an expert's matrices M · k / E."""


COMMON_DIMS = ("L", "d", "n_q", "n_kv", "d_h", "d_ff", "d_e", "vocab", "E", "k", "tied", "kv_ways", "layers", "width", "qkv_fused")


class _Open(dict):
    """Names that are bound elsewhere (dims of whichever model is used) count as counts."""

    def __contains__(self, name) -> bool:
        return True

    def __missing__(self, name):
        return COUNT


class _Checker:
    """Collects the problems of one document's formulas."""

    def __init__(self, document):
        self.document, self.problems = document, []

    def __call__(self, node: Node | str | float | None, env, want, *path) -> None:
        """Check one formula; fields that hold none are passed over."""
        if not isinstance(node, tuple):
            return
        try:
            check(node, env, want)
        except FormulaError as error:
            self.refuse(str(error), *path, help=error.help)

    def refuse(self, message: str, *path, help: str | None = None) -> None:
        """Note a problem at a path."""
        shown = ".".join(map(str, path))
        self.problems.append(Problem(f"{shown}: {message}", self.document.mark(path), help))


def check_dimensions(kind: str, doc, document) -> None:
    """Raise :class:`SpecError` for every formula of `doc` whose names or dimension are wrong, and every shadowed name."""
    checker = _Checker(document)
    checks = {"operator": _operator, "technique": _technique, "engine": _engine, "model": _model, "explanation": _explanation}
    checks.get(kind, lambda *_: None)(doc, checker)
    if checker.problems:
        raise SpecError(checker.problems)


def _shadow(field: str, given, taken, checker: _Checker) -> None:
    """A name of the prelude cannot be given another meaning."""
    for name in given:
        if name in taken:
            checker.refuse(f"`{name}` is a name of the language", field, name, help="choose another name")


def _model(doc, checker: _Checker) -> None:
    _shadow("dims", doc.dims, _ROW_NAMES, checker)
    for block, item in doc.blocks.items():
        for row, entry in item.ops.items():
            _role(entry.role, checker, "blocks", block, "ops", row, "role")
    for field in ("roles", "bytes"):
        for role in getattr(doc.weights, field):
            known = {*ROLES, *(r.partition(".")[0] for r in ROLES)}
            if role not in known:
                checker.refuse(f"no role `{role}`", "weights", field, role, help=suggest(role, known))
    if not doc.abstract and doc.blocks:
        used = _used_dims(doc)
        for name in doc.dims:
            own = checker.document.mark(("dims", name)).source is checker.document.source
            if own and name not in used:
                checker.refuse(f"dim `{name}` is used by nothing", "dims", name, help=suggest(name, used - set(doc.dims) or used))


def _used_dims(doc) -> set[str]:
    """Names that blocks, other dims, number formats and techniques may read."""
    used = set(COMMON_DIMS)
    texts = [v for v in doc.dims.values() if isinstance(v, str)]
    for block in doc.blocks.values():
        used |= names(block.repeat) if isinstance(block.repeat, Node) else set()
        used |= {n for node in block.span or () if isinstance(node, Node) for n in names(node)}
        for row in block.ops.values():
            used |= names(row.when) if isinstance(row.when, Node) else set()
            texts += [v for v in (row.model_extra or {}).values() if isinstance(v, str)]
    for text in texts:
        used |= set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text))
    return used - set(FUNCTIONS)


def _role(role: str, checker: _Checker, *path) -> None:
    if role not in ROLES:
        checker.refuse(f"no role `{role}`", *path, help=suggest(role, ROLES))


MAX_LET = 60


def _operator(doc, formula) -> None:
    _shadow("args", doc.args, _ROW_NAMES, formula)
    _shadow("let", doc.let, _ROW_NAMES | dict.fromkeys(doc.args, COUNT), formula)
    for name, arg in doc.args.items():
        default: Any = getattr(arg, "default", None)
        if isinstance(default, (Num, Bin, Call, Neg)) and not names(default):
            try:
                number(default)
            except FormulaError as error:
                formula.refuse(str(error), "args", name)
    env = _ROW_NAMES | dict.fromkeys(doc.args, COUNT)
    if len(doc.let) > MAX_LET:
        return formula.refuse(f"{len(doc.let)} helper formulas; at most {MAX_LET}", "let")
    pending = dict(doc.let)
    while pending:  # helper formulas may refer to one another in any order
        before = len(pending)
        for name, node in list(pending.items()):
            found = _let_dim(node, env)
            if found is not None:
                env[name] = found
                del pending[name]
        if len(pending) == before:
            env |= dict.fromkeys(pending, COUNT)
            break
    for name, node in doc.let.items():
        formula(node, env, env[name], "let", name)
    formula(doc.params, env, COUNT, "params")
    formula(doc.stored, env, BYTE, "stored")
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
    for name in sorted(names(node) & {"B", "T", "S", "R"}):
        formula.refuse(f"weight bytes move once per pass: they may depend on M and H, not on `{name}`", "bytes", "weights")
        return


def _let_dim(node: Node, env):
    from ..language.formula.dims import dimension

    try:
        return dimension(node, env)
    except FormulaError:
        return None


def _technique(doc, formula) -> None:
    _shadow("knobs", doc.knobs, _ROW_NAMES | SCHEDULE, formula)
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
        if item.insert:
            for row, entry in item.insert.rows.items():
                _role(entry.role, formula, *path, "insert", "rows", row, "role")
        if item.place:
            for field in ("share", "layers", "rest"):
                formula(getattr(item.place, field), env, COUNT, *path, "place", field)
    formula(doc.devices, dict.fromkeys(doc.knobs, COUNT), COUNT, "devices")
    known = SCHEDULE | dict.fromkeys(doc.knobs, COUNT)
    _schedule(doc.schedule, known, formula)


def _schedule(schedule, known, formula) -> None:
    for field in ("batch", "no_cache"):
        formula(getattr(schedule, field), known, COUNT, "schedule", field)
    for phase in ("prefill", "decode"):
        for field, node in getattr(schedule, phase):
            if field == "also" and node is not None:
                for name in ("T", "S", "R", "repeat"):
                    formula(getattr(node, name), known, COUNT, "schedule", phase, "also", name)
            else:
                formula(node, known, COUNT, "schedule", phase, field)


def _engine(doc, formula) -> None:
    _buffers(doc, formula)
    coefficients = dict(doc.coefficients)
    _settings(doc, formula, (), coefficients)
    for key, settings in doc.classes.items():
        here = coefficients | settings.coefficients
        _settings(settings, formula, ("classes", key), here)
        for name, inner in settings.formats.items():
            _settings(inner, formula, ("classes", key, "formats", name), here | inner.coefficients)
    for key, settings in doc.formats.items():
        _settings(settings, formula, ("formats", key), coefficients | settings.coefficients)


def _explanation(doc, formula) -> None:
    facts = dict.fromkeys(FACTS, COUNT)
    free = {doc.solve.name: COUNT} if doc.solve else {}
    _shadow("solve", free, FACTS, formula)
    formula(doc.when, facts, COUNT, "when")
    formula(doc.prior, facts, COUNT, "prior")
    for field in ("low", "high", "neutral"):
        formula(getattr(doc.solve, field, None), facts, COUNT, "solve", field)
    for i, node in enumerate((doc.solve.plausible if doc.solve else None) or ()):
        formula(node, facts, COUNT, "solve", "plausible", i)
    for group in ("workload", "rates"):
        given = getattr(doc.change, group)
        for field, node in given.items() if isinstance(given, dict) else given:
            formula(node, facts | free, COUNT, "change", group, field)
    for field in ("seconds", "tokens"):
        formula(getattr(doc.change, field), facts | free, COUNT, "change", field)


BUFFER_NAMES = (
    "context",
    "ubatch",
    "sequences",
    "fused",
    "gpus",
    "window",
    "cells",
    "latent",
    "width",
    "vocab",
    "heads",
    "head_width",
    "E",
    "k",
    "expert_host",
    "head_copy",
)


def _buffers(doc, formula) -> None:
    for field, node in doc.buffers or ():
        if field != "latent":
            formula(node, dict.fromkeys(BUFFER_NAMES, COUNT), COUNT, "buffers", field)


def _settings(settings, formula, path, coefficients) -> None:
    names = ENGINE_NAMES | dict.fromkeys(coefficients, COUNT)
    _shadow("coefficients", settings.coefficients, ENGINE_NAMES, formula)
    for field, node in settings.efficiency:
        formula(node, names, COUNT, *path, "efficiency", field)
    for field, node in settings.overhead:
        formula(node, names, SECOND, *path, "overhead", field)
    formula(settings.moe_overlap, names, COUNT, *path, "moe_overlap")
