"""Looking at the machine: which files and tools are read on which system, and what to say of what they left out."""

from __future__ import annotations

from . import amd, apple, drm, intel, nvidia
from .confine import confined
from .facts import Confined, Cpu, Gpu, Machine, Memory, Module
from .modules import read_dmidecode, read_mac_modules, read_windows_modules
from .processor import cpu_list, merge, read_cpuinfo, read_lscpu, read_sysctl, read_windows, simd
from .system import System
from .text import fields, loads, maps, name, number, size

_CIM = {
    "cpu": "Win32_Processor|Select-Object Name,Manufacturer,NumberOfCores,NumberOfLogicalProcessors,MaxClockSpeed,L3CacheSize",
    "memory": "Win32_PhysicalMemory|Select-Object Capacity,Speed,ConfiguredClockSpeed,DataWidth,BankLabel,DeviceLocator,SMBIOSMemoryType",
    "gpu": "Win32_VideoController|Select-Object Name,AdapterCompatibility",
    "os": "Win32_OperatingSystem|Select-Object TotalVisibleMemorySize,FreePhysicalMemory",
}
_SCRIPT = "@{" + ";".join(f"{key}=@(Get-CimInstance {query})" for key, query in _CIM.items()) + "}|ConvertTo-Json -Depth 4"
POWERSHELL = ("powershell", "-NoProfile", "-NonInteractive", "-Command", _SCRIPT)


def look(system: System) -> Machine:
    """All that can be read of a machine without measuring. Never raises."""
    reader = {"darwin": _mac, "win32": _windows}.get(system.platform, _linux)
    cpu, memory, gpus, board, notes = reader(system)
    around = confined(system, cpu)
    if around.memory and memory.total and around.memory >= memory.total:
        around = around._replace(memory=None)
    memory = memory._replace(limit=around.memory)
    tools, more = _gpus(system, gpus)
    return Machine(_bounded(cpu, system), memory, tuple(tools), board, around, (*notes, *more, *_unseen(around, memory, tools)))


def _bounded(cpu: Cpu, system: System) -> Cpu:
    """The processor, with as many threads as there are where no file told."""
    threads = cpu.threads or system.cpus()
    return cpu._replace(threads=threads, cores=cpu.cores or threads, sockets=max(1, cpu.sockets))


def _linux(system: System) -> tuple[Cpu, Memory, list[Gpu], str, list[str]]:
    listed, counted = read_lscpu(system.run("lscpu").text), read_cpuinfo(system.read("/proc/cpuinfo"))
    cpu = merge(counted, listed)._replace(sockets=max(counted.sockets, listed.sockets))
    cpu = merge(_clocks(system), cpu)._replace(sockets=cpu.sockets)
    small = cpu_list(system.read("/sys/devices/cpu_atom/cpus"))
    info = fields(system.read("/proc/meminfo"))
    modules, notes = _linux_modules(system)
    board = name(system.read("/proc/device-tree/model")) or _product(system)
    memory = Memory(size(info.get("MemTotal")), size(info.get("MemAvailable")), None, tuple(modules))
    return cpu._replace(small=small if small < (cpu.cores or 0) else 0), memory, [], board, notes


def _product(system: System) -> str:
    """The firmware's product name, where it names a machine that a document can be of."""
    found = name(system.read("/sys/class/dmi/id/product_name"))
    return found if "DGX" in found.upper() or "JETSON" in found.upper() else ""


def _clocks(system: System) -> Cpu:
    folder = "/sys/devices/system/cpu/cpu0"
    base = number(system.read(f"{folder}/cpufreq/base_frequency")) or 1e3 * (number(system.read(f"{folder}/acpi_cppc/nominal_freq")) or 0)
    most = number(system.read(f"{folder}/cpufreq/cpuinfo_max_freq"))
    return Cpu(base_hz=1e3 * base if base else None, max_hz=1e3 * most if most else None)


def _linux_modules(system: System) -> tuple[list[Module], list[str]]:
    out = system.run("dmidecode", "-t", "17")
    modules = read_dmidecode(out.text)
    if modules:
        return modules, []
    channels = _edac(system)
    seen = f" (the kernel's EDAC folders show {channels} populated channels)" if channels else ""
    if "ermission" in out.why + out.text:
        return [], [f"memory modules: dmidecode needs root; run `sudo costmodel probe` to read channels and speed{seen}"]
    why = "it lists none here" if out.text and not out.why else f"dmidecode: {name(out.why) or 'no output'}"
    return [], [f"memory modules: not readable ({why}), so channels and speed are unknown{seen}"]


