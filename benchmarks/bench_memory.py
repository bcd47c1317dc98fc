"""Peak memory of whole commands, beside `python -c pass`."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""


def peak(args) -> float:
    """MB that a command holds at most."""
    told = subprocess.run([sys.executable, "-c", CODE, *args], capture_output=True, text=True, check=True).stdout
    return int(told) / (1e6 if sys.platform == "darwin" else 1e3)


def measure() -> dict[str, dict]:
    """MB, and as a multiple of an empty Python."""
    run = os.path.join(os.path.dirname(sys.executable), "costmodel")
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import costmodel": [sys.executable, "-c", "import costmodel"],
        "predict": [run, "predict", "8b", "--hw", "ddr5"],
        "matrix": [run, "matrix"],
        "list hardware": [run, "list", "hardware"],
        "validate specs": [run, "validate", "specs"],
    }
    found = {name: peak(args) for name, args in commands.items()}
    base = found["python -c pass"]
    return {name: {"MB": round(mb, 1), "x pass": round(mb / base, 2)} for name, mb in found.items()}
