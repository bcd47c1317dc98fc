"""One measured run: what ran where, and how fast. Base units throughout: bytes, seconds, tokens, FLOP/s."""

from __future__ import annotations

from dataclasses import dataclass

from ...language.problem import Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A row of measured figures; every field may be missing (None). `source` says where it was read.

    `decode_tps` of several sequences is their sum, `tpot_s` is one sequence's. `context` tokens stand in the cache before
    the measured part, and decode adds `output` more. `fields` are those of :data:`~.columns.COLUMNS`.
    """

    source: Mark | None = None
    """The file and line that it was read from."""
    id: str | None = None
    source_url: str | None = None
    source_date: str | None = None
    source_group: str | None = None
    quality: str | None = None
    """A: a tool's own output or a systematic survey, B: a careful single report, C: a self-reported record."""
    tool: str | None = None
    version: str | None = None
    backend: str | None = None
    engine: str | None = None
    """An engine document's name, where the user gives one."""
    hardware: str | None = None
    hw_class: str | None = None
    hw_family: str | None = None
    bandwidth: float | None = None
    """Bytes per second of the device's memory, as its maker states it."""
    fp16: float | None = None
    """Dense FLOP/s at fp16 with fp32 accumulation."""
    capacity: float | None = None
    """Bytes of device memory; makers' GB are 2^30."""
    devices: int | None = None
    parallelism: str | None = None
    model: str | None = None
    params: float | None = None
    active_params: float | None = None
    moe: bool | None = None
    weight_format: str | None = None
    file_bytes: float | None = None
    layers: int | None = None
    width: int | None = None
    kv_bytes_per_token: float | None = None
    """Bytes per token at 16 bits."""
    embedding_params: float | None = None
    """Parameters that are stored and not read per token."""
    kv_dtype: str | None = None
    flash_attn: bool | None = None
    gpu_layers: int | None = None
    ubatch: int | None = None
    """Most tokens of a prefill step."""
    threads: int | None = None
    prompt: int | None = None
    context: int | None = None
    output: int | None = None
    batch: int | None = None
    prefill_tps: float | None = None
    prefill_sd: float | None = None
    decode_tps: float | None = None
    decode_sd: float | None = None
    whole_run: bool | None = None
    """Whether `decode_tps` is all output tokens over the whole time, prefill and waiting included."""
    total_tps: float | None = None
    """Prompt and output tokens together over the whole time."""
    ttft_s: float | None = None
    tpot_s: float | None = None
    latency_s: float | None = None
    """Seconds from the request to its last token."""
    technique: str | None = None
    notes: str | None = None
    model_key: str | None = None

    @property
    def aggregate(self) -> bool:
        """Whether the figures sum over an unstated number of sequences: a throughput bench without a batch."""
        tool = (self.tool or "").lower()
        return self.batch is None and any(word in tool for word in ("throughput", "serv"))

    @property
    def mean_context(self) -> float:
        """Tokens in the cache that a decode step saw on average: `context + output / 2`."""
        return (self.context or 0) + (self.output or 0) / 2


FIGURES = ("prefill_tps", "decode_tps", "total_tps", "ttft_s", "tpot_s", "latency_s")
"""The measured figures; a measurement has at least one."""


class Measurements(list):
    """The measurements of a file, in its order; `layout` names the form it had, `notes` say what was left aside."""

    def __init__(self, rows=(), layout: str = "csv", notes=()):
        super().__init__(rows)
        self.layout, self.notes = layout, list(notes)
