"""The names of unknowns: short ones, knobs of techniques, coefficients of engines, and paths as `--set` takes them."""

from __future__ import annotations

from ...language.problem import Mark, Source, problem, suggest
from . import paths
from .question import Question
from .targets import Target
from .unknown import FAR, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..shapes.inverse import FoundUnit
    from ..shapes.unfold import Titles

RATES: dict[str, tuple[str, Titles]] = {
    "bandwidth": ("bw", {"en": "memory bandwidth", "ko": "메모리 대역폭"}),
    "host-bandwidth": ("hram", {"en": "host memory bandwidth", "ko": "호스트 메모리 대역폭"}),
    "link": ("peer", {"en": "peer link bandwidth", "ko": "장치 간 링크 대역폭"}),
    "host-link": ("host", {"en": "host link bandwidth", "ko": "호스트 링크 대역폭"}),
    "disk-bandwidth": ("disk", {"en": "disk bandwidth", "ko": "디스크 대역폭"}),
    "link-latency": ("peer_latency", {"en": "peer link latency", "ko": "장치 간 링크 지연"}),
    "host-latency": ("host_latency", {"en": "host link latency", "ko": "호스트 링크 지연"}),
}
COUNTS: dict[str, tuple[float, bool, Titles]] = {
    "batch": (2**20, False, {"en": "batch", "ko": "배치"}),
    "context": (2**30, False, {"en": "context", "ko": "컨텍스트"}),
    "prompt": (2**20, False, {"en": "prompt", "ko": "프롬프트"}),
    "output": (2**20, False, {"en": "output", "ko": "출력"}),
}
"""Most that is looked for, whether the smallest is wanted, title."""
TYPES = ("fp4", "fp6", "fp8", "int8", "fp16", "bf16", "tf32", "fp32")
SPECIAL = ("capacity", "flops", "host-flops", "bits", "kv-bits", "gpu-layers", "devices", "format")


def names() -> list[str]:
    """Every short name."""
    return [*RATES, *SPECIAL, *COUNTS, "acceptance", "drafted"]


def resolve(question: Question, name: str, target: Target) -> Unknown:
    """The unknown that a name means in a case. Raises :class:`SpecError` for none, and for one that the case does not have."""
    name = name.strip()
    if name in RATES:
        return _rate(question, name, target)
    if name in COUNTS:
        return _count(question, name)
    if name in ("flops", "host-flops") or name in TYPES:
        return _peak(question, name, target)
    if name in ("bits", "kv-bits"):
        return _bits(question, name)
    if name == "capacity":
        return _capacity(question, target)
    if name in ("gpu-layers", "devices", "format"):
        return getattr(paths, name.replace("-", "_"))(question)
    if "." in name:
        return _by_path(question, name, target)
    return _loose(question, name, target)


def _lacks(question: Question, name: str, why: str):
    return problem(f"this case has no `{name}`: {why}", Mark(Source("UNKNOWN", name[:60]), 1, 1))


def rate_of(question: Question, name: str, input_: str, title: Titles, unit: FoundUnit, least: bool = True) -> Unknown:
    """A rate of the machine, by its name in the formulas."""
    now = question.point[input_]
    return Unknown(
        name, title, unit, now, now / FAR, now * FAR, least, input=input_, changes=paths.setter(question, input_, unit), linear=False
    )


def _rate(question: Question, name: str, target: Target) -> Unknown:
    input_, title = RATES[name]
    found = [n for n in (f"decode_{input_}", input_) if n in question.point]
    if not found:
        raise _lacks(question, name, "nothing moves over it")
    used = next((n for n in found if n in depends(question, target, tuple(found))), found[0])
    latency = input_.endswith("latency")
    return rate_of(question, name, used, title, "s" if latency else "B/s", not latency)


def depends(question: Question, target: Target, inputs: tuple[str, ...]) -> frozenset[str]:
    """Those of some inputs that a target's figure depends on; all where it has no formula."""
    try:
        formulas = question.formulas(inputs)
        return formulas.graph.node(target.of(formulas.prediction)).deps
    except NotImplementedError:
        return frozenset(inputs)


def _peak(question: Question, name: str, target: Target) -> Unknown:
    there = [n for n in question.point if "pk_" in n]
    host = name == "host-flops"
    if name in TYPES:
        found = [n for n in there if n.endswith(f"pk_{name}") and "hpk" not in n]
        if not found:
            used = ", ".join(n.rpartition("pk_")[2] for n in there)
            raise _lacks(question, name, f"nothing is computed in it (in use: {used or 'nothing'})")
    else:
        found = busiest(question, target, [n for n in there if ("hpk_" in n) == host])
        if not found:
            raise _lacks(question, name, "nothing is computed there")
    kind = found[0].rpartition("pk_")[2]
    host_, ko = ("host ", "호스트 ") if "hpk_" in found[0] else ("", "")
    return rate_of(question, name, found[0], {"en": f"{host_}{kind} rate", "ko": f"{ko}{kind} 연산 속도"}, "FLOP/s")


def busiest(question: Question, target: Target, peaks: list[str]) -> list[str]:
    """Peak rates by the seconds that a phase computes at them, longest first."""
    from ...compile.graph.evaluate import gradient

    phase = "prefill" if target.name.startswith(("ttft", "prefill")) else "decode"
    formulas = question.formulas(None)
    try:
        node = formulas.figure(f"{phase}.compute_s")
    except NotImplementedError:  # chunks of a prompt
        node = formulas.figure("decode.compute_s")
    slopes = gradient(node, question.point)
    return sorted((n for n in peaks if slopes.get(n)), key=lambda n: slopes[n] * question.point[n])


