"""`costmodel matrix`."""

from __future__ import annotations

import sys

import click

from ..options import Size, placement


@click.command("matrix")
@click.argument("study", default="memory-vs-speed")
@click.option("--model", "models", multiple=True, help="Models of an ad-hoc grid (or instead of the study's).")
@click.option("--hw", "hardware", multiple=True, help="Machines of the grid.")
@click.option("--engine", "engines", multiple=True, help="Engines of the grid (default: each machine's).")
@click.option(
    "--technique",
    "-t",
    "techniques",
    multiple=True,
    help="Techniques of the grid, one cell each; `none` for the plain model, `a+b` together.",
)
@click.option("--prompt", "prompts", type=Size(), multiple=True)
@click.option("--context", "contexts", type=Size(0), multiple=True)
@click.option("--batch", "batches", type=Size(), multiple=True)
@click.option("--devices", type=Size(), multiple=True)
@click.option("--output", type=Size(), help="Output tokens of every cell.")
@click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Override in every cell, as for predict.")
@click.option("--filter", "filters", multiple=True, metavar="COND", help="Keep rows: `tps>20`, `fits=true`, `hardware=rtx*`.")
@click.option("--sort", metavar="FIELD", help="Sort rows by a field; `-FIELD` for descending.")
@placement
@click.option("--format", "fmt", type=click.Choice(["text", "markdown", "html", "csv", "json"]), default="text")
@click.option("--lang", type=click.Choice(["en", "ko"]), default="en")
@click.option("--columns", type=click.IntRange(40, 400), default=80, help="Width of text tables (default 80).")
def command(study, filters, sort, fmt, lang, columns, **given):
    """Evaluate a study, or a grid of options.

    STUDY is a name or path; by default the memory-against-speed table. With --model, --hw, --technique, --prompt,
    --context, --batch or --devices: every combination of what is given (repeat an option for several values).
    """
    from ..library import shared as library
    from ..report.render import render_study
    from ..solve.grid import Axes, ad_hoc, select
    from ..solve.progress import Progress
    from ..solve.views import run_study
    from ..solve.where import placed

    where = {k: given.pop(k) for k in ("gpu_layers", "cpu_moe", "all_cpu_moe", "kv_host", "links")}
    more, given["sets"] = placed((), given["sets"], **where)
    if more:
        given["techniques"] = tuple("+".join((*t.split("+"), *more)) for t in given["techniques"] or ("none",))
    axes = Axes(**given)
    chosen, spec = ad_hoc(library(), study, axes)
    with Progress(sys.stderr) as progress:
        result = run_study(chosen, library(), progress, spec)
    click.echo(render_study(chosen, select(result, filters, sort), fmt, lang, columns).rstrip("\n"))
