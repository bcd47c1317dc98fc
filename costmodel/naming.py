"""Machines in people's words: `NVIDIA GeForce RTX 4090 24GB`, `rtx-4090` and `4090` are read into the same words.

Letters and digits alone count; brand words may be left out but must not contradict; a memory size is held against the
document's. Which document is meant is decided in :mod:`costmodel.lookup`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BRANDS = """nvidia geforce rtx gtx tesla amd radeon rx ryzen epyc threadripper instinct intel core xeon platinum gold silver arc
i3 i5 i7 i9 ryzen3 ryzen5 ryzen7 ryzen9 ultra5 ultra7 ultra9 apple google aws cpu igpu"""
BRANDS = frozenset(_BRANDS.split())
"""Words that may be left out; where they are given, the document must have them too."""
_NOISE = frozenset(["gpu", "graphics", "processor", "cores", "generation", "gen", "edition", "oam", "the", "tensor"])
_MEMORY_KIND = re.compile(r"(hbm|gddr)\d\w*\Z")
_SIZE = re.compile(r"(?<![\w.])(\d{1,4})[ -]?gi?b(?![\w/])")
_ALIKE = (
    (re.compile(r"\((r|tm|c)\)|[®™+]"), " "),
    (re.compile(r"\bw/.*|@.*"), " "),  # `AMD Ryzen 7 8700G w/ Radeon 780M Graphics`, `… CPU @ 2.90GHz`
    (re.compile(r"\b\d+(-| )cores? processor|\b\d+th gen"), " "),  # `AMD EPYC 9654 96-Core Processor`, `13th Gen Intel …`
    (re.compile(r"\b(\d+)(-| )?cores?\b"), r"\1 "),  # `40-core GPU`
    (re.compile(r"\bsxm\d\b"), "sxm"),
    (re.compile(r"\b(rtx|gtx|rx|ryzen)[ -]?(?=[a-z]?\d{3})"), r"\1 "),
    (re.compile(r"\b(ryzen|ultra)[ -]?([3579])(?!\w)"), r"\1\2 "),  # `Ryzen 9` is one word
)


class Words(NamedTuple):
    """A text's `key` (what distinguishes, as one word), its brand words, and its memory size in GB or GiB, if it has one."""

    key: str
    brands: frozenset
    size: int | None


def squeeze(text: str) -> str:
    """Letters and digits alone, in lower case."""
    return "".join(c for c in text.lower() if c.isalnum())


def bare(text: str) -> str:
    """The text without what stands in parentheses."""
    return re.sub(r"\([^()]*\)", " ", text)


def words(text: str) -> Words:
    """The words of a name, an alias, a title or what somebody typed."""
    text = text.lower().replace("_", "-")
    sizes = _SIZE.findall(text)
    text = _SIZE.sub(" ", text)
    for pattern, instead in _ALIKE:
        text = pattern.sub(instead, text)
    found = re.findall(r"[^\W_]+", text)
    kept = [w for w in found if w not in _NOISE and not _MEMORY_KIND.match(w)]
    key = "".join(w for w in kept if w not in BRANDS)
    return Words(key, frozenset(w for w in kept if w in BRANDS), int(sizes[0]) if sizes else None)


_ALIASES = re.compile(r"^aliases:(.*)$", re.M)
_PLAIN_LIST = re.compile(r"""\s*\[((?:\s*(?:"[^",\\]*"|'[^',]*'|[^\s"',\[\]{}#][^"',\[\]{}#]*)\s*,?)*)\]\s*\Z""")
_TITLE = re.compile(r"""^title: *(?:\{ *en: *)?(?:"([^"\\\n]*)"|'([^'\n]*)'|([^"'{}\n,#]+))""", re.M)
_EXTENDS = re.compile(r"^extends: *([^\s#]+)", re.M)


class Header(NamedTuple):
    """What names a document: title, aliases, its parent, and whether it is only a parent itself."""

    title: str
    aliases: tuple[str, ...]
    extends: str
    abstract: bool


def header(text: str) -> Header | None:
    """The header of a document's text, read by its lines; None where it is written in a way that needs the YAML reader."""
    lists, titles, parent = _ALIASES.search(text), _TITLE.search(text), _EXTENDS.search(text)
    plain = _PLAIN_LIST.match(lists[1]) if lists else None
    if (lists and not plain) or ("\ntitle:" in text and not titles):
        return None
    aliases = tuple(w for w in (a.strip().strip("\"'").strip() for a in (plain[1] if plain else "").split(",")) if w)
    title = next((t for t in titles.groups() if t is not None), "").strip() if titles else ""
    return Header(title, aliases, parent[1] if parent else "", "\nabstract: true" in text)
