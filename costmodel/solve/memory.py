"""Does it fit? Weights, KV, state and workspace per tier against the usable capacity, and the limits that follow."""

from __future__ import annotations

from .either import is_open, least, most
from .figures import Memory
from .record import INFINITE
from .steps import draft_steps, drafts, edge_steps


def memory_of(prediction) -> Memory:
    """Bytes in the device tier by named line, in lower tiers, and what they allow."""
    runnable = prediction.decoder
    meta = runnable.meta
    tokens = prediction.context + prediction.output
    lines = device_lines(prediction, tokens, prediction.batch)
    total = sum(lines.values())
    usable = meta["usable"]
    tiers = lower_tiers(prediction, tokens)
    fits = None if usable is None else total <= usable and all(t["fits"] is not False for t in tiers.values())
    return Memory(
        weights_bytes=lines["weights"],
        kv_bytes=lines["kv"],
        state_bytes=lines["state"],
        workspace_bytes=lines["workspace"],
        draft_bytes=lines["draft"],
        total_bytes=total,
        capacity_bytes=meta["capacity"],
        usable_bytes=usable,
        fits=fits,
        max_context=_largest(lambda n: _fits(prediction, n, prediction.batch), usable),
        max_batch=_largest(lambda b: _fits(prediction, tokens, b), usable),
        tiers=tiers,
    )


def fits(prediction) -> bool | None:
    """Whether the workload fits, without the limits that follow from it; None where the capacity is unknown."""
    if prediction.decoder.meta["usable"] is None:
        return None
    return _fits(prediction, prediction.context + prediction.output, prediction.batch)


def spare_bytes(prediction):
    """Bytes left of what is stated of the device and of every lower tier in use, in the fullest of them; below 0 it does not fit.

    Of numbers or of formulas. None where the device's capacity is unknown.
    """
    left = spare_by_tier(prediction)
    return least(*left.values()) if "device" in left else None


def spare_by_tier(prediction) -> dict:
    """Bytes left of what is stated of the device and of every lower tier in use; of an unknown capacity there is no entry."""
    usable, tokens, left = prediction.decoder.meta["usable"], prediction.context + prediction.output, {}
    if usable is not None:
        left["device"] = usable - sum(device_lines(prediction, tokens, prediction.batch).values())
    for name, tier in lower_tiers(prediction, tokens).items():
        if tier["capacity_bytes"] is not None:
            left[name] = tier["capacity_bytes"] - sum(tier.get(f"{part}_bytes", 0) for part in ("weights", "kv", "state", "workspace"))
    return left


def device_lines(prediction, tokens: int, batch: int) -> dict:
    """Named lines of the device tier, with `tokens` per sequence in the cache."""
    runnable = prediction.decoder
    plan = _plan(prediction, tokens, batch)
    kv, state = _held(runnable, plan, tokens)[:2]
    draft = 0
    if drafts(draft_steps(prediction, batch)):
        other = prediction.runnable.draft
        draft = sum(other.meta["stored"].values()) + sum(other.held(plan[0], tokens))
    return {
        "weights": runnable.meta["stored"].get("device", 0),
        "kv": kv,
        "state": state,
        "workspace": workspace(prediction, plan),
        "draft": draft,
    }


def workspace(prediction, plan, unit: int = 0) -> float:
    """The largest scratch of any scheduled step on the machine that decodes: of its device (0) or host (1)."""
    groups_of = memory_steps(prediction, plan)
    return most(*(sum(sum(scratch_parts(prediction.decoder, unit, *group)[:2]) for group in groups) for groups in groups_of))


def memory_steps(prediction, plan) -> list[list[tuple]]:
    """The groups of the steps that can need most memory on the machine that decodes."""
    decode = [(plan[14], plan[9], plan[10], plan[11])]
    return [decode, *edge_steps(plan)] if prediction.runnable.other is None else [decode]


