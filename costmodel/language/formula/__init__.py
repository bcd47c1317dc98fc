"""The formula language: a closed grammar of arithmetic over names, and its readers.

`grammar` turns text into nodes once; `dims` checks dimensions, `fold` binds names and folds constants, `write` prints
text or Python source, `lens` gives sympy. Nothing here evaluates text as Python.

The names below are imported on first use: a package that imports its files while another thread imports one of them
makes Python hand out half a module.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .grammar import FormulaError, parse
    from .nodes import Bin, Call, Name, Neg, Node, Num, names

__all__ = ["Bin", "Call", "FormulaError", "Name", "Neg", "Node", "Num", "names", "parse"]

if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        value = getattr(import_module(".grammar" if name in ("FormulaError", "parse") else ".nodes", __name__), name)
        globals()[name] = value
        return value
