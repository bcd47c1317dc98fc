"""Recorded machines: what tools and files say on them (shortened, in the form those tools print)."""

from __future__ import annotations

from costmodel.probe import amd, apple, nvidia
from costmodel.probe.look import POWERSHELL
from costmodel.probe.system import Output, System

SYSCTL = ("sysctl", "hw", "machdep.cpu")
DMI = ("dmidecode", "-t", "17")


class Recorded(System):
    """A machine of recorded texts: commands (words to output) and files; a `!` output is a tool's failure."""

    def __init__(self, commands: dict, files: dict | None = None, platform: str = "linux"):
        self.commands, self.files, self.platform = commands, files or {}, platform

    def read(self, path: str) -> str:
        return self.files.get(path, "").strip()

    def names(self, path: str) -> list[str]:
        inside = path.rstrip("/") + "/"
        return sorted({f.removeprefix(inside).split("/")[0] for f in self.files if f.startswith(inside)})

    def environment(self, name: str) -> str:
        return ""

    def cpus(self) -> int | None:
        return 2

    def run(self, *words: str) -> Output:
        text = self.commands.get(words)
        if text is None:
            return Output("", "not found")
        return Output("", text[1:]) if text.startswith("!") else Output(text)


def dimm(size: str, locator: str, bank: str, kind: str, speed: str, width: int = 64) -> str:
    return (
        f"Handle 0x0040, DMI type 17, 92 bytes\nMemory Device\n\tArray Handle: 0x003F\n\tTotal Width: {width} bits\n\tData Width: {width} bits\n"
        f"\tSize: {size}\n\tForm Factor: DIMM\n\tLocator: {locator}\n\tBank Locator: {bank}\n\tType: {kind}\n\tSpeed: 6400 MT/s\n\tConfigured Memory Speed: {speed}\n\n"
    )


def cpuinfo(name: str, vendor: str, family: int, model: int, flags: str, sockets: int, cores: int, smt: int, mhz: float = 3000) -> str:
    blocks = [
        f"processor\t: {i}\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: {name}\ncpu MHz\t\t: {mhz}\n"
        f"physical id\t: {i % sockets}\ncore id\t\t: {i // sockets % cores}\nflags\t\t: fpu sse2 {flags}\n"
        for i in range(sockets * cores * smt)
    ]
    return "\n".join(blocks)


def gpu_row(i: int, name: str, memory: str, watts: str = "700.00 W", default: str = "700.00 W", link: str = "5, 5, 16, 16") -> str:
    return f"{i}, {name}, {memory}, {watts}, {default}, {link}\n"


def meminfo(kib: int, free: int) -> str:
    return f"MemTotal:       {kib} kB\nMemFree:         {free // 2} kB\nMemAvailable:   {free} kB\n"


ZEN4 = "fma avx avx2 avx512f"
RYZEN = cpuinfo("AMD Ryzen 9 7950X 16-Core Processor", "AuthenticAMD", 25, 97, ZEN4, 1, 16, 2)
DESKTOP_DMI = "# dmidecode 3.5\nGetting SMBIOS data from sysfs.\nSMBIOS 3.5.0 present.\n\n" + "".join(
    dimm("32 GB" if slot == 1 else "No Module Installed", f"DIMM {slot}", f"P0 CHANNEL {channel}", "DDR5", "5600 MT/s")
    for channel in "AB"
    for slot in (0, 1)
)
ARM_BLOCK = "processor\t: {i}\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd evtstrm aes\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: {part}\n"
PI = "\n".join(ARM_BLOCK.format(i=i, part="0xd0b") for i in range(4)) + "\nRevision\t: d04171\nModel\t\t: Raspberry Pi 5 Model B Rev 1.0\n"
LSCPU_EPYC = """Architecture:             x86_64
CPU(s):                   384
  On-line CPU(s) list:    0-383
Vendor ID:                AuthenticAMD
  BIOS Vendor ID:         Advanced Micro Devices, Inc.
  Model name:             AMD EPYC 9654 96-Core Processor
    BIOS Model name:      AMD EPYC 9654 96-Core Processor
    CPU family:           25
    Model:                17
    Thread(s) per core:   2
    Core(s) per socket:   96
    Socket(s):            2
    CPU max MHz:          3707.8120
    CPU min MHz:          1500.0000
    Flags:                fpu sse2 fma avx avx2 avx512f
Caches (sum of all):
  L3:                     768 MiB (24 instances)
NUMA:
  NUMA node(s):           2
"""
BASE = "/sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq"


def hardware_mac(chip: str, cores: str, memory: str) -> str:
    return f"Hardware:\n\n    Hardware Overview:\n\n      Model Name: MacBook Pro\n      Chip: {chip}\n      Total Number of Cores: {cores}\n      Memory: {memory}\n"


