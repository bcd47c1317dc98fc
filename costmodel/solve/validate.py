"""Validating documents as CI does: schema, units, formulas, references, sources, published sizes."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from ..compile.uses import spread_of
from ..folders import files_of
from ..language.problem import Problem, SpecError, problem, suggest
from ..library import FOLDERS, Library, Spec
from ..schema.names import ROLES, TERMS
from ..schema.validate import kind_of
from .validate_engines import unused
from .validate_imports import CHECKS


def validate_files(files) -> tuple[int, list[str], list[str]]:
    """(documents read, warnings, problems) of files and folders."""
    done, warnings, problems = 0, [], []
    library = Library()
    for name in files:
        try:
            inside = _inside(name)
        except SpecError as error:
            inside = []
            done += 1
            problems.append(f"error: {error}")
        for file in inside:
            done += 1
            try:
                warnings += [str(w) for w in validate_file(library, file)]
            except SpecError as error:
                problems.append(str(error) if error.problems[0].mark else f"error: {error}")
    return done, warnings, problems


def _inside(name) -> list[Path]:
    """A file, or the documents of a folder."""
    path = Path(name)
    if len(str(name)) < 1000 and path.is_dir():
        found = sorted(path.rglob("*.yaml"))
        if not found:
            raise problem(f"no .yaml file under `{name}`")
        return found
    return [path if "/" in str(name) else Path(".") / path]


def validate_file(library: Library, file: Path) -> list[Problem]:
    """Warnings of one document; raises :class:`SpecError` for problems."""
    try:
        if not file.is_file():
            raise problem(f"`{file}` is not a regular file" if file.exists() else f"no file `{file}`")
    except OSError as error:
        raise problem(f"cannot read `{str(file)[:80]}`: {error.strerror}") from None
    kind = kind_of(library.read(file))
    spec = library.load(kind, str(file) if "/" in str(file) else f"./{file}")
    checkers = {"hardware": _hardware, "model": _model, "technique": _technique, "format": _format, "engine": _engine}
    checker = (checkers | CHECKS | {"explanation": _explanation}).get(kind)
    found = checker(library, spec) if checker else []
    _claims(library, spec, file)
    return found + _named(spec, file)


def _claims(library: Library, spec: Spec, file: Path) -> None:
    """Refuse aliases that another document of the same search folder has too (in a later folder it would be hidden)."""
    from ..lookup import clashes

    if not spec.doc.aliases:
        return
    roots = [root / FOLDERS[spec.kind] for root in library.roots]
    home = next((r for r in roots if file.resolve().is_relative_to(r.resolve())), file.parent)
    problems = clashes(library, spec, file, files_of(home))
    if problems:
        raise SpecError(problems)


def _named(spec: Spec, file: Path) -> list[Problem]:
    if spec.name != file.stem:
        return [
            Problem(
                f"warning: the document is called `{spec.name}` and the file `{file.name}`",
                spec.mark("name"),
                "names are looked up by file name",
            )
        ]
    return []


def _source(spec: Spec, keys: tuple, what: str) -> list[Problem]:
    if any(k in spec.doc.sources for k in keys):
        return []
    mark, own = spec.mark("sources"), spec.mark("name")
    mark = mark if mark.source is own.source else own  # inherited sources stand in the parent's file
    return [Problem(f"warning: {what} has no source", mark, f"add `sources: {{{keys[0]}: {{kind: …, ref: …}}}}`")]


def _hardware(library: Library, spec: Spec) -> list[Problem]:
    from ..compile.machine import device_tier

    doc = spec.doc
    if doc.abstract:
        return []
    device_tier(spec)
    if doc.engine:
        library.locate("engine", doc.engine, spec.mark("engine"))
    if doc.host.processor:
        library.load("hardware", doc.host.processor, mark=spec.mark("host", "processor"))
    if doc.efficiency:
        source = doc.sources.get("efficiency")
        if source is None or source.kind != "measured":
            raise SpecError(
                Problem(
                    "an efficiency of one device needs a measured source",
                    spec.mark("efficiency"),
                    "add `sources: {efficiency: {kind: measured, ref: …}}`",
                )
            )
    return _source(spec, ("bandwidth", "memory"), "bandwidth") + (
        _source(spec, ("compute", *doc.compute), "compute") if doc.compute else []
    )


def _model(library: Library, spec: Spec) -> list[Problem]:
    from ..compile.program import compile_program

    if spec.doc.abstract:
        return []
    compile_program(spec, [], library)
    return []


def _technique(library: Library, spec: Spec) -> list[Problem]:
    from ..compile.schedule import merge_schedules
    from ..compile.uses import read_use

    use = read_use(library, str(spec.files[0]))
    merge_schedules([use])
    for i, name in enumerate(spec.doc.conflicts):
        library.locate("technique", name, spec.mark("conflicts", i))
    _references(library, spec)
    return (
        _source(spec, tuple(spec.doc.sources) or ("schedule",), "the technique")
        if spec.doc.sources
        else [Problem("warning: no source", spec.mark("name"), "add `sources:`")]
    )


def _references(library: Library, spec: Spec) -> None:
    """Formats, models, hardware, terms and roles that a technique names must exist."""
    problems = []
    for i, item in enumerate(spec.doc.rewrite):
        for what, name in item.format or ():
            if name is not None and name not in spec.doc.knobs and library.path_of("format", name) is None:
                mark = spec.mark("rewrite", i, "format", what)
                problems.append(Problem(f"no format `{name}`", mark, suggest(name, library.names("format"))))
        for verb in ("replace", "add"):
            for term in getattr(item, verb):
                if term not in TERMS:
                    problems.append(Problem(f"no term `{term}`", spec.mark("rewrite", i, verb, term), suggest(term, TERMS)))
        patterns = item.only.role if item.only else ()
        for pattern in (patterns,) if isinstance(patterns, str) else patterns:
            if not any(fnmatchcase(r, pattern) for r in ROLES):
                problems.append(Problem(f"no role `{pattern}`", spec.mark("rewrite", i, "only", "role"), suggest(pattern, ROLES)))
    for name, knob in spec.doc.knobs.items():
        for kind in ("model", "hardware"):
            given = getattr(knob, kind)
            if given is not None and given != "same":
                library.locate(kind, given, spec.mark("knobs", name, kind))
    if problems:
        raise SpecError(problems)


def _format(library: Library, spec: Spec) -> list[Problem]:
    from ..compile.formats import check_helpers, width_of

    for dims in (
        {"L": 32, "d": 4096, "d_ff": 14336, "n_q": 32, "n_kv": 8},
        {"L": 80, "d": 8192, "d_ff": 28672, "n_q": 64, "n_kv": 8, "E": 8, "k": 2, "tied": 1},
    ):
        check_helpers(spec, dims)
        for role in ("embed", "head", "norm", "attn.v", "mlp.down", "expert.up", "router"):
            width_of(library, str(spec.files[0]), role, dims, spec.mark("name"))
    return _source(spec, tuple(spec.doc.sources) or ("size",), "the format")


def _engine(library: Library, spec: Spec) -> list[Problem]:
    spread_of(library, spec)
    return unused(library, spec) + _source(spec, ("efficiency",), "efficiency")


def _explanation(library: Library, spec: Spec) -> list[Problem]:
    """Names of documents that an explanation changes to must exist."""
    from ..schema.explanation import WORDS

    change = spec.doc.change
    for kind in ("model", "hardware", "engine"):
        name = getattr(change, kind)
        if name and name not in WORDS.get(kind, ()) and "{" not in name:
            library.locate(kind, name, spec.mark("change", kind))
    for i, text in enumerate(change.techniques):
        name = text.partition(":")[0]
        if "{" not in name:
            library.locate("technique", name, spec.mark("change", "techniques", i))
    return []
