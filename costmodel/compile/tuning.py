"""What an engine reaches on a machine: efficiencies, fixed times and other settings, by class and number format."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any

from ..language.formula import FormulaError, Name, Node, Num, names
from ..language.formula.fold import bind
from ..language.formula.nodes import Bin
from ..language.problem import Problem, SpecError
from ..library import Spec
from ..schema.names import BOUNDS

FALLBACK = {"experts": "weights", "attention": "compute"}
MATH_BITS = {"fp4": 4, "int4": 4, "fp6": 6, "fp8": 8, "int8": 8, "fp16": 16, "bf16": 16, "tf32": 19, "fp32": 32, "fp64": 64}
_UNITS = {"second": 1, "GB": 1e9, "TFLOP": 1e12}


def held(share: float) -> float:
    """Share of its speed that a device keeps at a share of its power: all down to 80 %, below that as the square.

    A rule drawn by eye through few public figures, not a law, and uncertain below about 70 %. RTX 3090 (350 W): at 280 W
    it loses under 1 % (https://jeanfbrito.github.io/posts/rtx-3090-power-limit-sweet-spot/); at 220 W decode is 46.9 against
    78.7 tok/s of four cards that take turns, in our measurements; prompts keep 85, 60 and 26 % at 250, 200 and 150 W,
    while decode over six cards in the same runs keeps 97, 94 and 86 %, which this rule does not give
    (https://llmgarage.ai/power-limit-tokens-per-second-benchmark). RTX 5060 Ti at 83 %: 99 % of decode
    (https://inventivehq.com/blog/gpu-power-limit-tokens-per-watt).
    """
    return min(1.0, (share / 0.8) ** 2)


class Tuning:
    """An engine's settings on one unit of a machine (the device, or the host's processor).

    `lineage` are the hardware document and its classes, nearest first; `own` a device's measured efficiencies;
    `figures` the numbers that formulas may name. With `free`, coefficients stay names (`k_0_reach`) so that a fit can
    vary them; `free` then maps each name to (file, path, coefficient).
    """

    def __init__(self, engine: Spec, lineage: tuple, figures: dict, own=None, free: dict | None = None, throttle: float = 1):
        self.throttle = 1 if engine.doc.fixed else throttle
        self.engine, self.lineage, self.figures, self.free = engine, lineage, figures, free
        self.own = {} if own is None or engine.doc.fixed else own
        self.shares: list[Node] = []  # efficiencies that rates decide: each must lie above 0, at most at 1

    def stages(self, formats: tuple = ()) -> list[tuple[tuple, Any]]:
        """(path, settings), most specific first: a format in a class, a format, a class, the engine."""
        doc = self.engine.doc
        classes = [(("classes", c), doc.classes[c]) for c in self._classes()]
        found: list = [((*path, "formats", f), c.formats[f]) for path, c in classes for f in formats if f in c.formats]
        found += [(("formats", f), doc.formats[f]) for f in formats if f in doc.formats]
        return [*found, *classes, ((), doc)]

    def _classes(self) -> list[str]:
        """The engine's classes that this machine belongs to: by name, nearest first, then by pattern (`nvidia-*`)."""
        given = self.engine.doc.classes
        named = [c for c in self.lineage if c in given]
        return [*named, *(p for p in given if "*" in p and any(fnmatchcase(c, p) for c in self.lineage))]

    def setting(self, name: str, field: str = "", formats: tuple = ()) -> Any:
        """One setting, from the most specific stage that states it."""
        return self.found(name, field, formats)[1]

    def found(self, name: str, field: str = "", formats: tuple = ()) -> tuple[tuple, Any]:
        """(path in the engine's document, value) of one setting; ((), None) where no stage states it."""
        for path, stage in self.stages(formats):
            value = getattr(stage, name)
            value = getattr(value, field) if field and value is not None else value
            if value is not None:
                return (*path, name, *((field,) if field else ())), value
        return (), None

    def coefficient(self, name: str, formats: tuple = ()) -> tuple[tuple, Any]:
        """(path in the engine's document, coefficient) of the most specific stage that gives it; ((), None) where none does."""
        for path, stage in self.stages(formats):
            if name in stage.coefficients:
                return (*path, "coefficients", name), stage.coefficients[name]
        return (), None

    def efficiency(self, field: str, formats: tuple, bits: float = 16, peak: Node | float = 0, tokens=None, math: str = "fp16") -> Node:
        """Fraction of peak or bandwidth, over M alone; less by what a power limit takes."""
        found = self._efficiency(field, formats, bits, peak, tokens, math)
        return found if self.throttle == 1 or field in ("link", "host") else bind(Bin("*", Num(self.throttle), found), {}, BOUNDS)

    def _efficiency(self, field: str, formats: tuple, bits: float, peak: Node | float, tokens: Node | None, math: str) -> Node:
        """Fraction of peak or bandwidth at full power."""
        own = self.own.get(field, self.own.get(FALLBACK.get(field, field)))
        if own is not None:
            return Num(own)
        node = self.setting("efficiency", field, formats)
        if node is None and field in FALLBACK:
            return self._efficiency(FALLBACK[field], formats, bits, peak, tokens, math)
        if node is None:
            return Num(1)
        env = {"bits": bits, "math_bits": MATH_BITS.get(math, 16), "peak": peak, "tokens": Name("M") if tokens is None else tokens}
        found = self.bound(node, f"efficiency.{field}", formats, env)
        if isinstance(found, Num) and not 0 < found.value <= 1:
            mark = self.engine.mark("efficiency", field)
            raise SpecError(Problem(f"efficiency.{field} is {found.value:g}; want more than 0, at most 1", mark))
        if not isinstance(found, Num) and "M" not in names(found) and found not in self.shares:
            self.shares.append(found)
        return found

    def bound(self, node: Node, path: str, formats: tuple = (), env: dict | None = None) -> Node:
        """A formula of the engine with the machine's figures and its coefficients in place."""
        values: dict = {**_UNITS, **self.figures, **(env or {})}
        for name in names(node) - values.keys() - {"M"}:
            values[name] = self._coefficient(name, formats)
        try:
            return bind(node, {k: v for k, v in values.items() if v is not None}, BOUNDS)
        except FormulaError as error:
            raise SpecError(Problem(f"{path}: {error}", self.engine.mark(*path.split(".")), error.help)) from None

    def _coefficient(self, name: str, formats: tuple):
        where, found = self.coefficient(name, formats)
        if found is None or self.free is None or found.low == found.high:
            return None if found is None else found.value
        label = re.sub(r"\W", "_", "_".join(("k", *where[:-2], name)))
        self.free[label] = (self.engine.mark(*where).source.name, where, found)
        return Name(label)

    def overhead(self, field: str) -> Node:
        """Fixed time per step or per layer, in seconds, over M alone."""
        node = self.setting("overhead", field)
        return Num(0) if node is None else self.bound(node, f"overhead.{field}", env={"bits": 16, "tokens": Name("M")})

    def pass_overhead(self) -> Node:
        """Fixed time of a whole pass, in seconds: the step's, every layer's, over M alone."""
        total = self.overhead("step")
        for field, count in (("layer", "layers"), ("moe_layer", "moe_layers"), ("latent_layer", "latent_layers")):
            total = Bin("+", total, Bin("*", Num(self.figures[count]), self.overhead(field)))
        return bind(Bin("*", Num(1 / self.throttle), total), {}, BOUNDS)

    def moe_overlap(self) -> Node:
        """Share of the uniform law's distinct experts that a pass reads."""
        node = self.setting("moe_overlap")
        return Num(1) if node is None else self.bound(node, "moe_overlap", env={"bits": 16, "tokens": Name("M")})
