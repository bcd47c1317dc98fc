"""The commands, one file each: `command` is a click command. :data:`FILES` names them in the order of `--help`."""

FILES = {
    "predict": "predict",
    "matrix": "matrix",
    "sweep": "sweep",
    "plot": "plot",
    "report": "report",
    "check": "check",
    "explain": "explain",
    "diff": "diff",
    "solve": "solve",
    "crossovers": "crossovers",
    "sensitivity": "sensitivity",
    "list": "list_",
    "validate": "validate",
    "schema": "schema",
    "inspect": "inspect",
    "import": "import_",
    "evaluate": "evaluate",
    "calibrate": "calibrate",
    "probe": "probe",
}
"""Command → module. A name that is a word of Python ends in `_` there."""
