"""Families: how the keys of a `config.json` become the dims of a model document. Data, so that a new family is a YAML file."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from .common import Doc, Expression, Formula, Ident, Part, Text


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


_EITHER = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": ["string", "number"]}}]}
Names = Annotated[tuple[Text, ...], BeforeValidator(_listed), WithJsonSchema(_EITHER)]


class Key(Part):
    """One variable of a config: the first of `key` that is present.

    Dots go into nested maps, numbers to an entry of a list (from 0), `*` over a list. A list holds one value per layer.
    """

    key: Names = ()
    """One key or several, of which the first that is present counts."""
    default: Formula = None
    """What the model class assumes where the key is absent; without it the key is required."""
    none: Formula = None
    """The meaning of an explicit null, where it differs from absence."""
    words: dict[str, float] = {}
    """The number that each text stands for."""
    letters: dict[str, float] = {}
    """For a text with one letter per layer."""
    cyclic: bool = False
    """A list or text shorter than the layers is repeated."""
    members: int | None = None
    """The list names layers, the first having this number: 1 for those in it, 0 for others."""
    length: bool = False
    """The number of entries of the list (letters of the text), not their values."""
    sum: bool = False
    """The sum of the list's values."""
    outer: bool = False
    """Also looked for outside the nested text config."""


class Piece(Part):
    """A part that layers are made of: `blocks` of the architecture, counted by the dim `count`."""

    blocks: tuple[str, ...]
    """Blocks of the architecture."""
    count: Ident
    """The dim that counts the layers."""
    times: Formula = 1
    """How many a layer has (formula; `i` is the layer, from 0)."""
    dims: dict[Ident, Expression] = {}
    """Dims of those blocks; layers where they differ become blocks of their own."""


class Vision(Part):
    """An image (or audio) part of a model: what it stores, beside the text model."""

    config: Names = ()
    """Where its own config stands (dots go into nested maps); a part whose config is missing or null is not there."""
    tower: str | None = None
    """The tower document for a config without `model_type`."""
    params: Formula = None
    """Parameters of what joins it to the text model (a projector), over their variables; those of the tower are `v_…`."""


def _parts(value: Any) -> Any:
    return (value,) if isinstance(value, (dict, Vision)) else value


class Family(Doc):
    """Model types that share key names and structure.

    One with `text` wraps another: its own `keys` and `let` are read from the whole config, and stand above variables of the
    same name of the text model's family (such as `tied`), which are `t_…` there.
    """

    architecture: str = "decoder"
    """The abstract model whose blocks are used."""
    model_types: Names = ()
    """`model_type` values of config.json."""
    text: Names = ()
    """Where the text model's config is nested."""
    text_family: str | None = None
    """The family of a nested config that has no `model_type`."""
    keys: dict[Ident, Key] = {}
    """Variable to where it stands in the config."""
    let: dict[Ident, Expression] = {}
    """Variables by formula of others."""
    dims: dict[Ident, Expression] = {}
    """Dims of the whole model."""
    parts: dict[str, Piece] = {}
    """What layers are made of."""
    requires: dict[str, Expression] = {}
    """Message to condition: a config for which it is 0 is refused."""
    notes: dict[str, Expression] = {}
    """Message to condition: said of a config for which it is not 0."""
    modules: dict[str, tuple[str, ...]] = {}
    """Names of a role's modules inside a layer, where they are not the common ones: for lists of exceptions."""
    vision: Annotated[tuple[Vision, ...], BeforeValidator(_parts)] = ()
    """One part or a list of them."""


class Tower(Doc):
    """A vision (or audio) tower: its parameters, counted apart."""

    model_types: Names = ()
    """`model_type` values of the part's own config."""
    keys: dict[Ident, Key] = {}
    """Variable to where it stands in that config."""
    let: dict[Ident, Expression] = {}
    """Variables by formula of others."""
    params: Formula = 0
    """Parameters stored, a formula of the variables."""
