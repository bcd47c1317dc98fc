"""`costmodel probe`."""

from __future__ import annotations

import click


@click.command("probe")
@click.option("--measure", is_flag=True, help="Time read bandwidth and matrix rate with NumPy (about 10 s).")
@click.option("-o", "--output", metavar="PATH", help="The document to write, or a folder for one of every device (default: print).")
@click.option("--device", metavar="D", help="`cpu`, `gpu0` … (default: the one with the highest bandwidth).")
@click.option("--name", help="The document's name (default: the file's, or this-machine).")
@click.option("--force", is_flag=True, help="Replace a document that is there.")
@click.option("--format", "fmt", type=click.Choice(["text", "yaml", "json"]), default="text")
def command(measure, output, device, name, force, fmt):
    """Write a hardware document of this machine.

    Reads processor, memory and GPUs from the system and its tools; nothing is measured unless asked.
    """
    from ..report.probing import Wanted
    from ..report.probing import probe as probe_machine

    click.echo(probe_machine(Wanted(output, name, device, force, fmt), measure))
