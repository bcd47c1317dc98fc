"""Lines of figures that llama.cpp's programs and `ollama run --verbose` print."""

from __future__ import annotations

import re

from .collect import split

_TIME = re.compile(
    r"(?:^|[:|\s])(?P<prompt>prompt )?eval time\s*=\s*(?P<ms>\d{1,12}(?:\.\d{1,6})?) ms\s*/\s*(?P<n>\d{1,9}) (?:tokens|runs)"
    r"\s*\(\s*[\d.]{1,20} ms per token,\s*(?P<speed>\d{1,12}(?:\.\d{1,6})?) tokens per second\)"
)
_OLLAMA = re.compile(r"(?P<prompt>prompt )?eval (?P<what>count|rate):\s+(?P<value>\d{1,12}(?:\.\d{1,6})?) ?(?:token\(s\)|tokens?/s)")


class Timings:
    """Prefill and decode of each request in a log; `read` returns the rows that a line completes."""

    def __init__(self) -> None:
        self.values: dict = {}
        self.line = 0

    def read(self, line: str, number: int) -> list[dict]:
        """Take in one line. A request is complete with its decode figure."""
        if "eval " not in line or len(line) > 1000:
            return []
        if found := _TIME.search(line):
            return self._figures(number, bool(found["prompt"]), int(found["n"]), float(found["speed"]), "llama.cpp")
        if found := _OLLAMA.match(line.strip()):
            if found["what"] == "count":
                self.values["prompt" if found["prompt"] else "output"] = int(float(found["value"])) or None
                return []
            count = self.values.get("prompt" if found["prompt"] else "output")
            return self._figures(number, bool(found["prompt"]), count, float(found["value"]), "ollama")
        return []

    def _figures(self, line: int, prompt: bool, count: int | None, speed: float, tool: str) -> list[dict]:
        self.line = line
        if prompt:
            self.values = {"prompt": count, "prefill_tps": speed or None}
            return []
        values = self.values | {"output": count, "decode_tps": speed or None, "tool": tool, "batch": 1}
        self.values = {}
        return split(values)

    def rest(self) -> list[dict]:
        """The prefill figure of a request whose decode figure never came."""
        values, self.values = self.values, {}
        return split(values | {"tool": "llama.cpp", "batch": 1})
