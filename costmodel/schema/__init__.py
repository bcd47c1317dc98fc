"""pydantic models of the kinds of document, one kind a file."""

from __future__ import annotations

from importlib import import_module

KINDS = {
    "hardware": ("hardware", "Hardware"),
    "model": ("model", "Model"),
    "operator": ("operator", "Operator"),
    "format": ("format", "NumberFormat"),
    "technique": ("technique", "Technique"),
    "engine": ("engine", "Engine"),
    "study": ("study", "Study"),
    "family": ("family", "Family"),
    "tower": ("family", "Tower"),
    "layout": ("layout", "Layout"),
    "recipe": ("recipe", "Recipe"),
    "explanation": ("explanation", "Explanation"),
    "link": ("link", "Link"),
}


def model_of(kind: str):
    """The pydantic class of a kind; imported on first use."""
    module, name = KINDS[kind]
    return getattr(import_module(f".{module}", __name__), name)
