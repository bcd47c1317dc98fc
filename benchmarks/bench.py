"""Measure what the project promises, as ratios to a yardstick in the same run: `python benchmarks/bench.py`.

Cold commands are whole processes alternated with `python -c pass`; the median ratio is printed. In-process rates are
beside the time of a bare loop. Nothing here is a test: machines are noisy, ratios less so.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 15


def process(args, env) -> float:
    start = time.perf_counter()
    subprocess.run(args, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def ratio(args, env, before=lambda: None, rounds: int = ROUNDS) -> dict:
    """Median of command / `python -c pass`, in alternation."""
    found = []
    for _ in range(rounds):
        before()
        base = process([sys.executable, "-c", "pass"], env)
        found.append((process(args, env) / base, base))
    return {
        "ratio": round(statistics.median(r for r, _ in found), 2),
        "low": round(min(r for r, _ in found), 2),
        "high": round(max(r for r, _ in found), 2),
        "pass_ms": round(1e3 * statistics.median(b for _, b in found), 1),
    }


def rate(call, count: int = 20000) -> dict:
    """Calls a second, and as a ratio to a bare loop over the same range."""
    best = 0.0
    for _ in range(3):
        start = time.perf_counter()
        for i in range(count):
            call(i)
        best = max(best, count / (time.perf_counter() - start))
    start = time.perf_counter()
    for _ in range(count):
        pass
    return {"per_second": round(best), "x_bare_loop": round((count / best) / (time.perf_counter() - start), 1)}


def main() -> None:
    """Print one JSON object of all figures."""
    home = tempfile.mkdtemp()
    env = {**os.environ, "COSTMODEL_CACHE": os.path.join(home, "cache")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    run = [os.path.join(os.path.dirname(sys.executable), "costmodel")]
    predict = [*run, "predict", "8b", "--hw", "ddr5"]
    process(predict, env)
    process([*run, "matrix"], env)
    results = {
        "cold predict, cache filled (target 12)": ratio(predict, env),
        "cold predict, cache empty (target 20)": ratio(predict, env, lambda: shutil.rmtree(env["COSTMODEL_CACHE"], ignore_errors=True)),
        "default matrix, cache filled (target 40)": ratio([*run, "matrix"], env, lambda: process([*run, "matrix"], env), 7),
        "default matrix, cache empty": ratio([*run, "matrix"], env, lambda: shutil.rmtree(env["COSTMODEL_CACHE"], ignore_errors=True), 5),
        "import costmodel (target 2)": ratio([sys.executable, "-c", "import costmodel"], env),
    }
    import costmodel

    model, hardware = costmodel.load_model("8b"), costmodel.load_hardware("ddr5")
    results["scalar predict(...).tps.expected (target 20,000/s)"] = rate(
        lambda i: costmodel.predict(model, hardware, context=1000 + i).tps.expected
    )
    results["scalar predict, tps and ttft"] = rate(lambda i: _both(costmodel.predict(model, hardware, context=1000 + i)))
    results["scalar predict by name"] = rate(lambda i: costmodel.predict("8b", "ddr5", context=1000 + i).tps.expected)
    shutil.rmtree(home, ignore_errors=True)
    print(json.dumps(results, indent=2))


def _both(p):
    return p.tps.expected + p.ttft_s.expected


if __name__ == "__main__":
    main()
