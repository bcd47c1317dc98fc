"""The built site must not load anything from elsewhere: a page or style sheet that would is a warning, and so fails the build."""

from __future__ import annotations

import re
from pathlib import Path

_TAGS = re.compile(
    r"<(?:script|link|img|iframe|source|video|audio)\b[^>]*?\b(?:src|href|srcset)\s*=\s*[\"']?((?:https?:)?//[^\"'\s>]+)", re.I
)
_STYLE = re.compile(r"(?:url\(\s*|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)", re.I)


def loaded(text: str) -> list[str]:
    """Addresses that a page or style sheet loads when it is shown; links that a reader may follow are none."""
    return _TAGS.findall(text) + _STYLE.findall(text)


def _finished(app, error) -> None:
    from sphinx.util.logging import getLogger

    for file in Path(app.outdir).rglob("*") if error is None else ():
        if file.suffix in (".html", ".css"):
            for address in loaded(file.read_text("utf-8")):
                getLogger(__name__).warning("%s loads %s", file.relative_to(app.outdir), address)


def setup(app) -> dict:
    """Look through the site when it is built."""
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
