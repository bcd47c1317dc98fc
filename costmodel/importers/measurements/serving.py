"""Results of serving benchmarks in JSON: vLLM's three, SGLang's two, Ollama's API.

Fields: https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks (latency.py, throughput.py, serve.py),
https://github.com/sgl-project/sglang/tree/main/python/sglang (bench_serving.py, bench_one_batch.py),
https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

from .collect import number, split, whole, words


def serve(data: dict, fill: dict) -> list[dict]:
    """`vllm bench serve --save-result`, and `sglang.bench_serving`: means over requests at a concurrency."""
    done = whole(data, "completed")
    if "completed" in data and not done:
        raise ValueError("`completed` is 0: every request failed")
    backend = (words(data, "backend") or words(data, "endpoint_type") or "").lower()
    server = data["server_info"] if isinstance(data.get("server_info"), dict) else {}
    sglang = "sglang" in backend or bool(server)
    prompt, output = (_mean(data, key, done) for key in ("total_input_tokens", "total_output_tokens"))
    speculative = any(number(data, key) for key in ("spec_decode_acceptance_rate", "spec_decode_acceptance_length", "accept_length"))
    values = {
        "tool": "sglang bench_serving" if sglang else "vllm bench serve",
        "engine": "sglang" if sglang else "vllm",
        "model": words(data, "model_id") or words(server, "model_path"),
        "devices": whole(data, "tensor_parallel_size") or whole(server, "tp_size"),
        "source_date": words(data, "date"),
        "prompt": prompt,
        "context": prompt,
        "output": output,
        "batch": whole(data, "max_concurrency"),
        "decode_tps": number(data, "output_throughput"),
        "whole_run": True,
        "total_tps": number(data, "total_token_throughput") or number(data, "total_throughput"),
        "ttft_s": number(data, "mean_ttft_ms", 1e-3),
        "tpot_s": number(data, "mean_tpot_ms", 1e-3),
        "latency_s": number(data, "mean_e2el_ms", 1e-3) or number(data, "mean_e2e_latency_ms", 1e-3),
        "technique": "speculative" if speculative else None,
        "notes": _rate(data),
    }
    return [values]


def _mean(data: dict, key: str, requests: int | None) -> int | None:
    total = whole(data, key)
    return round(total / requests) or None if total and requests else None


def _rate(data: dict) -> str | None:
    rate = data.get("request_rate")
    return f"request rate {str(rate)[:20]}" if isinstance(rate, (int, float, str)) and not isinstance(rate, bool) else None


def latency(data: dict, fill: dict) -> list[dict]:
    """`vllm bench latency --output-json`: seconds of one batch. It names neither the batch nor the lengths."""
    return [
        {
            "tool": "vllm bench latency",
            "engine": "vllm",
            "latency_s": number(data, "avg_latency"),
            "context": fill.get("prompt"),
        }
    ]


def throughput(data: dict, fill: dict) -> list[dict]:
    """`vllm bench throughput --output-json`: all requests at once. The lengths are not in it; given one, the other follows."""
    requests, total = whole(data, "num_requests"), whole(data, "total_num_tokens")
    each = round(total / requests) if requests and total else None
    prompt, output = fill.get("prompt"), fill.get("output")
    if each and prompt and not output and each > prompt:
        output = each - prompt
    elif each and output and not prompt and each > output:
        prompt = each - output
    speed = number(data, "requests_per_second")
    return [
        {
            "tool": "vllm bench throughput",
            "engine": "vllm",
            "prompt": prompt,
            "context": prompt,
            "output": output,
            "decode_tps": speed * output if speed and output else None,
            "whole_run": True,
            "total_tps": number(data, "tokens_per_second"),
        }
    ]


def one_batch(data: dict, fill: dict) -> list[dict]:
    """`sglang.bench_one_batch`: prefill and decode of one batch."""
    values = {
        "tool": "sglang bench_one_batch",
        "engine": "sglang",
        "batch": whole(data, "batch_size"),
        "prompt": whole(data, "input_len"),
        "output": whole(data, "output_len"),
        "prefill_tps": number(data, "prefill_throughput"),
        "decode_tps": number(data, "median_decode_throughput"),
    }
    return split(values)


def ollama(data: dict, fill: dict) -> list[dict]:
    """The last answer of Ollama's API: counts, and durations in nanoseconds."""
    values: dict = {"tool": "ollama", "engine": "llama.cpp", "model": words(data, "model"), "batch": 1}
    for count, time, field, name in (
        ("prompt_eval_count", "prompt_eval_duration", "prefill_tps", "prompt"),
        ("eval_count", "eval_duration", "decode_tps", "output"),
    ):
        tokens, spent = whole(data, count), number(data, time, 1e-9)
        values |= {name: tokens, field: tokens / spent if tokens and spent else None}
    return split(values)


FORMS = (
    ({"avg_latency"}, latency, "vLLM latency"),
    ({"requests_per_second", "elapsed_time"}, throughput, "vLLM throughput"),
    ({"prefill_throughput", "batch_size"}, one_batch, "SGLang one batch"),
    ({"output_throughput", "duration"}, serve, "serving benchmark"),
    ({"eval_count", "eval_duration"}, ollama, "Ollama"),
)
"""(keys that tell a form, its reader, its name)."""
