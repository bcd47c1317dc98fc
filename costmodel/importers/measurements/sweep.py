"""Tables of llama-sweep-bench and llama-batched-bench, as markdown or jsonl.

Columns: https://github.com/ikawrakow/ik_llama.cpp/blob/main/examples/sweep-bench/README.md,
https://github.com/ggml-org/llama.cpp/blob/master/tools/batched-bench/README.md
"""

from __future__ import annotations

from .collect import number, split, whole
from .columns import plain
from .values import read_value

_NAMES = {"pp": "pp", "tg": "tg", "b": "pl", "n_kv": "n_kv", "s_pp_t_s": "speed_pp", "s_tg_t_s": "speed_tg"}


def is_sweep(fields) -> bool:
    """Whether these are fields of such a record."""
    return "speed_pp" in fields and "speed_tg" in fields


def named(heading: list[str], cells: list[str]) -> dict:
    """A table's row by the names that the jsonl form has."""
    return {_NAMES[key]: cell.strip() for name, cell in zip(heading, cells, strict=False) if (key := plain(name)) in _NAMES}


def from_record(data: dict) -> list[dict]:
    """The rows of one record: a sweep's window at its depth, or a batch's prefill and decode."""
    batch = whole(data, "pl")
    values = {
        "tool": "llama-batched-bench" if batch else "llama-sweep-bench",
        "prompt": whole(data, "pp"),
        "output": whole(data, "tg"),
        "batch": batch or 1,
        "prefill_tps": number(data, "speed_pp"),
        "decode_tps": number(data, "speed_tg"),
        "flash_attn": read_value("flag", str(data.get("flash_attn", "")).lower()),
        "gpu_layers": whole(data, "n_gpu_layers", -1),
        "ubatch": whole(data, "n_ubatch"),
        "threads": whole(data, "n_threads"),
    }
    return split(values) if batch else [values | {"context": whole(data, "n_kv", 0) or 0}]
