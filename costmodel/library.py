"""Finding and loading documents: by name or path, with `extends`, `architecture` and `--set` overrides.

Search path for a name: the folders of `COSTMODEL_PATH`, the built-in specs, then the folders that other packages
registered under the entry point `costmodel.specs`. A user file that is named like a built-in one shadows it.
"""

from __future__ import annotations

import os
from pathlib import Path

from .documents import Recorder, Spec
from .folders import SUFFIXES, data_root, files_of, foreign, model_in, nested, short
from .language.merge import merge, override
from .language.problem import Mark, Source, article, nearest, problem, suggest
from .language.yamlread import MAX_BYTES, Document, parse, read_text
from .locks import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .documents import Sets


class _Folders(dict[str, str]):
    """Kind → folder; a kind that there is not is refused."""

    def __missing__(self, kind: object) -> str:
        raise problem(f"no kind `{kind}`", None, suggest(str(kind), self))


FOLDERS = _Folders(
    hardware="hardware",
    model="models",
    operator="operators",
    format="formats",
    technique="techniques",
    engine="engines",
    study="studies",
    family="families",
    tower="towers",
    layout="layouts",
    recipe="recipes",
    explanation="explanations",
    link="links",
)
LONGEST = 200
"""Characters of the longest name that a document can have."""


