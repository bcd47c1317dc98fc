"""The tables of a study as data: every figure, direction and reason computed from predictions."""

from __future__ import annotations

from ..compile.machine import device_tier
from ..language.problem import Mark, Problem, SpecError
from .cases import Setting, attempt, evaluate, setting_of
from .compare import figures, memory_verdict, ratio, reason_of, speed_verdict
from .export import clean
from .settings import grid_settings, main_name, over


def run_study(study, library, progress=None, spec=None) -> dict:
    """Evaluate a study: `{study, view, baseline, rows}`. `progress(done, total)` is called after each case.

    `spec` is the study's loaded document: problems then also name the place in it.
    """
    try:
        rows, baseline = _VIEWS[study.view](study, library, progress or (lambda done, total: None))
    except SpecError as error:
        raise SpecError([_placed(p, spec) for p in error.problems]) from None
    return {"study": study.name, "view": study.view, "baseline": baseline, "rows": clean(rows)}


def _describe(setting: Setting) -> dict:
    return {
        "model": setting.model,
        "hardware": setting.hardware,
        "engine": setting.engine,
        "techniques": list(setting.techniques),
        "workload": setting.workload,
        "set": list(setting.set),
    }


def _placed(item: Problem, spec) -> Problem:
    """The problem with the line of the study that names what it is about."""
    if spec is None:
        return item
    quoted = item.message.split("`")[1::2]
    path = next((p for p in spec.document.marks if p and str(_value(spec.document.data, p)) in quoted), ("base",))
    mark: Mark = spec.document.mark(path)
    return item._replace(mark=mark) if item.mark is None else item._replace(also=(*item.also, (mark, "in this study")))


def _value(data, path):
    for part in path:
        data = data[part]
    return data if isinstance(data, str) else None


def memory_vs_speed(study, library, progress):
    """Each row's memory and speed against the baseline; rows with variants get a verdict only where all agree."""
    base = setting_of(study.base)
    rows = []
    for done, row in enumerate(study.rows, 1):
        against = setting_of(row.against, base)
        cases = row.variants or {main_name(row): row.case}
        variants = [_variant(name, over(case, against), against, study, library) for name, case in cases.items()]
        printed = [_variant(name, over(case, against), against, study, library) | {"votes": False} for name, case in row.printed.items()]
        rows.append(_joined(row, against, variants, printed))
        progress(done, len(study.rows))
    return rows, _describe(base)


def _variant(name: str, setting: Setting, against: Setting, study, library) -> dict:
    new, old = evaluate(setting, library), evaluate(against, library)
    limit = study.thresholds
    same, much = limit.get("unchanged", 0.03), limit.get("much_slower", 0.05)
    speed = ratio(new.tps.expected, old.tps.expected)
    assert speed is not None, "a case takes no time"
    return {
        "name": name,
        "techniques": list(setting.techniques),
        "memory": memory_verdict(new.memory, old.memory, same),
        "speed": speed_verdict(speed, same, much),
        "memory_ratio": ratio(new.memory.total_bytes, old.memory.total_bytes),
        "kv_ratio": ratio(new.memory.kv_bytes, old.memory.kv_bytes),
        "speed_ratio": speed,
        "total_bytes": new.memory.total_bytes,
        "tps": new.tps.expected,
        "fits": new.memory.fits,
        "reason_key": reason_of(new, old, same),
        "figures": figures(new, old),
        "votes": True,
    }


def _joined(row, against: Setting, variants: list, printed: list) -> dict:
    first = variants[0]
    out = {"technique": row.name, "against": _describe(against)}
    for key in ("memory", "speed", "reason_key"):
        values = {v[key] for v in variants}
        out[key] = first[key] if len(values) == 1 else None
    for key, worst in (("memory_ratio", max), ("kv_ratio", max), ("speed_ratio", min)):  # of variants, the least favourable
        known = [v[key] for v in variants if v[key] is not None]
        out[key] = worst(known) if known else None
    for key in ("total_bytes", "tps", "fits", "figures"):
        out[key] = first[key] if len(variants) == 1 else None
    if len(variants) > 1:
        out |= {f"{k}_range": [min(v[k] for v in variants), max(v[k] for v in variants)] for k in ("memory_ratio", "speed_ratio")}
    out["variants"] = variants + printed if len(variants) > 1 or printed else []
    return out


def techniques(study, library, progress):
    """Which phase each technique mainly helps: the larger speed-up, where it leads by the stated margin."""
    base = setting_of(study.base)
    margin = study.thresholds.get("margin", 1.05)
    rows = []
    for done, row in enumerate(study.rows, 1):
        against = setting_of(row.against, base)
        cases = row.variants or {row.name: row.case}
        variants = [_phases(name, over(case, against), against, row.metric, margin, library) for name, case in cases.items()]
        helps = {v["helps"] for v in variants}
        rows.append(
            {
                "technique": row.name,
                "helps": variants[0]["helps"] if len(helps) == 1 else None,
                "against": _describe(against),
                "variants": variants,
            }
            | {k: variants[0][k] for k in ("prefill_ratio", "decode_ratio", "reason_key", "figures")}
        )
        progress(done, len(study.rows))
    return rows, _describe(base)