def scratch_parts(runnable, unit, B, T, S, R) -> tuple[float, float, tuple]:
    """Two hidden vectors for every token, scratch of the busiest operator on one micro-batch of tokens, and that's (B, T, S, R, M, H).

    The micro-batch is the engine's; its last tokens attend to the whole sequence, so S grows by what came before.
    """
    limit = runnable.meta["micro_batch"] or INFINITE
    hidden = 2 * B * T * runnable.meta["hidden"] * 2
    B = least(B, limit)
    part = most(1, least(T, limit / most(1, B)))
    point = (B, part, S + T - part, R, B * part, B * R)
    return hidden, runnable.scratch(*point)[unit], point


def _held(runnable, plan, tokens: int) -> tuple:
    """KV, state, KV on host and disk, state on the host: of the batch, and of decodes that ride along with its prefill."""
    parts = runnable.held(plan[0], tokens)
    if is_open(plan[5]) or plan[5]:
        parts = tuple(a + b for a, b in zip(parts, runnable.held(plan[5], plan[6]), strict=True))
    return (0, parts[1], 0, 0, parts[4]) if plan[15] else parts


def _plan(prediction, tokens: int, batch: int):
    """The schedule with `tokens` per sequence: a prompt that fills the context grows and shrinks with it."""
    if is_open(batch, tokens) or (batch == prediction.batch and tokens == prediction.context + prediction.output):
        return prediction.plan
    context = max(1, tokens - prediction.output)
    prompt = context if prediction.prompt == prediction.context else prediction.prompt
    return prediction.runnable.at(prompt, prediction.output, context, batch)


def lower_tiers(prediction, tokens: int, batch: int | None = None) -> dict:
    """Bytes on the host and the disk, of all stages of a pipeline, with what they may take."""
    runnable = prediction.decoder
    plan = prediction.plan if batch is None else prediction.runnable.at(prediction.prompt, prediction.output, prediction.context, batch)
    _, _, host, disk, state = _held(runnable, plan, tokens)
    out = {}
    stages, on_host = runnable.meta["devices"], any(row[4] == "host" for row in runnable.meta["rows"])
    for tier, kv, held in (("host", host, state), ("disk", disk, 0)):
        weights = runnable.meta["stored"].get(tier, 0) * stages
        kv, held = kv * stages, held * stages
        if is_open(weights, kv, held) or weights or kv or held:
            scratch = workspace(prediction, plan, 1) if tier == "host" and on_host else 0
            usable = runnable.meta["tiers"].get(tier)
            fits = _within(weights + kv + held + scratch, usable)
            out[tier] = {
                "weights_bytes": weights,
                "kv_bytes": kv,
                "state_bytes": held,
                "workspace_bytes": scratch,
                "capacity_bytes": usable,
                "fits": fits,
            }
    if runnable is not prediction.runnable:
        out["prefill machine"] = _prefill_machine(prediction)
    return out


def _within(needed, usable) -> bool | None:
    """Whether bytes fit; None where the capacity is unknown, or the bytes are a formula."""
    return None if usable is None or is_open(needed, usable) else needed <= usable


def _prefill_machine(prediction) -> dict:
    """What the machine that only prefills holds: weights, the prompt's KV, workspace."""
    meta, plan = prediction.runnable.meta, prediction.plan
    kv, state = prediction.runnable.held(plan[0], prediction.prompt)[:2]
    scratch = most(*(sum(sum(scratch_parts(prediction.runnable, 0, *group)[:2]) for group in groups) for groups in edge_steps(plan)))
    weights = meta["stored"].get("device", 0)
    total, usable = weights + kv + state + scratch, meta["usable"]
    fits = _within(total, usable)
    lines = {"weights_bytes": weights, "kv_bytes": kv, "state_bytes": state, "workspace_bytes": scratch}
    return lines | {"capacity_bytes": usable, "fits": fits}


def _fits(prediction, tokens: int, batch: int) -> bool:
    """Whether every tier holds `tokens` per sequence of `batch`."""
    lower = lower_tiers(prediction, tokens, batch)
    if any(part["fits"] is False for part in lower.values()):
        return False
    return sum(device_lines(prediction, tokens, batch).values()) <= prediction.decoder.meta["usable"]


def _largest(fits, usable: float | None) -> int | None:
    """The largest whole number that fits: 0 if none, None if unknown or unbounded."""
    if usable is None or fits(INFINITE):
        return None
    low, high = 0, INFINITE
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
