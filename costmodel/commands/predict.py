"""`costmodel predict`."""

from __future__ import annotations

import click

from ..options import shared
from .common import best_placement, case_of, warn_shadowed


@click.command("predict")
@click.argument("model")
@click.option("--hw", "hardware", required=True, metavar="HW", help="Hardware: a name or a document's path.")
@shared
@click.option("--operators", is_flag=True, help="Add a table of every operator.")
@click.option("--must-fit", is_flag=True, help="Find the best placement that fits; exit 1 when none does.")
@click.option("--format", "fmt", type=click.Choice(["text", "json", "markdown", "csv"]), default="text")
def command(model, hardware, lang, operators, must_fit, fmt, **case):
    """Predict speed and memory of a model on a machine.

    MODEL and HW are names (`costmodel list`) or paths of documents. Says what limits each phase and what was assumed.
    """
    from ..report.predict import predict_render

    warn_shadowed(model)
    p, fit = case_of(model, hardware, **case), None
    if must_fit:
        fit = best_placement(model, hardware, **case)
        p = fit.prediction
    click.echo(predict_render(p, fmt, lang, operators, fit))
    return 1 if fit is not None and not fit.fits else 0
