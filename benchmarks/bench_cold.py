"""Whole commands beside `python -c pass`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

from yardstick import beside_pass, process


def measure() -> dict[str, dict]:
    """Median ratios, with and without the program cache."""
    home = tempfile.mkdtemp()
    env = {**os.environ, "COSTMODEL_CACHE": os.path.join(home, "cache")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    run = [os.path.join(os.path.dirname(sys.executable), "costmodel")]
    predict, matrix = [*run, "predict", "8b", "--hw", "ddr5"], [*run, "matrix"]

    def empty() -> None:
        shutil.rmtree(env["COSTMODEL_CACHE"], ignore_errors=True)

    for command in (predict, matrix):
        process(command, env)
    found = {
        "predict, cache filled (target 12)": beside_pass(predict, env),
        "predict, cache empty (target 20)": beside_pass(predict, env, empty),
        "matrix, cache filled (target 40)": beside_pass(matrix, env, lambda: process(matrix, env), 7),
        "matrix, cache empty": beside_pass(matrix, env, empty, 5),
        "explain": beside_pass([*run, "explain", "8b", "--hw", "ddr5"], env, rounds=5),
        "solve": beside_pass([*run, "solve", "bandwidth", "8b", "--hw", "ddr5", "--for", "tps=30"], env, rounds=3),
        "import costmodel (target 2)": beside_pass([sys.executable, "-c", "import costmodel"], env),
    }
    shutil.rmtree(home, ignore_errors=True)
    return found
