"""The metadata of a GGUF file as numbers per layer: heads, windows, experts, state-space sizes."""

from __future__ import annotations

from typing import Any

from ..language.problem import Problem, SpecError
from .gguf import Array, Gguf

MAX_LAYERS = 1000
MAX_SIZE = 10**9


class Keys:
    """`{arch}.…` keys of a file. Values that are no plausible size raise :class:`SpecError`."""

    def __init__(self, file: Gguf, windows: dict[str, int]):
        self.file, self.arch = file, str(file.keys.get("general.architecture") or "")[:60]
        self.layers = self.number("block_count", 0)
        self.periods = windows
        if not 1 <= self.layers <= MAX_LAYERS:
            raise self.error(f"{self.layers:,} layers (`{self.arch}.block_count`); want 1 to {MAX_LAYERS:,}")

    def error(self, message: str) -> SpecError:
        """A problem of this file."""
        return SpecError(Problem(f"{self.file.path}: {message}"))

    def raw(self, name: str) -> Any:
        """The value of `{arch}.{name}`, or None."""
        return self.file.keys.get(f"{self.arch}.{name}")

    def number(self, name: str, default: int | None = None) -> int:
        """A size; the most frequent one where the key holds one per layer."""
        value = self.raw(name)
        if isinstance(value, list) and value:
            sizes = [self._size(name, v) for v in value]
            return max(set(sizes) - {0} or {0}, key=sizes.count)
        if value is None or isinstance(value, (list, Array)):
            if default is None:
                raise self.error(f"no `{self.arch}.{name}`, which is needed for a prediction")
            return default
        return self._size(name, value)

    def at(self, name: str, layer: int, default: int | None = None) -> int:
        """A size in one layer."""
        value = self.raw(name)
        if isinstance(value, list) and value:
            if layer >= len(value):
                raise self.error(f"`{self.arch}.{name}` has {len(value):,} entries for {self.layers:,} layers")
            return self._size(name, value[layer])
        return self.number(name, default)

    def _size(self, name: str, value: Any) -> int:
        if isinstance(value, bool):
            return int(value)
        if not isinstance(value, (int, float)) or value != value or not 0 <= value <= MAX_SIZE or value != int(value):
            raise self.error(f"`{self.arch}.{name}` is {str(value)[:40]}; want a size")
        return int(value)

    @property
    def nextn(self) -> int:
        """Layers at the end that only predict further tokens."""
        return min(self.number("nextn_predict_layers", 0), self.layers - 1)

    @property
    def run(self) -> int:
        """Layers that a pass runs."""
        return self.layers - self.nextn

    def window(self, layer: int) -> int:
        """The sliding window of a layer, 0 for full attention."""
        size = self.number("attention.sliding_window", 0) or self.number("attention.chunk_size", 0)
        pattern = self.raw("attention.sliding_window_pattern")
        if not size:
            return 0
        if isinstance(pattern, list) and pattern:
            return size if pattern[layer % len(pattern)] else 0
        period = self._size("attention.sliding_window_pattern", pattern) if isinstance(pattern, int) else self.periods.get(self.arch, 0)
        return size if period and layer % period < period - 1 else 0