class Library:
    """Documents under a search path; parsed files and name lists are kept for the life of the object.

    Threads may share one: each document is read by one thread, and all get the same object.
    """

    def __init__(self, roots: Iterable[str | os.PathLike[str]] = ()) -> None:
        extra = [Path(p) for p in os.environ.get("COSTMODEL_PATH", "").split(os.pathsep) if p]
        for root in extra:
            if not root.is_dir():
                raise problem(f"COSTMODEL_PATH: no folder `{root}`")
        self._mine = [*map(Path, roots), *extra]
        self.roots = [*self._mine, data_root("specs")]
        self._lock = Lock()
        self._documents: dict[Path, Document] = {}
        self._read_with: dict[Path, tuple[Path, ...]] = {}  # the other files of a model that is no document
        self._names: dict[str, dict[str, Path]] = {}
        self._specs: dict = {}
        self._users: dict[str, list[Path]] = {}
        self._plugins = False
        self._faults: list[str] = []
        self.kept: dict = {}
        """What readers of files keep for the life of the library."""

    def names(self, kind: str) -> dict[str, Path]:
        """Name to file of all documents of a kind; the first root wins."""
        known = self._names.get(kind)
        if known is not None:
            return known
        with self._lock:
            if kind not in self._names:
                self._load_plugins()
                found: dict[str, Path] = {}
                for root in self.roots:
                    for stem, file in files_of(root / FOLDERS[kind]).items():
                        found.setdefault(stem, file)
                self._names[kind] = found
            return self._names[kind]

    def _load_plugins(self) -> None:
        """Folders that other packages registered, once; looked for only when a name is not found directly."""
        if not self._plugins:
            from .plugins import plugin_roots

            roots, self._faults = plugin_roots()
            self.roots = [*self.roots, *roots]
            self._plugins = True

    def path_of(self, kind: str, name: str) -> Path | None:
        """The file of a name: by file name first, then by alias, then from other packages."""
        if len(name) > LONGEST:
            return None
        for root in self.roots:
            folder = root / FOLDERS[kind]
            direct = folder / f"{name}.yaml"
            if direct.is_file():
                return direct
            if name in nested(folder):
                return nested(folder)[name]
            if kind == "hardware" and root in self._mine and folder.is_dir():
                from .lookup import claimed

                shadow = claimed(self, kind, name, files_of(folder))
                if shadow is not None:
                    return shadow
        return self.names(kind).get(name) or self._alias(kind, name)

    def _alias(self, kind: str, name: str) -> Path | None:
        from .lookup import claimed, meant

        if kind not in ("hardware", "format", "model"):
            wanted = name.lower().replace(" ", "-").replace("_", "-")
            return next((file for stem, file in self.names(kind).items() if stem.replace("_", "-") == wanted), None)
        found = claimed(self, kind, name, self.names(kind))
        if found is None and kind == "hardware":
            by_rule = meant(self, name, self.names(kind))
            found = by_rule[0].file if len(by_rule) == 1 else None
        return found

    def find_hardware(self, text: str) -> Spec | None:
        """The machine that free words name (`NVIDIA GeForce RTX 4090 24GB`), or None where none or several are meant.

        More is let pass than for :meth:`load`: remarks in parentheses, and any size of a memory that is the machine's RAM.
        """
        from .lookup import find_free

        file = find_free(self, text)
        return None if file is None else self.load("hardware", str(file))

    def _own(self, kind: str) -> list[Path]:
        """A user's documents of a kind: each may be the one that claims a name."""
        if kind not in self._users:
            self._users[kind] = [file for root in self._mine for file in files_of(root / FOLDERS[kind]).values()]
        return self._users[kind]

    def locate(self, kind: str, name: str | os.PathLike[str], mark: Mark | None = None, parents: bool = False) -> Path:
        """The file for a name or a path (a `/` or a suffix makes it a path). Raises :class:`SpecError`.

        `parents`: abstract documents are wanted too, so they are suggested.
        """
        text = str(name)
        try:
            return self._locate(kind, text, mark, parents)
        except (OSError, ValueError) as error:
            raise problem(f"cannot read `{text[:80]}`: {getattr(error, 'strerror', None) or error}", mark) from None

    def _locate(self, kind: str, text: str, mark: Mark | None, parents: bool) -> Path:
        if kind == "model" and text.startswith("hf:"):
            from .importers.hub import hub_file

            return hub_file(text, mark)
        if os.sep in text or text.endswith(SUFFIXES):
            file = Path(text)
            if file.is_dir() and kind == "model":
                return model_in(file, mark)
            if file.is_dir():
                raise problem(f"`{text}` is a folder; want {article(kind)} document", mark)
            if not file.is_file():
                if file.exists():
                    raise problem(f"`{text}` is not a regular file", mark)
                stem = file.name.removesuffix(".yaml")
                known = self.path_of(kind, stem)
                if foreign(file) or text.endswith(os.sep):
                    raise problem(f"no file `{text}`", mark)
                hub = (
                    f"`hf:{text}` is the model of that name on the hub"
                    if kind == "model" and text.count("/") == 1 and not file.suffix[1:].isalpha()
                    else None
                )
                help = f"the built-in document is called `{known.stem}`" if known else nearest(stem, self.usable(kind))
                raise problem(f"no file `{text}`", mark, "; ".join(h for h in (help, hub) if h) or None)
            return file
        found = self.path_of(kind, text) if text and "\0" not in text and len(text) < 200 else None
        if found is None:
            also = [(None, fault) for fault in self._faults]
            aliases: list[str] = []
            if kind == "hardware":
                from .lookup import entries, why_not

                help = why_not(self, text[:200], self.names(kind))
                if help:
                    raise problem(f"no {kind} `{text[:80]}`", mark, help, also)
                aliases = [a for e in entries(self, kind, self.names(kind)) for a in e.header.aliases]
            help = self._hint(kind, text) or suggest(text[:80], [*(self.names(kind) if parents else self.usable(kind)), *aliases])
            raise problem(f"no {kind} `{text[:80]}`", mark, help, also)
        return found

    def _hint(self, kind: str, text: str) -> str | None:
        """What was probably meant: a file that lies here, or a number format given as a technique."""
        if len(text) < 100 and Path(f"{text}.yaml").is_file():
            return f"there is a file `{text}.yaml` here: write `./{text}.yaml`"
        if kind == "model" and 0 < len(text) < 100 and (Path(text).is_dir() or Path(text).is_file()):
            return f"there is a {'folder' if Path(text).is_dir() else 'file'} `{text}` here: write `./{text}`"
        if kind == "technique" and text.lower() in self.names("format"):
            return f"`{text.lower()}` is a number format: `--set model.weights.format={text.lower()}` (KV cache: `model.kv.format`)"
        return None

    def usable(self, kind: str) -> list[str]:
        """Names that can be used by themselves (for suggestions): not the abstract documents."""
        found = []
        for name, file in self.names(kind).items():
            try:
                head = file.read_text("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            if "\nabstract: true" not in head:
                found.append(name)
        return found

    def read(self, file: Path, mark: Mark | None = None) -> Document:
        """Parse a file once; `mark` is where it was named."""
        file = file.absolute()
        known = self._documents.get(file)
        if known is not None:
            return known
        with self._lock:
            if file not in self._documents:
                self._documents[file] = self._import(file) if foreign(file) else self._parsed(file, mark)
            return self._documents[file]

    def _parsed(self, file: Path, mark: Mark | None) -> Document:
        try:
            with open(file, "rb") as stream:
                raw = stream.read(MAX_BYTES + 1)
        except OSError as error:
            raise problem(f"cannot read `{short(file)}`: {error.strerror or error}", mark) from None
        return parse(read_text(raw, short(file)))

    def _import(self, file: Path) -> Document:
        """The model document of another program's file; problems of its dims point into that file."""
        from .importers.model import read_model

        recorder = Recorder(self)
        made = read_model(Path(short(file)), recorder)
        self._read_with[file] = (*made.files, *sorted(recorder.files))
        document = parse(Source(f"{short(file)} (as a model document)", made.text))
        document.marks.update({("dims", dim): (place, place) for dim, place in made.places.items()})
        return document

    def load(self, kind: str, name: str | os.PathLike[str], sets: Sets = (), mark: Mark | None = None) -> Spec:
        """The document of a name or path, merged over its parents, overridden and validated.

        `sets` are (path, value, mark) triples from :func:`parse_sets`. Raises :class:`SpecError`.
        """
        text = str(name)
        where = os.path.abspath(text) if os.sep in text or text.endswith(SUFFIXES) else text
        key = (kind, where, tuple((p, repr(v)) for p, v, _ in sets))
        known = self._specs.get(key)
        if known is not None:
            return known
        with self._lock:
            if key not in self._specs:
                self._specs[key] = self._load(kind, name, sets, mark)
            return self._specs[key]

    def _load(self, kind: str, name, sets, mark) -> Spec:
        from .schema.dimensions import check_dimensions
        from .schema.validate import kind_of, validate

        file = self.locate(kind, name, mark)
        if file.suffix not in (".yaml", ".yml") and not (kind == "model" and foreign(file)):
            checkpoint = kind == "model" and file.suffix in (".bin", ".pt", ".pth", ".ckpt")
            help = "its config.json, safetensors or a GGUF file are read" if checkpoint else None
            raise problem(
                f"`{name}`: " + ("PyTorch checkpoints are not read" if checkpoint else "only YAML documents can be read here"), mark, help
            )
        spec = self._finish(kind, file, sets, kind_of, validate, check_dimensions, mark)
        if kind == "hardware" and os.sep not in str(name):  # any of the user's documents may come to claim the name
            spec.files += tuple(self._own(kind))
        return spec

    def with_sets(self, spec: Spec, sets: Sets) -> Spec:
        """A loaded document with overrides."""
        from .schema.dimensions import check_dimensions
        from .schema.validate import kind_of, validate

        if not sets:
            return spec
        return self._finish(spec.kind, spec.files[0], sets, kind_of, validate, check_dimensions)

    def load_text(self, kind: str, text: str, file: Path) -> Spec:
        """The document of a text; `file` is its name in messages, and need not be there. Raises :class:`SpecError`."""
        from .schema.dimensions import check_dimensions
        from .schema.validate import kind_of, validate

        with self._lock:
            self._documents[file.absolute()] = parse(Source(short(file), text))
            return self._finish(kind, file, (), kind_of, validate, check_dimensions)

    def _finish(self, kind: str, file: Path, sets, kind_of, validate, check_dimensions, mark: Mark | None = None) -> Spec:
        chain = self._chain(kind, file, kind_of, mark)
        merged = chain[-1][1]
        for _, document in reversed(chain[:-1]):
            merged = merge(merged, document)
        for path, value, where in sets:
            merged = override(merged, path, value, where)
        merged, named = self._links(merged) if kind == "hardware" else (merged, ())
        doc = validate(merged, kind)
        check_dimensions(kind, doc, merged)
        lineage = tuple(d.data.get("name") for _, d in chain)
        files = (*(f for f, _ in chain), *(extra for f, _ in chain for extra in self._read_with.get(f.absolute(), ())), *named)
        return Spec(kind, doc, merged, files, lineage)

    def _links(self, document: Document) -> tuple[Document, list[Path]]:
        """Links of a machine that are given by name, as what their documents state; and those documents."""
        links = document.data.get("links")
        given = {k: v for k, v in links.items() if isinstance(v, str)} if isinstance(links, dict) else {}
        found: dict[str, dict] = {}
        files: list[Path] = []
        for which, name in given.items():
            spec = self.load("link", name, mark=document.mark(("links", which)))
            found[which] = {field: spec.document.data[field] for field in ("bandwidth", "latency") if field in spec.document.data}
            files += spec.files
        if not found:
            return document, files
        return Document({**document.data, "links": {**links, **found}}, document.marks, document.source), files

    def _chain(self, kind: str, file: Path, kind_of, mark: Mark | None = None) -> list[tuple[Path, Document]]:
        chain: list[tuple[Path, Document]] = []
        seen: set[Path] = set()
        place: Mark | None = mark
        while True:
            document = self.read(file, place)
            found = kind_of(document, kind)
            if found != kind:
                raise problem(
                    f"this is {article(found)} document; want {article(kind)}",
                    document.mark(("schema",)),
                    also=[(place, "asked for here")] if place else (),
                )
            if file in seen:
                names = " -> ".join([str(d.data.get("name", "?")) for _, d in chain] + [str(document.data.get("name", "?"))])
                raise problem(f"`extends` goes in a circle: {names}", place, also=[(document.mark(("name",)), "comes back to here")])
            seen.add(file)
            chain.append((file, document))
            if kind == "model" and document.data.get("extends") is not None and document.data.get("architecture") is not None:
                also = [(document.mark(("architecture",)), "and here")]
                raise problem("give `extends` or `architecture`, not both", document.mark(("extends",)), also=also)
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
        if len(parent) > 200:
            raise problem("the name is too long", place)
        if "/" in parent or parent.endswith(SUFFIXES):
            return self.locate(kind, str(child.parent / parent), place)
        beside = child.parent / f"{parent}.yaml"
        if beside.is_file() and beside != child:
            return beside
        for root in self.roots:  # a file may extend the built-in document that it shadows
            file = root / FOLDERS[kind] / f"{parent}.yaml"
            if file.is_file() and file.resolve() != child.resolve():
                return file
        found = self.names(kind).get(parent)
        return found if found else self.locate(kind, parent, place, parents=True)


_shared: Library | None = None
_making = Lock()


def shared() -> Library:
    """The library of this process, made on first use."""
    global _shared
    if _shared is None:
        with _making:
            _shared = _shared or Library()
    return _shared
