"""Predictions a second of compiled cases, beside a bare loop."""

from __future__ import annotations

from itertools import count

from yardstick import bare_loop, seconds

import costmodel


def measure() -> dict[str, dict]:
    """Calls of the scalar API, each at another context."""
    model, hardware = costmodel.load_model("8b"), costmodel.load_hardware("ddr5")
    contexts, loop = count(1000), bare_loop()

    def both():
        p = costmodel.predict(model, hardware, context=next(contexts))
        return p.tps.expected + p.ttft_s.expected

    calls = {
        "predict(...).tps.expected (target 20,000/s)": lambda: costmodel.predict(model, hardware, context=next(contexts)).tps.expected,
        "predict, tps and ttft": both,
        "predict by name": lambda: costmodel.predict("8b", "ddr5", context=next(contexts)).tps.expected,
        "predict, everything (to_dict)": lambda: costmodel.predict(model, hardware, context=next(contexts)).to_dict(),
    }
    found = {}
    for name, call in calls.items():
        took = seconds(call)
        found[name] = {"a second": round(1 / took), "x bare loop": round(took / loop, 1)}
    return found
