"""Timing read bandwidth and matrix rate with NumPy, in bounded memory and time. Only run when asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from ..language.problem import problem
from .facts import Machine

SECONDS = 10.0
"""About how long both measurements take together."""
MOST_BYTES = 4 << 30
UNKNOWN_FREE = 2 << 30
REPEATS = 6


class Measured(NamedTuple):
    """Best rates: bytes per second read by all threads, fp32 FLOP per second of a matrix product; and how they were taken."""

    bandwidth: float
    bandwidth_ref: str
    flops: float
    flops_ref: str
    date: str
    notes: tuple[str, ...] = ()


def measure(machine: Machine, threads: int, seconds: float = SECONDS, most: int = MOST_BYTES) -> Measured:
    """Measure both rates with at most a quarter of the free memory. Raises :class:`SpecError` without NumPy."""
    from datetime import date

    numpy = _numpy()
    free = min((x for x in (machine.memory.free, machine.memory.capacity) if x), default=UNKNOWN_FREE)
    room = min(free // 4, most)
    bandwidth, ref, notes = read_rate(numpy, room, threads, machine.cpu.cache_bytes or 0, seconds * 0.6)
    flops, matrix = matrix_rate(numpy, room, seconds * 0.4)
    return Measured(bandwidth, ref, flops, matrix, date.today().isoformat(), tuple(notes))


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise problem("--measure needs NumPy", help="pip install numpy") from None
    return numpy


def read_rate(numpy: Any, room: int, threads: int, cache: int, seconds: float) -> tuple[float, str, list[str]]:
    """Bytes per second of reading every element of a buffer, each thread its own part: best of sizes, methods, repeats.

    NumPy lets go of the interpreter inside a reduction. The parts are filled by the threads, so that each lies near one.
    """
    threads = max(1, min(threads, 1024))
    ways: dict[str, Callable] = {
        "maximum of float32": numpy.max,
        "bitwise or of uint64": lambda a: numpy.bitwise_or.reduce(a.view(numpy.uint64)),
    }
    sizes = [s for s in (room // 4, room // 2, room) if s >= 4 * cache] or [room]
    best, where = 0.0, ""
    with ThreadPoolExecutor(threads) as pool:
        for size in sizes:
            part = max(2, size // threads // 8 * 2)
            parts = list(pool.map(lambda _, n=part: numpy.ones(n, numpy.float32), range(threads)))
            for way, function in ways.items():
                took = _best(partial(_all, pool, function, parts), seconds / len(sizes) / len(ways))
                rate = part * 4 * threads / took
                if rate > best:
                    best, where = rate, f"{way}, {part * 4 * threads / 2**20:.0f} MiB"
            del parts
    notes = [] if sizes[-1] >= 4 * cache else ["the buffer is less than four times the caches, so the bandwidth may be that of a cache"]
    return best, f"read by {threads} thread{'s' if threads > 1 else ''} with NumPy {numpy.__version__}: {where}, best of repeats", notes


def matrix_rate(numpy: Any, room: int, seconds: float) -> tuple[float, str]:
    """fp32 FLOP per second of square matrix products of growing size, with as many threads as NumPy's BLAS takes."""
    best, where, spent, n = 0.0, 0, 0.0, 256
    while 3 * 4 * n * n <= room and n <= 16384:
        a = numpy.full((n, n), 0.5, numpy.float32)
        started = time.perf_counter()
        took = _best(partial(numpy.matmul, a, a), seconds / 6, repeats=4)
        spent += time.perf_counter() - started
        if 2 * n**3 / took > best:
            best, where = 2 * n**3 / took, n
        if spent + 8 * took > seconds:
            break
        n *= 2
    return best, f"matrix product of {where} x {where} float32 with NumPy {numpy.__version__} and the threads of its BLAS, best of repeats"


def _all(pool: ThreadPoolExecutor, function: Callable[[Any], Any], parts: list) -> None:
    list(pool.map(function, parts))


def _best(function: Callable[[], Any], seconds: float, repeats: int = REPEATS) -> float:
    """Shortest of several runs, after one that is not counted; fewer where they take longer than `seconds`."""
    started = time.perf_counter()
    function()
    best = float("inf")
    for _ in range(repeats):
        before = time.perf_counter()
        function()
        now = time.perf_counter()
        best = min(best, now - before)
        if now - started > seconds:
            break
    return max(best, 1e-9)
