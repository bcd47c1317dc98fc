"""Pictures of predictions: each function returns a matplotlib Figure, :func:`save` writes one. Needs the extra `plot`.

    >>> import costmodel
    >>> from costmodel.report import plots
    >>> figure = plots.roofline(costmodel.predict("8b", "rtx4090"))    # doctest: +SKIP
    >>> plots.save(figure, "roofline.svg")                             # doctest: +SKIP

Importing this loads no matplotlib.
"""

from .curves import batch, context
from .files import save
from .measured import measured
from .memory import memory
from .pareto import pareto, savings
from .roofline import roofline

__all__ = ["batch", "context", "measured", "memory", "pareto", "roofline", "save", "savings"]
