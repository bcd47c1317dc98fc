"""`costmodel schema`."""

from __future__ import annotations

import click


@click.command("schema")
@click.argument("kind", required=False)
@click.option("--write", metavar="DIR", help="Write the schema of every kind into a folder.")
def command(kind, write):
    """Print JSON Schemas for editors.

    Of one KIND of document, of all, or written into a folder.
    """
    from ..report.schemas import schema_text, write_schemas

    click.echo(write_schemas(write) if write else schema_text(kind))
