"""The figures that can be unfolded: names, formulas and values."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ...language.formula import Node, parse
from ...language.problem import Mark, Source, problem, suggest
from ...language.yamlread import parse as read_yaml
from ...language.yamlread import read_text
from .values import read_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.unfold import FigureUnit, Titles

SHORT = {
    "tps": "tps.expected", "ceiling": "tps.ceiling", "rule_of_thumb": "tps.rule_of_thumb", "tpot": "tpot_s.expected",
    "tpot_s": "tpot_s.expected", "itl": "tpot_s.expected", "ttft": "ttft_s.expected", "ttft_s": "ttft_s.expected",
    "e2e": "e2e_s.expected", "e2e_s": "e2e_s.expected", "itl_mean": "itl_mean_s", "prefill": "prefill.expected_s",
    "decode": "decode.expected_s", "memory": "memory.total_bytes", "fits": "memory.fits",
    "max_context": "memory.max_context", "max_batch": "memory.max_batch", "kv": "memory.kv_bytes",
    "weights": "memory.weights_bytes", "workspace": "memory.workspace_bytes", "state": "memory.state_bytes",
    "flops": "decode.flops", "bytes": "decode.bytes", "intensity": "decode.intensity", "ridge": "decode.ridge",
    "regime": "decode.regime", "attainable": "decode.attainable_flops", "floor": "decode.floor_s",
    "tokens_out": "decode.tokens_out", "handoff": "handoff_s",
}  # fmt: skip
"""Short names. Endings that say the unit (`_s`, `_bytes`, `_flops`) may be left out of any name."""


class Figure(NamedTuple):
    """A figure: its path, unit, defining formula over the figures in `inputs` (or the kind of `bill` it sums), and its titles."""

    path: str
    unit: FigureUnit
    formula: Node | None
    text: str
    inputs: dict[str, str]
    bill: str
    rule: str
    title: Titles


@cache
def figures() -> dict[str, Figure]:
    """All figures by path."""
    file = Path(__file__).with_name("figures.yaml")
    found = {}
    for path, entry in read_yaml(read_text(file.read_bytes(), file.name)).data.items():
        for phase in ("prefill", "decode") if "{phase}" in path else ("",):
            figure = _figure(path.replace("{phase}", phase), entry, phase)
            found[figure.path] = figure
    return found


def _figure(path: str, entry: dict, phase: str) -> Figure:
    inputs = {name: of.replace("{phase}", phase) for name, of in entry.get("with", {}).items()}
    text, label = entry.get("formula", ""), f"{phase}: " if phase else ""
    title: Titles = {"en": label + entry["en"], "ko": label + entry["ko"]}
    return Figure(path, entry["unit"], parse(text) if text else None, text, inputs, entry.get("bill", ""), entry["rule"], title)


def find(quantity: str) -> Figure:
    """The figure of a path or short name. Raises :class:`SpecError` with the nearest names."""
    known = figures()
    path = SHORT.get(quantity, quantity)
    tier = re.fullmatch(r"memory\.tiers\.(host|disk|prefill machine)\.(\w{1,20})", path)
    if tier:
        title: Titles = {"en": f"{tier[1]}: {tier[2]}", "ko": f"{tier[1]}: {tier[2]}"}
        return Figure(path, "B" if tier[2] != "fits" else "", None, "", {}, "tier", "R22", title)
    if path not in known:
        close = [p for p in known if _bare(p) == _bare(path)]
        if len(close) != 1:
            raise problem(
                f"no figure `{quantity[:80]}`", Mark(Source("QUANTITY", quantity[:400]), 1, 1), suggest(quantity[:80], [*known, *SHORT])
            )
        path = close[0]
    return known[path]


def _bare(path: str) -> str:
    for ending in ("_s", "_bytes", "_flops"):
        path = path.replace(ending + ".", ".").removesuffix(ending)
    return path


def value_of(opened, path: str) -> Any:
    """The value of a figure, or of a name that formulas use, as the solver gives it."""
    return read_value(opened, path)
