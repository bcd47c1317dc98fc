"""`costmodel inspect`."""

from __future__ import annotations

import click

from ..options import Size
from .common import warn_shadowed


@click.command("inspect")
@click.argument("files", nargs=-1, required=True)
@click.option("--context", "-c", type=Size(), help="Add what an engine allocates for this many tokens.")
@click.option("--ubatch", "-ub", type=Size(), default=512, help="Tokens computed at a time (default 512).")
@click.option("--parallel", "-np", "sequences", type=Size(), default=1, help="Sequences that share the cache.")
@click.option("--cache-type-k", "-ctk", "cache_k", default="f16", metavar="F", help="Number format of cached keys (default f16).")
@click.option("--cache-type-v", "-ctv", "cache_v", default="f16", metavar="F", help="The same of cached values.")
@click.option("--flash-attn/--no-flash-attn", "fused", default=True, help="Flash attention (default on).")
@click.option("--latents/--no-latents", "latent", default=True, help="Latent attention caches its latents (default), or heads.")
@click.option("--gpus", type=Size(), default=1, help="GPUs the layers are spread over.")
@click.option("--gpu-layers", "-ngl", type=Size(0), help="Layers on the GPU; the output matrix is one more.")
@click.option("--cpu-moe", is_flag=True, help="Experts stay on the host.")
@click.option("--engine", default="llama.cpp", metavar="E", help="Whose rules (default llama.cpp).")
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text")
def command(files, context, engine, fmt, **flags):
    """Count what models hold.

    FILES are names or documents of models, config.json, folders, .gguf, .safetensors or its index: parameters, KV bytes
    per token, state, stored and streamed bytes. Several files print a list.
    """
    from ..report.inspect import inspect_text
    from ..solve.buffers import Run

    if context is None and (engine != "llama.cpp" or Run(1, **flags) != Run(1, cache_k="f16", cache_v="f16")):
        raise click.UsageError("these options say what an engine allocates: give `--context` too")
    for file in files:
        warn_shadowed(file)
    click.echo(inspect_text(files, fmt, None if context is None else Run(context, **flags), engine))
