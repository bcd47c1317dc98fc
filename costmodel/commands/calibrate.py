"""`costmodel calibrate`."""

from __future__ import annotations

import click

from ..options import measured
from .common import chosen_rows


@click.command("calibrate")
@measured
@click.option("-o", "--output", metavar="PATH", help="The document to write, or a folder for several (default: print).")
@click.option("--name", help="The document's name (default: the engine's and -calibrated).")
@click.option("--force", is_flag=True, help="Replace a document that is there.")
def command(output, name, force, **chosen):
    """Fit an engine's coefficients to measurements (needs SciPy).

    Prints errors by class before and after, and engine documents that extend the fitted ones: use one with --engine FILE.
    """
    from ..report.measured import calibrate as calibrated

    click.echo(calibrated(chosen_rows(**chosen), output, name, force))