def displays_mac(chip: str, cores: int) -> str:
    return (
        f"Graphics/Displays:\n\n    {chip}:\n\n      Chipset Model: {chip}\n      Type: GPU\n      Bus: Built-In\n      Total Number of Cores: {cores}\n"
        "      Vendor: Apple (0x106b)\n      Metal Support: Metal 3\n"
    )


def mac(chip: str, gpu_cores: int, memory: str) -> Recorded:
    sysctl = f"hw.ncpu: 16\nhw.physicalcpu: 16\nhw.logicalcpu: 16\nhw.packages: 1\nhw.optional.arm64: 1\nhw.perflevel1.physicalcpu: 4\nmachdep.cpu.brand_string: {chip}\n"
    return Recorded(
        {
            SYSCTL: sysctl,
            apple.HARDWARE: hardware_mac(chip, "16 (12 performance and 4 efficiency)", memory),
            apple.DISPLAYS: displays_mac(chip, gpu_cores),
            apple.MEMORY: f"Memory:\n\n      Memory: {memory}\n      Type: LPDDR5\n      Manufacturer: Micron\n",
        },
        platform="darwin",
    )


WINDOWS = """{"gpu": [{"Name": "NVIDIA GeForce RTX 4070 Ti SUPER", "AdapterCompatibility": "NVIDIA"},
 {"Name": "Microsoft Basic Display Adapter", "AdapterCompatibility": "(Standard display types)"}],
 "cpu": [{"Name": "Intel(R) Core(TM) i9-14900K", "Manufacturer": "GenuineIntel", "NumberOfCores": 24, "NumberOfLogicalProcessors": 32, "MaxClockSpeed": 3200, "L3CacheSize": 36864}],
 "memory": [{"Capacity": 34359738368, "Speed": 6000, "ConfiguredClockSpeed": 6000, "DataWidth": 64, "BankLabel": "BANK 0", "DeviceLocator": "Controller0-DIMMA2", "SMBIOSMemoryType": 34},
  {"Capacity": 34359738368, "Speed": 6000, "ConfiguredClockSpeed": 6000, "DataWidth": 64, "BankLabel": "BANK 0", "DeviceLocator": "Controller1-DIMMB2", "SMBIOSMemoryType": 34}],
 "os": [{"TotalVisibleMemorySize": 66900000, "FreePhysicalMemory": 40000000}]}"""

