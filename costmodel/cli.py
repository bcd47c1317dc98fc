"""The command line: parse, call, print. Everything but click is imported by the command that needs it."""

from __future__ import annotations

import gc
import sys

import click

from . import __version__
from .options import Size, Speed, measured, placement, shared


class Commands(click.Group):
    """Turns bad input into one message on stderr and exit code 2."""

    def main(self, args=None, prog_name=None, complete_var=None, standalone_mode=True, **extra):
        """Run a command and exit: 0, the command's own code, 2 for bad input or 130 when interrupted."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            sys.exit(super().main(args, prog_name, complete_var, standalone_mode=False, **extra) or 0)
        except click.exceptions.Exit as stop:
            sys.exit(stop.exit_code)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            _fail("interrupted", 130)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(0)
        except (OSError, UnicodeError, RecursionError) as error:
            _fail(f"error: {error}")
        except Exception as error:
            from .language.problem import SpecError

            if not isinstance(error, SpecError):
                raise
            _fail(f"error: {error}")

    def resolve_command(self, ctx, args):
        """The command that the arguments name; an unknown one raises a usage error with the nearest names."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from .language.problem import suggest

            raise click.UsageError(f"no command `{args[0]}`: {suggest(args[0], self.commands)}", ctx) from None


def _fail(message: str, code: int = 2):
    click.echo(message, err=True)
    sys.exit(code)


def _prediction(model, hardware, techniques, engine, prompt, output, context, batch, devices, sets, **where):
    from .cache import cached_runnable
    from .sizes import MOST_DEVICES
    from .solve.prediction import Prediction
    from .solve.where import placed

    techniques, sets = placed(techniques, sets, **where)

    if devices > MOST_DEVICES:
        from .language.problem import problem

        raise problem(f"devices: want at most {MOST_DEVICES}, got {devices}")
    return Prediction(cached_runnable(model, hardware, engine, techniques, devices, sets), prompt, output, context, batch)


def _fit(model, hardware, *, techniques, sets, engine, devices, prompt, output, context, batch, **where):
    """The best placement that fits, and what would."""
    from functools import partial

    from .api import predict
    from .library import shared as library
    from .solve.fit import Case, best_fit
    from .solve.where import placed

    techniques, sets = placed(techniques, sets, **where)
    workload = {"prompt": prompt, "output": output, "context": prompt if context is None else context, "batch": batch}
    case = Case(partial(predict, model, hardware, engine=engine), techniques, sets, devices, **workload)
    names = (n for n in library().names("format") if library().load("format", n).doc.proposed)
    return best_fit(case, tuple(names))


def _setting(model, hardware, techniques, engine, sets, **case):
    """The same case as a setting, which `check` predicts again with changes."""
    from .solve.cases import DEFAULT_WORKLOAD, Setting
    from .solve.where import placed

    workload = {k: case.pop(k) for k in DEFAULT_WORKLOAD}
    techniques, sets = placed(techniques, sets, **case)
    return Setting(model, hardware, engine, techniques, workload, sets)


def _shadowed(model: str) -> None:
    """Say so where a name that is known is also that of a file or folder here."""
    import os

    if os.sep not in model and os.path.isdir(model):
        from .library import shared as library

        if library().path_of("model", model) is not None:
            click.echo(f"note: `{model}` is read as a name; `./{model}` is the folder here", err=True)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="costmodel")
def main():
    """How fast a language model should run on given hardware, and why."""


@main.command()
@click.argument("model")
@click.option("--hw", "hardware", required=True, metavar="HW", help="Hardware: a name or a document's path.")
@shared
@click.option("--operators", is_flag=True, help="Add a table of every operator.")
@click.option("--must-fit", is_flag=True, help="Find the best placement that fits; exit 1 when none does.")
@click.option("--format", "fmt", type=click.Choice(["text", "json", "markdown", "csv"]), default="text")
def predict(model, hardware, lang, operators, must_fit, fmt, **case):
    """Predict speed and memory of a model on a machine.

    MODEL and HW are names (`costmodel list`) or paths of documents. Says what limits each phase and what was assumed.
    """
    from .report.predict import predict_render

    _shadowed(model)
    p, fit = _prediction(model, hardware, **case), None
    if must_fit:
        fit = _fit(model, hardware, **case)
        p = fit.prediction
    click.echo(predict_render(p, fmt, lang, operators, fit))
    return 1 if fit is not None and not fit.fits else 0


