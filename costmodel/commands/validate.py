"""`costmodel validate`."""

from __future__ import annotations

import click

from .common import fail


@click.command("validate")
@click.argument("files", nargs=-1, required=True)
def command(files):
    """Check documents, as CI does.

    FILES are documents or folders: schema, units, formulas, references, sources, published sizes.
    """
    from ..solve.validate import validate_files

    done, warnings, problems = validate_files(files)
    for text in [*warnings, *problems]:
        click.echo(text, err=True)
    if problems:
        fail(f"{len(problems)} of {done} documents have problems")
    click.echo(
        f"{done} document{'s' if done != 1 else ''} valid"
        + (f", {len(warnings)} warning{'s' if len(warnings) != 1 else ''}" if warnings else "")
    )
