"""`costmodel report`."""

from __future__ import annotations

import sys

import click

from ..options import axes, placement
from .common import grid_of


@click.command("report")
@click.argument("study", default="memory-vs-speed")
@click.option("-o", "--output-file", "target", required=True, metavar="FILE", help="The page to write; its name ends in .html.")
@click.option("--force", is_flag=True, help="Replace the file where it is there.")
@axes
@placement
@click.option("--formats", metavar="F,F…", help="Number formats of weights to choose from; `none` for the case's own alone.")
@click.option("--lang", type=click.Choice(["en", "ko"]), default="en")
def command(study, target, force, formats, lang, **given):
    """Write a study as an interactive page.

    One HTML file that needs no network: the table of `costmodel matrix`, and sliders over the formulas of its cases.
    STUDY and the options of a grid are those of `costmodel matrix`.
    """
    from pathlib import Path

    from ..library import shared as library
    from ..report.importing import write_all
    from ..report.page.cases import FORMATS
    from ..report.page.write import checked_target, report_page
    from ..solve.progress import Progress
    from ..solve.views import run_study

    file = checked_target(Path(target), force)
    chosen, spec = grid_of(study, given)
    named = FORMATS if formats is None else tuple(f.strip() for f in formats.split(",") if f.strip() not in ("", "none"))
    with Progress(sys.stderr) as progress:
        result = run_study(chosen, library(), progress, spec)
    with Progress(sys.stderr) as progress:
        text = report_page(chosen, result, library(), lang, named, progress)
    write_all([file], [text])
    click.echo(f"{file}: {len(text.encode()) / 1e3:,.0f} kB")
