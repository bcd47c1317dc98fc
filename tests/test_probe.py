"""`costmodel probe` on recorded machines: what tools print, the documents that follow, and what hostile output does."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from probed import MACHINES, Recorded

from costmodel.cli import main
from costmodel.language.problem import SpecError
from costmodel.library import Library
from costmodel.probe import amd, apple, confine, drm, intel, nvidia
from costmodel.probe.facts import Cpu, Machine, Memory, Module, Pcie
from costmodel.probe.graphics import pcie
from costmodel.probe.look import look
from costmodel.probe.modules import bus, channel_of, read_dmidecode, read_mac_modules
from costmodel.probe.peak import peak
from costmodel.probe.processor import cpu_list, read_cpuinfo, read_lscpu, read_sysctl
from costmodel.probe.system import BYTES, System
from costmodel.report.machines import find_machine
from costmodel.report.probing import Wanted, probe
from costmodel.solve.validate import validate_files


def fields(machine: str, **wanted) -> dict:
    return yaml.safe_load(probe(Wanted(fmt="yaml", **wanted), system=MACHINES[machine]))


def facts(machine: str) -> dict:
    return json.loads(probe(Wanted(fmt="json"), system=MACHINES[machine]))


@pytest.mark.parametrize("machine", MACHINES)
def test_documents_validate_and_predict(machine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = probe(Wanted(output="all", device=None), system=MACHINES[machine])
    files = sorted((tmp_path / "all").glob("*.yaml"))
    assert files and len([line for line in printed.splitlines() if line.startswith("all/")]) == len(files)
    assert validate_files(["all"]) == (len(files), [], [])
    for file in files:
        done = CliRunner().invoke(main, ["predict", "1b", "--hw", f"./all/{file.name}", "--format", "json"], prog_name="costmodel")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["tps"]["expected"] > 0


def test_desktop_with_a_gpu():
    found = fields("desktop")
    assert (found["extends"], found["memory"]) == ("rtx4090", {"vram": {"capacity": "24564 MiB"}})
    assert found["host"]["dram"] == {"capacity": "64 GiB", "bandwidth": f"{5600e6 * 8 * 2 / 1e9:g} GB/s"}
    assert found["links"]["host"]["bandwidth"] == "15.75 GB/s"
    assert found["power"] == "350 W"
    notes = " ".join(facts("desktop")["notes"])
    assert "8 of 16 lanes" in notes and "generation 1 of 4 now" in notes
    cpu = fields("desktop", device="cpu")
    assert cpu["extends"] == "ryzen-7950x" and "compute" not in cpu
    assert cpu["memory"]["dram"] == {"capacity": "64 GiB", "bandwidth": "89.6 GB/s"}
    assert cpu["sources"]["bandwidth"]["kind"] == "derived" and "2 ch" in cpu["sources"]["bandwidth"]["ref"]


def test_two_sockets_are_one_document_of_a_socket():
    found = fields("epyc", device="cpu")
    assert found["extends"] == "epyc-9654"
    assert found["memory"]["dram"] == {"capacity": "768 GiB", "bandwidth": f"{4800e6 * 8 * 12 / 1e9:g} GB/s"}
    assert any("--devices 2" in n for n in facts("epyc")["notes"])


def test_eight_gpus_are_one_document():
    found = facts("dgx")
    assert [(d["id"], d["count"], d["extends"]) for d in found["devices"]] == [("gpu0", 8, "h100-sxm"), ("cpu", 2, "xeon-8480")]
    assert fields("dgx", device="gpu5") == fields("dgx", device="gpu0")
    with pytest.raises(SpecError, match="no device `gpu8`"):
        fields("dgx", device="gpu8")


def test_a_mig_instance_is_a_share():
    found, whole = fields("mig"), Library().load("hardware", "a100-80gb-sxm").doc
    tier = next(iter(whole.memory.values()))
    entry = found["memory"]["hbm"]
    assert entry == {"capacity": "40 GiB", "bandwidth": f"{float(f'{tier.bandwidth / 2e9:.4g}'):g} GB/s"}
    share = whole.compute["fp16"] * 3 / 7 / 1e12
    assert found["compute"]["fp16"] == f"{float(f'{share:.3g}'):g} TFLOP/s"


@pytest.mark.parametrize(
    ("machine", "parent", "entry"),
    [
        ("m3max", "m3-max", {"unified": {"capacity": "128 GiB"}}),
        ("m4max32", "m4-max-32", {"unified": {"capacity": "36 GiB"}}),
        ("strix", "strix-halo", {"unified": {"capacity": "128 GiB"}}),
        ("orin", "jetson-agx-orin-64gb", {"unified": {"capacity": "64345068 KiB"}}),
        ("spark", "dgx-spark", {"unified": {"capacity": "125513748 KiB"}}),
    ],
)
def test_unified_memory_is_one_document(machine, parent, entry):
    found = facts(machine)
    assert [(d["id"], d["extends"], d["document"]["memory"]) for d in found["devices"]] == [("gpu0", parent, entry)]
    assert any("unified memory" in n for n in found["notes"])
    assert "host" not in fields(machine)


def test_raspberry_pi_is_known_by_its_board():
    found = fields("pi5")
    assert found["extends"] == "raspberry-pi-5" and "bandwidth" not in found["memory"]["dram"]


def test_windows_and_wsl():
    found = facts("windows")
    assert [(d["id"], d["extends"]) for d in found["devices"]] == [("gpu0", "rtx4070-ti-super"), ("cpu", "core-i9-14900k")]
    assert found["memory"]["bandwidth"] == 6000e6 * 8 * 2
    wsl = facts("wsl")
    assert "WSL" in wsl["confined"]["kinds"] and wsl["devices"][0]["extends"] == "rtx3090"


def test_a_container_is_told_and_its_limits_hold():
    found = facts("docker")
    assert found["confined"]["kinds"] == ["Docker", "virtual machine (kvm)"]
    assert found["memory"]["limit"] == 8 << 30 and found["confined"]["cpus"] == 2.5
    notes = " ".join(found["notes"])
    assert all(word in notes for word in ("8 GiB of 31.31 GiB", "2.5 processors", "no GPU is visible", "--measure"))
    document = fields("docker")
    assert document["memory"]["dram"]["capacity"] == "8 GiB"
    assert document["sources"]["bandwidth"]["kind"] == "assumed"
    assert document["compute"]["fp32"] == f"{float(f'{2.5 * 64 * 2.2e9 / 1e12:.3g}'):g} TFLOP/s"


def test_without_root_the_note_says_so():
    assert any("needs root" in n for n in facts("pi5")["notes"])


def test_a_gpu_that_the_library_does_not_know():
    found = facts("unknown")
    assert [(d["id"], d["extends"]) for d in found["devices"]] == [("gpu0", None), ("cpu", "cpu-desktop")]
    assert found["chosen"] == "cpu" and any("the library has no `NVIDIA GeForce GTX 0000`" in n for n in found["notes"])
    with pytest.raises(SpecError, match="no document can be written for gpu0"):
        fields("unknown", device="gpu0")


def test_same_name_other_memory_is_assumed():
    found = fields("small3060", device="gpu0")
    assert found["extends"] == "rtx3060-12gb" and found["memory"]["vram"]["capacity"] == "8 GiB"
    assert found["sources"]["bandwidth"]["kind"] == "assumed"


HOSTILE = [
    '"; rm -rf /',
    "a: {b: [c",
    "&x *x",
    "!!python/object:os.system",
    "\x1b[31mred\x07",
    "name\u202eevil",
    "- - -",
    "{{ 1 }}",
    "'",
    '\\"',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_text(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = f"0, {text}, 24564 MiB, 450.00 W, 450.00 W, 1, 4, 8, 16\n"
    info = f"processor\t: 0\nmodel name\t: {text}\nflags\t: avx2 fma\n\n"
    system = Recorded({nvidia.QUERY: row, ("lscpu",): ""}, {"/proc/cpuinfo": info, "/proc/meminfo": "MemTotal: 1024 kB"})
    assert probe(Wanted(), system=system).replace("\n", "").isprintable()
    probe(Wanted(output="x.yaml"), system=system)
    assert validate_files(["x.yaml"]) == (1, [], [])
    title = yaml.safe_load((tmp_path / "x.yaml").read_text("utf-8"))["title"]
    assert title == f"{' '.join(''.join(c if c.isprintable() else ' ' for c in text).split()) or 'Processor'} (this machine)"


READERS = [
    nvidia.read_query,
    nvidia.read_slices,
    amd.read_amd_smi,
    amd.read_rocm_smi,
    intel.read_list,
    intel.read_details,
    apple.read_displays,
    apple.read_hardware,
    drm.read_lspci,
    read_dmidecode,
    read_mac_modules,
    read_cpuinfo,
    read_lscpu,
    read_sysctl,
    cpu_list,
    confine.from_cgroup,
    confine.from_detect,
    confine.limit,
    confine.quota,
    lambda t: confine.cgroup_paths(t, "memory"),
]
SAMPLES = sorted({t for m in MACHINES.values() for t in [*m.commands.values(), *m.files.values()]})


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(READERS), st.text(max_size=200) | st.sampled_from(SAMPLES), st.integers(0, 4000), st.text(max_size=20))
def test_readers_never_raise(reader, text, at, inserted):
    reader(text[:at] + inserted + text[at:])
    reader(text[:at])


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(sorted(MACHINES)), st.integers(0, 3000), st.text(max_size=12))
def test_looking_never_raises(machine, at, inserted):
    whole = MACHINES[machine]
    broken = Recorded(
        {k: v[:at] + inserted + v[at:] for k, v in whole.commands.items()},
        {k: v[:at] + inserted for k, v in whole.files.items()},
        whole.platform,
    )
    assert look(broken).cpu.sockets >= 1


def test_nvidia_fields_that_are_not_available():
    (gpu,) = nvidia.read_query("0, NVIDIA GB10, [N/A], [N/A], [Not Supported], 1, 1, [N/A], [N/A]\n")
    assert (gpu.name, gpu.memory, gpu.watts, gpu.pcie.width) == ("NVIDIA GB10", None, None, None)
    assert nvidia.read_query("No devices were found\n") == []
    (odd,) = nvidia.read_query("0, A, B, 1024 MiB, 10 W, 10 W, 1, 4, 8, 16\n")
    assert (odd.name, odd.memory) == ("A,B", 1 << 30)


def test_rocm_and_amd_smi_versions():
    old = '{"card0": {"Card series": "Radeon RX 7900 XTX", "Card model": "0x0e3b", "VRAM Total Memory (B)": "25753026560"}, "system": {}}'
    new = '{"card0": {"VRAM Total Memory (B)": "206141652992", "Device Name": "AMD Instinct MI300X", "Card Series": "AMD Instinct MI300X OAM", "Card Model": "0x74a1"}}'
    warned = "WARNING: AMD GPU device(s) is/are in a low-power state\n" + old
    assert [(g.name, g.memory) for t in (old, new, warned) for g in amd.read_rocm_smi(t)] == [
        ("Radeon RX 7900 XTX", 25753026560),
        ("AMD Instinct MI300X OAM", 206141652992),
        ("Radeon RX 7900 XTX", 25753026560),
    ]
    item = '{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X"}, "bus": {"max_pcie_width": 16, "max_pcie_speed": {"value": 32, "unit": "GT/s"}}, "vram": {"size": {"value": 196592, "unit": "MB"}}}'
    for text in (f"[{item}]", f'{{"gpu_data": [{item}]}}', item.replace('{"value": 196592, "unit": "MB"}', "196592").join("[]")):
        (gpu,) = amd.read_amd_smi(text)
        assert (gpu.name, gpu.memory, gpu.pcie.max_gen, gpu.pcie.max_width) == ("AMD Instinct MI300X", 196592 << 20, 5, 16)


def test_sysfs_and_lspci_name_what_no_tool_does():
    files = {
        "/sys/class/drm/card0/device/vendor": "0x1002",
        "/sys/class/drm/card0/device/uevent": "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0",
        "/sys/class/drm/card0/device/mem_info_vram_total": str(25753026560),
        "/sys/class/drm/card0/device/max_link_speed": "16.0 GT/s PCIe",
        "/sys/class/drm/card0/device/max_link_width": "16",
    }
    listed = (
        "03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XT/7900 XTX/7900M] (rev c8)\n"
    )
    (gpu,) = look(Recorded({("lspci",): listed}, files)).gpus
    assert (gpu.memory, gpu.pcie.max_gen, gpu.pcie.max_width) == (25753026560, 4, 16)
    assert find_machine(Library(), gpu.name, gpu.memory).name == "rx7900-xtx"
    assert find_machine(Library(), gpu.name) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "rtx4090-laptop"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb-sxm"),
        ("NVIDIA A100-SXM4-40GB", "a100-40gb-sxm"),
        ("Tesla T4", "t4"),
        ("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"),
        ("AMD Instinct MI300X OAM", "mi300x"),
        ("Intel(R) Arc(TM) A770 Graphics", "arc-a770-16gb"),
        ("12th Gen Intel(R) Core(TM) i7-1260P", "core-i7-1260p"),
        ("Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", "xeon-8380"),
        ("AMD Ryzen Threadripper PRO 7995WX 96-Cores", "threadripper-pro-7995wx"),
        ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "strix-halo"),
        ("AMD EPYC", None),
        ("AMD Radeon Graphics", None),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", None),
        ("", None),
    ],
)
def test_names_of_drivers_find_documents(text, name):
    found = find_machine(Library(), text)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("texts", "channel"),
    [
        (("P0 CHANNEL A", "DIMM 0"), "0A"),
        (("BANK 0", "Controller1-ChannelB-DIMM0"), "1B"),
        (("BANK 0", "ChannelA-DIMM1"), "A"),
        (("P1_Node1_Channel3_Dimm0", "P2-DIMMC1"), "13"),
        (("", "CPU1_DIMM_B2"), "1B"),
        (("", "DIMM_A1"), "A"),
        (("BANK 2", "DIMM 1"), None),
    ],
)
def test_channels_in_locators(texts, channel):
    assert channel_of(*texts) == channel


def test_bus_of_modules():
    ddr5 = [Module(16 << 30, "DDR5", 5.6e9, 64, c) for c in "AABB"]
    assert bus(tuple(ddr5)).bandwidth == 2 * 8 * 5.6e9
    assert bus(tuple(m._replace(channel=None) for m in ddr5)).guessed
    lpddr = tuple(Module(16 << 30, "LPDDR5", 8e9, 32, None) for _ in range(8))
    assert bus(lpddr).bandwidth == 8 * 4 * 8e9
    assert bus((Module(1 << 30, "DDR4"),)) is None


@pytest.mark.parametrize(
    ("cpu", "flops"),
    [
        (
            Cpu(
                vendor="GenuineIntel", family=6, model=143, simd=("avx", "avx2", "fma", "avx512", "amx"), cores=112, sockets=2, base_hz=2e9
            ),
            56 * 64 * 2e9,
        ),
        (Cpu(vendor="GenuineIntel", family=6, model=167, simd=("avx2", "fma", "avx512"), cores=8, base_hz=3e9), 8 * 32 * 3e9),
        (Cpu(vendor="GenuineIntel", family=6, model=183, simd=("avx2", "fma"), cores=24, small=16, base_hz=3e9), (8 * 32 + 16 * 16) * 3e9),
        (Cpu(vendor="AuthenticAMD", family=23, model=1, simd=("avx2", "fma"), cores=8, base_hz=3e9), 8 * 16 * 3e9),
        (Cpu(vendor="AuthenticAMD", family=26, model=68, simd=("avx2", "fma", "avx512"), cores=16, base_hz=4.3e9), 16 * 64 * 4.3e9),
        (Cpu(simd=("neon",), parts=(("0x41:0xd05", 4), ("0x41:0xd0b", 4)), cores=8, max_hz=2e9), (4 * 8 + 4 * 16) * 2e9),
        (Cpu(cores=4), 4 * 8 * 2e9),
    ],
)
def test_peak_by_vector_units(cpu, flops):
    assert peak(cpu).flops == pytest.approx(flops)
    assert peak(cpu).assumed is not any((cpu.base_hz, cpu.max_hz, cpu.now_hz))


def test_peaks_agree_with_the_library_where_the_parts_are_known():
    for machine, sockets in (("epyc", 2), ("desktop", 1)):
        cpu = look(MACHINES[machine]).cpu
        doc = find_machine(Library(), cpu.name).doc
        boost = float(re.search(r"x ([\d.]+) GHz", doc.sources["compute"].ref)[1]) * 1e9
        clock = float(re.search(r"x ([\d.]+) GHz", peak(cpu).ref)[1]) * 1e9  # the base clock that the machine reports
        assert peak(cpu).flops / clock == pytest.approx(doc.compute["fp32"] / boost, rel=0.02) and cpu.sockets == sockets


def test_pcie_takes_the_best_generation_and_the_lanes_now():
    assert pcie(Pcie(1, 8, 4, 16)) == (pytest.approx(16e9 / 8 * 128 / 130 * 8), 8)
    assert pcie(Pcie()) == (None, None)


def test_system_bounds_tools(tmp_path, monkeypatch):
    system = System()
    assert system.run("no-such-tool-at-all").why == "not found"
    monkeypatch.setattr("costmodel.probe.system.SECONDS", 0.5)
    assert "no answer" in system.run(sys.executable, "-c", "import time; time.sleep(60)").why
    monkeypatch.setattr("costmodel.probe.system.SECONDS", 20.0)
    flood = system.run(sys.executable, "-c", "while True: print('x' * 1000)")
    assert flood.why == "too much output" and len(flood.text) == BYTES
    failed = system.run(sys.executable, "-c", "import sys; sys.exit('no permission')")
    assert failed.why == "no permission"
    shell = system.run(sys.executable, "-c", "import sys; print(sys.argv[1])", "$(id); `id`")
    assert shell.text.strip() == "$(id); `id`"
    assert system.read(str(tmp_path)) == "" and system.read("/no/such/file\0") == ""


def test_here_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    done = run(main, ["probe", "-o", "here.yaml", "--device", "cpu"], prog_name="costmodel")
    assert done.exit_code == 0, done.output
    assert yaml.safe_load((tmp_path / "here.yaml").read_text("utf-8"))["name"] == "here"
    again = run(main, ["probe", "-o", "here.yaml", "--device", "cpu"], prog_name="costmodel")
    assert again.exit_code == 2 and "is there already" in again.stderr
    assert run(main, ["probe", "-o", "here.yaml", "--device", "cpu", "--force"], prog_name="costmodel").exit_code == 0
    assert "no device `cpx`: did" in " ".join(
        run(main, ["probe", "--device", "cpx"], prog_name="costmodel").stderr.replace("\n  help:", ":").split()
    )


def test_measured_figures_have_their_sources(tmp_path, monkeypatch):
    pytest.importorskip("numpy")
    from costmodel.probe import measure

    monkeypatch.setattr(measure, "SECONDS", 0.3)
    monkeypatch.setattr("costmodel.report.probing.measure", lambda m, n: measure.measure(m, n, 0.3, 16 << 20))
    found = yaml.safe_load(probe(Wanted(fmt="yaml", device="cpu"), True, MACHINES["epyc"]))
    for key in ("bandwidth", "compute"):
        assert found["sources"][key]["kind"] == "measured" and found["sources"][key]["date"]
    assert "NumPy" in found["sources"]["bandwidth"]["ref"] and "4800 MT/s" in found["sources"]["bandwidth"]["ref"]
    assert "divided by 2 sockets" in found["sources"]["compute"]["ref"]
    kept = yaml.safe_load(probe(Wanted(fmt="yaml"), True, MACHINES["m3max"]))
    assert "bandwidth" not in kept["memory"]["unified"] and "processor alone" in kept["caveats"]


def test_measuring_stays_in_memory(monkeypatch):
    numpy = pytest.importorskip("numpy")
    from costmodel.probe.measure import matrix_rate, read_rate

    taken: list[int] = []
    monkeypatch.setattr(numpy, "ones", lambda n, dtype, real=numpy.ones: taken.append(n * 4) or real(n, dtype))
    rate, ref, notes = read_rate(numpy, 8 << 20, 2, 1 << 30, 0.2)
    assert rate > 0 and "2 threads" in ref and notes and sum(taken) <= 8 << 20
    assert matrix_rate(numpy, 8 << 20, 0.2)[0] > 0


def test_measuring_without_numpy_says_what_to_install(monkeypatch):
    from costmodel.probe.measure import measure

    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(SpecError, match=r"pip install numpy"):
        measure(Machine(Cpu(), Memory()), 1)


def test_nothing_is_measured_unless_asked(monkeypatch):
    def refuse(*_):
        raise AssertionError("measured")

    monkeypatch.setattr("costmodel.report.probing.measure", refuse)
    assert "not measured" in probe(Wanted(), system=MACHINES["desktop"])


def test_the_page_shows_what_is_printed():
    page = (Path(__file__).parent.parent / "docs" / "cli.md").read_text("utf-8")
    printed = re.sub(r'"\d{4}-\d\d-\d\d"', '"2026-11-30"', probe(Wanted(), system=MACHINES["desktop"]))
    assert f"```text\n{printed}\n```" in page
