"""What a prediction assumes, in sentences."""

from __future__ import annotations


def assumptions_of(prediction) -> list[str]:
    """Notes of the compiled case, the workload's warnings, and the ceiling against the rule of thumb."""
    meta = prediction.runnable.meta
    notes = list(meta["notes"])
    limit = meta["context"]
    used = prediction.context + prediction.output
    if limit and used > limit:
        notes.append(f"warning: {used:,} tokens are more than the model's context of {limit:,}")
    if prediction.prompt > prediction.context:
        notes.append(f"the prompt ({prediction.prompt:,}) is longer than the context ({prediction.context:,}): memory is for the context")
    if meta["devices"] > 1:
        notes.append(f"memory is per device, of {meta['devices']}")
    if prediction.plan[0] > 1 or meta["devices"] > 1 or not meta["reads_all"]:
        notes.append("the 80 % span comes from single-stream decode of dense models on one device; here it may be wider")
    notes += rule_note(prediction)
    fixed = prediction.overheads["decode"]
    if fixed > 0.05 * prediction.decode.expected_s:
        share = fixed / prediction.decode.expected_s
        notes.append(f"{fixed * 1e3:.3g} ms of a decode step ({share:.0%}) are fixed times of a pass: kernel launches and host, by layer")
    if prediction.tokens_out != 1:
        notes.append(f"a decode step emits {prediction.tokens_out:.3g} tokens: decode.* is per step, tpot per token")
    return notes


def rule_note(prediction) -> list[str]:
    """Why the exact ceiling is not bandwidth ÷ file size."""
    tps, meta = prediction.tps, prediction.runnable.meta
    if tps.rule_of_thumb is None:
        return []
    by = prediction.decode.bytes_by
    left, added = prediction.file_size - by.weights, by.kv + by.state
    if prediction.tokens_out != 1 or (left <= 0 and added <= 0):
        return []
    if prediction.decode.regime != "memory":
        return [f"decode is bound by {prediction.decode.regime} here, so bandwidth / file size says little"]
    if not meta["reads_all"]:
        return ["bandwidth / file size says little here: a step reads only part of the file, or part of it from a slower tier"]
    reason = (
        f"the ceiling leaves out {left / 1e9:.2f} GB that a step does not read"
        if left > 0
        else f"a step moves {-left / 1e9:.2f} GB more than the file"
    )
    reason += f" and adds {added / 1e9:.2f} GB of KV cache and state" if added else ""
    return [f"rule of thumb {tps.rule_of_thumb:.4g} tok/s is bandwidth / file size; {reason}: {tps.ceiling:.4g} tok/s"]
