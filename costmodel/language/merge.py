"""One document over another (`extends`), and single values over a document (`--set`). Marks follow the values."""

from __future__ import annotations

from .problem import Mark, Source, problem, suggest
from .yamlread import Document, parse

SETTABLE = {"hw": "hardware", "model": "model", "tech": "technique", "engine": "engine"}
MAX_PATH = 12
_FIXED = ("schema", "name", "extends", "architecture", "abstract", "aliases")
_LISTED = ("dims", "memory", "knobs", "params")


def merge(parent: Document, child: Document) -> Document:
    """`child` over `parent`: mappings merge, everything else (lists too) replaces.

    What ties to replaced values goes with them: a parent's published `checks` and stated bytes when dims or blocks change, its weights'
    `size`, `roles` and `bytes` when the format changes, and its memory entry when the child's has another name.
    """
    replaced: set[tuple] = set()
    data = _maps(parent.data, child.data, (), replaced)
    data["abstract"] = child.data.get("abstract", False)
    for field in ("aliases", "title", "description"):  # what names a parent does not name its child
        if field not in child.data:
            data.pop(field, None)
    if "dims" in child.data or "blocks" in child.data:
        if "checks" not in child.data:
            data.pop("checks", None)
        if "bytes" in _mapping(data.get("weights")) and "bytes" not in _mapping(child.data.get("weights")):
            data["weights"] = {k: v for k, v in data["weights"].items() if k != "bytes"}
    _drop_sources(parent.data, child.data, data)
    lengths = {len(path) for path in replaced}
    kept = {at: mark for at, mark in parent.marks.items() if not any(at[:n] in replaced for n in lengths)} if replaced else parent.marks
    return Document(data, kept | child.marks, child.source)


def _drop_sources(parent: dict, child: dict, data: dict) -> None:
    """A parent's sources do not speak for numbers that the child gives itself."""
    told, memory, sources = (_mapping(d.get(k)) for d, k in ((child, "sources"), (child, "memory"), (data, "sources")))
    given = {key for entry in memory.values() if isinstance(entry, dict) for key in entry}
    given |= {key for key in ("compute", "links", "host", "usable", "weights", "dims", "context") if key in child}
    if sources and parent.get("abstract") is not True:
        data["sources"] = {k: v for k, v in sources.items() if k in told or k not in given}


def _mapping(value) -> dict:
    return value if isinstance(value, dict) else {}


def _maps(parent: dict, child: dict, path: tuple, replaced: set) -> dict:
    out = dict(parent)
    if path == ("memory",) and child and not set(child) & set(parent):
        replaced.update((*path, key) for key in parent)
        out = {}
    if path == ("weights",) and "format" in child:
        for tied in ("size", "roles", "bytes"):
            out.pop(tied, None)
    for key, value in child.items():
        if isinstance(out.get(key), dict) and isinstance(value, dict) and value:
            out[key] = _maps(out[key], value, (*path, key), replaced)
        else:
            if key in out:
                replaced.add((*path, key))
            out[key] = value
    return out


def parse_sets(texts) -> dict[str, list]:
    """`--set` arguments, sorted by what they set: `hw.memory.vram.bandwidth=1 TB/s` → {"hw": [(path, value, mark)]}.

    Values are read as a YAML scalar or flow collection. Raises :class:`SpecError`.
    """
    found: dict[str, list] = {}
    for number, text in enumerate(texts, 1):
        source = Source(f"--set #{number}", text)
        path, equals, value = text.partition("=")
        head, *rest = path.strip().split(".")
        mark = Mark(source, 1, 1)
        if not equals or not rest:
            raise problem(f"`{text}` is not path=value", mark, "for example `hw.memory.dram.bandwidth=100 GB/s`")
        if head not in SETTABLE:
            raise problem(f"`{head}` cannot be set", mark, suggest(head, SETTABLE))
        if len(rest) > MAX_PATH:
            raise problem(f"the path has {len(rest)} parts; at most {MAX_PATH}", mark)
        parsed = parse(Source(source.name, value.strip() or "null")).data
        earlier = next((item for item in found.get(head, ()) if item[0] == tuple(rest)), None)
        if earlier is not None and earlier[1] != parsed:
            raise problem(f"`{path.strip()}` is set twice", mark, "keep one", [(earlier[2], "and here")])
        found.setdefault(head, []).append((tuple(rest), parsed, mark))
    for sets in found.values():
        sets.sort(key=lambda item: _order(item[0]))
    return found


def _order(path: tuple) -> int:
    """What clears other entries comes before them: the format before its size, dims and blocks before checks."""
    return 0 if path == ("weights", "format") or path[0] in ("dims", "blocks") else 1


def override(document: Document, path: tuple, value, mark: Mark) -> Document:
    """A copy of `document` with the value at `path` replaced. Raises :class:`SpecError` for a path that cannot be set."""
    data = _copy(document.data)
    path = _spelled(data, path)
    shown = ".".join(map(str, path))
    if path[0] in _FIXED:
        raise problem(f"`{shown}` cannot be set", mark, "write a document that extends this one")
    target = data
    for depth, part in enumerate(path[:-1]):
        below = target.get(part)
        if below is None and path[0] not in _LISTED and depth < 3:
            below = target[part] = {}
        if not isinstance(below, dict):
            raise _nothing(document, shown, mark)
        target = below
    if path[0] in _LISTED and len(path) > 1 and path[1] not in (document.data.get(path[0]) or {}):
        raise _nothing(document, shown, mark)
    target[path[-1]] = value
    if path == ("weights", "format"):
        for tied in ("size", "roles", "bytes"):
            target.pop(tied, None)
    if path[0] in ("dims", "blocks"):
        data.pop("checks", None)
        _mapping(data.get("weights")).pop("bytes", None)
    marks = dict(document.marks)
    for index in range(1, len(path) + 1):
        if path[:index] not in marks or index == len(path):
            marks[path[:index]] = (mark, mark)
    return Document(data, marks, document.source)


def _nothing(document: Document, shown: str, mark: Mark):
    valid = [".".join(map(str, p)) for p in document.marks if p and all(isinstance(part, str) for part in p)]
    return problem(f"nothing stands at `{shown}`", mark, suggest(shown, valid))


def _spelled(data, path: tuple) -> tuple:
    """Join path parts whose key itself holds dots (`attn.v`)."""
    out: list = []
    parts = list(path)
    while parts:
        for size in range(len(parts), 0, -1):
            key = ".".join(parts[:size])
            if size == 1 or (isinstance(data, dict) and key in data):
                out.append(key)
                data = data.get(key) if isinstance(data, dict) else None
                parts = parts[size:]
                break
    return tuple(out)


def _copy(value):
    if isinstance(value, dict):
        return {k: _copy(v) for k, v in value.items()}
    return [_copy(v) for v in value] if isinstance(value, list) else value
