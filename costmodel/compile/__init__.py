"""The compiler: documents → rows → rewrites → placement → emitted source.

The package is also the API function: `costmodel.compile(model, techniques=…)` gives a :class:`costmodel.Program`.
"""

import sys
from types import ModuleType


class _Callable(ModuleType):
    """This package, callable: importing a submodule would otherwise hide the API function of the same name."""

    def __call__(self, model, techniques=(), sets=()):
        """As :func:`costmodel.api.compile`."""
        from ..api import compile

        return compile(model, techniques, sets)


sys.modules[__name__].__class__ = _Callable
