"""The compiler: documents → rows → rewrites → placement → emitted source.

The package is also the API function: `costmodel.compile(model, techniques=…)` gives a :class:`costmodel.Program`.
"""

import sys
from types import ModuleType


class _Callable(ModuleType):
    """This package, callable: importing a submodule would otherwise hide the API function of the same name."""

    def __call__(self, model, techniques=(), sets=()):
        """The program of a model under techniques: its rows and, as sympy, its FLOPs and bytes."""
        from ..library import shared
        from .build import program_of

        return program_of(shared(), model, (techniques,) if isinstance(techniques, str) else tuple(techniques), sets)


sys.modules[__name__].__class__ = _Callable
