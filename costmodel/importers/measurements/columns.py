"""The columns of a table of measurements: name, field, kind, unit, other names, meaning."""

from __future__ import annotations

import re
from typing import NamedTuple


class Column(NamedTuple):
    """`kind` is how a cell is read (see :mod:`.values`), `unit` what a bare number means, `also` further names."""

    name: str
    field: str
    kind: str
    unit: str
    also: tuple[str, ...]
    meaning: str


def _column(name: str, field: str, kind: str, unit: str, also: str, meaning: str) -> Column:
    return Column(name, field, kind, unit, tuple(also.split()), meaning)


COLUMNS = (
    _column("id", "id", "text", "", "", "name of the row in reports"),
    _column("source_url", "source_url", "text", "", "url", "where the figure was published"),
    _column("source_date", "source_date", "text", "", "date", "when"),
    _column("source_group", "source_group", "text", "", "group", "rows of one author or survey share a group"),
    _column("quality", "quality", "text", "", "", "A tool output or survey, B careful single report, C self-reported"),
    _column("tool", "tool", "text", "", "benchmark", "program that measured"),
    _column("tool_version_or_build", "version", "text", "", "version build", "its version"),
    _column("backend", "backend", "text", "", "", "CUDA, ROCm, Metal, Vulkan, CPU …"),
    _column("engine", "engine", "text", "", "", "engine document to compare with"),
    _column("hardware_name", "hardware", "text", "", "hardware hw gpu device machine", "machine: a name of the library, or free text"),
    _column("hw_class", "hw_class", "text", "", "class hardware_class", "class of the machine"),
    _column("hw_family", "hw_family", "text", "", "family", "machines that are alike share a family"),
    _column("hw_mem_bw_GBps_spec", "bandwidth", "bandwidth", "GB/s", "bandwidth mem_bw memory_bandwidth", "memory bandwidth, by datasheet"),
    _column("hw_fp16_TFLOPS_spec", "fp16", "flops", "TFLOP/s", "fp16 tflops", "dense fp16 peak with fp32 accumulation, by datasheet"),
    _column("hw_vram_GB", "capacity", "memory", "GiB", "vram vram_gb capacity", "device memory"),
    _column("n_devices", "devices", "count", "devices", "devices n_gpus gpus tp", "devices in use"),
    _column("parallelism", "parallelism", "text", "", "", "TP4, PP2, layer split …"),
    _column("model_name", "model", "text", "", "model", "model: a name of the library, a path, or free text"),
    _column("params_B", "params", "params", "10^9", "params parameters", "parameters stored"),
    _column("active_params_B", "active_params", "params", "10^9", "active_params active", "parameters that a token uses"),
    _column("is_moe", "moe", "flag", "0 or 1", "moe", "mixture of experts"),
    _column("weight_format", "weight_format", "text", "", "format quant quantization dtype", "number format of the weights"),
    _column("model_file_GiB", "file_bytes", "file", "GiB", "file_size size", "size of the weights' file"),
    _column("n_layers", "layers", "count", "layers", "layers", "layers"),
    _column("hidden", "width", "count", "", "width hidden_size d_model", "width of the residual stream"),
    _column("kv_bytes_per_token_fp16", "kv_bytes_per_token", "bytes", "B", "kv_bytes_per_token", "KV cache of a token at 16 bits"),
    _column("embed_params_B_not_read", "embedding_params", "params", "10^9", "embedding_params embed_params", "embedding, where not read"),
    _column("kv_dtype", "kv_dtype", "text", "", "kv_cache_dtype cache_type", "number format of the KV cache"),
    _column("flash_attn", "flash_attn", "flag", "0 or 1", "fa flash_attention", "fused attention"),
    _column("n_gpu_layers", "gpu_layers", "layers", "layers", "ngl gpu_layers", "layers on the GPU; -1 or more than there are: all"),
    _column("n_ubatch", "ubatch", "count", "tokens", "ubatch chunk", "most tokens of a prefill step"),
    _column("n_threads", "threads", "count", "threads", "threads", "CPU threads"),
    _column("prompt_tokens", "prompt", "count", "tokens", "prompt input_tokens input_len n_prompt isl", "tokens of a prompt"),
    _column("context_depth", "context", "count0", "tokens", "context depth n_depth", "tokens in the cache before the measured part"),
    _column("gen_tokens", "output", "count", "tokens", "output output_tokens output_len n_gen osl", "tokens generated"),
    _column("batch", "batch", "count", "sequences", "batch_size concurrency users", "sequences at once; blank: not stated"),
    _column("prefill_tok_s", "prefill_tps", "rate", "tokens/s", "prefill pp prefill_tps", "prompt tokens per second, over all sequences"),
    _column("prefill_sd", "prefill_sd", "spread", "tokens/s", "", "its standard deviation"),
    _column(
        "decode_tok_s",
        "decode_tps",
        "rate",
        "tokens/s",
        "tok_s tps decode tg decode_tps",
        "tokens generated per second, over all sequences",
    ),
    _column("decode_sd", "decode_sd", "spread", "tokens/s", "", "its standard deviation"),
    _column("whole_run", "whole_run", "flag", "0 or 1", "", "`decode_tok_s` counts the time of prefill too"),
    _column("total_tok_s", "total_tps", "rate", "tokens/s", "total_tps", "prompt and output tokens over the whole time"),
    _column("ttft_ms", "ttft_s", "time", "ms", "ttft", "time to first token"),
    _column("tpot_ms", "tpot_s", "time", "ms", "tpot itl itl_ms", "time per output token of one sequence"),
    _column("latency_ms", "latency_s", "time", "ms", "latency e2e e2e_ms", "request to last token"),
    _column("technique", "technique", "text", "", "techniques", "techniques in use"),
    _column("notes", "notes", "text", "", "note comment", "anything else"),
    _column("model_key", "model_key", "text", "", "", "rows of one model share a key"),
)

_PLAIN = re.compile(r"[^a-z0-9]+")


def plain(name: str) -> str:
    """A heading without case, spaces and punctuation: `Prompt tokens` and `prompt_tokens` are one name."""
    return _PLAIN.sub("_", name.strip().lower()).strip("_")


BY_NAME = {plain(name): column for column in COLUMNS for name in (column.name, *column.also, column.field)}
"""Every accepted heading to its column."""
