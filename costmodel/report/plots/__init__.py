"""Pictures of predictions: each function returns a matplotlib Figure, :func:`save` writes one. Needs the extra `plot`.

    >>> import costmodel
    >>> from costmodel.report import plots
    >>> figure = plots.roofline(costmodel.predict("8b", "rtx4090"))    # doctest: +SKIP
    >>> plots.save(figure, "roofline.svg")                             # doctest: +SKIP

Importing this loads no matplotlib; the names below are imported on first use.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .curves import batch, context
    from .effects import tornado
    from .files import save
    from .front import pareto, savings
    from .roof import roofline
    from .scatter import measured
    from .stack import memory

__all__ = ["batch", "context", "measured", "memory", "pareto", "roofline", "save", "savings", "tornado"]

if not TYPE_CHECKING:
    HOMES = {
        "batch": "curves",
        "context": "curves",
        "save": "files",
        "pareto": "front",
        "savings": "front",
        "roofline": "roof",
        "measured": "scatter",
        "memory": "stack",
        "tornado": "effects",
    }

    def __getattr__(name):
        from importlib import import_module

        if name not in HOMES:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        return getattr(import_module(f".{HOMES[name]}", __name__), name)
