"""`costmodel solve`."""

from __future__ import annotations

import click

from ..options import shared


@click.command("solve")
@click.argument("unknown")
@click.argument("model")
@click.option("--hw", "hardware", required=True, metavar="HW", help="Hardware: a name or a document's path.")
@click.option("--for", "target", required=True, metavar="TARGET", help="What is wanted: tps=30, ttft=2s, memory=24GB, fits …")
@click.option("--ceiling", is_flag=True, help="Of the floor (tps.ceiling, ttft_s.floor), not of what to expect.")
@click.option("--suggest/--no-suggest", default=True, help="Machines, formats or links of the library that would do (default on).")
@shared
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text")
def command(unknown, model, hardware, target, ceiling, suggest, lang, fmt, **case):
    """Solve for what gives a wanted speed, time or memory.

    UNKNOWN is bandwidth, flops (or a type: fp16, int8 …), capacity, bits, kv-bits, batch, context, prompt, output,
    acceptance, drafted, gpu-layers, devices, format, link, host-bandwidth, host-flops, host-link, link-latency, a
    technique's knob (speculative-decoding.drafted), a coefficient of the engine, or a path as for --set.

    TARGET is tps, tpot, ttft, e2e, itl, user-tps, system-tps, memory, kv or weights with a value, `fits`,
    `compute-bound`, or a figure of predict's JSON (decode.intensity=100). Speeds are wanted at least, times and bytes at
    most; `>=` and `<=` say it. Says whether the value is exact or bracketed. Exit code 1 where there is none.
    """
    from ..solve.invert.solution import solve
    from .common import question_of, warn_shadowed

    warn_shadowed(model)
    answer = solve(question_of(model, hardware, **case), unknown, target, ceiling, suggest)
    if fmt == "json":
        import json

        click.echo(json.dumps(answer.to_dict(), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        from ..report.inverse import solution_text

        click.echo(solution_text(answer, lang))
    return 1 if answer.found == "none" else 0
