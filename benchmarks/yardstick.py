"""What measurements are compared with, timed in the same run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable


def process(args, env) -> float:
    """Seconds of a whole process."""
    start = time.perf_counter()
    subprocess.run(args, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def beside_pass(args, env, before: Callable = lambda: None, rounds: int = 15) -> dict:
    """Median of command / `python -c pass`, in alternation, with the lowest and the highest."""
    found = []
    for _ in range(rounds):
        before()
        base = process([sys.executable, "-c", "pass"], env)
        found.append((process(args, env) / base, base))
    return {
        "x pass": round(statistics.median(r for r, _ in found), 2),
        "lowest": round(min(r for r, _ in found), 2),
        "highest": round(max(r for r, _ in found), 2),
        "pass ms": round(1e3 * statistics.median(b for _, b in found), 1),
    }


def seconds(call: Callable, least: float = 0.2) -> float:
    """CPU seconds of a call: the best of three turns, each of as many calls as take `least` seconds."""
    count, start = 0, time.process_time()
    while time.process_time() - start < least:
        call()
        count += 1
    best = (time.process_time() - start) / count
    for _ in range(2):
        start = time.process_time()
        for _ in range(count):
            call()
        best = min(best, (time.process_time() - start) / count)
    return best


def bare_loop(count: int = 1_000_000) -> float:
    """Seconds of one turn of a loop that does nothing."""

    def loop() -> None:
        for _ in range(count):
            pass

    return seconds(loop) / count
