"""The figures that a sweep can give: their names, how they are read off a prediction, kept in arrays, and which way is better."""

from __future__ import annotations

from ...language.problem import Mark, Source, problem, suggest
from ..record import REGIMES
from ..traced import FIGURES

DEFAULT = ("tps.ceiling", "tps.expected", "memory.total_bytes", "memory.fits", "decode.regime")
BESIDE = (
    "prefill.steps",
    "prefill.longest_step_s",
    *(f"memory.{name}" for name in ("capacity_bytes", "usable_bytes", "max_context", "max_batch")),
)
"""Figures of a prediction that have no formula: each point is predicted by itself."""
NAMES = (*FIGURES, *BESIDE)
_INNER = ("compute_s", "memory_s", "link_s")


def need_numpy() -> None:
    """Raises :class:`SpecError` where NumPy is not installed."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise problem("a sweep needs NumPy", help="pip install numpy") from None


def check_figures(names, option: str = "figures") -> tuple[str, ...]:
    """The names, each once. Raises :class:`SpecError` for one that is no figure."""
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name not in NAMES:
            raise problem(f"no figure `{name}`", Mark(Source(option, str(name)), 1, 1), suggest(str(name), NAMES))
    return tuple(dict.fromkeys(names))


def check_number(name: str, option: str) -> str:
    """The figure, where it is a number that can be ranked. Raises :class:`SpecError`."""
    (found,) = check_figures((name,), option)
    if found.endswith(".regime"):
        raise problem(f"`{found}` is a word, not a number", Mark(Source(option, found), 1, 1), f"as a condition: `{found}=memory`")
    return found


def is_flag(name: str) -> bool:
    """Whether a figure is kept as a small code: -1 unknown; `fits` 0 or 1, a regime its place in :data:`REGIMES`."""
    return name == "memory.fits" or name.endswith(".regime")


def blank(name: str) -> float:
    """What stands in an array where there is no value."""
    return -1 if is_flag(name) else float("nan")


def empty(name: str, shape):
    """An array for a figure, not filled: int8 codes or float64."""
    import numpy as np

    return np.empty(shape, np.int8 if is_flag(name) else np.float64)


def scalar(prediction, name: str) -> float:
    """A figure of one prediction, as arrays keep it."""
    value = _read(prediction, name)
    if value is None:
        return blank(name)
    return REGIMES.index(value) if isinstance(value, str) else float(value)


def _read(prediction, name: str):
    if name == "memory.fits":
        from ..memory import fits

        return fits(prediction)
    head, _, last = name.rpartition(".")
    if (head.startswith("memory") and name in FIGURES) or last in _INNER:
        return FIGURES[name](prediction)
    value = prediction
    for part in name.split("."):
        value = getattr(value, part)
    return value


def unit_of(name: str) -> str:
    """The unit of a figure: `s`, `B`, `FLOP`, `FLOP/s`, or none for rates of tokens, ratios and counts."""
    if name.endswith("_s") or "_s." in name:
        return "s"
    if "bytes" in name:
        return "B"
    return "" if "flops" not in name else "FLOP/s" if "attainable" in name else "FLOP"


def smaller_is_better(name: str) -> bool:
    """Times and amounts are better small, rates and limits large."""
    if name.endswith(("max_context", "max_batch", "capacity_bytes", "usable_bytes")):
        return False
    return name.split(".")[0] not in ("tps", "user_tps", "system_tps", "tokens_out", "memory.fits") and not name.endswith(
        ("intensity", "ridge", "attainable_flops", "fits")
    )


def shown(name: str, codes):
    """Codes or numbers as a caller reads them: regimes as texts, `fits` as booleans (floats where some are unknown)."""
    import numpy as np

    if name.endswith(".regime"):
        return np.array([*REGIMES, ""])[codes]
    if name == "memory.fits":
        return codes.astype(bool) if codes.size == 0 or codes.min() >= 0 else np.where(codes < 0, np.nan, codes.astype(float))
    return codes


def numeric(name: str, values):
    """Values for comparisons and reductions: floats, NaN where unknown."""
    import numpy as np

    return np.where(values < 0, np.nan, values.astype(float)) if is_flag(name) else values
