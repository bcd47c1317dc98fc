"""Model documents: dims, blocks of operator rows, and the number formats of weights, activations and KV."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict

from .common import Bytes, Doc, Expression, Formula, Ident, Part, count


class Row(Part):
    """One operator of a block: `op` names the operator document; other keys are its arguments, as formulas of dims."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True, validate_default=True)
    op: str
    """Name of the operator document."""
    role: str
    """What the row is (`attn.q`, `mlp.down`, `expert.up`): what formats and techniques go by."""
    when: Formula = None
    """The row exists only where this is not zero."""


class Block(Part):
    """Rows that repeat together (`repeat`: how many layers): its own `ops`, or those of other blocks with other dims."""

    repeat: Formula = 1
    """How many layers: a formula of dims."""
    ops: dict[str, Row] = {}
    """Rows by name, in the order in which they run."""
    like: tuple[str, ...] = ()
    """Blocks whose rows this one repeats."""
    dims: dict[Ident, Any] = {}
    """What those rows find in place of the model's dims: numbers, or `= formula` of the model's dims."""
    span: tuple[Expression, Expression] | None = None
    """The layers that the repeats are spread over, from the first (counted from 0) to before the last; by default all."""


class Weights(Part):
    """Number format of the weights; `size` scales every role's bytes so that they sum to a published size.

    `roles` gives other formats to some roles (`attn`, `mlp.down`: a format, or `{format: share, …, format: rest}`), and
    `bytes` the bytes that a file holds of a role, as they are.
    """

    format: str
    """Format of roles that are not named."""
    size: Bytes | None = None
    """A published size; every role's bytes are scaled to it."""
    roles: dict[str, Any] = {}
    """Role to format, or to `{format: share, …, format: rest}`."""
    bytes: dict[str, Bytes] = {}
    """Role to the bytes that a file holds of it."""


class Format(Part):
    """A number format by name."""

    format: str
    """Name of a format document."""


class Checks(Part):
    """Published figures that the document must reproduce: `8.03e9 +- 0.5%`."""

    params: Any = None
    """Parameters stored."""
    active_params: Any = None
    """Parameters that a token uses."""


class Model(Doc):
    """A language model."""

    architecture: str | None = None
    """The abstract model whose blocks this one uses."""
    dims: dict[Ident, Any] = {}
    """Sizes: numbers, or `= formula` of other dims."""
    blocks: dict[str, Block] = {}
    """By name; merged over those of the architecture."""
    weights: Weights = Weights(format="bf16")
    """Number formats of the weights."""
    kv: Format = Format(format="fp16")
    """Number format of the KV cache."""
    activations: Format = Format(format="fp16")
    """Number format of activations."""
    state: Format = Format(format="fp32")
    """Number format of recurrent state."""
    context: count() | None = None  # type: ignore[valid-type]
    """Longest context the model was made for, in tokens."""
    checks: Checks = Checks()
    """Published figures that the document must reproduce."""
    requires: dict[str, Expression] = {}
    """Message to formula of dims: a model for which one is zero is refused with the message."""