@main.command()
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
def matrix(study, filters, sort, fmt, lang, columns, **given):
    """Evaluate a study, or a grid of options.

    STUDY is a name or path; by default the memory-against-speed table. With --model, --hw, --technique, --prompt,
    --context, --batch or --devices: every combination of what is given (repeat an option for several values).
    """
    from .library import shared as library
    from .report.render import render_study
    from .solve.grid import Axes, ad_hoc, select
    from .solve.progress import Progress
    from .solve.views import run_study
    from .solve.where import placed

    where = {k: given.pop(k) for k in ("gpu_layers", "cpu_moe", "all_cpu_moe", "kv_host", "links")}
    more, given["sets"] = placed((), given["sets"], **where)
    if more:
        given["techniques"] = tuple("+".join((*t.split("+"), *more)) for t in given["techniques"] or ("none",))
    axes = Axes(**given)
    chosen, spec = ad_hoc(library(), study, axes)
    with Progress(sys.stderr) as progress:
        result = run_study(chosen, library(), progress, spec)
    click.echo(render_study(chosen, select(result, filters, sort), fmt, lang, columns).rstrip("\n"))


@main.command()
@click.argument("tok_s", type=Speed(), required=False)
@click.option("--prefill", type=Speed(), help="Measured prompt-processing speed; TOK_S may then be left out.")
@click.option("--model", required=True)
@click.option("--hw", "hardware", required=True, metavar="HW")
@shared
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text")
def check(tok_s, prefill, model, hardware, lang, fmt, **case):
    """Judge a measured speed, and explain it.

    TOK_S decode tokens per second and user (and --prefill prompt tokens per second) are impossible (exit 1), fast, normal
    or slow on this machine. Explanations are predictions with one thing changed, likeliest first.
    """
    from .library import shared as library
    from .solve.check import check as judge

    if tok_s is None and prefill is None:
        raise click.UsageError("want a measured speed: TOK_S, `--prefill`, or both")
    p = _prediction(model, hardware, **case)
    result = judge(p, tok_s, library(), prefill=prefill, setting=_setting(model, hardware, **case))
    if fmt == "json":
        import json

        from .solve.export import clean

        click.echo(
            json.dumps(
                clean({"schema": "costmodel/check@1", "model": p.runnable.meta["model"], **result.to_dict()}),
                ensure_ascii=False,
                indent=2,
                allow_nan=False,
            )
        )
    else:
        from .report.check import check_text

        click.echo(check_text(result, lang))
    return 1 if result.verdict == "impossible" else 0


@main.command("list")
@click.argument("kind", required=False)
@click.argument("pattern", required=False)
@click.option("--filter", "filters", multiple=True, metavar="COND", help="Keep rows: `params<10B`, `kind=*moe*`, `capacity>=24GB`.")
@click.option("--sort", metavar="FIELD", help="Sort rows by a field; `-FIELD` for descending.")
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text")
def list_(kind, pattern, filters, sort, fmt):
    """List documents of a kind.

    KIND is hardware, models, techniques, engines, studies, formats, operators, families, towers, recipes, layouts,
    links, explanations or classes (of hardware); PATTERN filters names (`rtx40`, `qwen*`), for hardware also classes, for models also kinds
    (`moe`, `mla`, `hybrid`, `sliding`, `vision` …).
    """
    from .report.listing import listing

    click.echo(listing(kind, pattern, fmt, filters, sort))


@main.command()
@click.argument("files", nargs=-1, required=True)
def validate(files):
    """Check documents, as CI does.

    FILES are documents or folders: schema, units, formulas, references, sources, published sizes.
    """
    from .solve.validate import validate_files

    done, warnings, problems = validate_files(files)
    for text in [*warnings, *problems]:
        click.echo(text, err=True)
    if problems:
        _fail(f"{len(problems)} of {done} documents have problems")
    click.echo(
        f"{done} document{'s' if done != 1 else ''} valid"
        + (f", {len(warnings)} warning{'s' if len(warnings) != 1 else ''}" if warnings else "")
    )


@main.command()
@click.argument("kind", required=False)
@click.option("--write", metavar="DIR", help="Write the schema of every kind into a folder.")
def schema(kind, write):
    """Print JSON Schemas for editors.

    Of one KIND of document, of all, or written into a folder.
    """
    from .report.schemas import schema_text, write_schemas

    click.echo(write_schemas(write) if write else schema_text(kind))


