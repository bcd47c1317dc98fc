"""Finding and loading documents: by name or path, with `extends`, `architecture` and `--set` overrides.

Search path for a name: the folders of `COSTMODEL_PATH`, the built-in specs, then the folders that other packages
registered under the entry point `costmodel.specs`. A user file that is named like a built-in one shadows it.
"""

from __future__ import annotations

import os
from pathlib import Path

from .language.problem import Mark, Source, SpecError, problem, suggest
from .language.yamlread import Document, parse, read_text

FOLDERS = {
    "hardware": "hardware",
    "model": "models",
    "operator": "operators",
    "format": "formats",
    "technique": "techniques",
    "engine": "engines",
    "study": "studies",
}
SETTABLE = {"hw": "hardware", "model": "model", "tech": "technique", "engine": "engine"}
_SUFFIXES = (".yaml", ".yml", ".json", ".gguf", ".safetensors")


def data_root(name: str) -> Path:
    """Folder of the package's data (`specs`, `reports/templates`): inside the wheel, or beside it in a checkout."""
    here = Path(__file__).resolve().parent
    packaged = here / "_data" / name
    return packaged if packaged.is_dir() else here.parent / name


class Spec:
    """A loaded document: validated `doc`, merged `document` (data and marks), and the `files` it was read from."""

    __slots__ = ("doc", "document", "files", "kind", "lineage")

    def __init__(self, kind: str, doc, document: Document, files: tuple, lineage: tuple):
        self.kind, self.doc, self.document, self.files, self.lineage = kind, doc, document, files, lineage

    @property
    def name(self) -> str:
        """The document's name."""
        return self.doc.name

    def mark(self, *path, key: bool = False) -> Mark:
        """Where a value stands, for messages."""
        return self.document.mark(path, key)


