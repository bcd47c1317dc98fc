"""`costmodel sweep`."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import click

from ..options import shared


@click.command("sweep")
@click.argument("models", nargs=-1, metavar="MODEL...")
@click.option("--hw", "hardware", multiple=True, metavar="HW", help="Hardware; several are an axis.")
@click.option("--axis", "axes", multiple=True, metavar="NAME=VALUES", help="What varies, see above; repeat for a mesh.")
@click.option("--table", "table", metavar="FILE.csv", help="Points from a table in place of a mesh: a column an axis.")
@click.option("--figure", "figures", multiple=True, metavar="F", help="Figures of every point (default: speed, memory, regime).")
@click.option("--where", "where", multiple=True, metavar="COND", help="Only points with `memory.fits`, `tps.expected>=20`, …")
@click.option(
    "--best",
    multiple=True,
    metavar="F",
    help="The best points by a figure: times and bytes small, others large, unless `min:F` or `max:F`.",
)
@click.option("--top", type=click.IntRange(1, 1000), default=5, help="How many of the best (default 5).")
@click.option("--pareto", metavar="F,F", help="The points that no other beats in all of these figures.")
@click.option("--quantiles", multiple=True, metavar="F=Q,Q", help="Quantiles of a figure: `tps.expected=0.1,0.5,0.9`.")
@click.option("--histogram", multiple=True, metavar="F=A:B:N", help="Counts of a figure in N equal bins.")
@click.option("-o", "out", metavar="FILE", help="Write the points: .parquet, .csv, .json, or a folder/ of Parquet files.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--skip-invalid", is_flag=True, help="Leave points blank that predict would refuse.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, help="Processes (default 1).")
@shared
@click.option("--format", "fmt", type=click.Choice(["text", "json", "csv", "markdown"]), default="text")
@click.option("--columns", type=click.IntRange(40, 400), default=100, help="Width of text tables (default 100).")
def command(models, hardware, axes, table, fmt, lang, columns, skip_invalid, jobs, **given):
    """Predict over a mesh or table of values.

    NAME of an axis is a count (`batch`, `context`, `prompt`, `output`), `devices`, `model`, `hardware`, `engine`,
    `techniques`, or a path as for --set. VALUES are a list, `1,2,4` (or `a;b`, where a value holds commas), or a range, both
    ends included:

    \b
      1:8                1, 2, 3, … 8, of counts
      1:256:log2         1, 2, 4, … (also log10; x1.5 multiplies by 1.5)
      1k:128k:64         64 values, evenly spaced (`1k:128k:64:log`: by equal factors)
      0:8k:+512          steps of 512
      500GB/s:2TB/s:20   with units, for paths of hardware
      none;int4;int4+kv-int8   sets of techniques

    Points stream by in blocks, so a mesh may be far larger than memory; ask for what is to be kept of it.
    """
    from ..language.problem import SpecError
    from ..report.sweep import check_one_table, sweep_render

    with ExitStack() as stack:
        options = _options(stack, axes, table, jobs, skip_invalid, models, hardware, **given)
        check_one_table(fmt, options)
        try:
            result = _sweep(models, hardware, options)
        except (SpecError, KeyboardInterrupt) as stop:
            for note in getattr(stop, "__notes__", ()):
                click.echo(note, err=True)
            raise
    click.echo(sweep_render(result, fmt, given["where"], lang, columns))


def _sweep(models, hardware, options):
    from ..solve.sweep.api import sweep

    def one(values):
        return list(values) if len(values) > 1 else values[0] if values else None

    return sweep(one(models), one(hardware), **options)


def _options(
    stack, axes, table, jobs, skip_invalid, models, hardware, figures, where, best, top, pareto, quantiles, histogram, out, force, **case
):
    """The arguments of `costmodel.sweep`."""
    from ..language.problem import problem
    from ..solve.sweep.figures import need_numpy
    from ..solve.sweep.ranges import read_axis, read_table
    from ..solve.where import placed

    need_numpy()
    if table and axes:
        raise problem("`--table` has the axes as its columns", help="leave out --axis")
    found = read_table(table) if table else [read_axis(text) for text in axes]
    names = {a.name for a in found}
    workload = {k: case.pop(k) for k in ("prompt", "output", "context", "batch", "devices", "engine")}
    techniques, sets = placed(case.pop("techniques"), case.pop("sets"), **case)
    options = {k: v for k, v in workload.items() if k not in names}
    options |= {} if "techniques" in names else {"techniques": techniques}
    if techniques and "techniques" in names:
        raise problem("techniques are given twice", help="put them into the axis: `--axis techniques=none;int4+kv-int8`")
    options |= {"sets": sets, "axes": found, "table": bool(table), "figures": figures or None, "where": where, "best": best, "top": top}
    options |= {"pareto": tuple(p.strip() for p in pareto.split(",")) if pareto else ()}
    options |= {"quantiles": _merged(map(_ranks, quantiles))}
    options |= {"histogram": _once(map(_edges, histogram)), "out": out, "force": force, "errors": "nan" if skip_invalid else "raise"}
    _check_size(found, options, max(1, len(models)) * max(1, len(hardware)))
    return options | _running(stack, jobs)


def _running(stack, jobs: int) -> dict:
    """Progress and processes."""
    from ..solve.progress import Progress

    running: dict = {}
    if sys.stderr.isatty():
        running["progress"] = stack.enter_context(Progress(sys.stderr, what="points"))
    if jobs > 1:
        from concurrent.futures import ProcessPoolExecutor

        running["executor"] = stack.enter_context(ProcessPoolExecutor(jobs, initializer=_begin))
    return running


def _begin() -> None:
    """In a process of `--jobs`: Ctrl-C is for the one that began it, and where that one is gone, so is this."""
    import multiprocessing
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent) -> None:
    import os

    parent.join()
    os._exit(1)


def _check_size(axes, options: dict, documents: int) -> None:
    """Refuse to print more points than anyone reads."""
    from math import prod

    from ..language.problem import problem
    from ..report.sweep import MOST_ROWS

    count = len(axes[0]) if options["table"] and axes else prod(len(a) for a in axes) * documents
    asked = any(options[k] for k in ("best", "pareto", "quantiles", "histogram", "out"))
    if count > MOST_ROWS and not asked:
        help = "for example `--best tps.expected --where memory.fits`, `--pareto tps.expected,memory.total_bytes`, `-o points.parquet`"
        raise problem(f"{count:,} points are more than are printed ({MOST_ROWS:,}): say what to keep of them", help=help)


def _ranks(text: str) -> tuple[str, list[float]]:
    name, _, body = text.partition("=")
    try:
        return name.strip(), [float(part) for part in body.split(",")]
    except ValueError:
        raise _misread("--quantiles", text, "tps.expected=0.1,0.5,0.9") from None


def _merged(pairs) -> dict[str, list[float]]:
    """Ranks by figure, also where a figure is named again."""
    found: dict[str, list[float]] = {}
    for name, ranks in pairs:
        found.setdefault(name, []).extend(ranks)
    return found


def _once(pairs) -> dict:
    """Edges by figure."""
    from ..language.problem import problem

    found: dict = {}
    for name, edges in pairs:
        if name in found:
            raise problem(f"--histogram of {name} is given twice")
        found[name] = edges
    return found


def _edges(text: str) -> tuple[str, list[float]]:
    name, _, body = text.partition("=")
    try:
        low, high, count = body.split(":")
        first, last, bins = float(low), float(high), int(count)
    except ValueError:
        raise _misread("--histogram", text, "tps.expected=0:100:20") from None
    if not 1 <= bins <= 100_000 or not first < last:
        raise _misread("--histogram", text, "tps.expected=0:100:20")
    return name.strip(), [first + (last - first) * i / bins for i in range(bins + 1)]


def _misread(option: str, text: str, example: str):
    from ..language.problem import Mark, Source, problem

    return problem(f"`{text[:80]}` cannot be read", Mark(Source(option, text), 1, 1), f"for example `{option} {example}`")
