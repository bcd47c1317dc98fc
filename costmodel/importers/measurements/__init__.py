"""Measurements from files: tables of one's own, and what benchmark programs write.

:func:`read_measurements` tells the form from the content, never from the file's name. The names below are imported on first use.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .measurement import FIGURES, Measurement, Measurements
    from .read import FILE_BYTES, read_measurements, read_text

__all__ = ["FIGURES", "FILE_BYTES", "Measurement", "Measurements", "read_measurements", "read_text"]

if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        home = ".read" if name in ("FILE_BYTES", "read_measurements", "read_text") else ".measurement"
        return getattr(import_module(home, __name__), name)
