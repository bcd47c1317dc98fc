"""The Python API: load documents, predict, compile. Compiled cases are kept for the life of the process."""

from __future__ import annotations

from .sizes import MOST, MOST_DEVICES
from .solve.prediction import Prediction

"""Most tokens or sequences."""
_runnables: dict = {}


def library():
    """The shared document library."""
    from .library import shared

    return shared()


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
    model, hardware, *, techniques=(), engine=None, prompt=1024, output=256, context=None, batch=1, devices=1, sets=(), library=None
) -> Prediction:
    """Predict one model on one machine.

    `model`, `hardware` and `engine` are names, paths, or loaded documents; `techniques` names with knobs
    (`"speculative-decoding:drafted=4"`); `prompt`, `output` and `context` count tokens (`context`: cached tokens a decode
    step sees, by default the prompt); `sets` are overrides as for `--set`; `library` is where names are looked up, by
    default the shared one.

    Figures are in seconds, bytes, FLOPs and tokens per second. Raises :class:`costmodel.SpecError` for bad input.
    """
    used = techniques if isinstance(techniques, (str, tuple)) else tuple(techniques)
    key = (model, hardware, engine, used, devices, tuple(sets), library)
    try:
        runnable = _runnables.get(key)
    except TypeError:
        raise _unhashable() from None
    if runnable is None:
        runnable = _compile(key)
    if context is None:
        context = prompt
    if not (type(prompt) is type(output) is type(context) is type(batch) is int and min(prompt, output, batch) > 0 and context >= 0):
        prompt, output, batch = _count("prompt", prompt), _count("output", output), _count("batch", batch)
        context = _count("context", context, 0)
    if max(prompt, output, context, batch) > MOST:
        _count("prompt, output, context and batch", max(prompt, output, context, batch))
    return Prediction(runnable, prompt, output, context, batch)


def _compile(key):
    from .compile.build import Case, build

    model, hardware, engine, techniques, devices, sets, own = key
    if isinstance(techniques, str):
        techniques = (techniques,)
    devices = _count("devices", devices, 1, MOST_DEVICES)
    if len(_runnables) > 4096:
        _runnables.clear()
    runnable = _runnables[key] = build(Case(model, hardware, engine, techniques, devices, sets), own or library())
    return runnable


def _unhashable():
    from .language.problem import problem

    return problem("model, hardware, engine and techniques are names, paths or loaded documents", help="write a document to a file")


def _count(name: str, value, low: int = 1, high: int = MOST) -> int:
    """A whole number of tokens, sequences or devices (any integer type). Raises :class:`costmodel.SpecError`."""
    from operator import index

    from .language.problem import problem

    number: int | None
    try:
        number = index(value)
    except TypeError:
        number = int(value) if isinstance(value, float) and value.is_integer() else None
    if number is None or isinstance(value, bool) or not low <= number <= high:
        raise problem(f"{name}: want a whole number from {low} to {high:,}, got {value!r}")
    return number
