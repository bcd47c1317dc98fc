"""`costmodel diff`."""

from __future__ import annotations

import click

from ..options import shared
from .common import setting_of


@click.command("diff")
@click.argument("a")
@click.argument("b")
@click.option("--hw", "hardware", metavar="HW", help="Hardware of cases that name none.")
@shared
@click.option("--format", "fmt", type=click.Choice(["text", "json", "markdown"]), default="text")
def command(a, b, hardware, lang, fmt, **case):
    """Say which term moved between two cases, and by how much.

    A and B are MODEL[@HW][+PART]…, each PART a technique (`int4`, `kv-int8`, `gqa:kv_heads=4`), a field of the workload
    (`prompt`, `output`, `context`, `batch` or `devices` `=N`), `engine=E`, or an override (`hw.memory.dram.bandwidth=1TB/s`). A B
    that begins with `@` or `+` is A with that machine or those parts: `costmodel diff 8b@ddr5 +int4`. The options hold for
    both cases, where they say nothing else.
    """
    from ..library import shared as library
    from ..report.unfold_diff import render
    from ..solve.unfold.cases import read_case
    from ..solve.unfold.compare import compare
    from ..solve.unfold.opened import Opened

    common = setting_of(None, hardware, **case)
    first = read_case(a, common, "A")
    second = read_case(b, first if b[:1] in ("@", "+") else common, "B")
    click.echo(render(compare(Opened(first, library()), Opened(second, library())), fmt, lang))
