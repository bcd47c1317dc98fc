"""Containers, virtual machines and limits: what keeps a process from seeing the whole machine."""

from __future__ import annotations

from .facts import Confined, Cpu
from .system import System
from .text import name, number

_MARKS = {"docker": "Docker", "kubepods": "Kubernetes", "containerd": "containerd", "lxc": "LXC", "libpod": "Podman", "podman": "Podman"}
_NAMES = {"docker": "Docker", "podman": "Podman", "lxc": "LXC", "lxc-libvirt": "LXC", "systemd-nspawn": "systemd-nspawn", "wsl": "WSL"}
_VIRTUAL = (
    "kvm",
    "amazon",
    "qemu",
    "vmware",
    "microsoft",
    "oracle",
    "xen",
    "bhyve",
    "parallels",
    "zvm",
    "google",
    "apple",
    "powervm",
    "bochs",
    "uml",
    "qnx",
    "acrn",
)
UNLIMITED = 1 << 60


def confined(system: System, cpu: Cpu) -> Confined:
    """Kinds of container or virtual machine around us, and their limits."""
    kinds: list[str] = []
    if system.read("/.dockerenv") or ".dockerenv" in system.names("/"):
        kinds.append("Docker")
    if ".containerenv" in system.names("/run"):
        kinds.append("Podman")
    if system.environment("KUBERNETES_SERVICE_HOST"):
        kinds.append("Kubernetes")
    kinds += from_cgroup(system.read("/proc/1/cgroup"))
    if system.platform == "linux":
        kinds += from_detect(system.run("systemd-detect-virt", "--container").text)
        kinds += from_detect(system.run("systemd-detect-virt", "--vm").text)
    if "microsoft" in system.read("/proc/version").lower():
        kinds.append("WSL")
    if cpu.hypervisor and not any(k.startswith(("virtual machine", "WSL")) for k in kinds):
        kinds.append("virtual machine")
    return Confined(tuple(dict.fromkeys(kinds)), _cpus(system), _memory(system))


def from_cgroup(text: str) -> list[str]:
    """Container kinds that the paths of `/proc/1/cgroup` name."""
    return [kind for mark, kind in _MARKS.items() if f"/{mark}" in text or f"{mark}-" in text]


def from_detect(text: str) -> list[str]:
    """What `systemd-detect-virt` prints."""
    word = name(text)
    if word in _NAMES:
        return [_NAMES[word]]
    return [f"virtual machine ({word})"] if word in _VIRTUAL else []


def cgroup_paths(text: str, controller: str) -> list[str]:
    """Folders of a process's cgroup, from its own up to the root, from `/proc/self/cgroup` (v1 and v2)."""
    found = [""]
    for line in text.splitlines()[:100]:
        parts = line.split(":", 2)
        if len(parts) == 3 and (parts[1] == "" or controller in parts[1].split(",")):
            steps = [s for s in parts[2].split("/") if s not in ("", "..", ".")][:32]
            found += ["/" + "/".join(steps[:i]) for i in range(1, len(steps) + 1)]
    return list(dict.fromkeys(found))


def limit(text: str) -> int | None:
    """A memory limit in bytes; `max` and v1's huge number mean none."""
    value = number(text)
    return int(value) if value and len(text.strip()) < 20 and 1 <= value < UNLIMITED and text.strip().isdecimal() else None


def quota(text: str, period: str = "") -> float | None:
    """Processors of a CPU quota: `200000 100000` (v2), or v1's two files."""
    words = (text.split() + period.split())[:2]
    if len(words) < 2 or not all(w.isdecimal() and w.isascii() and len(w) < 16 for w in words) or int(words[1]) == 0:
        return None
    return int(words[0]) / int(words[1]) or None


def _memory(system: System) -> int | None:
    own = system.read("/proc/self/cgroup")
    files = [f"/sys/fs/cgroup{path}/memory.max" for path in cgroup_paths(own, "memory")]
    files += [f"/sys/fs/cgroup/memory{path}/memory.limit_in_bytes" for path in cgroup_paths(own, "memory")]
    found = [x for x in (limit(system.read(f)) for f in files) if x]
    return min(found) if found else None


def _cpus(system: System) -> float | None:
    own = system.read("/proc/self/cgroup")
    found = [quota(system.read(f"/sys/fs/cgroup{path}/cpu.max")) for path in cgroup_paths(own, "cpu")]
    for folder in (f"/sys/fs/cgroup/cpu{path}" for path in cgroup_paths(own, "cpu")):
        found.append(quota(system.read(f"{folder}/cpu.cfs_quota_us"), system.read(f"{folder}/cpu.cfs_period_us")))
    known = [x for x in found if x]
    return min(known) if known else None
