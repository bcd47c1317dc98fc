"""The one place that touches the machine: reads files and runs tools, with bounds on time and size, and no shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from typing import NamedTuple

SECONDS = 10.0
"""Time that a tool may take."""
BYTES = 1 << 20
"""Bytes that are read of a file or of a tool's output."""


class Output(NamedTuple):
    """What a tool printed; `why` says what went wrong, and is empty when nothing did."""

    text: str
    why: str = ""


class System:
    """The machine that this process runs on."""

    platform = sys.platform
    """`linux`, `darwin` or `win32`."""

    def read(self, path: str) -> str:
        """A file's text, empty where it cannot be read; NUL bytes become spaces."""
        try:
            with open(path, "rb") as file:
                return file.read(BYTES).replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except (OSError, ValueError):
            return ""

    def names(self, path: str) -> list[str]:
        """Sorted names in a folder (at most 1000); none where there is no such folder."""
        try:
            return sorted(os.listdir(path))[:1000]
        except OSError:
            return []

    def environment(self, name: str) -> str:
        """An environment variable, empty where it is not set."""
        return os.environ.get(name, "")

    def cpus(self) -> int | None:
        """Logical processors that this process may run on."""
        with suppress(AttributeError, OSError):
            return len(os.sched_getaffinity(0))
        return os.cpu_count()

    def features(self) -> set[str]:
        """Vector extensions that Windows says the processor has (IsProcessorFeaturePresent); none elsewhere."""
        import ctypes

        kernel = getattr(getattr(ctypes, "windll", None), "kernel32", None)
        codes = {"avx": 39, "avx2": 40, "avx512f": 41, "neon": 19}
        return {flag for flag, code in codes.items() if kernel and kernel.IsProcessorFeaturePresent(code)}

    def run(self, *words: str) -> Output:
        """Run a tool found on PATH: no shell, no input, at most :data:`SECONDS` and :data:`BYTES`."""
        program = shutil.which(words[0])
        if program is None:
            return Output("", "not found")
        try:
            process = subprocess.Popen(
                [program, *words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "LC_ALL": "C", "LANG": "C"},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return Output("", str(getattr(error, "strerror", None) or error))
        return _collect(process)


def _collect(process: subprocess.Popen) -> Output:
    """Both streams, each up to the bound, until the tool ends or its time is up."""
    kept: dict[str, bytes] = {}
    streams = {"out": process.stdout, "err": process.stderr}
    readers = [threading.Thread(target=_keep, args=(kept, k, s), daemon=True) for k, s in streams.items()]
    for reader in readers:
        reader.start()
    why = ""
    readers[0].join(SECONDS)
    if readers[0].is_alive():
        why = f"no answer within {SECONDS:.0f} s"
    elif len(kept.get("out", b"")) >= BYTES:
        why = "too much output"
    else:
        with suppress(subprocess.TimeoutExpired):
            process.wait(1)
    _stop(process)
    readers[1].join(1)
    if process.returncode and not why:
        said = " ".join(kept.get("err", b"")[:2000].decode("utf-8", "replace").split())
        why = (said[:160] if said else "") or f"exit code {process.returncode}"
    return Output(kept.get("out", b"").decode("utf-8", "replace"), why)


def _keep(kept: dict[str, bytes], key: str, stream) -> None:
    with suppress(OSError, ValueError):
        kept[key] = stream.read(BYTES)


def _stop(process: subprocess.Popen) -> None:
    """End a tool that still runs, with its children."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, 9)
        except (AttributeError, OSError):
            with suppress(OSError):
                process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(2)
