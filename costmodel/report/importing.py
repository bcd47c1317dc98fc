"""`costmodel import`: model documents from other programs' files, checked before they are written."""

from __future__ import annotations

from pathlib import Path

from ..importers.document import slug
from ..importers.model import read_model
from ..language.problem import Mark, Source, problem
from ..library import Library, as_path, foreign
from ..sizes import billions, both_bytes


def import_files(files, output: str | None, name: str | None, family: str | None, force: bool) -> str:
    """Import every file; returns what to print: the documents, or one line for each that was written.

    Nothing is written unless all are good. Raises :class:`SpecError`.
    """
    if len(files) > 1 and name:
        raise problem("--name is for one file", help="leave it out: documents are named by their files")
    made = [_read(file, name, family, output) for file in files]
    if output is None:
        return "\n".join(text.rstrip("\n") for _, text, _ in made)
    targets = [_target(Path(output), called, len(made) > 1) for called, _, _ in made]
    for target in targets:
        if target.exists() and not force:
            raise problem(f"`{target}` is there already", help="--force replaces it")
        if targets.count(target) > 1:
            raise problem(f"two of the files would be written to `{target}`", help="import them one by one with --name")
    for target, (_, text, _) in zip(targets, made, strict=True):
        _write(target, text)
    return "\n".join(f"{target}: {line}" for target, (_, _, line) in zip(targets, made, strict=True))


def _read(file: str, name: str | None, family: str | None, output: str | None) -> tuple[str, str, str]:
    """(name, document, summary) of one file; the document has been compiled and its checks hold."""
    library = Library()
    path = library.locate("model", as_path(file), Mark(Source("FILE", file), 1, 1))
    if not foreign(path):
        raise problem(f"`{file}` is a model document already", help="import is for config.json, .gguf and .safetensors")
    stem = Path(output).stem if output and output.endswith((".yaml", ".yml")) and name is None else None
    text = read_model(path, library, family, slug(name) if name else slug(stem) if stem else None).text
    program = _compiled(text, path, library)
    return program.model.name, text, _summary(program)


def _compiled(text: str, path: Path, library: Library):
    """The program of a document's text."""
    from ..compile.program import compile_program
    from ..language.yamlread import parse

    library._documents[path] = parse(Source(f"{path} (as a model document)", text))
    return compile_program(library.load("model", str(path)), [], library)


def _summary(program) -> str:
    from ..solve.counts import counts

    found = counts(program)
    active = "" if found["active_params"] == found["text_params"] else f", {billions(found['active_params'])} active"
    return f"{billions(found['params'])} parameters{active}, {both_bytes(found['weights_bytes'])} as {program.weights_format}"


def _target(output: Path, name: str, several: bool) -> Path:
    folder = output.is_dir() or several or not output.suffix
    if folder and output.suffix in (".yaml", ".yml"):
        raise problem(f"`{output}` is one document, but several files were given", help="give a folder")
    return output / f"{name}.yaml" if folder else output


def _write(target: Path, text: str) -> None:
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, "utf-8")
        temporary.replace(target)
    except OSError as error:
        raise problem(f"cannot write `{target}`: {error.strerror or error}") from None