MACHINES = {
    "desktop": Recorded(
        {
            DMI: DESKTOP_DMI,
            nvidia.QUERY: gpu_row(0, "NVIDIA GeForce RTX 4090", "24564 MiB", "350.00 W", "450.00 W", "1, 4, 8, 16"),
            nvidia.LIST: "GPU 0: NVIDIA GeForce RTX 4090 (UUID: GPU-1)\n",
        },
        {"/proc/cpuinfo": RYZEN, "/proc/meminfo": meminfo(65_000_000, 50_000_000), BASE: "4500"},
    ),
    "epyc": Recorded(
        {
            ("lscpu",): LSCPU_EPYC,
            DMI: "".join(dimm("64 GB", "DIMM 0", f"P{s} CHANNEL {c}", "DDR5", "4800 MT/s") for s in (0, 1) for c in "ABCDEFGHIJKL"),
        },
        {"/proc/meminfo": meminfo(1_584_000_000, 1_500_000_000), BASE: "2400"},
    ),
    "dgx": Recorded(
        {
            nvidia.QUERY: "".join(gpu_row(i, "NVIDIA H100 80GB HBM3", "81559 MiB") for i in range(8)),
            nvidia.LIST: "".join(f"GPU {i}: NVIDIA H100 80GB HBM3 (UUID: GPU-{i})\n" for i in range(8)),
            DMI: "!/sys/firmware/dmi/tables/smbios_entry_point: Permission denied",
        },
        {
            "/proc/cpuinfo": cpuinfo("Intel(R) Xeon(R) Platinum 8480+", "GenuineIntel", 6, 143, "fma avx avx2 avx512f amx_tile", 2, 56, 2),
            "/proc/meminfo": meminfo(2_113_000_000, 2_000_000_000),
        },
    ),
    "mig": Recorded(
        {
            nvidia.QUERY: gpu_row(0, "NVIDIA A100-SXM4-80GB", "81920 MiB", "400.00 W", "400.00 W", "4, 4, 16, 16"),
            nvidia.LIST: "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n  MIG 3g.40gb     Device  0: (UUID: MIG-1)\n  MIG 3g.40gb     Device  1: (UUID: MIG-2)\n",
        },
        {"/proc/cpuinfo": RYZEN, "/proc/meminfo": meminfo(528_000_000, 500_000_000)},
    ),
    "m3max": mac("Apple M3 Max", 40, "128 GB"),
    "m4max32": mac("Apple M4 Max", 32, "36 GB"),
    "strix": Recorded(
        {
            DMI: "".join(dimm("16 GB", f"DIMM {i}", f"P0 CHANNEL {c}", "LPDDR5", "8000 MT/s", 32) for i, c in enumerate("ABCDEFGH")),
            amd.ROCM_SMI: '{"card0": {"Card Series": "AMD Radeon Graphics", "Card Model": "0x1586", "VRAM Total Memory (B)": "536870912"}}',
        },
        {
            "/proc/cpuinfo": cpuinfo("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "AuthenticAMD", 26, 112, ZEN4, 1, 16, 2),
            "/proc/meminfo": meminfo(131_000_000, 120_000_000),
        },
    ),
    "orin": Recorded(
        {nvidia.QUERY: gpu_row(0, "Orin (nvgpu)", "[N/A]", "[N/A]", "[N/A]", "[N/A], [N/A], [N/A], [N/A]")},
        {
            "/proc/device-tree/model": "NVIDIA Jetson AGX Orin Developer Kit",
            "/proc/cpuinfo": "\n".join(ARM_BLOCK.format(i=i, part="0xd42") for i in range(12)),
            "/proc/meminfo": meminfo(64_345_068, 50_000_000),
        },
    ),
    "spark": Recorded(
        {nvidia.QUERY: gpu_row(0, "NVIDIA GB10", "[N/A]", "[N/A]", "[N/A]", "1, 1, [N/A], [N/A]")},
        {
            "/proc/cpuinfo": "\n".join(ARM_BLOCK.format(i=i, part="0xd85" if i % 2 else "0xd87") for i in range(20)),
            "/proc/meminfo": meminfo(125_513_748, 110_000_000),
        },
    ),
    "pi5": Recorded(
        {DMI: "!/dev/mem: Permission denied"},
        {
            "/proc/cpuinfo": PI,
            "/proc/device-tree/model": "Raspberry Pi 5 Model B Rev 1.0",
            "/proc/meminfo": meminfo(16_600_000, 15_000_000),
        },
    ),
    "windows": Recorded({POWERSHELL: WINDOWS}, platform="win32"),
    "wsl": Recorded(
        {
            nvidia.QUERY: gpu_row(0, "NVIDIA GeForce RTX 3090", "24576 MiB", "350.00 W", "350.00 W", "4, 4, 16, 16"),
            DMI: "# dmidecode 3.3\nScanning /dev/mem for entry point.\n",
        },
        {
            "/proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2 (root@x) (gcc 11.2.0)",
            "/proc/cpuinfo": cpuinfo("AMD Ryzen 9 5950X 16-Core Processor", "AuthenticAMD", 25, 33, "fma avx avx2 hypervisor", 1, 16, 2),
            "/proc/meminfo": meminfo(32_800_000, 30_000_000),
        },
    ),
    "docker": Recorded(
        {
            ("systemd-detect-virt", "--container"): "docker\n",
            ("systemd-detect-virt", "--vm"): "kvm\n",
            ("lscpu",): "CPU(s): 8\nL3 cache: 33 MiB (1 instance)\n",
        },
        {
            "/.dockerenv": "",
            "/proc/self/cgroup": "0::/\n",
            "/sys/fs/cgroup/memory.max": "8589934592",
            "/sys/fs/cgroup/cpu.max": "250000 100000",
            "/proc/cpuinfo": cpuinfo(
                "Intel(R) Xeon(R) CPU @ 2.20GHz", "GenuineIntel", 6, 85, "fma avx avx2 avx512f hypervisor", 1, 4, 2, 2200
            ),
            "/proc/meminfo": meminfo(32_834_000, 30_000_000),
        },
    ),
    "unknown": Recorded(
        {nvidia.QUERY: gpu_row(0, "NVIDIA GeForce GTX 0000", "4096 MiB", "75.00 W", "75.00 W", "3, 3, 16, 16")},
        {
            "/proc/cpuinfo": cpuinfo("Intel(R) Core(TM) i5-0000", "GenuineIntel", 6, 60, "fma avx avx2", 1, 4, 1),
            "/proc/meminfo": meminfo(16_000_000, 9_000_000),
        },
    ),
    "small3060": Recorded(
        {nvidia.QUERY: gpu_row(0, "NVIDIA GeForce RTX 3060", "8192 MiB", "170.00 W", "170.00 W", "4, 4, 16, 16")},
        {"/proc/cpuinfo": RYZEN, "/proc/meminfo": meminfo(32_000_000, 20_000_000)},
    ),
}
