"""NVIDIA GPUs, from nvidia-smi; Jetson boards have none of its figures and are known by their board."""

from __future__ import annotations

import csv
import re
from fractions import Fraction

from .facts import Gpu, Pcie
from .text import LINES, name, number, size, whole

FIELDS = (
    "index",
    "name",
    "memory.total",
    "power.limit",
    "power.default_limit",
    "pcie.link.gen.current",
    "pcie.link.gen.max",
    "pcie.link.width.current",
    "pcie.link.width.max",
)
QUERY = ("nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader")
LIST = ("nvidia-smi", "-L")
_SLICE = re.compile(r"^\s+MIG (\d{1,2}g\.\d{1,4}gb)", re.A)


def read_query(text: str) -> list[Gpu]:
    """GPUs of `nvidia-smi --query-gpu`, in its order; `[N/A]` and `[Not Supported]` are unknown."""
    found = []
    for row in csv.reader(text.splitlines()[:LINES], skipinitialspace=True, strict=False):
        if len(row) < len(FIELDS) or not row[0].strip().isdecimal():
            continue
        item = dict(zip(FIELDS, [row[0], ",".join(row[1:-7]), *row[-7:]], strict=True))
        link = [whole(item[k], 64) for k in FIELDS[5:]]
        found.append(
            Gpu(
                name(item["name"]),
                "NVIDIA",
                size(item["memory.total"], "M"),
                _watts(item["power.limit"]),
                _watts(item["power.default_limit"]),
                Pcie(gen=link[0], max_gen=link[1], width=link[2], max_width=link[3]),
                tool="nvidia-smi",
            )
        )
    return found[:256]


def read_slices(text: str) -> list[tuple[str, ...]]:
    """MIG profiles of every GPU of `nvidia-smi -L`."""
    found: list[list[str]] = []
    for line in text.splitlines()[:LINES]:
        if line.startswith("GPU "):
            found.append([])
        elif found and (match := _SLICE.match(line)):
            found[-1].append(match[1])
    return [tuple(x[:16]) for x in found]


def shares(profile: str, memory: int) -> tuple[Fraction, Fraction]:
    """A MIG profile's share of (multiprocessors, memory and its bandwidth).

    There are seven compute slices and eight memory slices (NVIDIA MIG user guide,
    https://docs.nvidia.com/datacenter/tesla/mig-user-guide/).
    """
    compute, _, rest = profile.partition("g.")
    eighths = round(8 * (whole(rest) or 0) * 2**30 / memory) if memory else 8
    return Fraction(min(int(compute), 7), 7), Fraction(min(max(eighths, 1), 8), 8)


def _watts(text: str) -> float | None:
    value = number(text)
    return value if value and value < 1e5 else None
