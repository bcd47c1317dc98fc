"""Operator documents: the FLOPs and bytes of one kind of operator, written once as formulas of B, T, S."""

from __future__ import annotations

from typing import Literal

from .common import Doc, Expression, Formula, Ident, Part


class Traffic(Part):
    """Bytes moved per pass, by kind."""

    weights: Formula = 0
    kv: Formula = 0
    state: Formula = 0
    activations: Formula = 0
    link: Formula = 0


class Floor(Part):
    """Compulsory bytes where they are fewer than the expected ones (a MoE layer must read only k experts)."""

    weights: Formula = None
    kv: Formula = None


class Holds(Part):
    """Bytes that stay resident, with S tokens in the cache of each of B sequences."""

    kv: Formula = 0
    state: Formula = 0


class Arg(Part):
    """An optional argument."""

    default: Formula


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
    bytes: Traffic = Traffic()
    floor: Floor = Floor()
    holds: Holds = Holds()
    workspace: Formula = None
    """Scratch bytes while the operator runs; by default its activation traffic."""
    hops: Formula = 0
    """Link latencies paid per pass."""
    link: Literal["peer", "host"] = "peer"
    """The link that `bytes.link` and `hops` count on: between devices, or to the host."""
