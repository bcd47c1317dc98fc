"""`python -m costmodel`."""

from .cli import main

main()
