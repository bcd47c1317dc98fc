"""Serving metrics by their stated definitions; seconds and tokens per second.

Source: NVIDIA, LLM Inference Benchmarking: Fundamental Concepts (ITL, user TPS); Little's law for a closed loop.
"""

from __future__ import annotations


def end_to_end(ttft_s: float, itl_s: float, output: int) -> float:
    """Seconds from request to last token: TTFT and one gap per further token."""
    return ttft_s + (output - 1) * itl_s


def itl_mean(e2e_s: float, ttft_s: float, output: int) -> float | None:
    """Mean gap between output tokens, (e2e − TTFT) / (output − 1); None for fewer than two tokens."""
    from .either import is_open  # here, since what this module holds is public

    return (e2e_s - ttft_s) / (output - 1) if is_open(output) or output >= 2 else None


def user_tps(output: int, e2e_s: float) -> float:
    """Output tokens over end-to-end seconds, per user."""
    return output / e2e_s


def closed_loop_tps(clients: int, output: int, e2e_s: float) -> float:
    """Output tokens per second of `clients` that each send the next request when the last has ended."""
    return clients * user_tps(output, e2e_s)


def per_user_tps(itl_s: float) -> float:
    """Tokens per second and user at a gap (AIPerf's definition)."""
    return 1 / itl_s