def _phases(name: str, setting: Setting, against: Setting, metric: str | None, margin: float, library) -> dict:
    new, old = evaluate(setting, library), evaluate(against, library)
    prefill = ratio(old.ttft_s.expected, new.ttft_s.expected)
    if metric == "system_tps":
        decode, label = ratio(new.system_tps, old.system_tps), "decode_throughput"
    else:
        decode, label = ratio(new.tps.expected, old.tps.expected), "decode"
    assert prefill is not None and decode is not None, "a case takes no time"
    helps = "neither"
    if max(prefill, decode) >= margin:
        helps = "both" if max(prefill, decode) < margin * min(prefill, decode) else "prefill" if prefill > decode else label
    return {
        "name": name,
        "helps": helps,
        "prefill_ratio": prefill,
        "decode_ratio": decode,
        "reason_key": reason_of(new, old, 0.03),
        "figures": figures(new, old),
    }


def phases(study, library, progress):
    """Prefill against decode: unit of work, operation, intensity, bound, what it decides and what makes it faster."""
    base = setting_of(study.base)
    p = evaluate(base, library)
    more = {"flops": _doubled(base, p, "compute", library), "bytes": _doubled(base, p, "bandwidth", library)}
    changed = {k: evaluate(s, library) for k, s in more.items()}
    progress(1, 1)
    rows = []
    for phase, tokens in (("prefill", p.plan[1]), ("decode", p.plan[9])):
        record = getattr(p, phase)
        gains = {k: record.floor_s / getattr(c, phase).floor_s for k, c in changed.items()}
        seconds = p.ttft_s.floor if phase == "prefill" else p.tpot_s.floor
        decides = "ttft" if seconds == p.ttft_s.floor and p.ttft_s.floor >= record.floor_s and phase == "prefill" else "tpot"
        rows.append(
            {
                "phase": phase,
                "tokens": tokens,
                "operation": "gemm" if p.plan[0] * tokens > 1 else "gemv",
                "intensity": record.intensity,
                "ridge": record.ridge,
                "level": "high" if record.intensity >= record.ridge else "low",
                "bound": record.regime,
                "decides": decides,
                "faster_with": max(gains, key=lambda k: gains[k]),
                "gain_flops": gains["flops"],
                "gain_bytes": gains["bytes"],
            }
        )
    return rows, _describe(base)


def _doubled(base: Setting, p, what: str, library) -> Setting:
    """The case on a machine with twice the peak rates, or twice the bandwidth."""
    spec = library.load("hardware", base.hardware)
    tier = next(iter(spec.doc.memory))
    sets: tuple[str, ...]
    if what == "bandwidth":
        sets = (f"hw.memory.{tier}.bandwidth={2 * p.runnable.meta['rates']['bw']} B/s",)
    else:
        sets = tuple(f"hw.compute.{k}={2 * v} FLOP/s" for k, v in spec.doc.compute.items())
    return base._replace(set=base.set + sets)


def hardware(study, library, progress):
    """Bandwidth, capacity and peak rates of machines."""
    rows = []
    for name in study.hardware:
        spec = library.load("hardware", name)
        memory = device_tier(spec)[1]
        source = spec.doc.sources.get("bandwidth")
        rows.append(
            {
                "hardware": spec.name,
                "title": {"en": spec.doc.label("en"), "ko": spec.doc.label("ko")},
                "bandwidth": memory.bandwidth,
                "capacity": memory.capacity,
                "compute": dict(spec.doc.compute),
                "source": source.kind if source else None,
            }
        )
        progress(len(rows), len(study.hardware))
    return rows, None


def decode_ceiling(study, library, progress):
    """bandwidth ÷ file size, the engine's share of it, and beside them the exact ceiling and expectation."""
    base = setting_of(study.base)
    rows = []
    for name in study.models:
        p = evaluate(base._replace(model=name), library)
        meta = p.runnable.meta
        share = next(info[8]["weights"] for info in reversed(meta["rows"]))
        rows.append(
            {
                "model": name,
                "title": meta["titles"]["model"],
                "file_size": meta["file_size"],
                "ceiling": p.tps.rule_of_thumb,
                "about": p.tps.rule_of_thumb * share,
                "share": share,
                "exact_ceiling": p.tps.ceiling,
                "expected": p.tps.expected,
                "regime": p.decode.regime,
            }
        )
        progress(len(rows), len(study.models))
    return rows, _describe(base)


def grid(study, library, progress):
    """Every combination of models, hardware, engines, techniques and workloads."""
    base = setting_of(study.base)
    settings = grid_settings(study)
    rows = []
    for setting in settings:
        rows.append(_cell(setting, library))
        progress(len(rows), len(settings))
    return rows, _describe(base)


def _cell(setting: Setting, library) -> dict:
    p, refused = attempt(setting, library)
    row = {"model": setting.model, "hardware": setting.hardware, "engine": setting.engine, "techniques": list(setting.techniques)}
    row |= {k: setting.workload.get(k) for k in ("prompt", "output", "context", "batch", "devices")}
    if p is None:
        return row | {"refused": refused}
    return row | {
        "engine": p.runnable.meta["engine"],
        "prompt": p.prompt,
        "output": p.output,
        "context": p.context,
        "batch": p.plan[0],
        "devices": p.runnable.meta["devices"],
        "total_bytes": p.memory.total_bytes,
        "fits": p.memory.fits,
        "max_context": p.memory.max_context,
        "ttft_s": p.ttft_s.expected,
        "tpot_s": p.tpot_s.expected,
        "tps": p.tps.expected,
        "tps_ceiling": p.tps.ceiling,
        "system_tps": p.system_tps,
        "prefill_regime": p.prefill.regime,
        "decode_regime": p.decode.regime,
        "refused": None,
    }


_VIEWS = {
    "memory-vs-speed": memory_vs_speed,
    "techniques": techniques,
    "phases": phases,
    "hardware": hardware,
    "decode-ceiling": decode_ceiling,
    "grid": grid,
}
