"""The library's document for a part as its maker, driver or firmware names it."""

from __future__ import annotations

import re

from ..library import Library, Spec

_CUTS = (
    (re.compile(r"\((r|tm|c)\)|[®™]", re.I), " "),
    (re.compile(r" (w/|with) .*| @ .*", re.I), " "),
    (
        re.compile(r"\b\d+(th|nd|rd|st) gen\b|\b\d+-core processor\b|\b\d+-cores\b|\bmodel [a-z]\b.*|\bdeveloper kit\b.*|\brev \d.*", re.I),
        " ",
    ),
    (re.compile(r"\b(nvidia|amd|intel|apple|geforce|radeon|instinct|tesla|graphics|processor|cpu|oam|hbm\de?)\b", re.I), " "),
)
_SIZE = re.compile(r"\b\d+ ?gi?b\b", re.I)
_BUSES = (("sxm[2-6]", "sxm"), ("pcie ?gen\\d|pci-?e?x?\\b", "pcie"))


def find_machine(library: Library, text: str, memory: int | None = None) -> Spec | None:
    """The document of a part that `text` names, or None. Of several that share a name, the one with `memory` bytes.

    A name matches only as a whole, so that a laptop's part is not taken for the desktop's.
    """
    found = [s for one in dict.fromkeys((text, *re.split(r"\s*(?<!\bw)/\s*", text))) if (s := _lookup(library, one, memory))]
    fitting = [s for s in found if _fits(s, memory)]
    if len({s.name for s in found}) > 1 and len({s.name for s in fitting}) != 1:
        return None
    return next(iter(fitting or found), None)


def _fits(spec: Spec, memory: int | None) -> bool:
    sizes = [tier.capacity for tier in spec.doc.memory.values() if tier.capacity]
    return bool(memory and sizes and abs(memory / sizes[0] - 1) < 0.1)


def _lookup(library: Library, text: str, memory: int | None) -> Spec | None:
    index = _index(library)
    for variant in _variants(text, memory):
        if name := index.get(_normal(variant)):
            return library.load("hardware", name)
    return None


def _variants(text: str, memory: int | None):
    """Readings of a name, the most exact first: with its memory's size, as it is, without a size."""
    size = f" {round(memory / 2**30)}gb" if memory else ""
    for base in (text, _SIZE.sub(" ", text)):
        for change in ("", *_BUSES):
            shown = re.sub(change[0], change[1], base, flags=re.I) if change else base
            yield shown + size if size and not _SIZE.search(shown) else shown
            yield shown


def _normal(text: str) -> str:
    """A name without vendor words and separators, in lower case."""
    for pattern, instead in _CUTS:
        text = pattern.sub(instead, text[:200])
    return re.sub(r"[^a-z0-9]+", "", text.lower())


def _index(library: Library) -> dict[str, str]:
    """Normal form of names, aliases, titles and titles without remarks to the document's name; earlier kinds win."""
    if "machines" not in library.kept:
        found: dict[str, str] = {}
        bare: dict[str, set[str]] = {}
        heads = [(name, library.read(file).data) for name, file in library.names("hardware").items()]
        heads = [(name, data) for name, data in heads if isinstance(data, dict) and data.get("abstract") is not True]
        for name, _ in heads:
            found.setdefault(_normal(name), name)
        for name, data in heads:
            listed = data.get("aliases")
            for alias in listed if isinstance(listed, list) else ():
                found.setdefault(_normal(str(alias)), name)
        for name, data in heads:
            title = data.get("title")
            title = title.get("en") if isinstance(title, dict) else title
            found.setdefault(_normal(str(title or "")), name)
            bare.setdefault(_normal(re.sub(r"\([^)]*\)", "", str(title or ""))), set()).add(name)
        for shown, names in bare.items():
            if len(names) == 1:
                found.setdefault(shown, *names)
        found.pop("", None)
        library.kept["machines"] = found
    return library.kept["machines"]
