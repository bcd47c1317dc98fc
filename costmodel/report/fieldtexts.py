"""The texts that stand under the fields of a class, which schemas show as descriptions."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from itertools import pairwise


def own_texts(cls: type) -> dict[str, str]:
    """Field → text, of one class without its parents; empty for a class that a call made."""
    texts = {}
    for line, following in pairwise(getattr(_source(cls), "body", [])):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and isinstance(following, ast.Expr):
            text = getattr(following.value, "value", None)
            if isinstance(text, str):
                texts[line.target.id] = inspect.cleandoc(text)
    return texts


def parents(cls: type) -> list[type]:
    """The classes that its source names as bases. (A TypedDict does not keep its own.)"""
    names = [base.id for base in getattr(_source(cls), "bases", []) if isinstance(base, ast.Name)]
    found = (getattr(sys.modules[cls.__module__], name, None) for name in names)
    return [base for base in found if isinstance(base, type)]


def _source(cls: type) -> ast.ClassDef | None:
    try:
        made = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError):
        return None
    return made if isinstance(made, ast.ClassDef) else None
