"""Placement options of the command line, as the techniques and overrides that they stand for."""

from __future__ import annotations

LINKS = ("peer", "host", "network")


def placed(techniques, sets, *, gpu_layers=None, cpu_moe=None, all_cpu_moe=False, kv_host=False, links=()) -> tuple[tuple, tuple]:
    """(techniques, sets) with those of the options; -1 layers are all. Raises :class:`SpecError` for a link that is none."""
    more = []
    if gpu_layers is not None and gpu_layers >= 0:
        more.append(f"gpu-layers:layers={gpu_layers}")
    if all_cpu_moe and cpu_moe is not None:
        from ..language.problem import problem

        raise problem("`--cpu-moe` and `--n-cpu-moe` both say where the experts are", help="give one of the two")
    if all_cpu_moe or cpu_moe is not None:
        more.append("experts-on-host" if all_cpu_moe or cpu_moe < 0 else f"experts-on-host:layers={cpu_moe}")
    if kv_host:
        more.append("kv-on-host")
    return (*techniques, *more), (*sets, *(f"hw.links.{_link(part)}" for text in links for part in text.split(",")))


def _link(text: str) -> str:
    """`pcie4-x16` or `host=pcie4-x16` as `which=name`."""
    which, equals, name = text.strip().partition("=")
    if not equals:
        which, name = "peer", which
    if which not in LINKS or not name:
        from ..language.problem import Mark, Source, problem, suggest

        raise problem(f"`{text}` is not a link", Mark(Source("--link", text), 1, 1), "write a name, or " + suggest(which, LINKS))
    return f"{which}={name}"
