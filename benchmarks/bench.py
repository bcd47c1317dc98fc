"""Measure what the project promises, as ratios to a yardstick in the same run: `python benchmarks/bench.py`.

Cold commands are whole processes alternated with `python -c pass`; the median ratio is printed. What runs in this process
is compared with one pass of NumPy or with a bare loop. Nothing here is a test: machines are noisy, ratios less so.

python benchmarks/bench.py                  # everything, as JSON (some minutes)
python benchmarks/bench.py cold scaling     # only these parts
python benchmarks/bench.py --markdown       # as the tables of benchmarks/README.md
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
PARTS = ("cold", "rates", "compiling", "sweeps", "memory", "scaling")


def markdown(results: dict[str, dict[str, dict]]) -> str:
    """A table of each part: what was measured, then its figures."""
    out: list[str] = []
    for part, rows in results.items():
        heads = list(dict.fromkeys(key for row in rows.values() for key in row))
        out += [f"**{part}**", "", f"| what | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
        out += [f"| {name} | " + " | ".join(shown(row.get(key)) for key in heads) + " |" for name, row in rows.items()] + [""]
    return "\n".join(out)


def shown(value) -> str:
    """A figure of a table."""
    if value is None:
        return ""
    return (
        f"{value:,}"
        if isinstance(value, int)
        else f"{value:,.3g}"
        if isinstance(value, float) and value < 1000
        else f"{value:,.0f}"
        if isinstance(value, float)
        else str(value)
    )


def main(given: list[str]) -> None:
    """Run the parts that were asked for, and print them."""
    parts = [p for p in given if not p.startswith("-")] or list(PARTS)
    unknown = [p for p in parts if p not in PARTS]
    if unknown:
        sys.exit(f"no part `{unknown[0]}`; there are: {', '.join(PARTS)}")
    results = {part: import_module(f"bench_{part}").measure() for part in parts}
    print(markdown(results) if "--markdown" in given else json.dumps(results, indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
