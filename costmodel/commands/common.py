"""What several commands do alike."""

from __future__ import annotations

import sys

import click


def case_of(model, hardware, techniques, engine, prompt, output, context, batch, devices, sets, **where):
    """The prediction that the options of `shared` ask for, by the program cache. Raises :class:`SpecError`."""
    from ..cache import cached_runnable
    from ..sizes import MOST_DEVICES
    from ..solve.prediction import Prediction
    from ..solve.where import placed

    techniques, sets = placed(techniques, sets, **where)

    if devices > MOST_DEVICES:
        from ..language.problem import problem

        raise problem(f"devices: want at most {MOST_DEVICES}, got {devices}")
    return Prediction(cached_runnable(model, hardware, engine, techniques, devices, sets), prompt, output, context, batch)


def best_placement(model, hardware, *, techniques, sets, engine, devices, prompt, output, context, batch, **where):
    """The best placement that fits, and what would."""
    from functools import partial

    from ..api import predict
    from ..library import shared as library
    from ..solve.fit import Case, best_fit
    from ..solve.where import placed

    techniques, sets = placed(techniques, sets, **where)
    workload = {"prompt": prompt, "output": output, "context": prompt if context is None else context, "batch": batch}
    case = Case(partial(predict, model, hardware, engine=engine), techniques, sets, devices, **workload)
    names = (n for n in library().names("format") if library().load("format", n).doc.proposed)
    return best_fit(case, tuple(names))


def setting_of(model, hardware, techniques, engine, sets, **case):
    """The same case as a setting, which `check` predicts again with changes."""
    from ..solve.cases import DEFAULT_WORKLOAD, Setting
    from ..solve.where import placed

    workload = {k: case.pop(k) for k in DEFAULT_WORKLOAD}
    techniques, sets = placed(techniques, sets, **case)
    return Setting(model, hardware, engine, techniques, workload, sets)


def grid_of(study, given: dict, more: tuple = ()):
    """(study, its loaded document) of the options of `axes` and `placement`, with further overrides."""
    from ..library import shared as library
    from ..solve.grid import Axes, ad_hoc
    from ..solve.where import placed

    where = {k: v for k, v in given.items() if k not in Axes._fields}
    axes = Axes(**{k: v for k, v in given.items() if k in Axes._fields})
    placing, sets = placed((), axes.sets, **where)
    techniques = axes.techniques
    if placing:
        techniques = tuple("+".join((*t.split("+"), *placing)) for t in techniques or ("none",))
    return ad_hoc(library(), study, axes._replace(techniques=techniques, sets=(*sets, *more)))


def question_of(model, hardware, *, techniques, engine, devices, sets, prompt, output, context, batch, **where):
    """The case that the options of `shared` ask for, to be asked backwards."""
    from ..solve.invert.question import Question
    from ..solve.where import placed

    techniques, sets = placed(techniques, sets, **where)
    given = {"prompt": prompt, "output": output, "context": context, "batch": batch}
    return Question(model, hardware, techniques=techniques, engine=engine, devices=devices, sets=sets, **given)


def warn_shadowed(model: str) -> None:
    """Say so where a name that is known is also that of a file or folder here."""
    import os

    if os.sep not in model and os.path.isdir(model):
        from ..library import shared as library

        if library().path_of("model", model) is not None:
            click.echo(f"note: `{model}` is read as a name; `./{model}` is the folder here", err=True)


def draw(target, force, lang, make, option: str = "-o") -> None:
    """Check what can be checked before anything is computed, draw and write; `make` draws in the language it is given."""
    from ..report.plots import files, fonts, style

    path = files.checked(target, force, option)
    with style.drawing():
        lang, note = fonts.readable(lang)
    files.save(make(lang), path, force=force)
    if note:
        click.echo(f"note: {note}", err=True)


def chosen_rows(files, engine, hardware, model, kind, quality, by_class):
    """The measurements that a command was asked for."""
    from ..report.measured import KINDS, Chosen

    kinds = KINDS if kind == "all" else (kind,) if kind else KINDS[:3]
    return Chosen(files, engine, by_class, kinds, quality, {"hardware": hardware, "model": model})


def fail(message: str, code: int = 2):
    """Print to stderr and exit."""
    click.echo(message, err=True)
    sys.exit(code)
