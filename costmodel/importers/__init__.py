"""Readers of other programs' files: only what stands in their headers, within bounds, and nothing is executed."""
