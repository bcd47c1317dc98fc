"""The variables of a config: values found under a family's keys, class defaults, and formulas over both.

A variable is one number, or one per layer (a list in the config, or a formula that uses `i` or such a list). Texts become
numbers through the family's `words` and `letters`, so formulas see only numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from ..language.formula import FormulaError, Node, Num, names
from ..language.formula.fold import bind
from ..language.problem import Mark, Problem, SpecError, suggest

MAX_LAYERS = 1000
_ABSENT = object()
LAYER = "i"
CORE = ("layers", "hidden", "heads", "ffn", "vocab", "kv_heads")
"""Variables without which a config says little."""


def place_of(place: Mark, key: str) -> Mark:
    """Where a key stands in a JSON text: the first line that has it."""
    for number, line in enumerate(place.source.lines, 1):
        column = line.find(f'"{key}"')
        if column >= 0:
            return Mark(place.source, number, column + 1)
    return place


class Variables:
    """Numbers of one config under the `keys` and `let` of a family.

    `config` is the text config, `outer` what it is nested in; `given` are variables known beforehand, one value for all layers.
    """

    def __init__(self, doc, config: Mapping, outer: Mapping, place: Mark, given: Mapping[str, float] | None = None):
        self.doc, self.config, self.outer, self.place = doc, config, outer, place
        self.known: dict[Any, Any] = dict(given or {})
        self.active: list[str] = []
        self.absent: dict[str, str] = {}
        """Core variables that the config leaves out, and the key that each would have."""
        self.per_layer: dict[str, bool] = dict.fromkeys(given or (), False)

    def value(self, name: str, layer: int | None = None):
        """A variable's number (in a layer). Raises :class:`SpecError` for a key that is missing or has no meaning."""
        found = self._known(name, layer)
        if isinstance(found, list):
            if layer is None:
                raise self.error(f"{self._keys(name)} differs by layer, but one value for all is wanted", None, name)
            return self._item(name, found, layer)
        return found

    def eval(self, node: Node, layer: int | None = None):
        """The value of a formula (in a layer)."""
        if isinstance(node, Num):
            return node.value
        try:
            done = bind(node, _Layer(self, layer))  # type: ignore[arg-type]
        except FormulaError as error:
            raise self.error(str(error)) from None
        if not isinstance(done, Num):
            raise self.error(f"`{', '.join(sorted(names(done)))}` has no value")
        return done.value

    def varies(self, node: Node) -> bool:
        """Whether a formula's value may differ by layer."""
        return any(n == LAYER or self._layered(n) for n in names(node))

    def error(self, message: str, help: str | None = None, name: str | None = None) -> SpecError:
        """A problem of this config, at the line of the variable `name` where that is in it."""
        return SpecError(Problem(message, (self.place_of(name) if name else None) or self.place, help))

    def place_of(self, name: str) -> Mark | None:
        """The line of the key that a variable is read from, where one is there."""
        spec = self.doc.keys.get(name)
        found = next((k for k in spec.key if at(self.config, k.split(".")) is not _ABSENT), None) if spec else None
        return place_of(self.place, found.rpartition(".")[2]) if found else None

    def _layered(self, name: str) -> bool:
        if name not in self.per_layer:
            self.per_layer[name] = False
            if name in self.doc.keys:
                raw, spec = self._raw(name), self.doc.keys[name]
                listed = (isinstance(raw, list) and not (spec.length or spec.sum)) or bool(spec.letters and isinstance(raw, str))
                self.per_layer[name] = listed or (raw is _ABSENT and spec.default is not None and self.varies(spec.default))
            elif name in self.doc.let:
                self.per_layer[name] = self.varies(self.doc.let[name])
        return self.per_layer[name]

    def _known(self, name: str, layer: int | None):
        key = (name, layer) if self._layered(name) else name
        if name in self.known or key in self.known:  # a list is kept once, for all layers
            return self.known[name if name in self.known else key]
        if name in self.active:
            raise self.error(f"variables go in a circle: {' -> '.join([*self.active, name])}")
        self.active.append(name)
        try:
            if name in self.doc.keys:
                found = self._read(name, layer)
            elif name in self.doc.let:
                found = self.eval(self.doc.let[name], layer)
            else:
                raise self.error(f"`{name}` is no variable of family `{self.doc.name}`", suggest(name, [*self.doc.keys, *self.doc.let]))
        finally:
            self.active.pop()
        self.known[name if isinstance(found, list) else key] = found
        return found

    def _read(self, name: str, layer: int | None):
        spec, raw = self.doc.keys[name], self._raw(name)
        if raw is _ABSENT:
            self._missed(name, spec)
            if spec.default is None:
                raise self.error(f"no {self._keys(name)}", f"family `{self.doc.name}` needs it")
            return self.eval(spec.default, layer)
        if raw is None:
            return self.eval(spec.none, layer)
        if spec.length and isinstance(raw, (list, str)):
            return len(raw)
        if spec.members is not None and isinstance(raw, list):
            chosen = {int(self._number(name, item)) - spec.members for item in raw[:MAX_LAYERS]}
            return [1 if n in chosen else 0 for n in range(min(MAX_LAYERS, int(self.value("layers"))))]
        if spec.letters and isinstance(raw, str):
            return [self._word(name, letter, spec.letters) for letter in raw[:MAX_LAYERS]]
        if isinstance(raw, list):
            found = [self._number(name, item) for item in raw[:MAX_LAYERS]]
            return sum(found) if spec.sum else found
        return self._number(name, raw)

    def _missed(self, name: str, spec) -> None:
        """A core key that is absent: misspelt, perhaps; else noted, for its class default is a guess of another model."""
        if name not in CORE or not spec.key or name in self.absent:
            return
        known = {part for key in self.doc.keys.values() for path in key.key for part in path.split(".")}
        for key in spec.key:
            near = get_close_matches(key, [k for k in self.config if isinstance(k, str) and k not in known], 1, 0.93)
            if near:
                raise SpecError(Problem(f"no `{key}`", place_of(self.place, near[0]), f"is `{near[0]}` a slip of the pen?"))
        if isinstance(spec.default, (int, float)) or (spec.default is not None and not names(spec.default)):
            self.absent[name] = spec.key[0]

    def _item(self, name: str, found: list, layer: int):
        if self.doc.keys[name].cyclic and found:
            layer %= len(found)
        if layer >= len(found):
            raise self.error(f"{self._keys(name)} has {len(found)} entries, fewer than there are layers", None, name)
        return found[layer]

    def _number(self, name: str, raw):
        if isinstance(raw, str):
            return self._word(name, raw, self.doc.keys[name].words)
        if isinstance(raw, bool):
            return int(raw)
        if raw is None:
            return 0 if self.doc.keys[name].none is None else self.eval(self.doc.keys[name].none)
        if not isinstance(raw, (int, float)):
            raise self.error(f"{self._keys(name)}: want a number, got a {'list' if isinstance(raw, list) else 'mapping'}", None, name)
        if not -1 <= raw <= 1e15:
            raise self.error(f"{self._keys(name)}: {raw:g} is not a plausible value", None, name)
        return raw

    def _word(self, name: str, text: str, table: Mapping[str, float]):
        if text in table:
            return table[text]
        if "*" in table:
            return table["*"]
        message = f"{self._keys(name)}: `{text[:60]}` has no meaning in family `{self.doc.name}`"
        raise self.error(message, suggest(text[:60], table), name)

    def _raw(self, name: str):
        """The first of the variable's keys that has a value; null only where the family gives null a meaning."""
        spec = self.doc.keys[name]
        empty = False
        for path in spec.key:
            for source in (self.config, self.outer) if spec.outer and self.outer is not self.config else (self.config,):
                found = at(source, path.split("."))
                if found is None:
                    empty = True
                elif found is not _ABSENT and self._fits(spec, found):
                    return found
                elif found is not _ABSENT and not self._shared(name, path):
                    want = "a list" if spec.members is not None else "letters, one per layer" if spec.letters else "a number"
                    shown = f"`{found[:40]}`" if isinstance(found, str) else type(found).__name__
                    raise self.error(f"`{path}`: want {want}, got {'text ' if isinstance(found, str) else ''}{shown}", None, name)
        return None if empty and spec.none is not None else _ABSENT

    def _shared(self, name: str, path: str) -> bool:
        """Whether another variable reads the same key, in another form."""
        return any(path in spec.key for other, spec in self.doc.keys.items() if other != name)

    @staticmethod
    def _fits(spec, found) -> bool:
        """Whether this kind of value is the variable's: one key may hold a number in some configs and letters in others."""
        if spec.letters:
            return isinstance(found, str)
        if spec.members is not None or not isinstance(found, str):
            return spec.members is None or isinstance(found, list)
        return bool(spec.words) or spec.length

    def _keys(self, name: str) -> str:
        paths = self.doc.keys[name].key
        shown = " or ".join(f"`{p}`" for p in paths[:4])
        return shown + (" or …" if len(paths) > 4 else "") if paths else f"`{name}`"


class _Layer:
    """What `bind` sees as its environment: variables looked up when a live branch needs them."""

    def __init__(self, variables: Variables, layer: int | None):
        self.variables, self.layer = variables, layer

    def get(self, name: str):
        """The number behind a name."""
        if name == LAYER:
            if self.layer is None:
                raise self.variables.error("`i`, the layer, is known only inside a layer")
            return self.layer
        return self.variables.value(name, self.layer)

    def __bool__(self) -> bool:
        return True


def at(source: Any, path: list[str]) -> Any:
    """What stands at a path of keys, list positions and `*`; a mark of absence where there is nothing."""
    for position, part in enumerate(path):
        if part == "*":
            if not isinstance(source, list):
                return _ABSENT
            rest = path[position + 1 :]
            found = [at(item, rest) for item in source[:MAX_LAYERS]]
            return [None if item is _ABSENT else item for item in found]
        if isinstance(source, list) and part.isdecimal() and int(part) < len(source):
            source = source[int(part)]
        elif isinstance(source, Mapping) and part in source:
            source = source[part]
        else:
            return _ABSENT
    return source
