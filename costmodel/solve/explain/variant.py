"""An explanation applied to a case: the documents, techniques and workload that it changes, predicted again."""

from __future__ import annotations

from typing import Any

from ...compile.build import Case, build
from ...language.formula import FormulaError
from ...language.formula.fold import number
from ...language.problem import SpecError, problem
from ...sizes import MOST, MOST_DEVICES
from ..cases import DEFAULT_WORKLOAD, Setting, with_techniques
from ..prediction import Prediction
from .outcome import Outcome, outcome_of, with_rates
from .standins import host_machine, other_machine, other_model


class Variants:
    """Re-predictions of one case; what is compiled is kept, so a change of the workload or of a rate costs nothing."""

    def __init__(self, setting: Setting, prediction: Prediction, facts: dict, library, decode: float | None):
        self.setting, self.prediction, self.facts, self.library, self.decode = setting, prediction, facts, library, decode
        self.kept: dict[tuple, Any] = {}
        self.names: dict[tuple, Any] = {}

    def base(self) -> Outcome:
        """The case as it was stated."""
        return outcome_of(self.prediction)

    def value(self, node, values: dict, spec, *path) -> float:
        """A formula of an explanation over the facts and the free parameter. Raises :class:`SpecError` where it has no value."""
        try:
            return number(node, values)
        except FormulaError as error:
            raise problem(f"{'.'.join(map(str, path))}: {error}", spec.mark(*path), error.help) from None

    def outcome(self, spec, free: dict) -> tuple[Outcome, Setting]:
        """The figures under an explanation with its parameter set, and the setting that was predicted."""
        doc, change = spec.doc, spec.doc.change
        numbers = {k: v for k, v in free.items() if isinstance(v, (int, float))}
        values = self.facts | numbers
        setting = self._setting(change, self.facts | free)
        w = DEFAULT_WORKLOAD | setting.workload
        given: dict[str, int] = {}
        for field, node in change.workload:
            if node is not None:
                most = MOST_DEVICES if field == "devices" else MOST
                given[field] = int(min(most, max(1, round(self.value(node, values, spec, "change", "workload", field)))))
        w |= given
        runnable = self._runnable(setting, w["devices"])
        context = w["prompt"] if w["context"] is None else w["context"]
        p = Prediction(runnable, w["prompt"], w["output"], context, w["batch"])
        factors = {k: self.value(node, values, spec, "change", "rates", k) for k, node in change.rates.items()}
        if factors and min(factors.values()) <= 0:
            raise problem("change.rates: want multiples above 0", spec.mark("change", "rates"))
        more = {
            k: max(0.0, self.value(getattr(change, k), values, spec, "change", k))
            for k in ("tokens", "seconds")
            if getattr(change, k) is not None
        }
        found = outcome_of(with_rates(p, factors), measure=change.measure, **more)
        if doc.span is not None:
            found = found._replace(decode=found.decode.within(doc.span.low, doc.span.high))
        if doc.prefill_span is not None:
            found = found._replace(prefill=found.prefill.within(doc.prefill_span.low, doc.prefill_span.high))
        return found, setting._replace(workload=setting.workload | given)

    def _setting(self, change, values: dict) -> Setting:
        """The case with other documents, techniques and overrides."""
        s = self.setting
        if change.techniques:
            s = with_techniques(s, tuple(_filled(t, values) for t in change.techniques))
        if change.engine:
            s = s._replace(engine=change.engine, set=_without(s.set, "engine."))
        if change.model:
            s = s._replace(model=self._named("model", change.model), set=_without(s.set, "model."))
            s = s._replace(set=s.set + self._same_format(change.model))
        if change.hardware:
            s = s._replace(hardware=self._named("hardware", change.hardware), set=_without(s.set, "hw."))
        own = tuple(_filled(t, values) for t in change.set)
        paths = {t.partition("=")[0] for t in own}
        return s._replace(set=tuple(t for t in s.set if t.partition("=")[0] not in paths) + own)

    def _named(self, kind: str, name: str):
        """The document of a name, or of a word such as `host`; found once."""
        if (kind, name) not in self.names:
            finder = {"host": host_machine, "allowing": other_machine, "smaller": other_model, "larger": other_model}.get(name)
            self.names[kind, name] = finder(self, name) if finder else name
        return self.names[kind, name]

    def _same_format(self, word: str) -> tuple[str, ...]:
        """Another model of the family runs in the number format of the checked one, where that is a known one."""
        name = self.prediction.runnable.meta["format"]
        known = word in ("smaller", "larger") and self.library.path_of("format", name) is not None
        return (f"model.weights.format={name}",) if known else ()

    def _runnable(self, s: Setting, devices: int):
        key = (str(s.model), _key(s.hardware), s.engine, s.techniques, devices, s.set)
        if key not in self.kept:
            try:
                self.kept[key] = build(Case(s.model, s.hardware, s.engine, s.techniques, devices, s.set), self.library)
            except SpecError as error:
                self.kept[key] = error
        if isinstance(self.kept[key], SpecError):
            raise self.kept[key]
        return self.kept[key]


def _key(hardware):
    return hardware if isinstance(hardware, str) else id(hardware)


def _without(sets: tuple, prefix: str) -> tuple:
    return tuple(s for s in sets if not s.startswith(prefix))


def _filled(text: str, values: dict) -> str:
    """A text with each `{name}` replaced by its value."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", f"{value:.12g}" if isinstance(value, float) else str(value))
    return text
