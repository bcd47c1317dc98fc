"""llama-bench rows (json, jsonl, csv by field; md by heading) to fields.

Field names of all versions: https://github.com/ggml-org/llama.cpp/blob/master/tools/llama-bench/llama-bench.cpp
"""

from __future__ import annotations

import re

from .collect import number, whole, words
from .columns import plain
from .values import read_value

DEFAULTS = {"engine": "llama.cpp", "tool": "llama-bench"}
_FORMAT = re.compile(
    r"(?P<model>.*?)\s+(?:mostly |all )?(?P<base>I?Q\d\w*|TQ\d_0|BF16|F16|F32|MXFP4|NVFP4)(?P<rest>\b.*)", re.IGNORECASE | re.DOTALL
)
_TEST = re.compile(r"(?:pp\s*(\d{1,9}))?\s*\+?\s*(?:tg\s*(\d{1,9}))?\s*(?:@\s*d\s*(\d{1,9}))?", re.IGNORECASE)
_FLAGS = {"cuda": "CUDA", "metal": "Metal", "vulkan": "Vulkan", "sycl": "SYCL", "kompute": "Kompute", "opencl": "OpenCL", "blas": "BLAS"}


def is_bench(fields) -> bool:
    """Whether these are the fields of a llama-bench record."""
    return "avg_ts" in fields and ("n_gen" in fields or "n_prompt" in fields)


def model_words(text: str | None) -> dict:
    """`llama 8B Q4_K - Medium`: what the model is, and its weights' format (`Q4_K_M`)."""
    if not text:
        return {}
    text = text[:200]
    found = _FORMAT.fullmatch(text)
    if not found:
        return {"model_key": text}
    base, rest = found["base"].upper(), found["rest"].lower()
    size = re.match(r"\s*-\s*(small|medium|large)", rest)
    if "mix" in rest and base == "IQ3_S":
        base = "IQ3_M"
    return {"model_key": found["model"], "weight_format": base + (f"_{size[1][0].upper()}" if size else "")}


def from_record(data: dict) -> dict:
    """The fields of a record of `-o json`, `jsonl` or `csv`. Raises ValueError for what is no llama-bench record."""
    values = model_words(words(data, "model_type"))
    values |= {
        "model": words(data, "model_filename") or words(data, "model_type"),
        "file_bytes": number(data, "model_size"),
        "params": number(data, "model_n_params"),
        "source_date": words(data, "test_time"),
        "version": _version(data),
        "backend": _backend(data),
        "gpu_layers": whole(data, "n_gpu_layers", -1),
        "ubatch": whole(data, "n_ubatch"),
        "threads": whole(data, "n_threads"),
        "batch": 1,
        "flash_attn": read_value("flag", str(data.get("flash_attn", "")).lower()),
        "kv_dtype": _kv(words(data, "type_k"), words(data, "type_v")),
        "technique": _offload(whole(data, "n_cpu_moe"), words(data, "tensor_buft_overrides")),
    }
    values |= _machine(data, values["backend"], values["gpu_layers"])
    return values | _test(
        whole(data, "n_prompt"), whole(data, "n_gen"), whole(data, "n_depth", 0), number(data, "avg_ts"), number(data, "stddev_ts")
    )


