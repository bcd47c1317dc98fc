"""`costmodel schema`."""

from __future__ import annotations

import click


@click.command("schema")
@click.argument("kind", required=False)
@click.option("--write", metavar="DIR", help="Write every schema into a folder: documents there, outputs under `outputs/`.")
def command(kind, write):
    """Print JSON Schemas for editors.

    KIND is a kind of document (`hardware`, `model` …), or what a command prints as JSON (`prediction` of `predict`,
    `unfolded-figure` of `explain`, else the command's name); without it, all of them.
    """
    from ..report.schemas import schema_text, write_schemas

    click.echo(write_schemas(write) if write else schema_text(kind))
