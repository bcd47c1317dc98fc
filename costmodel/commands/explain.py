"""`costmodel explain`."""

from __future__ import annotations

import click

from ..options import shared
from .common import setting_of, warn_shadowed


@click.command("explain")
@click.argument("model")
@click.argument("quantity", default="tps")
@click.option("--hw", "hardware", required=True, metavar="HW", help="Hardware: a name or a document's path.")
@shared
@click.option("--level", type=click.IntRange(1, 3), default=2, help="1: the formula, 2: the terms below it, 3: every operator (default 2).")
@click.option("--symbolic", is_flag=True, help="Add the figure as a sympy expression, where it has one.")
@click.option("--latex", is_flag=True, help="The same in LaTeX.")
@click.option("--format", "fmt", type=click.Choice(["text", "json", "markdown"]), default="text")
def command(model, quantity, hardware, lang, level, symbolic, latex, fmt, **case):
    """Unfold a figure: formula, values, and where each comes from.

    QUANTITY is a figure of `predict --format json` by its path (`decode.bytes_by.kv`), or a short name: tps (default),
    tps.ceiling, rule_of_thumb, tpot, ttft, e2e, itl_mean, system_tps, flops, bytes, intensity, ridge, regime (of decode;
    `prefill.flops` …), memory, kv, weights, fits.
    """
    from ..library import shared as library
    from ..report.unfold import render
    from ..solve.unfold.figures import find
    from ..solve.unfold.opened import Opened
    from ..solve.unfold.tree import unfold

    warn_shadowed(model)
    figure = find(quantity)
    opened = Opened(setting_of(model, hardware, **case), library())
    data, shown = unfold(opened, figure, level), ""
    if symbolic or latex:
        from ..solve.unfold.symbolic import expression

        data["symbolic"], shown = expression(opened, figure, latex)
    click.echo(render(data, fmt, lang, opened.prediction.runnable.meta["titles"], shown))
