"""`costmodel import`: model documents from other programs' files, checked before they are written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..folders import as_path, foreign
from ..importers.document import slug
from ..importers.model import read_model
from ..language.problem import Mark, Source, problem
from ..library import Library
from ..sizes import billions, both_bytes


def import_files(files, output: str | None, name: str | None, family: str | None, force: bool) -> str:
    """Import every file; returns what to print: the documents, or one line for each that was written.

    Nothing is written unless all are good. Raises :class:`SpecError`.
    """
    if len(files) > 1 and name:
        raise problem("--name is for one file", help="leave it out: documents are named by their files")
    if len(files) > 1 and output is None:
        raise problem("several files make several documents", help="give a folder: `-o specs/models`")
    made = [_read(file, name, family, output) for file in files]
    if output is None:
        return made[0][1].rstrip("\n")
    if not output:
        raise problem("-o names a document or a folder", help="leave it out to print")
    targets = [target_of(Path(output), called, len(made) > 1) for called, _, _ in made]
    for target in targets:
        if target.is_dir():
            raise problem(f"`{target}` is a folder", help="give a name that ends in .yaml")
        if is_there(target) and not force:
            raise problem(f"`{target}` is there already", help="--force replaces it")
        if targets.count(target) > 1:
            raise problem(f"two of the files would be written to `{target}`", help="import them one by one with --name")
    write_all(targets, [text for _, text, _ in made])
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

    library._documents[path.absolute()] = parse(Source(f"{path} (as a model document)", text))
    return compile_program(library.load("model", str(path)), [], library)


def _summary(program) -> str:
    from ..solve.counts import counts

    found = counts(program)
    active = "" if found["active_params"] == found["text_params"] else f", {billions(found['active_params'])} active"
    return f"{billions(found['params'])} parameters{active}, {both_bytes(found['weights_bytes'])} as {program.weights_format}"


def target_of(output: Path, name: str, several: bool) -> Path:
    """The document to write: `output` itself where that is a YAML file's name, else one of that name in the folder."""
    document = output.suffix in (".yaml", ".yml") and not output.is_dir()
    if document and several:
        raise problem(f"`{output}` is one document, but several files were given", help="give a folder")
    if not document and output.suffix[1:].isalpha() and not output.is_dir():
        raise problem(f"`{output}` is no YAML file's name", help="give a folder, or a name that ends in .yaml")
    if not document and is_there(output) and not output.is_dir():
        raise problem(f"`{output}` is there, and no folder", help="give a folder, or a name that ends in .yaml")
    return output if document else output / f"{name}.yaml"


def is_there(path: Path) -> bool:
    """Whether something lies at a path, be it a broken link."""
    try:
        return os.path.lexists(path)
    except (OSError, ValueError) as error:
        raise problem(f"cannot write `{str(path)[:80]}`: {error}") from None


def write_all(targets: list[Path], texts: Sequence[str | bytes]) -> None:
    """All files (texts as UTF-8) or none: written beside their places under names of their own, then moved there."""
    waiting: list[tuple[str, Path]] = []
    try:
        for target, text in zip(targets, texts, strict=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".costmodel-", dir=target.parent)
            waiting.append((name, target))
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8") if isinstance(text, str) else text)
            os.chmod(name, 0o666 & ~_umask())
        while waiting:
            os.replace(*waiting[0])
            waiting.pop(0)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise problem(f"cannot write `{str(target)[:120]}`: {reason}") from None
    finally:
        for name, _ in waiting:
            with suppress(OSError):
                os.unlink(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
