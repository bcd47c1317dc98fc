"""Points a second of `costmodel.sweep`, beside a bare NumPy pass and the scalar API.

CPU time of one process. The bare pass is one multiplication and one addition over float64 arrays of as many points, in
chunks of the sweep's tiles. The mesh and the table have the same figures: floor and expected tokens per second, and memory.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
FIGURES = ("tps.ceiling", "tps.expected", "memory.total_bytes")
BANDWIDTH = "hw.memory.dram.bandwidth"
TABLE, ROUNDS = 10_000_000, 3


def seconds(call) -> float:
    """Least CPU seconds of a few calls."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def bare(arrays, chunk: int) -> None:
    import numpy as np

    out = np.empty(len(arrays[0]))
    for start in range(0, len(out), chunk):
        part = slice(start, start + chunk)
        out[part] = arrays[0][part] * arrays[1][part] + arrays[2][part]


def rate(points: int, took: float, passed: float | None = None) -> dict:
    """Points a second; as multiples of a bare pass over as many, where `passed` (seconds a point) is given."""
    found: dict = {"points": points, "CPU s": round(took, 2), "million a second": round(points / took / 1e6, 3)}
    return found if passed is None else found | {"x bare pass": round(took / points / passed, 1)}


def measure() -> dict[str, dict]:
    """Tables of growing size, a mesh, a stream of 10^8 points, and the scalar API."""
    streamed = subprocess.run(
        [sys.executable, __file__, "stream"], stdout=subprocess.PIPE, check=True
    )  # first: a child's peak counts its parent's
    import numpy as np

    import costmodel
    from costmodel.solve.sweep.program import TILE

    rng = np.random.default_rng(0)
    batch, context = (rng.integers(low, high, TABLE).astype(float) for low, high in ((1, 257), (0, 131073)))
    bandwidth = rng.uniform(4e10, 4e12, TABLE)
    passed = seconds(lambda: bare((batch, context, bandwidth), TILE))
    table = {"batch": batch, "context": context, "axes": {BANDWIDTH: bandwidth}, "table": True, "figures": FIGURES}
    mesh = {"batch": np.arange(1, 201), "context": np.arange(1, 20001, 80), "axes": {BANDWIDTH: np.linspace(4e10, 4e12, 500)}}
    each = passed / TABLE
    results = {"bare NumPy pass": rate(TABLE, passed)}
    for points in (10_000, 100_000, 1_000_000, TABLE):
        part = {**table, "batch": batch[:points], "context": context[:points], "axes": {BANDWIDTH: bandwidth[:points]}}
        took = seconds(lambda part=part: costmodel.sweep("8b", "ddr5", **part))
        results[f"table of {points:,} (target 10 million a second)"] = rate(points, took, each)
    took = seconds(lambda: costmodel.sweep("8b", "ddr5", figures=FIGURES, **mesh))
    results["mesh of three axes"] = rate(200 * 250 * 500, took, each)
    told = json.loads(streamed.stdout)
    results["10^8 points streamed (target under 1000 MB)"] = rate(told["points"], told["seconds"], each) | {"peak MB": told["peak_MB"]}
    model, hardware = costmodel.load_model("8b"), costmodel.load_hardware("ddr5")
    results["scalar predict, same figures"] = rate(20000, seconds(lambda: scalar(costmodel, model, hardware)), each)
    return results


def scalar(costmodel, model, hardware) -> None:
    from costmodel.solve.memory import device_lines

    for i in range(20000):
        p = costmodel.predict(model, hardware, context=1000 + i)
        p.tps.expected  # noqa: B018
        sum(device_lines(p, p.context + p.output, p.batch).values())


def stream() -> None:
    """A mesh of 10^8 points reduced to its best points, its front and its quantiles."""
    import numpy as np

    import costmodel

    start = time.process_time()
    mesh = {"batch": np.arange(1, 201), "context": np.arange(1, 20001, 20), "axes": {BANDWIDTH: np.linspace(4e10, 4e12, 500)}}
    kept = {
        "best": "tps.expected",
        "where": "memory.fits",
        "pareto": ["system_tps", "tps.expected"],
        "quantiles": {"tps.expected": [0.1, 0.5, 0.9]},
    }
    result = costmodel.sweep("8b", "ddr5", **mesh, **kept)
    took = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"points": result.points, "seconds": took, "peak_MB": round(peak / 1e6)}))


if __name__ == "__main__":
    stream()
