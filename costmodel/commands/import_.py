"""`costmodel import`."""

from __future__ import annotations

import click


@click.command("import")
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--output", metavar="PATH", help="The document to write, or a folder for several (default: print).")
@click.option("--name", help="The document's name (default: from the file's or folder's).")
@click.option("--family", metavar="F", help="Read the config as this family (`costmodel list families`).")
@click.option("--force", is_flag=True, help="Replace a document that is there.")
def command(files, output, name, family, force):
    """Write model documents from other programs' files.

    FILES are config.json, a folder that holds one, .gguf, .safetensors with config.json beside it, or hf:org/name. The
    document is checked before it is written.
    """
    from ..report.importing import import_files

    click.echo(import_files(files, output, name, family, force))
