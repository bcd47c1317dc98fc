"""Emitted programs as graphs of operations, which are printed to NumPy and JavaScript, derived and turned into sympy.

`read.py` runs the emitted Python source on graph nodes, so every reader sees the very formulas that `predict` evaluates.
"""