def _edac(system: System) -> int:
    """Channels with a module under /sys/devices/system/edac (servers with ECC memory)."""
    found = set()
    for controller in [n for n in system.names("/sys/devices/system/edac/mc") if n.startswith("mc")][:64]:
        folder = f"/sys/devices/system/edac/mc/{controller}"
        for dimm in [n for n in system.names(folder) if n.startswith(("dimm", "rank"))][:256]:
            if number(system.read(f"{folder}/{dimm}/size")):
                words = system.read(f"{folder}/{dimm}/dimm_location").split()
                found.add((controller, words[words.index("channel") + 1] if "channel" in words[:-1] else dimm))
    return len(found)


def _mac(system: System) -> tuple[Cpu, Memory, list[Gpu], str, list[str]]:
    cpu = read_sysctl(system.run("sysctl", "hw", "machdep.cpu").text)
    chip, memory = apple.read_hardware(system.run(*apple.HARDWARE).text)
    modules = read_mac_modules(system.run(*apple.MEMORY).text)
    gpus = apple.read_displays(system.run(*apple.DISPLAYS).text)
    return cpu._replace(name=cpu.name or chip), Memory(memory, None, None, tuple(modules)), gpus, "", []


def _windows(system: System) -> tuple[Cpu, Memory, list[Gpu], str, list[str]]:
    out = system.run(*POWERSHELL)
    data = loads(out.text)
    data = data if isinstance(data, dict) else {}
    state = (maps(data.get("os")) or [{}])[0]
    modules = tuple(read_windows_modules(maps(data.get("memory"))))
    memory = Memory(size(state.get("TotalVisibleMemorySize"), "K"), size(state.get("FreePhysicalMemory"), "K"), None, modules)
    titles = [(name(g.get("Name")), name(g.get("AdapterCompatibility"))) for g in maps(data.get("gpu"))]
    gpus = [Gpu(t, _vendor(t + " " + v), tool="PowerShell") for t, v in titles if t and _vendor(t + " " + v)]
    notes = [] if data else [f"PowerShell: {name(out.why) or 'no output'}, so processor and memory are unknown"]
    if gpus:
        notes.append("Windows states no GPU memory above 4 GiB: it is taken from the library")
    cpu = read_windows(maps(data.get("cpu")))._replace(simd=simd(system.features()))
    return cpu, memory, gpus, "", notes


def _vendor(text: str) -> str:
    return next((v for v, words in _WORDS.items() if any(w in text.lower() for w in words)), "")


_WORDS = {"NVIDIA": ("nvidia",), "AMD": ("amd", "advanced micro", "radeon"), "Intel": ("intel",)}


def _gpus(system: System, known: list[Gpu]) -> tuple[list[Gpu], list[str]]:
    """GPUs by their own tools; those that only the system knows of are added for vendors without a tool."""
    found, notes = _by_tools(system)
    if system.platform == "linux":
        known = drm.read_drm(system, drm.read_lspci(system.run("lspci").text))
    seen = {g.vendor for g in found}
    rest = [g for g in known if g.vendor not in seen]
    tools = {"NVIDIA": "nvidia-smi", "AMD": "amd-smi or rocm-smi", "Intel": "xpu-smi"}
    notes += [f"{g.name}: {tools[g.vendor]} would tell more" for g in rest if g.vendor in tools and g.tool in ("sysfs", "PowerShell")]
    return found + rest, notes


def _by_tools(system: System) -> tuple[list[Gpu], list[str]]:
    notes: list[str] = []

    def run(command: tuple[str, ...]) -> str:
        out = system.run(*command)
        if out.why not in ("", "not found"):
            notes.append(f"{command[0]}: {name(out.why)}")
        return out.text

    found = nvidia.read_query(run(nvidia.QUERY))
    if found:
        slices = nvidia.read_slices(run(nvidia.LIST))
        found = [g._replace(slices=s) for g, s in zip(found, slices, strict=True)] if len(slices) == len(found) else found
    found += amd.read_amd_smi(run(amd.AMD_SMI)) or amd.read_rocm_smi(run(amd.ROCM_SMI))
    for device in intel.read_list(run(intel.LIST)):
        found += [g for g in [intel.read_details(run(intel.details(device)))] if g]
    return found, notes


def _unseen(around: Confined, memory: Memory, gpus: list[Gpu]) -> list[str]:
    """What a container or virtual machine keeps from us."""
    notes = []
    if around.kinds:
        notes.append(f"inside {', '.join(around.kinds)}: the processor, its clock and its channels are the host's, shared with others")
    if around.kinds and not gpus:
        notes.append("no GPU is visible: a container sees one only when it is passed in (`--gpus all`), a guest only by pass-through")
    if around.memory and memory.total:
        notes.append(f"memory is limited to {around.memory / 2**30:.4g} GiB of {memory.total / 2**30:.4g} GiB by the cgroup")
    if around.cpus:
        notes.append(f"a CPU quota allows {around.cpus:g} processors")
    return notes
