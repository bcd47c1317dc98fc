"""`python -m costmodel`."""

from .cli import run

run()
