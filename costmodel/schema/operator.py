"""Operator documents: the FLOPs and bytes of one kind of operator, written once as formulas of B, T, S."""

from __future__ import annotations

from typing import Literal

from .common import Doc, Expression, Formula, Ident, Part


class Traffic(Part):
    """Bytes moved per pass, by kind."""

    weights: Formula = 0
    """Of `M` and `H` only: weights are read once a pass."""
    kv: Formula = 0
    """Keys and values read and written."""
    state: Formula = 0
    """Recurrent state read and written."""
    activations: Formula = 0
    """Inputs and outputs."""
    link: Formula = 0
    """Sent to peer devices, or over the link to the host (`link`)."""


class Floor(Part):
    """Compulsory bytes where they are fewer than the expected ones (a MoE layer must read only k experts)."""

    weights: Formula = None
    """The least weight bytes; by default `bytes.weights`."""
    kv: Formula = None
    """The least KV bytes; by default `bytes.kv`."""


class Holds(Part):
    """Bytes that stay resident, with S tokens in the cache of each of B sequences."""

    kv: Formula = 0
    """In the KV cache."""
    state: Formula = 0
    """Recurrent state, which does not grow with the context."""


class Arg(Part):
    """An optional argument."""

    default: Formula
    """A formula of dims, or a number."""


class Operator(Doc):
    """One kind of operator."""

    args: dict[Ident, Literal["dim", "count"] | Arg] = {}
    """Argument names: `dim` (required), or `{default: formula}`."""
    let: dict[Ident, Expression] = {}
    """Named helper formulas, usable in the others."""
    params: Formula = 0
    """Parameters stored; traffic is stated apart."""
    stored: Formula = None
    """Bytes kept in memory; by default the parameters at their format's width."""
    flops: Formula = 0
    """FLOPs of a group of `B` sequences; a multiply and an add are two."""
    bytes: Traffic = Traffic()
    """Bytes moved."""
    floor: Floor = Floor()
    """The least that must move, where it is less."""
    holds: Holds = Holds()
    """Bytes that stay resident."""
    workspace: Formula = None
    """Scratch bytes while the operator runs; by default its activation traffic."""
    hops: Formula = 0
    """Link latencies paid per pass."""
    link: Literal["peer", "host"] = "peer"
    """The link that `bytes.link` and `hops` count on: between devices, or to the host."""
