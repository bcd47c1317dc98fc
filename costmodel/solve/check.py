"""Is a measured speed possible on this machine, is it normal, and what would explain it?"""

from __future__ import annotations

from .judgement import Judgement
from .record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..library import Library
    from .cases import Setting
    from .prediction import Prediction
    from .shapes.check import FigureVerdict, MachineThatAllows, Verdict

MARGIN = 1.02
"""A figure is outside of a bound only where it is by more than the rounding of stated figures."""
USUAL = 0.89
"""Share of the ceiling that is normal in any case: 90th percentile of 151 public single-stream decode runs of dense models."""
MAIN_MEMORY = ("cpu-desktop", "cpu-server")
"""Classes of machines whose memory is the system's, which maps a larger file and reads it from disk."""
CAUSES = ("another device does the work (a GPU, not this machine)", "a smaller model or format is running", "it runs remotely, not here")


def check(
    p: Prediction,
    measured: float | None = None,
    library: Library | None = None,
    *,
    prefill: float | None = None,
    setting: Setting | None = None,
) -> Judgement:
    """Verdict on `measured` decode tokens per second and user, and on `prefill` prompt tokens per second, against a prediction.

    `impossible` (above the ceiling, or the model does not fit), `fast` (above the span), `normal`, or `slow` (below it); with
    the bandwidth that the figure needs by the rule of thumb and by exact bytes, and the machines that would allow it. With
    the `setting` that was predicted and a `library`: ranked explanations, each a prediction with one thing changed. Raises
    :class:`SpecError` where neither figure is given.
    """
    given = {k: v for k, v in (("decode", measured), ("prefill", prefill)) if v is not None}
    if not given:
        from ..language.problem import problem

        raise problem("no measured figure to check", help="give a decode speed, a prompt-processing speed (`--prefill`), or both")
    soft = setting is not None and library is not None and soft_bandwidth(setting, library)
    parts = {k: judged(p, k, v, soft) for k, v in given.items()}
    verdict = overall([part["verdict"] for part in parts.values()])
    impossible = verdict == "impossible"
    decode = parts.get("decode", {"verdict": None})
    batch, tps = p.plan[0], p.tps
    causes = list(CAUSES) if impossible else []
    if measured and batch > 1 and tps.low <= measured / batch <= tps.ceiling * MARGIN and decode["verdict"] == "impossible":
        causes.insert(0, f"it is the total over {batch:g} users: {measured / batch:.4g} tok/s each, which is normal here")
    allowing = machines_for(p, measured, library) if measured and decode["verdict"] == "impossible" and library is not None else []
    found = Record(found=[], skipped=[])
    if setting is not None and library is not None:
        from .explain.rank import explain

        found = explain(p, setting, library, measured, prefill)
    return Judgement(
        verdict=verdict,
        measured=measured,
        ceiling=tps.ceiling,
        expected=tps.expected,
        low=tps.low,
        high=tps.high,
        rule_of_thumb=tps.rule_of_thumb,
        **_needs(p, measured),
        causes=causes,
        lacking_bytes=max(0.0, p.memory.total_bytes - (p.memory.usable_bytes or 0.0)) if p.memory.fits is False else 0.0,
        fits=p.memory.fits,
        usable_bytes=p.memory.usable_bytes,
        reads_all=p.runnable.meta["reads_all"],
        hardware=allowing,
        decode=parts.get("decode"),
        prefill=parts.get("prefill"),
        explained=setting is not None and library is not None,
        explanations=found.found,
        skipped=found.skipped,
    )


def overall(verdicts: list[Verdict]) -> Verdict:
    """One verdict of several figures: impossible if one is, else slow if one is, else fast, else normal."""
    return next(v for v in ("impossible", "slow", "fast", "normal") if v in verdicts)


def judged(p, name: str, measured: float, soft: bool = False) -> FigureVerdict:
    """One figure (`decode` or `prefill`) against its prediction; `soft`: the span ends at the ceiling (:func:`soft_bandwidth`)."""
    from .explain.outcome import figure_of

    figure = figure_of(p.tpot_s, 1) if name == "decode" else figure_of(p.ttft_s, p.plan[0] * p.prompt)
    return {
        "verdict": _verdict(p, figure, measured, _usual(p, name, figure, soft)),
        "measured": measured,
        "expected": figure.expected,
        "low": figure.low,
        "high": figure.high,
        "ceiling": figure.ceiling,
        "ratio": measured / figure.expected,
        "at_ceiling": figure.ceiling / MARGIN <= measured <= figure.ceiling * MARGIN,
    }


def _usual(p, name: str, figure, soft: bool) -> float:
    """The speed up to which a figure is normal: the span's end, and where decode is bound by memory, what public runs reach."""
    reached = USUAL * figure.ceiling if name == "decode" and p.decode.regime == "memory" else 0.0
    return figure.ceiling if soft else max(figure.high, reached)


def _verdict(p, figure, measured: float, usual: float) -> Verdict:
    """A model that does not fit is slower than the span where the system reads it from disk, and not possible as stated elsewhere."""
    if p.memory.fits is False:
        paged = p.decoder.meta["class"] in MAIN_MEMORY
        return "impossible" if measured > (usual * MARGIN if paged else figure.low) else "slow"
    if measured > figure.ceiling * MARGIN:
        return "impossible"
    if measured > usual * MARGIN:
        return "fast"
    return "slow" if measured < figure.low / MARGIN else "normal"


def soft_bandwidth(setting, library) -> bool:
    """Whether the machine's bandwidth is a sustained or an owner's figure, which an engine can reach, rather than a nominal one.

    So it is where its source is `measured`, where `--set` gave it, or where main memory's is `assumed` or has no source.
    """
    from .explain.facts import hardware_of

    if any(s.startswith("hw.memory.") and ".bandwidth" in s.partition("=")[0] for s in setting.set):
        return True
    spec = hardware_of(setting, library)
    source = spec.doc.sources.get("bandwidth") or spec.doc.sources.get("memory")
    kind = source.kind if source is not None else "assumed"
    return kind == "measured" or (kind == "assumed" and bool(set(MAIN_MEMORY) & set(spec.lineage)))


def _needs(p, measured: float | None) -> dict:
    """Bandwidth (by file size and by exact bytes) and FLOP/s that a decode figure needs, beside what there is."""
    step, speed = p.decode, (measured or 0.0) / p.tokens_out
    moved = step.bytes_by.weights + step.bytes_by.kv + step.bytes_by.state
    return {
        "bandwidth": p.decoder.meta["rates"]["bw"],
        "needed_by_rule": None if measured is None else measured * p.file_size,
        "needed_exact": None if measured is None else speed * moved,
        "needed_flops": None if measured is None else speed * step.flops,
        "regime": step.regime,
        "peak": step.flops / p.decode_step(p.context)[9] if step.flops else None,
    }


def machines_for(p, measured: float, library) -> list[MachineThatAllows]:
    """Shipped machines whose bandwidth, peak rate and capacity allow the figure, slowest first."""
    from ..compile.machine import pick_rate
    from ..language.problem import SpecError

    step = p.decode
    per_token = (step.bytes_by.weights + step.bytes_by.kv + step.bytes_by.state) / p.tokens_out
    wanted = max(p.runnable.meta["rows"], key=lambda r: r[5])[6]
    found: list[MachineThatAllows] = []
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
