"""costmodel: how fast a language model should run on given hardware, from YAML documents compiled to formulas.

    >>> import costmodel
    >>> p = costmodel.predict("8b", "ddr5")
    >>> p.decode.regime, round(p.tps.ceiling, 2)
    ('memory', 19.77)

Importing this loads nothing else; every name below is imported on first use.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import compile, load_engine, load_hardware, load_model, load_technique, predict
    from .compile.program import Program
    from .documents import Spec
    from .language.problem import Problem, SpecError
    from .library import Library
    from .solve.invert.api import crossovers, invert, sensitivity
    from .solve.prediction import Prediction
    from .solve.sweep.api import sweep

__all__ = [
    "Library",
    "Prediction",
    "Problem",
    "Program",
    "Spec",
    "SpecError",
    "__version__",
    "compile",
    "crossovers",
    "invert",
    "load_engine",
    "load_hardware",
    "load_model",
    "load_technique",
    "predict",
    "sensitivity",
    "sweep",
]

_HOMES = {
    "predict": "api",
    "sweep": "solve.sweep.api",
    "load_model": "api",
    "load_hardware": "api",
    "load_technique": "api",
    "load_engine": "api",
    "invert": "solve.invert.api",
    "crossovers": "solve.invert.api",
    "sensitivity": "solve.invert.api",
    "Library": "library",
    "Spec": "documents",
    "SpecError": "language.problem",
    "Problem": "language.problem",
    "Prediction": "solve.prediction",
    "Program": "compile.program",
}


if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module

        if name == "compile":
            return import_module("costmodel.compile")
        if name not in _HOMES:
            raise AttributeError(f"module 'costmodel' has no attribute '{name}'")
        value = getattr(import_module(f"costmodel.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, "compile"])
