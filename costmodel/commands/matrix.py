"""`costmodel matrix`."""

from __future__ import annotations

import sys

import click

from ..options import grid, placement
from .common import grid_of


@click.command("matrix")
@grid
@click.option("--sort", metavar="FIELD", help="Sort rows by a field; `-FIELD` for descending.")
@placement
@click.option("--format", "fmt", type=click.Choice(["text", "markdown", "html", "csv", "json"]), default="text")
@click.option("--lang", type=click.Choice(["en", "ko"]), default="en")
@click.option("--columns", type=click.IntRange(40, 400), default=80, help="Width of text tables (default 80).")
def command(study, filters, sort, fmt, lang, columns, **given):
    """Evaluate a study, or a grid of options.

    STUDY is a name or path; by default the memory-against-speed table. With --model, --hw, --technique, --prompt,
    --context, --batch or --devices: every combination of what is given (repeat an option for several values).
    """
    from ..library import shared as library
    from ..report.render import render_study
    from ..solve.grid import select
    from ..solve.progress import Progress
    from ..solve.views import run_study

    chosen, spec = grid_of(study, given)
    with Progress(sys.stderr) as progress:
        result = run_study(chosen, library(), progress, spec)
    click.echo(render_study(chosen, select(result, filters, sort), fmt, lang, columns).rstrip("\n"))
