"""The steps that a request takes: prefill (whole or in chunks, alone or with riding decodes) and all decode steps."""

from __future__ import annotations

from .either import is_open, most, sum_over, whole

MAX_CHUNKS = 100_000


def prefill_groups(plan) -> list[list[tuple]]:
    """The groups (B, T, S, R) of every prefill step, in order."""
    T, chunk = plan[1], _chunk(plan)
    if is_open(T, chunk):
        return [_whole_step(plan)]
    if chunk * MAX_CHUNKS < T:
        raise _too_many(T, chunk)
    return [_chunk_step(plan, at) for at in range(0, int(T), chunk)]


def _too_many(T, chunk):
    from ..language.problem import problem

    return problem(f"{T:,} tokens in chunks of {chunk:,} are more than {MAX_CHUNKS:,} steps", help="take larger chunks")


def edge_steps(plan) -> list[list[tuple]]:
    """The prefill steps that can need most memory: the first, the last and, as that may be short, the one before it."""
    T, chunk = plan[1], _chunk(plan)
    if is_open(T, chunk):
        return [_whole_step(plan)]
    last = (int(T) - 1) // chunk * chunk
    return [_chunk_step(plan, at) for at in sorted({0, max(0, last - chunk), last})]


def _whole_step(plan) -> list[tuple]:
    """The groups of a prefill in one step, as formulas. Raises NotImplementedError for chunks, whose number is not known."""
    if is_open(plan[4]) or plan[4] or is_open(plan[5]) or plan[5]:
        raise NotImplementedError("chunks of a prompt of unknown length")
    return [(plan[0], plan[1], plan[2], plan[3])]


def _chunk(plan) -> int:
    T, chunk = plan[1], plan[4]
    if is_open(T, chunk):
        return T
    return max(1, int(chunk)) if chunk and chunk < T else max(1, int(T))


def _chunk_step(plan, at: int) -> list[tuple]:
    """The groups of the prefill step that starts at a token: the chunk, and decodes that ride along."""
    batch, T, S, R, _, ride_B, ride_S = plan[:7]
    size = min(_chunk(plan), T - at)
    group = (batch, size, S + at, R if at + size >= T else 0)
    return [group, (ride_B, 1, ride_S, 1)] if ride_B else [group]


def prefill_total(prediction):
    """(totals, number of steps, seconds of the longest step, (floor, expected) seconds beside prefill)."""
    runnable, plan = prediction.runnable, prediction.plan
    steps = prefill_groups(plan)
    total = prefill_pass(runnable, steps[0])
    longest = total[8]
    for groups in steps[1:]:
        one = prefill_pass(runnable, groups)
        longest = most(longest, one[8])
        total = tuple(x + y for x, y in zip(total, one, strict=True))
    parts, stages = plan[7], plan[8]
    if is_open(stages) or stages > 1:
        factor = (parts + stages - 1) / (parts * stages)
        total = (*total[:7], *(seconds * factor for seconds in total[7:]))
    return total, len(steps), longest, beside_prefill(prediction)


def prefill_pass(runnable, groups, c=None, chunk=None):
    """Totals of one prefill step; where the engine computes only so many tokens at a time, the expected time is of all its passes.

    The other figures, the floor among them, are those of one pass: what an engine splits, another may not. `c` are
    coefficients in place of the program's own, `chunk` tokens in place of the engine's.
    """
    B, T, S, R = groups[0]

    def one(tokens: int, at: int, rows: int):
        return runnable.one(B, tokens, at, rows) if c is None else runnable.step(B, tokens, at, rows, B * tokens, B * rows, c)

    total = one(T, S, R) if len(groups) == 1 else runnable.mixed(groups)
    size = _pass_tokens(groups, chunk or runnable.meta.get("chunk"))
    if size is T or (not is_open(size, T) and size >= T):
        return total
    full = whole((whole(T) - 1) / size)
    expected = one(whole(T) - full * size, S + full * size, R)[8]
    expected = expected + sum_over(full, lambda i: one(size, S + i * size, 0)[8], sum_linear)
    return (*total[:8], most(expected, total[7]), *total[9:])


def _pass_tokens(groups, chunk) -> int:
    """Tokens of each sequence that the engine computes in one pass; all of them where it takes the step whole."""
    B, T, _, _ = groups[0]
    if chunk and len(groups) == 1:
        return most(1, whole(chunk / B))
    return T if is_open(T) else max(1, int(T))


