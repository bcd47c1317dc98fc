"""The program cache: emitted sources of compiled cases, so that a repeated prediction loads no YAML.

An entry is named by the request (names, overrides, search path, package code) and holds the hash of its own text and of
every file that it came from. It is used only if the folder is ours alone, the text is unchanged, every file has the same
content and no spec folder gained or lost a file. Anything else is a miss.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident

from . import __version__

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_HASHED = 4 * 2**20
_STAMPED = ("compile", "language", "language/formula", "schema", "importers", ".")


def folder() -> str | None:
    """The cache folder (`COSTMODEL_CACHE`, else the user's cache), made private; None when it cannot be used."""
    path = os.environ.get("COSTMODEL_CACHE")
    if path in ("", "0", "off"):
        return None
    if path is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        path = os.path.join(base, "costmodel")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        info = os.stat(path)
    except OSError:
        return None
    if hasattr(os, "getuid") and (info.st_uid != os.getuid() or info.st_mode & 0o022):
        return None
    return path


def digest(data: bytes) -> str:
    """Content hash."""
    from _blake2 import blake2b

    return blake2b(data, digest_size=20).hexdigest()


def _file_digest(path: str) -> str:
    """A file's content as a hash; of a large one (a model's weights, which are not read whole) its size and times."""
    with open(path, "rb") as stream:
        info = os.fstat(stream.fileno())
        if info.st_size > _HASHED:
            return f"{info.st_size}-{info.st_mtime_ns}-{info.st_ctime_ns}-{info.st_ino}"
        return digest(stream.read())


def key_of(request: tuple) -> str:
    """The name of an entry."""
    where = os.getcwd() if any(os.sep in str(r) or "." in str(r) for r in request) else ""
    state = (__version__, sys.version_info[:2], _code_stamp(), os.environ.get("COSTMODEL_PATH", ""), where, request)
    return digest(repr(state).encode())


def _code_stamp() -> int:
    latest = 0
    for part in _STAMPED:
        for entry in os.scandir(os.path.join(_PACKAGE, part)):
            if entry.name.endswith(".py"):
                latest = max(latest, entry.stat().st_mtime_ns)
    return latest


def load(request: tuple) -> str | None:
    """The source of a case, or None on a miss."""
    home = folder()
    if home is None:
        return None
    path = os.path.join(home, key_of(request) + ".py")
    try:
        with open(path, "rb") as stream:
            if hasattr(os, "getuid") and os.fstat(stream.fileno()).st_uid != os.getuid():
                return None
            head, _, body = stream.read().partition(b"\n")
    except OSError:
        return None
    if head != b"# costmodel " + digest(body).encode():
        return None
    lines = body.decode().split("\n", 1)
    return lines[1] if _fresh(lines[0]) else None


def _fresh(line: str) -> bool:
    """Whether every file and folder of the `# hex path|hash` notes is as it was."""
    for item in line[2:].split():
        coded, _, want = item.rpartition("|")
        path = bytes.fromhex(coded).decode("utf-8", "surrogateescape")
        try:
            if path.endswith(os.sep):
                got = str(os.stat(path).st_mtime_ns)
            else:
                got = _file_digest(path)
        except OSError:
            return False
        if got != want:
            return False
    return True


def _coded(path: str) -> str:
    """A path in hex: whatever its characters, it cannot leave the comment that it is written into."""
    return path.encode("utf-8", "surrogateescape").hex()


def save(request: tuple, source: str, files, folders) -> None:
    """Keep a source; silently does nothing where it cannot."""
    home = folder()
    if home is None:
        return
    try:
        notes = [f"{_coded(f)}|{_file_digest(f)}" for f in sorted({os.path.abspath(f) for f in files})]
        there = (d for d in sorted({os.path.abspath(f) for f in folders}) if os.path.isdir(d))
        notes += [f"{_coded(d + os.sep)}|{os.stat(d).st_mtime_ns}" for d in there]
        body = ("# " + " ".join(notes) + "\n" + source).encode()
        name = os.path.join(home, key_of(request))
        temporary = f"{name}.{os.getpid()}.{get_ident()}.tmp"
        with open(temporary, "wb") as stream:
            stream.write(b"# costmodel " + digest(body).encode() + b"\n" + body)
        os.replace(temporary, name + ".py")
    except (OSError, ValueError):
        return


def _own_roots(library) -> tuple:
    """The folders of a library other than the shared one, whose names may mean other documents."""
    if library is None:
        return ()
    from .library import shared

    return () if library is shared() else tuple(map(str, library.roots))


def cached_runnable(model: str, hardware: str, engine, techniques, devices: int, sets, library=None):
    """A runnable from the cache, or compiled and kept."""
    from .compile.runnable import Runnable

    request = (str(model), str(hardware), engine, tuple(techniques), devices, tuple(sets), _own_roots(library))
    source = load(request)
    if source is None:
        from .compile.build import Case, build_with_files
        from .folders import foreign
        from .library import FOLDERS, shared

        library = library or shared()
        runnable, files = build_with_files(Case(model, hardware, engine, techniques, devices, sets), library)
        folders = [root / f for root in library.roots for f in ("", *FOLDERS.values())]
        folders += {file.parent for file in files if foreign(file)}  # weights that arrive beside a config change what it says
        save(request, runnable.text, files, folders)
        return runnable
    return Runnable(source)
