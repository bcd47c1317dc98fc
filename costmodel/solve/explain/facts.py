"""What is known of a checked case: the numbers that explanations may refer to."""

from __future__ import annotations

from ...language.merge import parse_sets


def hardware_of(setting, library):
    """The machine's document, with its overrides. Raises :class:`SpecError`."""
    return library.load("hardware", setting.hardware, tuple(parse_sets(setting.set).get("hw", ())))


def facts_of(p, setting, library, decode: float | None, prefill: float | None) -> dict[str, float]:
    """Facts by the names of `schema.names.FACTS`: bytes, tokens, counts; 0 for what is unknown or absent."""
    meta, memory, hardware = p.decoder.meta, p.memory, hardware_of(setting, library).doc
    lacking = max(0.0, memory.total_bytes - memory.usable_bytes) if memory.fits is False else 0.0
    size = meta["file_size"]
    dram = hardware.host.dram
    return {
        "layers": meta["layers"],
        "experts": experts_of(p),
        "bits": 8 * size * meta["devices"] / meta["params"] if meta["params"] else 0,
        "weights": size,
        "kv": memory.kv_bytes,
        "lacking": lacking,
        "lack_share": min(1.0, lacking / size) if size else 0,
        "fitting_layers": int((meta["layers"] + 1) * (1 - min(1.0, lacking / size))) if size else 0,
        "capacity": memory.capacity_bytes or 0,
        "host_ram": (dram.capacity or 0) if dram else 0,
        "host_compute": int(bool(hardware.host.compute)),
        "prompt": p.prompt,
        "output": p.output,
        "context": p.context,
        "longest": meta["context"] or 131072,
        "batch": p.plan[0],
        "devices": meta["devices"],
        "streams": int(any(row[9] or row[4] == "host" for row in meta["rows"])),
        "tokens_out": p.tokens_out,
        "decode_ratio": decode / p.tps.expected if decode else 1,
        "prefill_ratio": prefill * p.ttft_s.expected / (p.plan[0] * p.prompt) if prefill else 1,
    }


def experts_of(p) -> int:
    """1 where the model routes tokens to some of its experts."""
    return int(any(row[2].startswith("expert") for row in p.decoder.meta["rows"]))
