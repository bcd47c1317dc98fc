"""The Python API: load documents, predict, compile. Compiled cases are kept for the life of the process."""

from __future__ import annotations

from .solve.prediction import Prediction

_library = None
_runnables: dict = {}


def library():
    """The shared document library."""
    global _library
    if _library is None:
        from .library import Library

        _library = Library()
    return _library


def load_model(x):
    """A model document from a name or path. Raises :class:`costmodel.SpecError`."""
    return library().load("model", x)


def load_hardware(x):
    """A hardware document from a name or path. Raises :class:`costmodel.SpecError`."""
    return library().load("hardware", x)


def load_engine(x):
    """An engine document from a name or path. Raises :class:`costmodel.SpecError`."""
    return library().load("engine", x)


def load_technique(x):
    """A technique in use, from `name` or `name:knob=value,…`. Raises :class:`costmodel.SpecError`."""
    from .compile.uses import read_use

    return read_use(library(), x)


def predict(
    model, hardware, *, techniques=(), engine=None, prompt=1024, output=256, context=None, batch=1, devices=1, sets=()
) -> Prediction:
    """Predict one model on one machine.

    `model`, `hardware` and `engine` are names, paths, or loaded documents; `techniques` names with knobs
    (`"speculative-decoding:drafted=4"`); `prompt`, `output` and `context` count tokens (`context`: cached tokens a decode
    step sees, by default the prompt); `sets` are overrides as for `--set`.

    Figures are in seconds, bytes, FLOPs and tokens per second. Raises :class:`costmodel.SpecError` for bad input.
    """
    key = (model, hardware, engine, techniques if isinstance(techniques, (str, tuple)) else tuple(techniques), devices, tuple(sets))
    runnable = _runnables.get(key)
    if runnable is None:
        runnable = _compile(key)
    if context is None:
        context = prompt
    if not (0 < prompt < 1e12 and 0 < output < 1e12 and 0 <= context < 1e12 and 0 < batch < 1e12):
        _refuse(prompt, output, context, batch)
    return Prediction(runnable, prompt, output, context, batch)


def _compile(key):
    from .compile.build import Case, build

    model, hardware, engine, techniques, devices, sets = key
    if isinstance(techniques, str):
        techniques = (techniques,)
    if not isinstance(devices, int) or not 1 <= devices <= 65536:
        from .language.problem import problem

        raise problem(f"devices: want a whole number from 1 to 65536, got {devices!r}")
    if len(_runnables) > 4096:
        _runnables.clear()
    runnable = _runnables[key] = build(Case(model, hardware, engine, techniques, devices, sets), library())
    return runnable


def _refuse(prompt, output, context, batch):
    from .language.problem import problem

    given = {"prompt": prompt, "output": output, "context": context, "batch": batch}
    name = next(n for n, v in given.items() if not (0 <= v < 1e12 and (v > 0 or n == "context")))
    raise problem(f"{name}: want a positive number of {'sequences' if name == 'batch' else 'tokens'}, got {given[name]}")


def compile_model(model, techniques=(), sets=()):
    """`costmodel.compile`: the :class:`costmodel.Program` of a model under techniques: its rows and, as sympy, its FLOPs and bytes."""
    from .compile.build import program_of

    return program_of(library(), model, (techniques,) if isinstance(techniques, str) else tuple(techniques), sets)
