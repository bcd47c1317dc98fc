"""The Python API: load documents, predict, compile. Compiled cases are kept for the life of the process, for all threads."""

from __future__ import annotations

from .locks import Lock
from .sizes import MOST, MOST_DEVICES
from .solve.prediction import Prediction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import SupportsIndex

    from .compile.program import Program
    from .compile.runnable import Runnable
    from .compile.uses import Use
    from .documents import Spec
    from .library import Library

    Document = str | PathLike[str] | Spec
    """A name, a path, or a loaded document."""
    Techniques = str | PathLike[str] | Use | Iterable[str | PathLike[str] | Use]
    """One or several: a name with knobs, a path, or a loaded technique."""

_runnables: dict[tuple, Runnable] = {}
_building: dict[tuple, Lock] = {}
"""Held by the thread that compiles a case; the others that want it wait."""
KEPT = 4096
"""Most compiled cases that are kept."""


def library() -> Library:
    """The shared document library."""
    from .library import shared

    return shared()


def load_model(x: str | PathLike[str]) -> Spec:
    """A model document from a name or path. Raises :class:`costmodel.SpecError`."""
    return library().load("model", x)


def load_hardware(x: str | PathLike[str]) -> Spec:
    """A hardware document from a name or path. Raises :class:`costmodel.SpecError`."""
    return library().load("hardware", x)


def load_engine(x: str | PathLike[str]) -> Spec:
    """An engine document from a name or path. Raises :class:`costmodel.SpecError`."""
    return library().load("engine", x)


def load_technique(x: str | PathLike[str]) -> Use:
    """A technique in use, from `name` or `name:knob=value,…`. Raises :class:`costmodel.SpecError`."""
    from .compile.uses import read_use

    return read_use(library(), str(x))


def compile(model: Document, techniques: Techniques = (), sets: str | Iterable[str] = ()) -> Program:
    """The program of a model under techniques: its rows and, as sympy, its FLOPs and bytes. Raises :class:`costmodel.SpecError`."""
    from .compile.build import program_of

    return program_of(library(), model, _each("techniques", _many("techniques", techniques)), _each("sets", _many("sets", sets)))


def predict(
    model: Document,
    hardware: Document,
    *,
    techniques: Techniques = (),
    engine: Document | None = None,
    prompt: SupportsIndex = 1024,
    output: SupportsIndex = 256,
    context: SupportsIndex | None = None,
    batch: SupportsIndex = 1,
    devices: SupportsIndex = 1,
    sets: str | Iterable[str] = (),
    library: Library | None = None,
) -> Prediction:
    """Predict one model on one machine.

    `model`, `hardware` and `engine` are names, paths, or loaded documents; `techniques` names with knobs
    (`"speculative-decoding:drafted=4"`); `prompt`, `output` and `context` count tokens (`context`: cached tokens a decode
    step sees, by default the prompt); `sets` are overrides as for `--set`; `library` is where names are looked up, by
    default the shared one.

    Figures are in seconds, bytes, FLOPs and tokens per second. Raises :class:`costmodel.SpecError` for bad input. May be
    called from any thread: a case is compiled once.
    """
    used = techniques if type(techniques) is tuple else _many("techniques", techniques)
    over = sets if type(sets) is tuple else _many("sets", sets)
    if type(devices) is not int:  # `True` is found as 1
        devices = _count("devices", devices, 1, MOST_DEVICES)
    key = (model, hardware, engine, used, devices, over, library)
    try:
        runnable = _runnables.get(key)
    except TypeError:
        raise _unhashable() from None
    if runnable is None:
        runnable = _compiled(key)
    if context is None:
        context = prompt
    if not (type(prompt) is type(output) is type(context) is type(batch) is int and min(prompt, output, batch) > 0 and context >= 0):
        prompt, output, batch = _count("prompt", prompt), _count("output", output), _count("batch", batch)
        context = _count("context", context, 0)
    if max(prompt, output, context, batch) > MOST:
        _count("prompt, output, context and batch", max(prompt, output, context, batch))
    return Prediction(runnable, prompt, output, context, batch)


def _compiled(key: tuple) -> Runnable:
    """A case's program, compiled by the first thread that asks for it."""
    with _building.setdefault(key, Lock()):
        runnable = _runnables.get(key)
        if runnable is None:
            try:
                runnable = _compile(key)
            finally:
                _building.pop(key, None)
        return runnable


def _compile(key: tuple) -> Runnable:
    from .compile.build import Case, build

    model, hardware, engine, techniques, devices, sets, own = key
    techniques, sets = _each("techniques", techniques), _each("sets", sets)
    devices = _count("devices", devices, 1, MOST_DEVICES)
    own = library() if own is None else own
    if not hasattr(own, "load"):
        raise _misfit("library", "a `costmodel.Library`", own)
    runnable = build(Case(model, hardware, engine, techniques, devices, sets), own)
    if len(_runnables) >= KEPT:
        _runnables.clear()
    _runnables[key] = runnable
    return runnable


def _unhashable():
    from .language.problem import problem

    return problem("model, hardware, engine and techniques are names, paths or loaded documents", help="write a document to a file")


def _many(name: str, value: object) -> tuple:
    """One thing, or several, as a tuple. Raises :class:`costmodel.SpecError`."""
    if isinstance(value, str) or hasattr(value, "__fspath__") or hasattr(value, "spec"):
        return (value,)
    try:
        if hasattr(value, "keys"):
            raise TypeError
        return tuple(value)  # type: ignore[arg-type]
    except TypeError:
        raise _misfit(name, "a text, or a sequence of texts", value) from None


def _each(name: str, values: tuple) -> tuple:
    """Techniques or overrides, each a text (a path as its text) or a loaded technique. Raises :class:`costmodel.SpecError`."""
    values = tuple(str(v) if hasattr(v, "__fspath__") else v for v in values)
    for value in values:
        if not isinstance(value, str) and not (name == "techniques" and hasattr(value, "spec")):
            raise _misfit(name, "a text, or a sequence of texts", value)
    return values


def _misfit(name: str, want: str, value: object):
    from .language.problem import problem

    return problem(f"{name}: want {want}, got {value!r}")


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
