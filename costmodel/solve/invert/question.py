"""A case that is asked backwards: predicted at other values of its inputs, as formulas of them, or compiled again."""

from __future__ import annotations

from collections.abc import Container
from functools import cached_property
from typing import Any

from ..export import case_of
from ..prediction import Prediction
from ..traced import WORKLOAD, Formulas
from ..varied import varied

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.inverse import AskedCase


class Following(Formulas):
    """Formulas of a case without a context of its own: it is the prompt, wherever that goes."""

    def _given(self, name: str):
        return super()._given("prompt" if name == "context" else name)


class Question:
    """Model, hardware and the rest as :func:`costmodel.predict` takes them. Raises :class:`SpecError` as that does."""

    def __init__(self, model, hardware, *, library=None, prompt=1024, output=256, context=None, batch=1, **case):
        from ...api import _each, _many
        from ...api import library as shared

        self.library = library or shared()
        self.own = library
        self.model, self.hardware, self.engine = model, hardware, case.pop("engine", None)
        self.techniques = _each("techniques", _many("techniques", case.pop("techniques", ())))
        self.devices, self.sets = case.pop("devices", 1), _each("sets", _many("sets", case.pop("sets", ())))
        self.workload = {"prompt": prompt, "output": output, "context": context, "batch": batch}
        self.follows = context is None
        if case:
            raise TypeError(f"no argument {next(iter(case))}")
        self.predict()

    @cached_property
    def compiled(self) -> tuple[Any, dict]:
        """The case left open, and its engine's coefficients: input → (file, path, coefficient)."""
        from ...compile.build import Case, build

        free: dict = {}
        case = Case(self.model, self.hardware, self.engine, self.techniques, self.devices, self.sets)
        return build(case, self.library, free, True), free

    @cached_property
    def point(self) -> dict[str, float]:
        """Every input of the case and its value."""
        return dict(self.formulas(None).inputs)

    @property
    def base(self) -> Prediction:
        """The case as it stands."""
        return self.predict()

    @property
    def head(self) -> AskedCase:
        """What the case is."""
        return {**case_of(self.base), "titles": self.base.runnable.meta["titles"]}

    def formulas(self, vary) -> Formulas:
        """The case as formulas of some inputs (None: of all)."""
        kind = Following if self.follows and (vary is None or "prompt" in vary) else Formulas
        return kind(self.compiled[0], **self.workload, vary=vary)

    def at(self, given: dict[str, float]) -> Prediction:
        """The prediction at other values of inputs, without compiling. Counts may be fractions."""
        work = {k: given.get(k, v) for k, v in self.workload.items()}
        return Prediction(varied(self.compiled[0], given), *(work[k] for k in WORKLOAD))

    def predict(self, sets=(), techniques=(), devices: int | None = None, **workload) -> Prediction:
        """The prediction of a case with something changed, compiled anew. A technique or override takes the place of its like."""
        from ...api import predict

        kept = self.without({t.partition(":")[0] for t in techniques})
        paths = tuple(s.partition("=")[0].strip() for s in sets)
        before = [s for s in self.sets if s.partition("=")[0].strip() not in paths]
        return predict(
            self.model,
            self.hardware,
            engine=self.engine,
            techniques=(*kept, *techniques),
            sets=(*before, *sets),
            devices=self.devices if devices is None else devices,
            library=self.own,
            **{**self.workload, **workload},
        )

    def without(self, names: Container[str]) -> tuple:
        """The techniques but those of some names."""
        return tuple(t for t in self.techniques if self.name_of(t) not in names)

    def name_of(self, technique) -> str:
        """The name of a technique as it was given: as text, by a path, or loaded."""
        if hasattr(technique, "spec"):
            return technique.name
        if ".y" in technique:
            from ...compile.uses import read_use

            return read_use(self.library, technique).name
        return technique.partition(":")[0]

    def document(self, kind: str):
        """The `model` or `hw` document in use, with its overrides."""
        from ...compile.build import load_spec
        from ...language.merge import parse_sets

        found = parse_sets(self.sets)
        given, full = (self.model, "model") if kind == "model" else (self.hardware, "hardware")
        return load_spec(self.library, full, given, tuple(found.get(kind, ())), "MODEL" if kind == "model" else "--hw")
