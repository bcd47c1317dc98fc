"""The formula language: a closed grammar of arithmetic over names, and its readers.

`parse` turns text into nodes once; `dims` checks dimensions, `fold` binds names and folds constants, `write` prints
text or Python source, `lens` gives sympy. Nothing here evaluates text as Python.
"""

from .nodes import Bin, Call, Name, Neg, Node, Num, names
from .parse import FormulaError, parse

__all__ = ["Bin", "Call", "FormulaError", "Name", "Neg", "Node", "Num", "names", "parse"]