class Library:
    """Documents under a search path; parsed files and name lists are kept for the life of the object."""

    def __init__(self, roots: tuple = ()):
        extra = [Path(p) for p in os.environ.get("COSTMODEL_PATH", "").split(os.pathsep) if p]
        self.roots = [*map(Path, roots), *extra, data_root("specs")]
        self._documents: dict[Path, Document] = {}
        self._names: dict[str, dict[str, Path]] = {}
        self._specs: dict = {}
        self._plugins = False

    def names(self, kind: str) -> dict[str, Path]:
        """Name to file of all documents of a kind; the first root wins."""
        if kind not in self._names:
            found: dict[str, Path] = {}
            for root in self.roots:
                folder = root / FOLDERS[kind]
                for file in sorted(folder.rglob("*.yaml")) if folder.is_dir() else ():
                    found.setdefault(file.stem, file)
            self._names[kind] = found
        return self._names[kind]

    def path_of(self, kind: str, name: str) -> Path | None:
        """The file of a name: by file name first, then by alias, then from other packages."""
        for root in self.roots:
            direct = root / FOLDERS[kind] / f"{name}.yaml"
            if direct.is_file():
                return direct
        file = self.names(kind).get(name) or self._alias(kind, name)
        if file is None and not self._plugins:
            self._plugins = True
            from importlib.metadata import entry_points

            extra = [Path(str(e.load())) for e in entry_points(group="costmodel.specs")]
            if extra:
                self.roots += extra
                self._names.clear()
                return self.path_of(kind, name)
        return file

    def _alias(self, kind: str, name: str) -> Path | None:
        wanted = name.lower().replace(" ", "-").replace("_", "-")
        for stem, file in self.names(kind).items():
            if stem.replace("_", "-") == wanted:
                return file
        if kind not in ("hardware", "format", "model"):
            return None
        for file in self.names(kind).values():
            try:
                head = file.read_text("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            if "\naliases:" in head and wanted in self._aliases(file):
                return file
        return None

    def _aliases(self, file: Path) -> set[str]:
        try:
            data = self.read(file).data
        except SpecError:
            return set()
        found = data.get("aliases") if isinstance(data, dict) else None
        return {str(a).lower().replace(" ", "-").replace("_", "-") for a in found or ()}

    def locate(self, kind: str, name: str, mark: Mark | None = None) -> Path:
        """The file for a name or a path (a `/` or a suffix makes it a path). Raises :class:`SpecError`."""
        text = str(name)
        if os.sep in text or text.endswith(_SUFFIXES):
            file = Path(text)
            if file.is_dir():
                raise problem(f"`{text}` is a folder; want a {kind} document", mark)
            if not file.is_file():
                stem = file.name.removesuffix(".yaml")
                known = self.path_of(kind, stem)
                help = f"the built-in document is called `{stem}`" if known else suggest(stem, self.names(kind))
                raise problem(f"no file `{text}`", mark, help)
            return file
        found = self.path_of(kind, text) if text and "\0" not in text and len(text) < 200 else None
        if found is None:
            aliases = {a for f in self.names(kind).values() for a in self._aliases(f)} if kind == "hardware" else set()
            raise problem(f"no {kind} `{text[:80]}`", mark, suggest(text[:80], [*self.names(kind), *aliases]))
        return found

    def read(self, file: Path) -> Document:
        """Parse a file once."""
        if file not in self._documents:
            try:
                with open(file, "rb") as stream:
                    raw = stream.read((1 << 20) + 1)
            except OSError as error:
                raise problem(f"cannot read `{file}`: {error.strerror or error}") from None
            self._documents[file] = parse(read_text(raw, _short(file)))
        return self._documents[file]

    def load(self, kind: str, name, sets: tuple = (), mark: Mark | None = None) -> Spec:
        """The document of a name or path, merged over its parents, overridden and validated.

        `sets` are (path, value, mark) triples from :func:`parse_sets`. Raises :class:`SpecError`.
        """
        key = (kind, str(name), tuple((p, repr(v)) for p, v, _ in sets))
        if key not in self._specs:
            self._specs[key] = self._load(kind, name, sets, mark)
        return self._specs[key]

    def _load(self, kind: str, name, sets, mark) -> Spec:
        from .schema.dimensions import check_dimensions
        from .schema.validate import kind_of, validate

        file = self.locate(kind, name, mark)
        if file.suffix not in (".yaml", ".yml"):
            raise problem(f"`{file}`: only YAML documents can be read here", mark)
        chain = self._chain(kind, file, kind_of)
        merged = chain[-1][1]
        for _, document in reversed(chain[:-1]):
            merged = _merge(merged, document)
        for path, value, where in sets:
            merged = _override(merged, path, value, where)
        doc = validate(merged, kind)
        check_dimensions(kind, doc, merged)
        lineage = tuple(d.data.get("name") for _, d in chain)
        return Spec(kind, doc, merged, tuple(f for f, _ in chain), lineage)

    def _chain(self, kind: str, file: Path, kind_of) -> list[tuple[Path, Document]]:
        chain: list[tuple[Path, Document]] = []
        seen: set[Path] = set()
        place: Mark | None = None
        while True:
            document = self.read(file)
            found = kind_of(document)
            if found != kind:
                raise problem(
                    f"this is a {found} document; want a {kind}",
                    document.mark(("schema",)),
                    also=[(place, "asked for here")] if place else (),
                )
            if file in seen:
                names = " -> ".join([d.data.get("name", "?") for _, d in chain] + [document.data.get("name", "?")])
                raise problem(f"`extends` goes in a circle: {names}", place, also=[(document.mark(("name",)), "comes back to here")])
            seen.add(file)
            chain.append((file, document))
            field = "extends" if document.data.get("extends") is not None else "architecture"
            parent = document.data.get(field)
            if parent is None or (kind != "model" and field == "architecture"):
                return chain
            place = document.mark((field,))
            if not isinstance(parent, str):
                raise problem(f"`{field}` is the name of one document", place)
            file = self._parent(kind, parent, file, place)
            if len(chain) > 16:
                raise problem("more than 16 levels of `extends`", place)

    def _parent(self, kind: str, parent: str, child: Path, place: Mark) -> Path:
        if "/" in parent or parent.endswith(_SUFFIXES):
            return self.locate(kind, str(child.parent / parent), place)
        beside = child.parent / f"{parent}.yaml"
        if beside.is_file() and beside != child:
            return beside
        for root in self.roots:  # a file may extend the built-in document that it shadows
            file = root / FOLDERS[kind] / f"{parent}.yaml"
            if file.is_file() and file.resolve() != child.resolve():
                return file
        found = self.names(kind).get(parent)
        return found if found else self.locate(kind, parent, place)


def _short(file: Path) -> str:
    try:
        return str(file.relative_to(Path.cwd())) if file.is_absolute() else str(file)
    except (ValueError, OSError):
        return str(file)


def _merge(parent: Document, child: Document) -> Document:
    """`child` over `parent`: mappings merge, everything else (lists too) replaces. Marks follow the values."""
    marks = dict(parent.marks)
    data = _merge_maps(parent.data, child.data, (), marks, child.marks)
    data["abstract"] = child.data.get("abstract", False)
    own = ("aliases", "title", "description") if parent.data.get("abstract") else ("aliases",)
    for field in own:  # what names a parent does not name its child
        if field not in child.data:
            data.pop(field, None)
    return Document(data, marks, child.source)


def _merge_maps(parent: dict, child: dict, path: tuple, marks: dict, new: dict) -> dict:
    out = dict(parent)
    if path == ("memory",) and child:
        out = {}  # one device tier: a child's entry takes the parent's place, whatever its name
    for key, value in child.items():
        where = (*path, key)
        if isinstance(out.get(key), dict) and isinstance(value, dict) and value:
            out[key] = _merge_maps(out[key], value, where, marks, new)
        else:
            for old in [m for m in marks if m[: len(where)] == where]:
                del marks[old]
            out[key] = value
        marks.update((m, v) for m, v in new.items() if m[: len(where)] == where)
    if () in new:
        marks[()] = new[()]
    return out


def parse_sets(texts) -> dict[str, list]:
    """`--set` arguments, sorted by what they set: `hw.memory.vram.bandwidth=1 TB/s` → {"hw": [(path, value, mark)]}.

    Values are read as a YAML scalar (or flow list). Raises :class:`SpecError`.
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
        parsed = parse(Source(source.name, value.strip() or "null"))
        found.setdefault(head, []).append((tuple(rest), parsed.data, mark))
    return found


def _override(document: Document, path: tuple, value, mark: Mark) -> Document:
    """A copy of `document` with the value at `path` replaced; the path's parent must exist."""
    from .schema.validate import _get

    data = _copy(document.data)
    path = _spelled(data, path)
    parent = _get(data, path[:-1])
    if not isinstance(parent, dict) or (path[0] in ("dims", "memory", "knobs") and path[-1] not in parent):
        valid = [".".join(map(str, p)) for p in document.marks if p and isinstance(_get(data, p[:-1]), dict)]
        raise problem(f"nothing stands at `{'.'.join(map(str, path))}`", mark, suggest(".".join(map(str, path)), valid))
    parent[path[-1]] = value
    marks = dict(document.marks)
    for index in range(1, len(path) + 1):
        if path[:index] not in marks or index == len(path):
            marks[path[:index]] = (mark, mark)
    return Document(data, marks, document.source)


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
