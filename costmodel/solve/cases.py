"""Cases of a study, evaluated: each is one prediction, exactly as `predict` gives it."""

from __future__ import annotations

from collections import namedtuple

from ..cache import cached_runnable
from ..language.problem import SpecError, problem
from .prediction import Prediction

Setting = namedtuple("Setting", "model hardware engine techniques workload set")
Setting.__doc__ = "A complete case: names, techniques, workload (a dict of given fields) and overrides."
DEFAULT_WORKLOAD = {"prompt": 1024, "output": 256, "context": None, "batch": 1, "devices": 1}


def setting_of(case, base: Setting | None = None) -> Setting:
    """A study's case over its baseline: given fields replace, workload fields merge, overrides and techniques add up."""
    given = {k: v for k, v in case.workload if v is not None}
    if base is None:
        return Setting(case.model, case.hardware, case.engine, case.techniques or (), given, case.set)
    same_model = case.model is None
    return Setting(
        case.model or base.model,
        case.hardware or base.hardware,
        case.engine or base.engine,
        base.techniques if case.techniques is None else case.techniques,
        base.workload | given,
        (base.set if same_model else tuple(s for s in base.set if not s.startswith("model."))) + case.set,
    )


def with_techniques(setting: Setting, more: tuple) -> Setting:
    """The setting with further techniques; one of the same name is replaced."""
    names = {t.split(":")[0] for t in more}
    return setting._replace(techniques=tuple(t for t in setting.techniques if t.split(":")[0] not in names) + more)


def evaluate(setting: Setting, library=None) -> Prediction:
    """The prediction of a setting. Raises :class:`SpecError`."""
    for what in ("model", "hardware"):
        if getattr(setting, what) is None:
            raise problem(f"the study names no {what}", help=f"give `{what}:` under `base:`, or an axis of them")
    w = DEFAULT_WORKLOAD | setting.workload
    runnable = cached_runnable(setting.model, setting.hardware, setting.engine, setting.techniques, w["devices"], setting.set, library)
    context = w["prompt"] if w["context"] is None else w["context"]
    return Prediction(runnable, w["prompt"], w["output"], context, w["batch"])


def attempt(setting: Setting, library=None) -> tuple[Prediction | None, str | None]:
    """The prediction, or the reason why the combination is refused."""
    try:
        return evaluate(setting, library), None
    except SpecError as error:
        return None, error.problems[0].message


def predictions_of(study, rows: list[dict], library=None) -> list[Prediction]:
    """The predictions behind rows of a grid, less those that were refused."""
    base = setting_of(study.base)
    found = []
    for row in rows:
        if not row["refused"]:
            load = {k: row[k] for k in DEFAULT_WORKLOAD}
            found.append(
                evaluate(
                    base._replace(
                        **{k: row[k] for k in ("model", "hardware", "engine")}, techniques=tuple(row["techniques"]), workload=load
                    ),
                    library,
                )
            )
    return found
