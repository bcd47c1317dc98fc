"""`costmodel sensitivity`."""

from __future__ import annotations

import click

from ..options import shared


class Change(click.ParamType):
    """A share of a parameter: `10%`, `10 %`, `0.1`."""

    name = "SHARE"

    def convert(self, value, param, ctx):
        """The share. Fails for what is none."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            self.fail(f"`{value}` is not a share; write 10%", param, ctx)
        if not 0 < share < 1:
            self.fail("want more than 0 and less than 100%", param, ctx)
        return share


@click.command("sensitivity")
@click.argument("model")
@click.option("--hw", "hardware", required=True, metavar="HW", help="Hardware: a name or a document's path.")
@click.option("--of", default="tps", metavar="FIGURE", help="tps (default), tpot, ttft, e2e, memory …, or a figure of predict's JSON.")
@click.option("--ceiling", is_flag=True, help="Of the floor (tps.ceiling, ttft_s.floor), not of what to expect.")
@click.option("--change", type=Change(), default=0.1, help="How much each parameter is changed (default 10%).")
@click.option("--plot", metavar="FILE", help="Write a tornado chart as svg, png or pdf (needs matplotlib).")
@click.option("--force", is_flag=True, help="Replace a picture that is there.")
@shared
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text")
def command(model, hardware, of, ceiling, change, plot, force, lang, fmt, **case):
    """Say what each parameter weighs.

    Bandwidth, peak rates, links, bits, workload, knobs and the engine's coefficients, weightiest first: the elasticity by
    exact derivative, and what 10 % more or less makes of the figure, computed again.
    """
    from ..solve.invert.elasticity import elasticities
    from .common import draw, question_of, warn_shadowed

    warn_shadowed(model)
    found = elasticities(question_of(model, hardware, **case), of, change, ceiling)
    if plot:
        from ..report import plots

        draw(plot, force, lang, lambda lang: plots.tornado(found, lang=lang), "--plot")
    if fmt == "json":
        import json

        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        from ..report.sensitivity import sensitivity_text

        click.echo(sensitivity_text(found, lang))
