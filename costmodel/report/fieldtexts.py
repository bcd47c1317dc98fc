"""The texts that stand under the fields of a class, which schemas show as descriptions."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise


def own_texts(cls: type) -> dict[str, str]:
    """Field → text, of one class without its parents; empty for a class that a call made."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError):
        return {}
    texts = {}
    for line, following in pairwise(body.body if isinstance(body, ast.ClassDef) else []):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and isinstance(following, ast.Expr):
            text = getattr(following.value, "value", None)
            if isinstance(text, str):
                texts[line.target.id] = inspect.cleandoc(text)
    return texts
