"""How cost grows with size: kinds of layers, techniques, tokens, points. The ratio to the smallest of the row is printed."""

from __future__ import annotations

from pathlib import Path

from yardstick import seconds

import costmodel
from costmodel.compile.build import Case, build
from costmodel.library import Library

HEAD = """schema: costmodel/model@1
name: grown
architecture: decoder
dims: {{L: 1, d: 1024, n_q: 16, n_kv: 4, d_h: 64, d_ff: 4096, vocab: 32000}}
weights: {{format: q8_0}}
blocks:
{blocks}
sources: {{dims: {{kind: assumed, ref: benchmark}}}}
"""
TECHNIQUES = ("int4", "kv-int8", "flash-attention", "speculative-decoding", "prefix-caching", "continuous-batching")


def grown(kinds: int, library: Library):
    """A model with so many kinds of layers, each with a width of its own."""
    blocks = "\n".join(f"  kind{i}: {{like: [attention, mlp], dims: {{d_ff: {4096 + 64 * i}}}}}" for i in range(kinds))
    return library.load_text("model", HEAD.format(blocks=blocks), Path(f"grown-{kinds}.yaml").absolute())


def row(sizes, make) -> dict[str, float]:
    """Milliseconds by size, and how much the largest takes of the smallest."""
    took = {size: seconds(make(size)) for size in sizes}
    first, last = took[sizes[0]], took[sizes[-1]]
    return {
        "sizes": f"{sizes[0]:,} to {sizes[-1]:,}",
        "ms at least": round(1e3 * first, 4),
        "ms at most": round(1e3 * last, 4),
        "times": round(last / first, 2),
    }


def measure() -> dict[str, dict]:
    """One row for each size that can grow."""
    library = Library()

    def compiling(kinds):
        spec = grown(kinds, library)
        return lambda: build(Case(spec, "ddr5"), library)

    def running(kinds):
        spec, contexts = grown(kinds, library), iter(range(1, 10**9))
        hardware = library.load("hardware", "ddr5")
        return lambda: costmodel.predict(spec, hardware, context=next(contexts), library=library).tps.expected

    def techniques(count):
        return lambda: build(Case("llama-3.1-8b", "rtx4090", None, TECHNIQUES[:count]), library)

    def prompt(tokens):
        sizes = iter(range(tokens, 10**9))
        return lambda: costmodel.predict("8b", "rtx4090", engine="llama.cpp", prompt=next(sizes)).ttft_s.expected

    def output(tokens):
        sizes = iter(range(tokens, 10**9))
        return lambda: costmodel.predict("8b", "rtx4090", output=next(sizes)).e2e_s.expected

    return {
        "compile, kinds of layers": row((1, 4, 16, 64), compiling),
        "predict, kinds of layers": row((1, 4, 16, 64), running),
        "compile, techniques": row((0, 2, 4, 6), techniques),
        "TTFT, prompt tokens": row((1024, 16384, 262144), prompt),
        "end to end, output tokens": row((256, 4096, 65536), output),
    }
