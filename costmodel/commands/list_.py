"""`costmodel list`."""

from __future__ import annotations

import click


@click.command("list")
@click.argument("kind", required=False)
@click.argument("pattern", required=False)
@click.option("--filter", "filters", multiple=True, metavar="COND", help="Keep rows: `params<10B`, `kind=*moe*`, `capacity>=24GB`.")
@click.option("--sort", metavar="FIELD", help="Sort rows by a field; `-FIELD` for descending.")
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text")
def command(kind, pattern, filters, sort, fmt):
    """List documents of a kind.

    KIND is hardware, models, techniques, engines, studies, formats, operators, families, towers, recipes, layouts,
    links, explanations or classes (of hardware); PATTERN filters names (`rtx40`, `qwen*`), for hardware also classes, for models also kinds
    (`moe`, `mla`, `hybrid`, `sliding`, `vision` …).
    """
    from ..report.listing import listing

    click.echo(listing(kind, pattern, fmt, filters, sort))
