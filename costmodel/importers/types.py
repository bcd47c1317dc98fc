"""Which document speaks for a model type: an index read from the one line that lists them, without loading the documents."""

from __future__ import annotations

import re


def type_index(library, kind: str, field: str = "model_types") -> dict[str, str]:
    """Type to the name of the document of `kind` that lists it under `field`."""
    known: dict[tuple[str, str], dict[str, str]] = library.kept.setdefault("types", {})
    files = library.names(kind)
    if (kind, field) not in known:
        table: dict[str, str] = {}
        for name, file in files.items():
            line = re.search(rf"(?m)^{field}: *\[?([^\]\n]*)\]?", file.read_text("utf-8"))
            for item in line.group(1).split(",") if line else ():
                table.setdefault(item.strip().strip("'\""), name)
        known[kind, field] = table  # whole, for other threads
    return known[kind, field]
