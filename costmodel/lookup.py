"""Which document a text means: claims (names and aliases) first, then, for machines, the rule of :mod:`costmodel.naming`.

The headers of all documents of a kind are read on the first miss of an exact name, line by line, without the YAML reader.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .language.problem import Mark, Problem, SpecError
from .naming import BRANDS, Header, Words, bare, header, squeeze, words

_CLASS_WORDS = {"cpu-desktop": "cpu", "cpu-server": "cpu", "amd-apu": "igpu"}
GIB, GB = 2**30, 1e9


class Entry(NamedTuple):
    """A document as look-up sees it: `forms` are the ranked words of its name and aliases (0), title (1) and bare title (2)."""

    name: str
    file: Path
    header: Header
    forms: tuple[tuple[int, Words], ...]
    brands: frozenset


def normal(kind: str, text: str) -> str:
    """The form in which names and aliases of a kind are compared."""
    return squeeze(text) if kind == "hardware" else text.lower().replace(" ", "-").replace("_", "-")


def read_header(library, file: Path) -> Header:
    """A document's header; of one that cannot be read, an empty one."""
    try:
        found = header(file.read_text("utf-8"))
        data = library.read(file).data if found is None else None
    except (OSError, UnicodeDecodeError, SpecError):
        return Header("", (), "", False)
    if found is not None:
        return found
    data = data if isinstance(data, dict) else {}
    title, aliases = data.get("title"), data.get("aliases")
    title = title.get("en") if isinstance(title, dict) else title
    listed = tuple(map(str, aliases)) if isinstance(aliases, list) else ()
    return Header(str(title or ""), listed, str(data.get("extends") or ""), data.get("abstract") is True)


def entry(library, name: str, file: Path) -> Entry:
    """What look-up knows of one document."""
    head = read_header(library, file)
    named = [(0, words(n)) for n in (name, *head.aliases)]
    titled = [(1, words(head.title)), (2, words(bare(head.title)))] if head.title else []
    forms = tuple(f for f in (*named, *titled) if f[1].key)
    parts = {p for p in head.extends.split("-") if p in BRANDS} | {_CLASS_WORDS.get(head.extends, "")}
    return Entry(name, file, head, forms, frozenset().union(parts, *(f[1].brands for f in forms)))


def entries(library, kind: str, files: dict[str, Path]) -> list[Entry]:
    """What look-up knows of some documents; read once for the life of the library."""
    kept = library.kept.setdefault("entries", {})
    for name, file in files.items():
        if file not in kept:
            kept[file] = entry(library, name, file)
    return [kept[file] for file in files.values()]


def claimed(library, kind: str, text: str, files: dict[str, Path]) -> Path | None:
    """The document whose name or alias this is; of several the first (`validate` reports them)."""
    wanted = normal(kind, text)
    found = entries(library, kind, files)
    by_name = next((e.file for e in found if normal(kind, e.name) == wanted), None)
    return by_name or next((e.file for e in found if wanted in {normal(kind, a) for a in e.header.aliases}), None)


def meant(library, text: str, files: dict[str, Path], *, any_size: bool = False) -> list[Entry]:
    """The machines that a text can mean by the rule: one, or several where it is ambiguous.

    `any_size`: a memory size other than the document's does not speak against a machine whose memory is its RAM.
    """
    wanted = words(text)
    if not wanted.key:
        return []
    fitting = [
        (rank, form.size is not None and wanted.size is None, e)
        for e in entries(library, "hardware", files)
        if not e.header.abstract and wanted.brands <= e.brands
        for rank, form in e.forms
        if form.key == wanted.key
    ]
    if wanted.size is not None:
        fitting = [f for f in fitting if _fits(library, f[2], wanted.size, any_size)]
    best = min((f[:2] for f in fitting), default=None)
    return list({e.name: e for rank, sized, e in fitting if (rank, sized) == best}.values())


def _fits(library, found: Entry, size: int, any_size: bool) -> bool:
    try:
        doc = library.load("hardware", str(found.file)).doc
    except SpecError:
        return False
    tiers = list(doc.memory.values())
    capacity = tiers[0].capacity if len(tiers) == 1 else None
    if capacity is not None and any(abs(capacity / unit - size) < 0.6 for unit in (GIB, GB)):
        return True
    return any_size and doc.host.dram is None


def why_not(library, text: str, files: dict[str, Path]) -> str | None:
    """What to say about a text that no machine, or more than one, answers to."""
    several = meant(library, text, files)
    if len(several) > 1:
        return "several machines are called so: " + ", ".join(f"`{e.name}`" for e in several)
    wanted = words(text)
    if wanted.size is None:
        return None
    others = [e for e in entries(library, "hardware", files) if not e.header.abstract and wanted.brands <= e.brands]
    named = [e.name for e in others if any(form.key == wanted.key for _, form in e.forms)]
    if not named:
        return None
    tier = next(iter(library.load("hardware", named[0]).doc.memory), "…")
    return f'`{named[0]}` with another memory: `--hw {named[0]} --set "hw.memory.{tier}.capacity={wanted.size} GiB"`'


def clashes(library, spec, file: Path, files: dict[str, Path]) -> list[Problem]:
    """Aliases of a document that another one of the same folder has as its name or alias."""
    problems = []
    others = [e for e in entries(library, spec.kind, files) if e.file.resolve() != file.resolve()]
    for i, alias in enumerate(spec.doc.aliases):
        wanted = normal(spec.kind, alias)
        for other in others:
            taken = next((j for j, a in enumerate(other.header.aliases) if normal(spec.kind, a) == wanted), None)
            if taken is None and normal(spec.kind, other.name) != wanted:
                continue
            where: Mark = library.read(other.file).mark(("name",) if taken is None else ("aliases", taken))
            message = f"alias `{alias}`: `{spec.name}` and `{other.name}` both claim it"
            problems.append(Problem(message, spec.mark("aliases", i), "an alias names one document", ((where, "and here"),)))
    return problems


def find_free(library, text: str) -> Path | None:
    """The file of the one machine that free words name, or None."""
    if not text or len(text) > 200 or " + " in text:
        return None
    files = library.names("hardware")
    if text in files:
        return files[text]
    for shown in dict.fromkeys((text, bare(text).strip())):
        found = claimed(library, "hardware", shown, files) if shown else None
        several = [] if found or not shown else meant(library, shown, files, any_size=True)
        if found or len(several) > 1:
            return found
        if several:
            return several[0].file
    return None
