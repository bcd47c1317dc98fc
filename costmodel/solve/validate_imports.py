"""Checking the documents of importers: every name that a formula uses, every block, dim, role and format that they refer to."""

from __future__ import annotations

import re
from typing import Any

from ..importers.variables import LAYER
from ..language.formula import names
from ..language.problem import Problem, SpecError, suggest
from ..library import Library, Spec
from ..schema.names import ROLES

ROLES_BEYOND = ("stored", "expert", "attn", "mlp", "shared", "mixer")
"""What layouts and recipes may name beside the roles of rows: groups, and tensors that are only kept."""


class _Names:
    """Collects formulas that use a name which is no variable."""

    def __init__(self, spec: Spec, known: set[str], joined: tuple[str, ...] = ()):
        self.spec, self.known, self.joined = spec, known, joined
        self.problems: list[Problem] = []

    def __call__(self, node, *path) -> None:
        for name in sorted(used(node) - self.known):
            if not name.startswith(self.joined or ("\0",)):
                mark = self.spec.mark(*path)
                self.problems.append(Problem(f"{'.'.join(map(str, path))}: no variable `{name}`", mark, suggest(name, self.known)))

    def refuse(self, message: str, *path, help: str | None = None) -> None:
        """A problem of an entry, unless a parent gave it: what it inherits, a family may leave unused."""
        if self.spec.mark(*path).source is self.spec.mark("name").source:
            self.problems.append(Problem(message, self.spec.mark(*path), help))

    def raise_all(self) -> None:
        if self.problems:
            raise SpecError(self.problems)


def _variables(spec: Spec, check: _Names) -> None:
    for name, key in spec.doc.keys.items():
        check(key.default, "keys", name, "default")
        check(key.none, "keys", name, "none")
    for name, node in spec.doc.let.items():
        check(node, "let", name)


def check_family(library: Library, spec: Spec) -> list[Problem]:
    """A family's formulas, and the blocks and dims of its architecture. Raises :class:`SpecError`."""
    doc = spec.doc
    known = {*doc.keys, *doc.let, LAYER}
    if doc.text:  # a wrapper sees the text model's variables, and its towers'
        inner = library.load("family", doc.text_family or "base", mark=spec.mark("text_family")).doc
        known |= {*inner.keys, *inner.let}
    check = _Names(spec, known, ("t_", "v_") if doc.text else ())
    _variables(spec, check)
    for field in ("dims", "requires", "notes"):
        for name, node in getattr(doc, field).items():
            check(node, field, name)
    architecture = library.load("model", doc.architecture, mark=spec.mark("architecture")).doc
    for name in doc.dims:
        _dim(check, architecture, name, "dims", name)
    for part, piece in doc.parts.items():
        check(piece.times, "parts", part, "times")
        _dim(check, architecture, piece.count, "parts", part, "count")
        for name, node in piece.dims.items():
            check(node, "parts", part, "dims", name)
            _dim(check, architecture, name, "parts", part, "dims", name)
        for i, block in enumerate(piece.blocks):
            if block not in architecture.blocks:
                check.refuse(
                    f"no block `{block}` in {doc.architecture}", "parts", part, "blocks", i, help=suggest(block, architecture.blocks)
                )
    _vision(library, spec, check)
    check.raise_all()
    return []


def _dim(check: _Names, architecture, name: str, *path) -> None:
    """A dim must be one that the architecture's rows or defaults use."""
    there = set(architecture.dims)
    for block in architecture.blocks.values():
        for row in block.ops.values():
            for value in (row.model_extra or {}).values():
                there |= set(_words(value))
            there |= used(row.when)
        there |= used(block.repeat)
    for value in architecture.dims.values():
        there |= set(_words(value))
    if name not in there:
        check.refuse(f"`{name}` is no dim of the architecture", *path, help=suggest(name, there))


def used(node: Any) -> set[str]:
    """Names in a formula; none in a plain number."""
    return names(node) if not isinstance(node, (int, float, str, type(None))) else set()


def _words(value) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", value) if isinstance(value, str) else []


def _vision(library: Library, spec: Spec, check: _Names) -> None:
    """Towers exist; the formulas that join them use variables of the family, the text model and the tower."""
    for i, part in enumerate(spec.doc.vision):
        at = ("vision", i) if isinstance(spec.document.data.get("vision"), list) else ("vision",)
        if part.tower is not None:
            library.load("tower", part.tower, mark=spec.mark(*at, "tower"))


def check_tower(library: Library, spec: Spec) -> list[Problem]:
    """A tower's formulas. Raises :class:`SpecError`."""
    check = _Names(spec, {*spec.doc.keys, *spec.doc.let, LAYER})
    _variables(spec, check)
    check(spec.doc.params, "params")
    check.raise_all()
    return []


def check_recipe(library: Library, spec: Spec) -> list[Problem]:
    """A recipe's formulas, formats and roles. Raises :class:`SpecError`."""
    doc = spec.doc
    check = _Names(spec, {*doc.keys, *doc.let})
    _variables(spec, check)
    check(doc.bytes, "bytes")
    for field in ("format", "kv", "requires"):
        for name, node in getattr(doc, field).items():
            check(node, field, name)
            if field != "requires" and library.path_of("format", name) is None:
                check.refuse(f"no format `{name}`", field, name, help=suggest(name, library.names("format")))
    for i, role in enumerate(doc.roles):
        _role(check, role, "roles", i)
    check.raise_all()
    return []


def check_layout(library: Library, spec: Spec) -> list[Problem]:
    """A layout's roles, and the formats of whole files. Raises :class:`SpecError`."""
    doc, check = spec.doc, _Names(spec, set())
    for field in ("tensors", "modules"):
        for name, value in getattr(doc, field).items():
            _role(check, value if field == "tensors" else name, field, name)
    for number, name in doc.files.items():
        if library.path_of("format", name) is None:
            check.refuse(f"no format `{name}`", "files", number, help=suggest(name, library.names("format")))
    check.raise_all()
    return []


def _role(check: _Names, role: str, *path) -> None:
    if role not in ROLES and role not in ROLES_BEYOND:
        check.refuse(f"no role `{role}`", *path, help=suggest(role, (*ROLES, *ROLES_BEYOND)))


CHECKS = {"family": check_family, "tower": check_tower, "recipe": check_recipe, "layout": check_layout}
