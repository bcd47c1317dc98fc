"""The settings that a study evaluates: every case of its rows, or of its grid, by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

from ..language.problem import problem
from .cases import Setting, setting_of, with_techniques
from .grid import MAX_CELLS


class Named(NamedTuple):
    """A setting, the row of the study that it belongs to (None for a baseline or a cell of a grid) and its variant's name."""

    row: Any
    variant: str
    setting: Setting
    grid: bool = False


def settings_of(study) -> list[Named]:
    """Every case that a study predicts, baselines first. One that names no model or no hardware is none."""
    base = setting_of(study.base)
    if study.view == "grid":
        found = [Named(None, "", setting, True) for setting in grid_settings(study)]
    elif study.view == "decode-ceiling":
        found = [Named(None, "", base._replace(model=name)) for name in study.models]
    else:
        found = [Named(None, "", base), *_of_rows(study, base)]
    return [one for one in found if one.setting.model and one.setting.hardware]


def _of_rows(study, base: Setting) -> Iterator[Named]:
    for row in study.rows:
        against = setting_of(row.against, base)
        if against != base:
            yield Named(row, "", against)
        for name, case in {**(row.variants or {main_name(row): row.case}), **row.printed}.items():
            yield Named(row, name, over(case, against))


def over(case, against: Setting) -> Setting:
    """A row's case over what it is compared with: its techniques come on top."""
    setting = setting_of(case.model_copy(update={"techniques": None}), against)
    setting = setting._replace(techniques=tuple(t for t in setting.techniques if t.split(":")[0] not in case.without))
    return with_techniques(setting, case.techniques or ())


def main_name(row) -> str:
    """What a row's own case is called beside its variants."""
    return ", ".join(t.split(":")[0] for t in row.case.techniques or ()) or row.name


def grid_settings(study) -> list[Setting]:
    """Every combination of models, hardware, engines, techniques and workloads. Raises :class:`SpecError` beyond :data:`MAX_CELLS`."""
    base = setting_of(study.base)
    axes = (
        study.models or (base.model,),
        study.hardware or (base.hardware,),
        study.engines or (base.engine,),
        study.techniques or ((),),
        study.workloads or (None,),
    )
    total = prod(map(len, axes))
    if total > MAX_CELLS:
        raise problem(f"the grid has {total:,} cells; at most {MAX_CELLS:,}", help="give fewer models, machines, techniques or workloads")
    return [_cell(base, *cell) for cell in product(*axes)]


def _cell(base: Setting, model, machine, engine, used, workload) -> Setting:
    used = (used,) if isinstance(used, str) else used
    given = {} if workload is None else {k: v for k, v in workload if v is not None}
    setting = base._replace(model=model, hardware=machine, engine=engine, workload=base.workload | given)
    return with_techniques(setting, tuple(t for t in used if t not in ("none", "")))
