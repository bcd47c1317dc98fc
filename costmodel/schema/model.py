"""Model documents: dims, blocks of operator rows, and the number formats of weights, activations and KV."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict

from .common import Bytes, Doc, Expression, Formula, Ident, Part, count


class Row(Part):
    """One operator of a block: `op` names the operator document; other keys are its arguments, as formulas of dims."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True, validate_default=True)
    op: str
    role: str
    when: Formula = None
    """The row exists only where this is not zero."""


class Block(Part):
    """Rows that repeat together (`repeat`: how many layers): its own `ops`, or those of other blocks with other dims."""

    repeat: Formula = 1
    ops: dict[str, Row] = {}
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
    size: Bytes | None = None
    roles: dict[str, Any] = {}
    bytes: dict[str, Bytes] = {}


class Format(Part):
    """A number format by name."""

    format: str


class Checks(Part):
    """Published figures that the document must reproduce: `8.03e9 +- 0.5%`."""

    params: Any = None
    active_params: Any = None


class Model(Doc):
    """A language model."""

    architecture: str | None = None
    """The abstract model whose blocks this one uses."""
    dims: dict[Ident, Any] = {}
    """Sizes: numbers, or `= formula` of other dims."""
    blocks: dict[str, Block] = {}
    weights: Weights = Weights(format="bf16")
    kv: Format = Format(format="fp16")
    activations: Format = Format(format="fp16")
    state: Format = Format(format="fp32")
    context: count() | None = None  # type: ignore[valid-type]
    """Longest context the model was made for, in tokens."""
    checks: Checks = Checks()
    requires: dict[str, Expression] = {}
    """Message to formula of dims: a model for which one is zero is refused with the message."""
