"""Is a measured decode speed possible on this machine, and is it normal?"""

from __future__ import annotations

from .record import Record

MARGIN = 1.02
"""A figure counts as impossible only above the ceiling by more than the rounding of stated figures."""
CAUSES = ("another device does the work (a GPU, not this machine)", "a smaller model or format is running", "it runs remotely, not here")


def check(p, measured: float, library=None) -> Record:
    """Verdict on `measured` tokens per second and user against a prediction.

    `impossible` (above the ceiling, or the model does not fit), `fast` (above the span), `normal`, or `slow` (below it); with
    the bandwidth that the figure needs by the rule of thumb and by exact bytes, and the machines that would allow it.
    """
    tps, step = p.tps, p.decode
    rule_need = measured * p.file_size
    exact_need = measured / p.tokens_out * (step.bytes_by.weights + step.bytes_by.kv + step.bytes_by.state)
    verdict = "normal"
    if measured > tps.ceiling * MARGIN or (p.memory.fits is False and measured > tps.low):
        verdict = "impossible"
    elif measured > tps.high:
        verdict = "fast"
    elif measured < tps.low:
        verdict = "slow"
    lack = max(0.0, p.memory.total_bytes - p.memory.usable_bytes) if p.memory.fits is False else 0.0
    causes = list(CAUSES) if verdict == "impossible" else []
    batch = p.plan[0]
    if batch > 1 and tps.low <= measured / batch <= tps.ceiling * MARGIN and verdict == "impossible":
        causes.insert(0, f"it is the total over {batch:g} users: {measured / batch:.4g} tok/s each, which is normal here")
    allowing = machines_for(p, measured, library) if verdict == "impossible" and library is not None else []
    return Record(
        verdict=verdict,
        measured=measured,
        ceiling=tps.ceiling,
        expected=tps.expected,
        low=tps.low,
        high=tps.high,
        rule_of_thumb=tps.rule_of_thumb,
        bandwidth=p.decoder.meta["rates"]["bw"],
        needed_by_rule=rule_need,
        needed_exact=exact_need,
        needed_flops=measured / p.tokens_out * step.flops,
        regime=step.regime,
        peak=step.flops / p.decode_step(p.context)[9] if step.flops else None,
        causes=causes,
        lacking_bytes=lack,
        reads_all=p.runnable.meta["reads_all"],
        hardware=allowing,
    )


def machines_for(p, measured: float, library) -> list[dict]:
    """Shipped machines whose bandwidth, peak rate and capacity allow the figure, slowest first."""
    from ..compile.machine import pick_rate
    from ..language.problem import SpecError

    step = p.decode
    per_token = (step.bytes_by.weights + step.bytes_by.kv + step.bytes_by.state) / p.tokens_out
    wanted = max(p.runnable.meta["rows"], key=lambda r: r[5])[6]
    found = []
    for name in library.names("hardware"):
        try:
            spec = library.load("hardware", name)
        except SpecError:
            continue
        if spec.doc.abstract or len(spec.doc.memory) != 1:
            continue
        memory = next(iter(spec.doc.memory.values()))
        rate = pick_rate("fp16" if wanted == "none" else wanted, spec.doc.compute)
        big = memory.capacity is None or memory.capacity * spec.doc.usable >= p.memory.total_bytes
        strong = rate is not None and spec.doc.compute[rate] * p.tokens_out >= measured * step.flops
        if big and strong and memory.bandwidth >= measured * per_token:
            found.append({"name": spec.name, "title": spec.doc.label(), "bandwidth": memory.bandwidth})
    return sorted(found, key=lambda h: (h["bandwidth"], h["name"]))
