"""`costmodel evaluate`."""

from __future__ import annotations

import click

from ..options import measured
from .common import chosen_rows


@click.command("evaluate")
@measured
@click.option("--leave-out", is_flag=True, help="Predict each hardware family by coefficients fitted without it (needs SciPy).")
@click.option("--worst", type=click.IntRange(0, 1000), default=10, help="Rows listed as worst (default 10).")
@click.option("--plot", metavar="FILE", help="Write predicted against measured as svg, png or pdf (needs matplotlib).")
@click.option("--format", "fmt", type=click.Choice(["text", "markdown", "json"]), default="text")
@click.option("--lang", type=click.Choice(["en", "ko"]), default="en")
def command(leave_out, worst, plot, fmt, lang, **chosen):
    """Compare predictions with measurements.

    DATA are tables of runs (docs/measurements.md), or what llama-bench, vLLM and others write.
    """
    from ..report.evaluate import render
    from ..report.measured import evaluation

    rows, skipped, notes = evaluation(chosen_rows(**chosen), leave_out)
    for note in notes:
        click.echo(f"note: {note}", err=True)
    if plot:
        from ..report.plots.scatter import save_plot

        save_plot(rows, plot)
    click.echo(render(rows, skipped, fmt, lang, worst=worst).rstrip("\n"))
