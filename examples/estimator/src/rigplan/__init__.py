"""rigplan: the cheapest machine and number format that serve a model as fast as wanted.

An example of a program that embeds costmodel. It ships two documents of its own, a machine and a technique.
"""

from pathlib import Path

SPECS = Path(__file__).parent / "specs"
"""The folder that costmodel looks documents up in (entry point `costmodel.specs`)."""
