"""`costmodel plot`: pictures of predictions."""

from __future__ import annotations

import sys
from functools import partial

import click

from ..options import Size, drawn, grid, picture, placement, workload
from .common import case_of, draw, grid_of


@click.group("plot")
def command():
    """Draw predictions as svg, png or pdf (needs matplotlib).

    MODEL and HW are names or paths, as for `predict`; several are compared in one picture.
    """


def _draw(target, force, lang, make) -> None:
    """Draw, write, and say so."""
    draw(target, force, lang, make)
    click.echo(f"wrote {target}")


def _cases(models, hardware, weights, techniques, base, sets, context=None, batch=1, **case) -> list:
    """The predictions that the options of `drawn` ask for: of each model, machine and format the plain one first."""
    formats: list[tuple] = [(f"model.weights.format={name}",) for name in weights] or [()]
    used = dict.fromkeys(["", *(t for t in techniques if t != "none")])
    return [
        case_of(model, machine, (*base, *(x for x in t.split("+") if x)), context=context, batch=batch, sets=(*sets, *form), **case)
        for model in models
        for machine in hardware
        for form in formats
        for t in used
    ]


@command.command("roofline")
@drawn
@workload
@click.option("--operators", is_flag=True, help="Add the operators of the first case.")
def roofline(target, force, lang, operators, **case):
    """Ceilings, ridge, prefill and decode.

    Techniques are arrows from the plain model's marks. Marks are at the rate of the expected time.
    """
    from ..report import plots

    _draw(target, force, lang, lambda lang: plots.roofline(_cases(**case), operators=operators, lang=lang))


@command.command("context")
@drawn
@partial(workload, without=("context",))
@click.option("--from", "first", type=Size(), default=1024, help="Shortest context (default 1k).")
@click.option("--to", "last", type=Size(), default=131072, help="Longest context (default 128k).")
def context(target, force, lang, first, last, **case):
    """Decode speed against the context.

    Expected tokens/s per user, 80 % span and ceiling, and where memory is full.
    """
    from ..report import plots

    _draw(target, force, lang, lambda lang: plots.context(_cases(**case), (first, last), lang=lang))


@command.command("batch")
@drawn
@partial(workload, without=("batch",))
@click.option("--from", "first", type=Size(), default=1, help="Smallest batch (default 1).")
@click.option("--to", "last", type=Size(), default=256, help="Largest batch (default 256).")
def batch(target, force, lang, first, last, **case):
    """Decode speed against the batch.

    Tokens/s per user, and of all users together, and where memory is full.
    """
    from ..report import plots

    _draw(target, force, lang, lambda lang: plots.batch(_cases(**case), (first, last), lang=lang))


@command.command("memory")
@drawn
@partial(workload, without=("context",))
@click.option("--context", "contexts", type=Size(0), multiple=True, help="Cached tokens (default: the prompt); repeat for several bars.")
def memory(target, force, lang, contexts, **case):
    """What memory holds, as stacked bars.

    Weights, KV cache, state, workspace and draft model against the memory that there is.
    """
    from ..report import plots

    _draw(target, force, lang, lambda lang: plots.memory(_cases(**case), contexts, lang=lang))


@command.command("pareto")
@grid
@click.option("--weights", multiple=True, metavar="FORMAT", help="Number formats of the weights, one cell each.")
@placement
@picture
@click.option("--lang", type=click.Choice(["en", "ko"]), default="en")
def pareto(study, filters, weights, target, force, lang, **given):
    """Memory against speed, and the Pareto front.

    Of a study, or of a grid of options. STUDY and the options of the grid are those of `costmodel matrix`.
    """
    _draw(target, force, lang, lambda lang: _front(study, filters, weights, given, lang))


def _front(study, filters, weights, given: dict, lang: str):
    """The figure of a table of savings, or of the cells of a grid."""
    from ..library import shared as library
    from ..report import plots
    from ..solve.cases import predictions_of
    from ..solve.grid import select
    from ..solve.progress import Progress
    from ..solve.views import run_study

    cases: list = []
    for form in weights or (None,):
        chosen, spec = grid_of(study, given, (f"model.weights.format={form}",) if form else ())
        with Progress(sys.stderr) as progress:
            result = select(run_study(chosen, library(), progress, spec), filters, None)
        if result["view"] != "grid":
            return plots.savings(chosen, result, lang=lang)
        refused = [row["refused"] for row in result["rows"] if row["refused"]]
        if refused:
            click.echo(f"note: {len(refused)} refused, the first: {refused[0]}", err=True)
        cases += predictions_of(chosen, result["rows"], library())
    return plots.pareto(cases, lang=lang)
