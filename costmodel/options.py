"""Types and groups of options that several commands share."""

from __future__ import annotations

import click


class Size(click.ParamType):
    """A positive count; `8k` is 8192."""

    name = "N"

    def __init__(self, low: int = 1):
        self.low = low

    def convert(self, value, param, ctx):
        """The count; fails on text that is none, and below 1."""
        from .sizes import MOST, read_size

        if isinstance(value, int):
            return value
        try:
            number = read_size(value)
        except ValueError:
            self.fail(f"`{value}` is not a count; write 4096 or 8k", param, ctx)
        if not self.low <= number <= MOST:
            self.fail(f"want {'at least ' + str(self.low) if number < self.low else 'at most 10^12'}", param, ctx)
        return number


class Speed(click.ParamType):
    """Tokens per second: `13`, `13.4`, `13.4 tok/s`."""

    name = "TOK_S"

    def convert(self, value, param, ctx):
        """The number. Fails for what is none, and for 0 or less."""
        if isinstance(value, float):
            return value
        text = str(value).strip().lower()
        for unit in ("tokens/s", "token/s", "tok/s", "tps", "t/s"):
            text = text.removesuffix(unit)
        try:
            number = float(text)
        except ValueError:
            self.fail(f"`{value}` is not a speed; write 13.4", param, ctx)
        if not 0 < number < 1e12:
            self.fail(f"want {'less than 10^12' if number > 0 else 'more than 0'} tokens per second", param, ctx)
        return number


class Layers(click.ParamType):
    """Layers on the GPU: a count from 0, or `all` (also -1)."""

    name = "N"

    def convert(self, value, param, ctx):
        """The count, -1 for all. Fails for what is none."""
        from .sizes import read_size

        if isinstance(value, int):
            return value
        text = str(value).strip().lower()
        if text in ("all", "-1"):
            return -1
        try:
            number = read_size(text)
        except ValueError:
            self.fail(f"`{value}` is not a number of layers; write 20, or `all`", param, ctx)
        if not 0 <= number <= 10**6:
            self.fail("want 0 to 1000000, or `all`", param, ctx)
        return number


def placement(command):
    """Options that say where a model lies: short for techniques and overrides (`solve/where.py`)."""
    for option in reversed(
        [
            click.option("--gpu-layers", "-ngl", "gpu_layers", type=Layers(), help="Layers on the GPU, the head one more."),
            click.option("--n-cpu-moe", "-ncmoe", "cpu_moe", type=Layers(), help="Layers from the first whose experts are on the host."),
            click.option("--cpu-moe", "-cmoe", "all_cpu_moe", is_flag=True, help="All experts on the host."),
            click.option("--no-kv-offload", "-nkvo", "kv_host", is_flag=True, help="KV cache and attention on the host."),
            click.option("--link", "links", multiple=True, metavar="NAME", help="Peer link (`list links`), or host=NAME, peer=NAME."),
        ]
    ):
        command = option(command)
    return command


def workload(command, without: tuple[str, ...] = ()):
    """Options of a case beside its techniques, less those named in `without`."""
    options = {
        "engine": click.option("--engine", metavar="E", help="Engine document (default: the machine's, mostly typical)."),
        "prompt": click.option("--prompt", type=Size(), default=1024, help="Prompt tokens (default 1024)."),
        "output": click.option("--output", type=Size(), default=256, help="Output tokens (default 256)."),
        "context": click.option("--context", type=Size(0), help="Cached tokens that a decode step sees (default: the prompt)."),
        "batch": click.option("--batch", type=Size(), default=1, help="Sequences at once (default 1)."),
        "devices": click.option("--devices", type=Size(), default=1, help="Devices, shared as the engine does (default 1)."),
        "sets": click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="PATH=VALUE",
            help="Override, e.g. hw.memory.dram.bandwidth=100GB/s, model.dims.L=16, tech.int4.format=awq.",
        ),
        "lang": click.option("--lang", type=click.Choice(["en", "ko"]), default="en"),
    }
    for name in reversed([name for name in options if name not in without]):
        command = options[name](command)
    return placement(command)


def shared(command):
    """Options of every command that predicts."""
    technique = click.option(
        "--technique", "-t", "techniques", multiple=True, metavar="T[:knob=v,…]", help="A technique; repeat for several."
    )
    return technique(workload(command))


def grid(command):
    """A study, or in its place the axes of a grid; and which rows are kept."""
    command = click.option("--filter", "filters", multiple=True, metavar="COND", help="Keep rows: `tps>20`, `fits=true`, `hardware=rtx*`.")(
        command
    )
    return click.argument("study", default="memory-vs-speed")(axes(command))


def drawn(command):
    """Options of what a picture compares: models, machines, formats and techniques, and where it goes."""
    for option in reversed(
        [
            click.argument("models", nargs=-1, required=True, metavar="MODEL..."),
            click.option("--hw", "hardware", multiple=True, required=True, metavar="HW", help="Hardware; repeat to compare."),
            click.option("--weights", multiple=True, metavar="FORMAT", help="Number format of the weights; repeat to compare."),
            click.option(
                "--technique", "-t", "techniques", multiple=True, metavar="T[:knob=v,…]",
                help="A technique beside the plain model; repeat to compare, `a+b` for several together.",
            ),
            click.option("--base", multiple=True, metavar="T[:knob=v,…]", help="A technique of every case, the plain one too."),
            *_files(),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def picture(command):
    """Where a picture goes."""
    for option in reversed(_files()):
        command = option(command)
    return command


def _files() -> list:
    return [
        click.option("-o", "target", required=True, metavar="FILE", help="The picture: a name that ends in .svg, .png or .pdf."),
        click.option("--force", is_flag=True, help="Replace a file that is there."),
    ]


def axes(command):
    """Options of the commands that take a study: in its place, the axes of a grid."""
    for option in reversed(
        [
            click.option("--model", "models", multiple=True, help="Models of an ad-hoc grid (or instead of the study's)."),
            click.option("--hw", "hardware", multiple=True, help="Machines of the grid."),
            click.option("--engine", "engines", multiple=True, help="Engines of the grid (default: each machine's)."),
            click.option(
                "--technique",
                "-t",
                "techniques",
                multiple=True,
                help="Techniques of the grid, one cell each; `none` for the plain model, `a+b` together.",
            ),
            click.option("--prompt", "prompts", type=Size(), multiple=True),
            click.option("--context", "contexts", type=Size(0), multiple=True),
            click.option("--batch", "batches", type=Size(), multiple=True),
            click.option("--devices", type=Size(), multiple=True),
            click.option("--output", type=Size(), help="Output tokens of every cell."),
            click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Override in every cell, as for predict."),
        ]
    ):
        command = option(command)
    return command


def measured(command):
    """Options of the commands that read measurements."""
    kinds = ["single", "batched", "multi", "aggregate", "all"]
    for option in reversed(
        [
            click.argument("files", nargs=-1, required=True, metavar="DATA..."),
            click.option("--engine", metavar="E", help="Predict every row with this engine (default: by the tool that measured it)."),
            click.option("--hw", "hardware", metavar="HW", help="The machine of rows that name none."),
            click.option("--model", metavar="M", help="The model of rows that name none."),
            click.option("--kind", type=click.Choice(kinds), help="One sequence, several, several devices … (default: all but aggregate)."),
            click.option("--quality", metavar="AB", help="Only rows of these qualities."),
            click.option("--by-class", is_flag=True, help="Predict from class and stated figures, never by names."),
        ]
    ):
        command = option(command)
    return command
