"""The best way to fit: where layers, experts and the KV cache go, and single changes that would spare the moving.

A search over predictions. `predict` is a function of techniques, sets, devices and workload that returns a prediction or,
where the combination is refused, raises :class:`SpecError`. Memory on the device grows with the layers on it, so the
numbers of layers are found by halving.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..language.problem import SpecError
from .flags import flags_of
from .record import Record

PLACES = ("gpu-layers", "experts-on-host", "kv-on-host", "spill", "offload", "tensor-parallel", "pipeline-parallel", "expert-parallel")


class Case:
    """What is asked: a function that predicts, techniques, overrides, devices and workload."""

    def __init__(self, predict: Callable[..., Any], techniques=(), sets=(), devices: int = 1, **workload):
        self.predict, self.techniques, self.sets = predict, tuple(techniques), tuple(sets)
        self.devices, self.workload = devices, workload

    def try_(self, techniques=(), sets=(), devices: int | None = None, **workload):
        """The prediction with more techniques, overrides or another workload; None where that is refused."""
        paths = tuple(str(s).partition("=")[0] + "=" for s in sets)
        kept = tuple(s for s in self.sets if not str(s).startswith(paths)) if paths else self.sets
        asked = {"devices": self.devices if devices is None else devices, **self.workload, **workload}
        try:
            p = self.predict(techniques=(*self.techniques, *techniques), sets=(*kept, *sets), **asked)
            return p if p.memory else None
        except SpecError:
            return None


def best_fit(case: Case, formats: tuple[str, ...] = ()) -> Record:
    """What fits and is fastest (`prediction`, its `techniques`, `flags`), and single changes with which the device alone would do.

    `fits` is false where only the disk would do, or nothing does; `lacking_bytes` is then what device and host lack
    together. `formats` are the number formats to propose.
    """
    plain = case.predict(techniques=case.techniques, sets=case.sets, devices=case.devices, **case.workload)
    if plain.memory.fits is not False:
        return _result(plain, (), True, 0.0, [])
    found = list(_candidates(case, plain))
    lacking = min([_lacking(plain), *(_lacking(p) for p in _all_on_host(case))])
    changes = list(_changes(case, plain, formats))
    if found:
        p, techniques = max(found, key=lambda item: item[0].tps.expected)
        return _result(p, techniques, True, 0.0, changes)
    spilled = _spilled(case, plain)
    if spilled is not None:
        return _result(spilled[0], spilled[1], False, lacking, changes)
    return _result(plain, (), False, lacking, changes)


def _result(p, techniques, fits: bool, lacking: float, changes) -> Record:
    flags = flags_of(p) if fits else {}
    return Record(prediction=p, techniques=list(techniques), fits=fits, lacking_bytes=lacking, flags=flags, changes=changes)


def _fits(p) -> bool:
    return p is not None and p.memory.fits is not False


def _lacking(p) -> float:
    """Bytes that the device and the tiers in use lack."""
    m = p.memory
    lower = (sum(v for k, v in t.items() if k.endswith("_bytes") and k != "capacity_bytes") - t["capacity_bytes"] for t in _known(m.tiers))
    return max(0.0, m.total_bytes - m.usable_bytes) + sum(max(0.0, lack) for lack in lower)


def _known(tiers: dict) -> list[dict]:
    return [t for t in tiers.values() if t["capacity_bytes"] is not None]


def _used(case: Case) -> set[str]:
    return {str(t).partition(":")[0] for t in case.techniques}


def _candidates(case: Case, plain) -> Iterator[tuple]:
    """(prediction, techniques) of every placement that fits, each with as much on the device as it can hold."""
    used = _used(case)
    spread: tuple[str, ...] = ()
    if case.devices > 1 and not used & set(PLACES):
        stages = (f"pipeline-parallel:stages={case.devices}",)
        p = case.try_(stages)
        if _fits(p):
            yield p, stages
        spread = stages
    layers = int(plain.runnable.meta["layers"])
    for more in ((), ("kv-on-host",)):
        if more and used & {"kv-on-host", "spill", "offload"}:
            continue
        if more:
            p = case.try_((*spread, *more))
            if _fits(p):
                yield p, (*spread, *more)
        if "experts-on-host" not in used:
            yield from _least(case, lambda n, more=more: (*spread, *more, f"experts-on-host:layers={n}"), 1, layers)
        if "gpu-layers" not in used:
            yield from _most(case, lambda n, more=more: (*spread, *more, f"gpu-layers:layers={n}"), layers)
    if not used & {"experts-on-host", "gpu-layers"}:
        yield from _most(case, lambda n: (*spread, "experts-on-host", f"gpu-layers:layers={n}"), layers)


def _least(case: Case, techniques, low: int, high: int) -> Iterator[tuple]:
    """The smallest number that fits, where more never takes more of the device."""
    p = case.try_(techniques(high))
    if not _fits(p):
        return
    while low < high:
        middle = (low + high) // 2
        q = case.try_(techniques(middle))
        low, high, p = (low, middle, q) if _fits(q) else (middle + 1, high, p)
    yield p, techniques(high)


def _most(case: Case, techniques, high: int, on_host: bool = True) -> Iterator[tuple]:
    """The largest number up to `high` that fits the device; it leaves least to the host, which must hold it if `on_host`."""
    low, best = -1, None
    while low < high:
        middle = (low + high + 1) // 2
        p = case.try_(techniques(middle))
        if p is not None and p.memory.total_bytes <= p.memory.usable_bytes:
            low, best = middle, p
        else:
            high = middle - 1
    if best is not None and (_fits(best) or not on_host):
        yield best, techniques(low)


def _all_on_host(case: Case) -> Iterator:
    """The placements that take least of the device."""
    for techniques in (("gpu-layers:layers=0",), ("experts-on-host",)):
        p = case.try_(techniques)
        if p is not None:
            yield p


def _spilled(case: Case, plain) -> tuple | None:
    """(prediction, techniques) with what device and host cannot hold read from disk in each pass."""
    if _used(case) & set(PLACES):
        return None
    found = [*_mapped(case, plain)]
    m = plain.memory
    if not found and m.weights_bytes:
        techniques = (f"spill:share={_share(m.total_bytes - m.usable_bytes, m.weights_bytes)},tier=disk",)
        found = [(case.try_(techniques), techniques)]
    return max((item for item in found if _fits(item[0])), key=lambda item: item[0].tps.expected, default=None)


def _share(lack: float, size: float) -> str:
    """A share of the weights that surely covers what is lacking."""
    return f"{min(1.0, lack / size + 1e-6):.6f}"


def _mapped(case: Case, plain) -> Iterator[tuple]:
    """Placements with as much on the device as it holds, whose part on the host is a mapped file larger than RAM."""
    layers = int(plain.runnable.meta["layers"])
    for more in ((), ("experts-on-host",)):
        for p, techniques in _most(case, lambda n, more=more: (*more, f"gpu-layers:layers={n}"), layers + 1, on_host=False):
            host = p.memory.tiers.get("host")
            if host and host["capacity_bytes"] and host["weights_bytes"]:
                lack = sum(v for k, v in host.items() if k.endswith("_bytes") and k != "capacity_bytes") - host["capacity_bytes"]
                wanted = (*techniques, f"mmap:share={_share(lack, host['weights_bytes'])}")
                yield case.try_(wanted), wanted


def _changes(case: Case, plain, formats) -> Iterator[dict]:
    """Single changes with which the device alone holds the model, each predicted anew."""
    sizes = [(case.try_(sets=(f"model.weights.format={name}",)), name) for name in formats]
    smaller = [(p.memory.weights_bytes, name, p) for p, name in sizes if _fits(p) and p.memory.weights_bytes < plain.memory.weights_bytes]
    for _, name, p in sorted(smaller, key=lambda item: -item[0])[:2]:
        yield _change("format", name, f"--set model.weights.format={name}", p)
    tokens = plain.memory.max_context
    if tokens and tokens > plain.output:
        context = tokens - plain.output
        prompt = min(plain.prompt, context)
        p = case.try_(context=context, prompt=prompt)
        if _fits(p):
            yield _change("context", context, f"--context {context}", p)
    if "kv-int8" not in _used(case):
        p = case.try_(("kv-int8:format=kv_q8_0",))
        if _fits(p) and p.memory.kv_bytes < plain.memory.kv_bytes:
            yield _change("kv", "kv_q8_0", "--technique kv-int8:format=kv_q8_0", p)
    if plain.batch > 1 and plain.memory.max_batch:
        p = case.try_(batch=plain.memory.max_batch)
        if _fits(p):
            yield _change("batch", plain.memory.max_batch, f"--batch {plain.memory.max_batch}", p)


def _change(what: str, value, option: str, p) -> dict:
    return {"change": what, "value": value, "option": option, "total_bytes": p.memory.total_bytes, "tps": p.tps.expected}
