"""Adapters by subject; importing this registers them all in `ADAPTERS`.

An adapter writes a case's inputs into documents and a workload and reads one figure off the result, in SI units. It does
no arithmetic of its own: formulas stand in documents, ratios of two predictions come from `costmodel.solve.compare`.
"""

from . import cache, devices, latency, roofline, serving, sizes, viewer
from .registry import ADAPTERS

__all__ = ["ADAPTERS", "cache", "devices", "latency", "roofline", "serving", "sizes", "viewer"]
