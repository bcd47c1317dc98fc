"""The JSON forms of `inspect`, `list` and `probe`, as types. (No `annotations` from the future: they are read at run time.)"""

from typing import Any, Literal, NotRequired, TypedDict

from ..probe.facts import Confined, Cpu, Gpu, Module
from ..probe.measure import Measured
from ..solve.units import Bits, ByteRate, Bytes, Count, FlopRate, Params, Seconds, Tokens


class TensorType(TypedDict):
    """Tensors of one number format in a file."""

    tensors: Count
    bytes: Bytes


class Buffers(TypedDict):
    """What an engine allocates for a run, in bytes, and the run."""

    engine: str
    context: Tokens
    ubatch: Count
    sequences: Count
    cache_k: str
    cache_v: str
    fused: bool
    """Flash attention."""
    gpus: Count
    latent: Bytes
    """Cache of latent attention."""
    cpu_moe: bool
    gpu_layers: int | None
    kv_bytes: Bytes
    state_bytes: Bytes
    k: Bytes
    v: Bytes
    index_keys: Bytes
    full: Bytes
    """Of the cache, in layers of full attention."""
    sliding: Bytes
    cells: Count
    window_cells: Count
    conv: Bytes
    recurrent: Bytes
    compute: Bytes
    """Scratch, estimated."""
    host: Bytes


class InspectData(TypedDict):
    """What a model holds: `inspect --format json` (a list of these for several files)."""

    schema: Literal["costmodel/inspect@1"]
    name: str
    title: str
    params: Params
    """All that is stored."""
    text_params: Params
    active_params: Params
    embedding_params: Params
    kv_bytes_per_token: Bytes
    """At fp16 unless the file says otherwise."""
    kv_full_bytes_per_token: Bytes
    kv_sliding_bytes_per_token: Bytes
    window: Tokens | None
    index_bytes_per_token: Bytes
    state_bytes: Bytes
    weights_bytes: Bytes
    streamed_bytes_per_token: Bytes
    layers: Count | None
    format: str
    context: Tokens | None
    dims: dict[str, float]
    notes: list[str]
    file_bytes: NotRequired[Bytes]
    """Of a GGUF file, as the next five."""
    tensor_bytes: NotRequired[Bytes]
    tensors: NotRequired[Count]
    parts: NotRequired[Count]
    bits_per_weight: NotRequired[Bits | None]
    types: NotRequired[dict[str, TensorType]]
    buffers: NotRequired[Buffers]
    """With `--context`."""


class CheckpointData(TypedDict):
    """A checkpoint without its config, counted as it is: heads, KV and speeds are not known."""

    schema: Literal["costmodel/inspect@1"]
    name: str
    title: str
    params: Params
    weights_bytes: Bytes
    file_bytes: Bytes
    format: str | None
    tensors: Count
    types: dict[str, TensorType]
    notes: list[str]


InspectOutput = InspectData | CheckpointData | list[InspectData | CheckpointData]


class Listed(TypedDict):
    """A document. One that is invalid has a title that says why, and null elsewhere."""

    name: str
    title: str


ListedMachine = TypedDict(
    "ListedMachine",
    {
        "name": str,
        "title": str,
        "class": str | None,
        "capacity": Bytes | None,
        "bandwidth": ByteRate | None,
        "fp32": FlopRate | None,
        "fp16": FlopRate | None,
        "bf16": FlopRate | None,
        "fp8": FlopRate | None,
        "int8": FlopRate | None,
        "aliases": list[str] | None,
    },
)


class ListedModel(Listed):
    """A model; `kind` as `dense`, `moe mla`, `dense sliding vision`."""

    params: Params | None
    active: Params | None
    context: Tokens | None
    format: str | None
    kind: str | None


class ListedTechnique(Listed):
    """A technique and its knobs."""

    knobs: str | None


class ListedFormat(Listed):
    """A number format; bits per weight as text, `mix` where they differ by role."""

    bits: str | None
    family: str | None


class ListedLink(Listed):
    """A link between devices."""

    bandwidth: ByteRate | None
    latency: Seconds | None


class ListedClass(Listed):
    """A class of hardware."""

    machines: Count


Rows = (
    list[Listed]
    | list[ListedMachine]
    | list[ListedModel]
    | list[ListedTechnique]
    | list[ListedFormat]
    | list[ListedLink]
    | list[ListedClass]
)
ListOutput = dict[str, int] | Rows
"""Rows of one kind; without a kind, how many documents there are of each: `list --format json`."""


class ProbedMemory(TypedDict):
    """Main memory."""

    total: int | None
    free: int | None
    limit: int | None
    """What a container may use."""
    modules: list[Module]
    bandwidth: ByteRate | None
    """Nominal, from the modules."""


class ProbedDevice(TypedDict):
    """A device and the hardware document that describes it."""

    id: str
    label: str
    count: Count
    extends: str | None
    document: dict[str, Any] | None
    """As YAML would have it (`costmodel schema hardware`); null where the library does not know the device."""


class ProbeData(TypedDict):
    """This machine: `probe --format json`. Null where something could not be read."""

    schema: Literal["costmodel/probe@1"]
    cpu: Cpu
    memory: ProbedMemory
    gpus: list[Gpu]
    board: str
    confined: Confined
    measured: Measured | None
    """With `--measure`."""
    chosen: str
    devices: list[ProbedDevice]
    notes: list[str]
