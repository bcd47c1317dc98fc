"""`costmodel check`."""

from __future__ import annotations

import click

from ..options import Speed, shared
from .common import case_of, setting_of


@click.command("check")
@click.argument("tok_s", type=Speed(), required=False)
@click.option("--prefill", type=Speed(), help="Measured prompt-processing speed; TOK_S may then be left out.")
@click.option("--model", required=True)
@click.option("--hw", "hardware", required=True, metavar="HW")
@shared
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text")
def command(tok_s, prefill, model, hardware, lang, fmt, **case):
    """Judge a measured speed, and explain it.

    TOK_S decode tokens per second and user (and --prefill prompt tokens per second) are impossible (exit 1), fast, normal
    or slow on this machine. Explanations are predictions with one thing changed, likeliest first.
    """
    from ..library import shared as library
    from ..solve.check import check as judge

    if tok_s is None and prefill is None:
        raise click.UsageError("want a measured speed: TOK_S, `--prefill`, or both")
    p = case_of(model, hardware, **case)
    result = judge(p, tok_s, library(), prefill=prefill, setting=setting_of(model, hardware, **case))
    if fmt == "json":
        import json

        from ..solve.export import clean

        click.echo(
            json.dumps(
                clean({"schema": "costmodel/check@1", "model": p.runnable.meta["model"], **result.to_dict()}),
                ensure_ascii=False,
                indent=2,
                allow_nan=False,
            )
        )
    else:
        from ..report.check import check_text

        click.echo(check_text(result, lang))
    return 1 if result.verdict == "impossible" else 0
