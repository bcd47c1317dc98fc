"""What Python programs call; the arguments beside the first are those of :func:`costmodel.predict`."""

from __future__ import annotations

from ..record import Record


def invert(unknown: str, target: str, model, hardware, *, ceiling: bool = False, **case) -> Record:
    """The value of `unknown` at which a case meets `target` (text as `--for` takes it), see docs/solve.md.

    `value` is in base units (B/s, FLOP/s, B, tokens, bits). Raises :class:`costmodel.SpecError` for bad input; a case without
    a solution is an answer (`found` is `none`, with `reason` and `nearest`).
    """
    from .question import Question
    from .solution import solve

    return solve(Question(model, hardware, **case), unknown, target, ceiling)


def crossovers(model, hardware, **case) -> Record:
    """Where one thing comes to outweigh another: batches, contexts, acceptance rates (`rows`, see docs/solve.md)."""
    from .crossings import crossings
    from .question import Question

    return crossings(Question(model, hardware, **case))


def sensitivity(model, hardware, *, of: str = "tps", change: float = 0.1, **case) -> Record:
    """What a relative `change` of each parameter makes of a figure, by exact derivatives and computed again (`rows`)."""
    from .elasticity import elasticities
    from .question import Question

    return elasticities(Question(model, hardware, **case), of, change)
