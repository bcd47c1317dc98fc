"""What a technique changes in a few standard cases: figures of the solver, with and without it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from marks import code, plain, table

import costmodel
from costmodel.language.problem import SpecError
from costmodel.sizes import scaled, seconds, short

HEAD = ["", "weights", "KV cache", "memory", "TTFT", "TPOT", "tokens/s", "tokens/s, all users"]


@cache
def cases() -> dict:
    """`cases.yaml`: the workload, the standard cases, and those of techniques that need others."""
    import yaml

    return yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text("utf-8"))


def cases_of(name: str) -> list[dict]:
    """The cases that show a technique."""
    given = cases()
    return given["techniques"].get(name, given["cases"])


@cache
def predicted(model: str, hardware: str, techniques: tuple[str, ...]):
    """A prediction of the standard workload."""
    return costmodel.predict(model, hardware, techniques=techniques, **cases()["workload"])


def figures(p) -> list[float]:
    """Bytes of weights, KV cache and all memory, seconds of TTFT and TPOT, tokens per second per user and of all."""
    m = p.memory
    return [m.weights_bytes, m.kv_bytes, m.total_bytes, p.ttft_s.expected, p.tpot_s.expected, p.tps.expected, p.system_tps]


def effect(name: str) -> str:
    """The section's text: a table of every case that takes the technique, and why the others refuse it."""
    shown, refused = [], []
    for case in cases_of(name):
        base = tuple(case.get("techniques", ()))
        try:
            with_it = predicted(case["model"], case["hardware"], (*base, name))
        except SpecError as error:
            refused.append(f"Refused for {plain(case['title'])}: {plain(error.problems[0].message)}.")
            continue
        shown.append(of_case(case, predicted(case["model"], case["hardware"], base), with_it))
    if not shown:
        raise RuntimeError(f"technique `{name}`: every case of cases.yaml refuses it; give it one that does not")
    return "\n".join([workload_words(), *shown, *(f"\n{r}\n" for r in refused)])


def workload_words() -> str:
    """What all tables of effects are of."""
    w = cases()["workload"]
    return (
        f"Expected figures at the technique's defaults: prompt and context {w['prompt']:,} tokens, output {w['output']:,}, "
        f"batch {w['batch']}. Memory is that of the device.\n"
    )


def of_case(case: dict, without, with_it) -> str:
    """One case's table: without, with, and the ratio."""
    a, b = figures(without), figures(with_it)
    command = f"costmodel predict {case['model']} --hw {case['hardware']} --prompt {cases()['workload']['prompt']}"
    rows = [["without", *words(a)], ["with", *words(b)], ["ratio", *(ratio(x, y) for x, y in zip(a, b, strict=True))]]
    given = "".join(f" --technique {t}" for t in case.get("techniques", ()))
    room = {(True, False): "With it, the case does not fit.", (False, True): "Without it, the case does not fit."}
    fits = without.memory.fits is not False, with_it.memory.fits is not False
    note = f"\n{room.get(fits, 'The case does not fit.')}\n" if not all(fits) else ""
    return f"**{plain(case['title'])}** ({code(command + given)})\n\n{table(HEAD, rows, tuple(range(1, 8)))}{note}"


def words(values: list[float]) -> list[str]:
    """The figures of a line, with units."""
    times = [seconds(v) for v in values[3:5]]
    return [scaled(values[0], "B"), scaled(values[1], "B"), scaled(values[2], "B"), *times, *map(short, values[5:])]


def ratio(before: float, after: float) -> str:
    """How many times as much; `=` where nothing changes."""
    if before == after:
        return "="
    return f"{short(after / before)}x" if before else "new"
