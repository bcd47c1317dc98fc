"""`costmodel crossovers`."""

from __future__ import annotations

import click

from ..options import shared


@click.command("crossovers")
@click.argument("model")
@click.option("--hw", "hardware", required=True, metavar="HW", help="Hardware: a name or a document's path.")
@shared
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text")
def command(model, hardware, lang, fmt, **case):
    """Find where one thing comes to outweigh another.

    The batch, context or prompt from which decode and prefill are compute bound and KV outweighs weights; the acceptance
    above which speculation pays at this batch, and the batches at which it does; and where a mixture of experts loses
    its edge over dense models. Each is exact or bracketed, or there is none.
    """
    from ..solve.invert.crossings import crossings
    from .common import question_of, warn_shadowed

    warn_shadowed(model)
    found = crossings(question_of(model, hardware, **case))
    if fmt == "json":
        import json

        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        from ..report.crossovers import crossovers_text

        click.echo(crossovers_text(found, lang))