def from_cells(heading: list[str], cells: list[str]) -> dict:
    """The fields of a row of the markdown table. Raises ValueError for a cell that llama-bench would not print."""
    row = {plain(name): cell.strip() for name, cell in zip(heading, cells, strict=False)}
    if "test" not in row or "t_s" not in row:
        raise ValueError(f"{len(cells)} cells under {len(heading)} headings")
    test = _TEST.fullmatch(row["test"])
    if not test or not (test[1] or test[2]):
        raise ValueError(f"test {row['test'][:40]!r}: want pp512, tg128, pp512+tg128, with `@ d4096` for a depth")
    mean, _, spread = re.sub(r"\+/-|\+-", "±", row["t_s"]).partition("±")
    values = model_words(row.get("model")) | {
        "model": row.get("model"),
        "file_bytes": read_value("file", row.get("size", "")),
        "params": read_value("params", row.get("params", "")),
        "backend": row.get("backend"),
        "gpu_layers": read_value("layers", row.get("ngl", "")),
        "ubatch": read_value("count", row.get("n_ubatch", "")),
        "threads": read_value("count", row.get("threads", "")),
        "flash_attn": read_value("flag", row.get("fa", "")),
        "kv_dtype": _kv(row.get("type_k"), row.get("type_v")) if row.keys() & {"type_k", "type_v"} else "f16",
        "technique": _offload(read_value("count0", row.get("n_cpu_moe", "")), row.get("ot")),
        "batch": 1,
    }
    devices = row.get("dev", "")
    if devices and devices != "auto":
        values["devices"] = devices.count("/") + 1
    if row.get("sm") == "none":
        values["devices"] = 1
    speeds = read_value("rate", mean), read_value("spread", spread) if spread.strip() else None
    return values | _test(_count(test[1]), _count(test[2]), _count(test[3]) or 0, *speeds)


def _count(text: str | None) -> int | None:
    return int(text) or None if text else None


def _test(prompt: int | None, output: int | None, depth: int | None, speed: float | None, spread: float | None) -> dict:
    values = {"prompt": prompt, "output": output, "context": depth or 0}
    if prompt and output:
        return values | {"total_tps": speed}
    kind = "prefill" if prompt else "decode"
    return values | {f"{kind}_tps": speed, f"{kind}_sd": spread}


def _version(data: dict) -> str | None:
    commit, build = words(data, "build_commit"), whole(data, "build_number")
    return f"{commit} ({build})" if commit and build else commit


def _backend(data: dict) -> str | None:
    """`backends`, or the flags that older versions wrote."""
    named = words(data, "backends")
    if named:
        return named
    flags = [name for key, name in _FLAGS.items() if str(data.get(key, "")).lower() in ("1", "true")]
    return ",".join(flags) if flags else "CPU" if any(key in data for key in _FLAGS) else None


def _kv(keys: str | None, values: str | None) -> str | None:
    keys, values = keys or "f16", values or "f16"
    return keys if keys == values else f"{keys} K, {values} V"


def _offload(moe: int | None, overrides: str | None) -> str | None:
    if moe:
        return f"experts on CPU: {moe} layers"
    if overrides and overrides != "none" and "CPU" in overrides:
        return f"tensors on CPU: {overrides}"[:400]
    return None


def _machine(data: dict, backend: str | None, layers: int | None) -> dict:
    """The GPU and how many of them, or the CPU where it does the work."""
    gpus, cpu = words(data, "gpu_info"), words(data, "cpu_info")
    if not gpus or layers == 0 or backend in ("CPU", "BLAS"):
        return {"hardware": (cpu or "").split(", ")[0] or None, "devices": 1}
    names = gpus.split(", ") if ", " in gpus else gpus.split("/")
    if len(set(names)) > 1 and ", " not in gpus:
        names = [gpus]  # a name that holds a slash
    mode, used, shares = words(data, "split_mode"), words(data, "devices"), words(data, "tensor_split")
    count = len(names)
    if used and used != "auto":
        count = used.count("/") + 1
    elif shares and any(float_or_0(s) for s in shares.split("/")):
        count = sum(1 for s in shares.split("/") if float_or_0(s))
    if mode == "none":
        count = 1
    name = names[0] if len(set(names)) == 1 or count == 1 else ", ".join(names)
    return {"hardware": name, "devices": count, "parallelism": f"{mode} split" if count > 1 and mode else None}


def float_or_0(text: str) -> float:
    """A number, or 0 for text that is none."""
    try:
        return float(text)
    except ValueError:
        return 0.0
