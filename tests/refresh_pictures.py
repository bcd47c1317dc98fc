"""Draw the pictures of docs/plots.md again, by the commands that the page shows: `python tests/refresh_pictures.py [NAME…]`."""

from __future__ import annotations

import sys
from contextlib import chdir
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]
import conftest  # noqa: E402, F401
from pages import ROOT, blocks, output, parts  # noqa: E402

PAGE = ROOT / "docs" / "plots.md"
PICTURES = ROOT / "docs" / "pictures"


def commands() -> dict[str, str]:
    """Name to command of every picture that the page draws."""
    lines = [line for _, text in blocks("console", [PAGE]) for line, _ in parts(text) if "# exits" not in line]
    return {line.split()[line.split().index("-o") + 1]: line for line in lines}


def refresh(wanted: list[str]) -> None:
    """Draw the pictures whose names are given, or all."""
    for name, line in commands().items():
        if not wanted or name in wanted:
            with chdir(PICTURES):
                print(*output(f"{line} --force")[2])


if __name__ == "__main__":
    refresh(sys.argv[1:])
