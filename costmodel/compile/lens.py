"""A program as sympy: sums of its rows' terms over the steps of a phase. Imported only when asked for."""

from __future__ import annotations

from ..language.formula.fold import bind
from ..language.formula.lens import symbol, to_sympy


def phase_sum(program, phase: str, terms: tuple, values: bool):
    """Sum of terms over rows for the single step of a phase, `repeat` kept symbolic.

    Symbols: `B` (the batch), `prompt` or `context`, and the model's dims. A chunked prefill is shown unchunked.
    """
    import sympy

    point = _point(program, phase)
    total = sympy.Integer(0)
    shown = program.shown_dims()
    for row in program.rows:
        env = dict(point)
        if values:
            repeat = sympy.Integer(program.repeat(row))
        else:
            env |= {n: symbol(n) for n in program.dims}
            repeat = to_sympy(bind(row.repeat, shown, strict=False), env)
        for term in terms:
            node = program.term(row, term, symbolic=not values)
            expression = to_sympy(node, env)
            if expression != 0:
                total += repeat * expression
    return total


def _point(program, phase: str) -> dict:
    """B, T, S, R, M, H of the phase's step as expressions in the batch and the workload."""
    batch = symbol("B")
    names = {n: symbol(n) for n in ("prompt", "context", "output")} | {"batch": batch}
    field = {f: to_sympy(program.fields[f"{phase}.{f}"].node, names) for f in ("T", "S", "R")}
    count = to_sympy(program.fields["batch"].node, names)
    return {"B": count, **field, "M": count * field["T"], "H": count * field["R"]}
