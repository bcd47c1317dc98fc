"""What Python programs call; the arguments beside the first are those of :func:`costmodel.predict`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import SupportsIndex, TypedDict, Unpack

    from ...api import Document, Techniques
    from ...library import Library
    from .answers import Crossovers, Sensitivity, Solution

    class Options(TypedDict, total=False):
        """What :func:`costmodel.predict` takes by name."""

        techniques: Techniques
        engine: Document | None
        prompt: SupportsIndex
        output: SupportsIndex
        context: SupportsIndex | None
        batch: SupportsIndex
        devices: SupportsIndex
        sets: str | Iterable[str]
        library: Library | None


def invert(
    unknown: str, target: str, model: Document, hardware: Document, *, ceiling: bool = False, suggest: bool = True, **case: Unpack[Options]
) -> Solution:
    """The value of `unknown` at which a case meets `target`, both as `costmodel solve` takes them (docs/solve.md).

    `value` is in base units (B/s, FLOP/s, B, tokens, bits). `ceiling` takes the floor's figure; without `suggest`
    `would_do` stays empty. Raises :class:`costmodel.SpecError` for bad input; a case without a solution is
    an answer (`found` is `none`, with `reason` and `nearest`).
    """
    from .question import Question
    from .solution import solve

    _texts(unknown=unknown, target=target)
    return solve(Question(model, hardware, **case), unknown, target, ceiling, suggest)


def crossovers(model: Document, hardware: Document, **case: Unpack[Options]) -> Crossovers:
    """Where one thing comes to outweigh another: batches, contexts, acceptance rates (`rows`, see docs/solve.md).

    Raises :class:`costmodel.SpecError` for bad input.
    """
    from .crossings import crossings
    from .question import Question

    return crossings(Question(model, hardware, **case))


def sensitivity(
    model: Document, hardware: Document, *, of: str = "tps", change: float = 0.1, ceiling: bool = False, **case: Unpack[Options]
) -> Sensitivity:
    """What a relative `change` of each parameter makes of a figure, by exact derivatives and computed again (`rows`).

    `ceiling` takes the floor's figure. Raises :class:`costmodel.SpecError` for bad input, and for a figure without a formula.
    """
    from .elasticity import elasticities
    from .question import Question

    _texts(of=of)
    return elasticities(Question(model, hardware, **case), of, change, ceiling)


def _texts(**given: object) -> None:
    from ...language.problem import problem

    for name, value in given.items():
        if not isinstance(value, str):
            raise problem(f"{name}: want a text, got {value!r}")
