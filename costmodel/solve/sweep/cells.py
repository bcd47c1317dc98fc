"""The cases of a sweep: which axes are compiled and which are arrays, and the program of each compiled case."""

from __future__ import annotations

from collections import OrderedDict
from math import prod
from typing import Any, NamedTuple

from ...compile.build import Case, build, load_spec
from ...compile.graph.narrow import narrowed
from ...compile.graph.text import numpy_source
from ...compile.uses import assign, read_use
from ...language.merge import parse_sets
from ...language.problem import Mark, Source, SpecError, problem
from .axes import CASES, COUNTS, Axis
from .program import WORKLOAD, Program
from .proof import SHARED, limits_of, proven, rates_of
from .traces import codes_of, limit_at, nodes_of, span_of

FEW_VALUES = 8
"""Values of a path, up to which each is compiled."""
FEW_POINTS = 100
"""Points of a case, up to which each is predicted by itself."""
MOST_PROGRAMS = 100_000
KEPT = 256


class Cell(NamedTuple):
    """A compiled case: its program, and by input the axis it reads with the values that the axis has for it."""

    program: Program
    feeds: dict[str, str]
    """Input → axis, or a part of one."""
    parts: dict[str, tuple[str, Any]]
    """Part of an axis → (axis, values)."""


class Cells:
    """Programs of a sweep. `base` has the fields of a case and the workload that hold where no axis says otherwise."""

    def __init__(self, base: dict, axes: list[Axis], figures: tuple[str, ...], library, table: bool, refuse: bool):
        self.base, self.axes, self.figures, self.library, self.table, self.refuse = base, axes, figures, library, table, refuse
        self.by_name = {a.name: a for a in axes}
        self.open = self._candidates()
        self.kept: OrderedDict[tuple, Cell] = OrderedDict()
        self.shut: dict[tuple, Any] = {}
        while not self._settled():
            self.kept.clear()

    @property
    def arrays(self) -> list[Axis]:
        """Axes that programs take as arrays."""
        return [a for a in self.axes if a.name in COUNTS or a.name in self.open]

    @property
    def compiled(self) -> list[Axis]:
        """Axes whose every value is compiled."""
        return [a for a in self.axes if a.name not in COUNTS and a.name not in self.open]

    def _candidates(self) -> tuple[str, ...]:
        """Paths that may be inputs: numbers, enough of them, and of those that decide one thing together the first."""
        import numpy as np

        found: list[str] = []
        taken: set = set()
        for axis in self.axes:
            if axis.numbers is None or not axis.path or np.unique(axis.numbers[:1000]).size <= FEW_VALUES:
                continue
            claims = {"shared"} if axis.path in SHARED else {*rates_of(axis.path), *limits_of(axis.path)}
            if claims and not claims & taken:
                taken |= claims
                found.append(axis.name)
        return tuple(found)

    def combinations(self):
        """The places of compiled axes, of every case that occurs."""
        from itertools import product

        axes = self.compiled
        if self.table:
            import numpy as np

            codes = [codes_of(a) for a in axes]
            return [tuple(map(int, row)) for row in np.unique(np.stack(codes, 1), axis=0)] if codes else [()]
        total = prod(len(a) for a in axes)
        if total > MOST_PROGRAMS:
            raise problem(f"the sweep compiles {total:,} cases; at most {MOST_PROGRAMS:,}", help="vary documents in fewer steps")
        return product(*(range(len(a)) for a in axes))

    def _settled(self) -> bool:
        """Whether every case takes the open paths as inputs; where one does not, these are compiled from now on."""
        if not self.open:
            return True
        for places in self.combinations():
            try:
                self.cell(tuple(places))
            except _NotProven as which:
                self.open = tuple(n for n in self.open if n not in which.names)
                return False
            except SpecError:
                if self.refuse:
                    raise
                if not self._refused_anyway(tuple(places)):
                    self.open = ()
                    return False
        return True

    def _refused_anyway(self, places: tuple[int, ...]) -> bool:
        """Whether a case is refused for one reason, whatever value the open paths have."""
        said = set()
        for end in (0, 1):
            try:
                self.closed(places, {n: e[end] for n, e in self._ends().items()})
                return False
            except SpecError as error:
                said.add(error.problems[0].message)
        return len(said) == 1

    def case(self, places: tuple[int, ...], more: dict[str, int] | None = None) -> Case:
        """The case at places of the compiled axes, and of open paths (`more`)."""
        fields = {name: self.base.get(name) for name in CASES}
        sets = list(self.base["sets"])
        for axis, i in zip(self.compiled, places, strict=True):
            if axis.name in CASES:
                fields[axis.name] = axis.values[i]
            else:
                sets.append(axis.override(i))
        sets += [self.by_name[name].override(i) for name, i in (more or {}).items()]
        return Case(fields["model"], fields["hardware"], fields["engine"], fields["techniques"], fields["devices"], tuple(sets))

    def cell(self, places: tuple[int, ...]) -> Cell:
        """The compiled case at places of the compiled axes. Raises :class:`SpecError` where it is refused."""
        if places not in self.kept:
            while len(self.kept) >= KEPT:
                self.kept.popitem(last=False)
            self.kept[places] = self._compile(places)
        self.kept.move_to_end(places)
        return self.kept[places]

    def closed(self, places: tuple[int, ...], more: dict[str, int] | None = None):
        """The case as `predict` compiles it. Raises :class:`SpecError`."""
        key = (places, *sorted((more or {}).items()))
        if key not in self.shut:
            if len(self.shut) >= KEPT:
                self.shut.clear()
            self.shut[key] = build(self.case(places, more), self.library)
        return self.shut[key]

    def workload(self) -> tuple:
        """Prompt, output, context and batch: a number, or the name of the axis that gives it."""
        given = [n if n in self.by_name else self.base[n] for n in WORKLOAD]
        return (*given[:2], given[0] if given[2] is None else given[2], given[3])

    def _compile(self, places: tuple[int, ...]) -> Cell:
        workload = self.workload()
        if not self.open and self._points() <= FEW_POINTS:
            return Cell(Program(None, (), (), False, self.closed(places).text, self.figures, workload), {}, {})
        ends = self._ends()
        runnable = build(self.case(places, {n: low for n, (low, _) in ends.items()}), self.library, {}, True)
        inputs = self._inputs(places, runnable, ends) if ends else {}
        program, feeds, parts = self._program(places, runnable, inputs, workload)
        if program.scalars and self.open:
            raise _NotProven(self.open)  # predictions one by one need each value compiled
        return Cell(program, feeds, parts)

    def _points(self) -> int:
        sizes = [len(a) for a in self.arrays]
        return (max(len(a) for a in self.axes) if self.axes else 1) if self.table else prod(sizes)

    def _ends(self) -> dict[str, tuple[int, int]]:
        """The places of the lowest and the highest value of open paths."""
        return {n: (int(self.by_name[n].numbers.argmin()), int(self.by_name[n].numbers.argmax())) for n in self.open}

    def _inputs(self, places, low, ends: dict) -> dict[str, tuple[str, ...]]:
        """The inputs that each open path feeds. Raises _NotProven with the paths that must be compiled."""
        self._check_knobs()
        found = self._proof(places, low, ends, list(ends))
        if found is None:
            wrong = [n for n in ends if self._proof(places, low, ends, [n]) is None]
            raise _NotProven(wrong or list(ends))
        return found

    def _check_knobs(self) -> None:
        """Every value of an open knob, as its technique checks it. Raises :class:`SpecError`, or _NotProven to leave some blank."""
        import numpy as np

        for name in self.open:
            axis = self.by_name[name]
            if axis.path[0] == "tech":
                use, knob = read_use(self.library, axis.path[1]), axis.path[2]
                try:
                    for i in np.unique(axis.numbers, return_index=True)[1]:
                        assign(use, knob, axis.values[i] if not isinstance(axis.values[i], str) else float(axis.numbers[i]), _mark(axis, i))
                except SpecError:
                    if self.refuse:
                        raise
                    raise _NotProven([name]) from None

    def _proof(self, places, low, ends, moved: list[str]):
        where = {n: (most if n in moved else least) for n, (least, most) in ends.items()}
        high = build(self.case(places, where), self.library, {}, True)
        spans: dict[str, tuple[tuple[str, ...], float, float]] = {}
        for name in moved:
            low_value, high_value = map(float, self.by_name[name].numbers[list(ends[name])])
            spans[name] = (self.by_name[name].path, low_value, high_value)
        return proven(low, high, spans)

    def _program(self, places, runnable, inputs, workload) -> tuple[Program, dict, dict]:
        feeds = {n: v for n, v in zip(WORKLOAD, workload, strict=True) if isinstance(v, str)}
        parts: dict[str, tuple[str, Any]] = {}
        for axis, names in inputs.items():
            for name in names:
                feeds[name] = f"{axis}/{name}"
                parts[feeds[name]] = (axis, self._values(places, axis, name))
        spans = {n: span_of(self.by_name[v].numbers if v in self.by_name else parts[v][1]) for n, v in feeds.items()}
        numbers = {n: int(spans[n][0]) if n in feeds else v for n, v in zip(WORKLOAD, workload, strict=True)}
        nodes, left, sound = nodes_of(runnable, numbers, frozenset(feeds), self.figures)
        arrays = tuple(n for n in self.figures if n not in left)
        source, checked = None, False
        if arrays:
            outputs = narrowed([*nodes.values(), sound], spans)
            checked = outputs[-1].op != "const"
            if not checked and not outputs[-1].value:
                arrays, left = (), list(self.figures)
            named = dict(zip([*nodes, "sound"], outputs if checked else outputs[:-1], strict=False))
            source = numpy_source(named, list(feeds), list(feeds)) if arrays else None
        closed = self.closed(places).text if left and not self.open else None
        program = Program(source, tuple(feeds) if source else (), arrays, checked, closed, tuple(left), workload)
        return program, feeds, parts

    def _values(self, places, axis: str, name: str):
        """The values of an input along an axis: the axis's own, or of a capacity what may be used of it."""
        import numpy as np

        given = self.by_name[axis]
        if name not in limits_of(given.path):
            return given.numbers
        ends = self._ends()
        sets = parse_sets(self.case(places, {n: low for n, (low, _) in ends.items()}).sets)
        spec = load_spec(self.library, "hardware", self.case(places).hardware, tuple(sets.get("hw", ())), "--hw")
        return np.array([limit_at(spec, given.path, name, value) for value in given.numbers], dtype=np.float64)


class _NotProven(Exception):
    """Paths that turned out to decide more than an input."""

    def __init__(self, names):
        super().__init__(str(names))
        self.names = names


def _mark(axis: Axis, i: int) -> Mark:
    return Mark(Source("--set", axis.override(int(i))), 1, 1)
