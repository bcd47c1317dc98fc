"""A prediction as plain data (schema `costmodel/prediction@1`): finite numbers only, whole numbers as integers."""

from __future__ import annotations

from .record import Figures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .prediction import Prediction
    from .shapes.case import CaseData


def case_of(p: Prediction) -> CaseData:
    """What a prediction is of: names, techniques with every knob, overrides, and the workload as techniques leave it."""
    meta = p.runnable.meta
    return {
        "model": meta["model"],
        "hardware": meta["hardware"],
        "engine": meta["engine"],
        "techniques": meta["techniques"],
        "sets": meta["sets"],
        "workload": {"prompt": p.prompt, "output": p.output, "context": p.context, "batch": p.plan[0], "devices": meta["devices"]},
    }


def prediction_dict(p) -> dict[str, Any]:
    """Every figure of the contract."""
    return clean(
        {
            "schema": "costmodel/prediction@1",
            **case_of(p),
            "memory": p.memory,
            "prefill": p.prefill,
            "decode": p.decode.to_dict() | {"tokens_out": p.tokens_out},
            "ttft_s": p.ttft_s,
            "tpot_s": p.tpot_s,
            "tps": p.tps,
            "e2e_s": p.e2e_s,
            "itl_mean_s": p.itl_mean_s,
            "user_tps": p.user_tps,
            "system_tps": p.system_tps,
            "not_modelled": p.not_modelled,
            "assumptions": p.assumptions,
        }
    )


def clean(value: Any) -> Any:
    """Records to dicts, whole floats to integers, nothing infinite."""
    if isinstance(value, Figures):
        value = value.to_dict()
    if isinstance(value, dict):
        return {k: clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(v) for v in value]
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return None
        return int(value) if value.is_integer() and abs(value) < 2**63 else value
    return value