@main.command()
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
def inspect(files, context, engine, fmt, **flags):
    """Count what models hold.

    FILES are names or documents of models, config.json, folders, .gguf, .safetensors or its index: parameters, KV bytes
    per token, state, stored and streamed bytes. Several files print a list.
    """
    from .report.inspect import inspect_text
    from .solve.buffers import Run

    if context is None and (engine != "llama.cpp" or Run(1, **flags) != Run(1, cache_k="f16", cache_v="f16")):
        raise click.UsageError("these options say what an engine allocates: give `--context` too")
    for file in files:
        _shadowed(file)
    click.echo(inspect_text(files, fmt, None if context is None else Run(context, **flags), engine))


@main.command("import")
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--output", metavar="PATH", help="The document to write, or a folder for several (default: print).")
@click.option("--name", help="The document's name (default: from the file's or folder's).")
@click.option("--family", metavar="F", help="Read the config as this family (`costmodel list families`).")
@click.option("--force", is_flag=True, help="Replace a document that is there.")
def import_(files, output, name, family, force):
    """Write model documents from other programs' files.

    FILES are config.json, a folder that holds one, .gguf, .safetensors with config.json beside it, or hf:org/name. The
    document is checked before it is written.
    """
    from .report.importing import import_files

    click.echo(import_files(files, output, name, family, force))


def _chosen(files, engine, hardware, model, kind, quality, by_class):
    """The measurements that a command was asked for."""
    from .report.measured import KINDS, Chosen

    kinds = KINDS if kind == "all" else (kind,) if kind else KINDS[:3]
    return Chosen(files, engine, by_class, kinds, quality, {"hardware": hardware, "model": model})


@main.command()
@measured
@click.option("--leave-out", is_flag=True, help="Predict each hardware family by coefficients fitted without it (needs SciPy).")
@click.option("--worst", type=click.IntRange(0, 1000), default=10, help="Rows listed as worst (default 10).")
@click.option("--plot", metavar="FILE", help="Write predicted against measured as svg, png or pdf (needs matplotlib).")
@click.option("--format", "fmt", type=click.Choice(["text", "markdown", "json"]), default="text")
@click.option("--lang", type=click.Choice(["en", "ko"]), default="en")
def evaluate(leave_out, worst, plot, fmt, lang, **chosen):
    """Compare predictions with measurements.

    DATA are tables of runs (docs/measurements.md), or what llama-bench, vLLM and others write.
    """
    from .report.evaluate import render
    from .report.measured import evaluation

    rows, skipped, notes = evaluation(_chosen(**chosen), leave_out)
    for note in notes:
        click.echo(f"note: {note}", err=True)
    if plot:
        from .report.plot import save_plot

        save_plot(rows, plot)
    click.echo(render(rows, skipped, fmt, lang, worst=worst).rstrip("\n"))


@main.command()
@measured
@click.option("-o", "--output", metavar="PATH", help="The document to write, or a folder for several (default: print).")
@click.option("--name", help="The document's name (default: the engine's and -calibrated).")
@click.option("--force", is_flag=True, help="Replace a document that is there.")
def calibrate(output, name, force, **chosen):
    """Fit an engine's coefficients to measurements (needs SciPy).

    Prints errors by class before and after, and engine documents that extend the fitted ones: use one with --engine FILE.
    """
    from .report.measured import calibrate as calibrated

    click.echo(calibrated(_chosen(**chosen), output, name, force))


@main.command()
@click.option("--measure", is_flag=True, help="Time read bandwidth and matrix rate with NumPy (about 10 s).")
@click.option("-o", "--output", metavar="PATH", help="The document to write, or a folder for one of every device (default: print).")
@click.option("--device", metavar="D", help="`cpu`, `gpu0` … (default: the one with the highest bandwidth).")
@click.option("--name", help="The document's name (default: the file's, or this-machine).")
@click.option("--force", is_flag=True, help="Replace a document that is there.")
@click.option("--format", "fmt", type=click.Choice(["text", "yaml", "json"]), default="text")
def probe(measure, output, device, name, force, fmt):
    """Write a hardware document of this machine.

    Reads processor, memory and GPUs from the system and its tools; nothing is measured unless asked.
    """
    from .report.probing import Wanted
    from .report.probing import probe as probe_machine

    click.echo(probe_machine(Wanted(output, name, device, force, fmt), measure))


def run():
    """The `costmodel` program: `main` in a process of its own, where collecting garbage costs more than it frees."""
    gc.set_threshold(1_000_000, 20, 20)
    try:
        main()
    finally:
        gc.freeze()  # nor is there anything to collect at exit


if __name__ == "__main__":
    run()