def _bits(question: Question, name: str) -> Unknown:
    meta = question.compiled[0].meta
    title: Titles
    if name == "bits":
        now = 8 * meta["file_size"] * meta["devices"] / meta["params"]
        title, input_ = {"en": "bits per weight", "ko": "가중치당 비트"}, "w_scale"
        note = "the mean over all weights; scales and the engine's share of the bandwidth are kept"
    else:
        now = 8 * float(meta["kv_width"])
        title, input_, note = {"en": "bits per KV element", "ko": "KV 원소당 비트"}, "kv_scale", ""
        if not now:
            raise _lacks(question, name, "it keeps no KV cache")
    return Unknown(name, title, "bit", now, now / 1000, now * 1000, False, input=input_, scale=1 / now, kind="scale", note=note)


def _count(question: Question, name: str) -> Unknown:
    most, least, title = COUNTS[name]
    low = 0 if name == "context" else 1
    now = question.workload[name] if question.workload[name] is not None else question.workload["prompt"]
    unit: FoundUnit = "sequences" if name == "batch" else "tokens"
    follows = name == "context" and question.follows
    note = f"the prompt stays at {question.workload['prompt']:,} tokens; `prompt` moves both" if follows else ""
    return Unknown(name, title, unit, now, low, most, least, True, name, changes=lambda x: {name: int(x)}, kind="count", note=note)


def _capacity(question: Question, target: Target) -> Unknown:
    """The device's memory; only whether the case fits depends on it."""
    from ...compile.build import allowed
    from ...compile.machine import device_tier
    from ..either import least
    from ..memory import spare_by_tier
    from ..traced import FIGURES

    decoder = question.base.decoder.meta["hardware"]
    hardware = question.library.load("hardware", decoder) if decoder != question.document("hw").name else question.document("hw")
    tier, memory = device_tier(hardware)
    needed = FIGURES["memory.total_bytes"](question.base)
    if target.name != "memory left":
        raise problem(f"`{target.name}` does not depend on capacity", None, "ask `--for fits`: the capacity that the case needs")
    lower = {tier: spare for tier, spare in spare_by_tier(question.base).items() if tier != "device"}
    lacking = [
        f"the memory of the {tier} lacks {-spare / 1e9:,.4g} GB, whatever the device holds" for tier, spare in lower.items() if spare < 0
    ]
    now = memory.capacity
    return Unknown(
        "capacity",
        {"en": "memory capacity", "ko": "메모리 용량"},
        "B",
        now,
        1e6,
        1e18,
        True,
        changes=lambda x: {"sets": (f"hw.memory.{tier}.capacity={x!r} B",)},
        kind="capacity",
        note="; ".join(lacking),
        also={"of": lambda capacity: least(allowed(capacity, hardware, memory) - needed, *lower.values())},
    )


def _by_path(question: Question, name: str, target: Target) -> Unknown:
    known = paths.inputs(question)
    if name in known:
        input_ = known[name]
        unit: FoundUnit = "s" if input_.endswith("latency") else "FLOP/s" if "pk_" in input_ else "B/s"
        return rate_of(question, name, input_, {"en": name, "ko": name}, unit, unit != "s")
    if name.startswith("hw.memory.") and name.endswith(".capacity"):
        return _capacity(question, target)
    head, _, rest = name.partition(".")
    if head not in ("hw", "model", "engine", "tech"):
        return _knob(question, head, rest)
    if head == "tech" and rest.count(".") == 1:
        return _knob(question, *rest.split("."))
    coefficient = next((i for i, (_, path, _) in question.compiled[1].items() if f"engine.{'.'.join(map(str, path))}" == name), None)
    if coefficient:
        return _coefficient(question, name, coefficient)
    return paths.by_path(question, name)


def _knob(question: Question, technique: str, knob: str) -> Unknown:
    input_ = f"knob_{technique}_{knob}".replace("-", "_")
    if input_ in question.point:
        return paths.open_knob(question, technique, knob, input_)
    return paths.knob(question, technique, knob)


def _loose(question: Question, name: str, target: Target) -> Unknown:
    """A knob of a technique in use, or a coefficient of the engine, by its own name."""
    for use in question.base.runnable.meta["techniques"]:
        technique, _, given = use.partition(":")
        if name in [part.partition("=")[0] for part in given.split(",")]:
            return _knob(question, technique, name)
    found = tuple(i for i, (_, path, _) in question.compiled[1].items() if path[-1] == name)
    if found:
        used = depends(question, target, found) if len(found) > 1 else found
        return _coefficient(question, name, next((i for i in found if i in used), found[0]))
    if name in ("acceptance", "drafted"):
        raise _lacks(question, name, "no technique in use drafts tokens; add `--technique speculative-decoding` or `mtp`")
    coefficients = [path[-1] for _, path, _ in question.compiled[1].values()]
    raise problem(
        f"no unknown `{name[:60]}`", Mark(Source("UNKNOWN", name[:60]), 1, 1), suggest(name[:60], [*names(), *TYPES, *coefficients])
    )


def _coefficient(question: Question, name: str, input_: str) -> Unknown:
    _, path, found = question.compiled[1][input_]
    now = question.point[input_]
    title = f"{path[-1]} of the engine"
    return Unknown(
        name,
        {"en": title, "ko": f"엔진 계수 {path[-1]}"},
        "",
        now,
        0.0 if found.low <= 0 else now / 1000,
        now * 1000 or 1.0,
        True,
        input=input_,
        kind="coefficient",
        changes=lambda x: {"sets": (f"engine.{'.'.join(map(str, path))}.value={x!r}",)},
        note=f"its document allows {found.low:g} to {found.high:g}",
        also={"range": (found.low, found.high)},
    )