def engine_passes(runnable, groups) -> list[list[tuple]]:
    """The passes in which the engine computes one prefill step: pieces of its chunk, or the step itself."""
    B, T, S, R = groups[0]
    size = _pass_tokens(groups, runnable.meta.get("chunk"))
    if size >= T:
        return [groups]
    if size * MAX_CHUNKS < T:
        raise _too_many(T, size)
    starts = range(0, int(T), size)
    return [[(B, min(size, int(T) - at), S + at, R if at + size >= T else 0)] for at in starts]


def beside_prefill(prediction) -> tuple[float, float]:
    """Floor and expected seconds that TTFT has on top: the draft's prefill, and KV sent to the decode machine."""
    floor = expected = 0.0
    if prefills_draft(prediction):
        one = prediction.runnable.draft_prefill.one(*draft_prompt(prediction))
        floor, expected = one[7], one[8]
    if prediction.runnable.meta["handoff"]:
        seconds = handoff_seconds(prediction)
        floor, expected = floor + seconds, expected + seconds
    return floor, expected


def drafts(repeat) -> bool:
    """Whether another model takes steps beside decode; True where how many is a formula."""
    return is_open(repeat) or bool(repeat)


def prefills_draft(prediction) -> bool:
    """Whether a draft model computes the prompt too."""
    runnable = prediction.runnable
    return runnable.also is not None and runnable.meta["draft_prefill"] and drafts(draft_steps(prediction))


def draft_prompt(prediction) -> tuple:
    """The group (B, T, S, R) of a draft model's prefill."""
    return (*prediction.plan[:3], 0)


def draft_steps(prediction, batch: int | None = None) -> float:
    """Steps of a draft model beside each decode step."""
    also = prediction.runnable.also
    batch = prediction.batch if batch is None else batch
    return also(prediction.prompt, prediction.output, prediction.context, batch)[3] if also is not None else 0


def handoff_bytes(prediction) -> float:
    """KV and state bytes of the prompt, sent from the prefill to the decode machine."""
    runnable = prediction.runnable
    held = sum(runnable.held(prediction.plan[0], prediction.prompt))
    if runnable.draft is not None:
        held += sum(runnable.draft.held(prediction.plan[0], prediction.prompt))
    return held


def handoff_seconds(prediction) -> float:
    """Seconds of the KV hand-off over the slower of the two machines' network links."""
    links = [r.meta["network"] for r in (prediction.runnable, prediction.decoder) if r.meta["network"]]
    if not links:
        from ..language.problem import problem

        raise problem(f"{prediction.runnable.meta['hardware']} states no network link", help="give `links: {network: {bandwidth: …}}`")
    bandwidth, latency = min(links)
    return latency + handoff_bytes(prediction) / bandwidth


def decode_total(prediction) -> float:
    """Expected seconds of all decode steps after the first token, each at its own context.

    Step times are piecewise linear in the context, so linear stretches are summed in closed form.
    """
    count = prediction.output - 1
    if is_open(count):
        return sum_over(count, lambda i: prediction.decode_step(prediction.context + i)[8] / prediction.plan[12], sum_linear)
    if count <= 0:
        return 0.0
    seconds: dict[int, float] = {}

    def at(context: int) -> float:
        if context not in seconds:
            seconds[context] = prediction.decode_step(context)[8] / prediction.plan[12]
        return seconds[context]

    return sum_linear(at, prediction.context, prediction.context + count - 1)


def sum_linear(function, low: int, high: int) -> float:
    """Sum of `function` over low … high, halving until a stretch is linear at seven inner points."""
    total, stack = 0.0, [(low, high)]
    while stack:
        low, high = stack.pop()
        width = high - low
        if width < 12:
            total += sum(function(x) for x in range(low, high + 1))
            continue
        first, last = function(low), function(high)
        inner = [low + width * i // 8 for i in range(1, 8)]
        slope = (last - first) / width
        if all(abs(function(x) - (first + slope * (x - low))) <= 1e-12 * last for x in inner):
            total += (first + last) * (width + 1) / 2
        else:
            middle = low + width // 2
            stack += [(low, middle), (middle + 1, high)]
    return total
