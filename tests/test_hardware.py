"""The hardware library against a table of public figures, and how machines are found by the words people type."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import costmodel
from costmodel.cli import main
from costmodel.compile.machine import device_tier
from costmodel.folders import data_root
from costmodel.library import Library, shared
from costmodel.lookup import read_header
from costmodel.naming import header
from costmodel.solve.validate import validate_file

ROWS = list(csv.DictReader((Path(__file__).parent / "data" / "hardware.csv").open()))
TYPES = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4", "int4")
PROCESSORS = ("cpu-desktop", "cpu-server")
ELSEWHERE = {  # where a document deliberately states something else; its sources and caveats say why
    "p40": {"fp16"},  # 1/64 of the fp32 rate: left out, so that arithmetic falls back to fp32
    "titan-rtx": {"fp16"},  # the TITAN is not limited to half rate with fp32 accumulation
    "gh200-96gb": {"link"},  # 900 GB/s is the link to its host
    "grace": {"link"},
    "dgx-spark": {"fp16", "bf16", "fp8"},  # scaled from fp4, the only rate that is printed
    "jetson-agx-orin-64gb": {"fp16", "bf16"},  # the rates of the graphics unit, which the table leaves open
    "jetson-orin-nx-16gb": {"fp16", "bf16"},
    "jetson-orin-nano-8gb": {"fp16", "bf16"},
    "jetson-agx-xavier-32gb": {"fp16"},
    "jetson-thor-t5000": {"fp16", "bf16"},
}


def given(row: dict, field: str) -> float | None:
    """A figure of the table; fp8 of GeForce cards is listed with fp16 accumulation and counted with fp32, at half rate."""
    value = float(row[field]) if row[field] else None
    geforce = row["device"].startswith("GeForce")
    return value / 2 if value and field == "fp8" and geforce else value


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["document"])
def test_documents_hold_the_tables_figures(row):
    doc = shared().load("hardware", row["document"]).doc
    tier = device_tier(shared().load("hardware", row["document"]))[1]
    differs = ELSEWHERE.get(row["document"], set())
    assert tier.bandwidth == pytest.approx(float(row["bandwidth"]) * 1e9, rel=0.002)
    if row["capacity"]:
        assert any(abs(tier.capacity / unit - float(row["capacity"])) < 0.01 for unit in (2**30, 1e9))
    else:
        assert tier.capacity is None
    processor = row["document"] in shared().names("hardware") and shared().load("hardware", row["document"]).lineage[1] in PROCESSORS
    for name in TYPES:
        want, have = given(row, name), doc.compute.get(name)
        if processor:  # at boost clocks, with the rates of integer and 16-bit instructions: see test_processors.py
            assert want is None or have is None or have >= want * 0.998e12 or name in differs
            continue
        same = have is None if want is None else have == pytest.approx(want * 1e12, rel=0.002)
        assert same != (name in differs), (name, want, have)
    if row["power"]:
        assert doc.power == pytest.approx(float(row["power"]))
    if row["link"]:
        assert (doc.links["peer"].bandwidth == pytest.approx(float(row["link"]) / 2 * 1e9, rel=0.002)) != ("link" in differs)
    kinds = {doc.sources[k].kind for k in ("bandwidth", "compute") if k in doc.sources}
    assert processor or ("assumed" in kinds) == ("recalled" in row["source_kind"]), (row["source_kind"], kinds)


def test_the_table_is_whole():
    assert len(ROWS) == len({r["document"] for r in ROWS}) == 144


def test_recalled_figures_are_named_in_predictions():
    recalled = [r["document"] for r in ROWS if "recalled" in r["source_kind"]]
    assert len(recalled) > 20
    for name in recalled:
        if not shared().load("hardware", name).doc.compute:
            continue
        notes = [n for n in costmodel.predict("8b", name).to_dict()["assumptions"] if n.startswith(f"hardware {name}: assumed")]
        assert notes and ("compute" in notes[0] or "bandwidth" in notes[0]), name


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["document"])
def test_each_device_of_the_table_is_found_by_its_name(row):
    assert shared().find_hardware(row["device"]).name == row["document"]


TYPED = {
    "4090": "rtx4090",
    "rtx-4090": "rtx4090",
    "RTX 4090 24GB": "rtx4090",
    "NVIDIA GeForce RTX 4090": "rtx4090",
    "NVIDIA GeForce RTX 4090 Laptop GPU": "rtx4090-laptop",
    "h100-sxm": "h100-sxm",
    "H100 SXM5 80GB": "h100-sxm",
    "NVIDIA H100 80GB HBM3": "h100-sxm",
    "h100": "h100-sxm",
    "a100": "a100-80gb-sxm",
    "NVIDIA A100-SXM4-40GB": "a100-40gb-sxm",
    "NVIDIA A100-PCIE-40GB": "a100-40gb-pcie",
    "m3max": "m3-max",
    "Apple M3 Max 40-core GPU": "m3-max",
    "Apple M3 Max 30-core GPU": "m3-max-30",
    "strix-halo": "strix-halo",
    "Ryzen AI Max+ 395": "strix-halo",
    "7950x": "ryzen-7950x",
    "AMD Ryzen 9 7950X 16-Core Processor": "ryzen-7950x",
    "MI300X 192GB": "mi300x",
    "Jetson AGX Orin 64GB": "jetson-agx-orin-64gb",
    "Intel(R) Xeon(R) Platinum 8480+": "xeon-8480",
    "13th Gen Intel(R) Core(TM) i9-13900K": "core-i9-13900k",
    "rtx 3080 12gb": "rtx3080-12gb",
    "3080": "rtx3080-10gb",
    "rx 7600": "rx7600",
    "Ryzen 5 7600": "ryzen-7600",
    "Threadripper 7965WX": "threadripper-pro-7965wx",
}


@pytest.mark.parametrize(("text", "name"), TYPED.items())
def test_names_people_type(text, name):
    assert shared().load("hardware", text).name == name
    assert shared().find_hardware(text).name == name


@pytest.mark.parametrize(
    "text",
    [
        "RTX 4090 48GB",
        "amd 4090",
        "Ryzen 7 7950X",
        "RTX 6000",
        "2x RTX 3090",
        "RTX 4090 + RTX 3090",
        "NVIDIA",
        "",
        "gpu",
        "Ryzen 9 7950X DDR5-3600",
    ],
)
def test_what_is_not_a_machine_here(text):
    assert shared().find_hardware(text) is None


def test_free_words_let_remarks_and_ram_sizes_pass():
    assert shared().find_hardware("Strix Halo (Ryzen AI Max+ 395, 64GB)").name == "strix-halo"
    assert shared().find_hardware("Apple M4 10-core GPU 16GB").name == "m4"
    assert shared().find_hardware("Apple M2 Max CPU").name == "m2-max-cpu"


def run(*args, code=0, env=None) -> str:
    result = CliRunner().invoke(main, args, env=env)
    assert result.exit_code == code, result.output
    return result.output


def test_another_memory_size_is_explained():
    assert "hw.memory.vram.capacity=48 GiB" in run("predict", "8b", "--hw", "RTX 4090 48GB", code=2)


BOX = "schema: costmodel/hardware@1\nname: {name}\nextends: cpu-desktop\n{more}memory: {{main: {{bandwidth: {bw} GB/s}}}}\ncompute: {{fp32: 1 TFLOP/s}}\nsources: {{bandwidth: {{kind: assumed, ref: x}}, compute: {{kind: assumed, ref: x}}}}\n"


def boxes(tmp_path, **more) -> Path:
    folder = tmp_path / "hardware"
    folder.mkdir()
    for i, (name, text) in enumerate(more.items()):
        (folder / f"{name}.yaml").write_text(BOX.format(name=name, more=text, bw=100 + i))
    return tmp_path


def test_an_ambiguous_name_is_refused_with_the_candidates(tmp_path):
    library = Library(roots=(boxes(tmp_path, **{"zeta-9-8gb": "", "zeta-9-16gb": ""}),))
    with pytest.raises(costmodel.SpecError, match="several machines are called so: `zeta-9-16gb`, `zeta-9-8gb`"):
        library.load("hardware", "zeta-9")
    assert library.find_hardware("zeta 9") is None


def test_users_names_and_aliases_shadow_built_in_ones(tmp_path):
    library = Library(roots=(boxes(tmp_path, mine="aliases: ['4090', h100]\n", **{"rtx-3090": ""}),))
    assert library.load("hardware", "4090").name == library.load("hardware", "H100").name == "mine"
    assert library.load("hardware", "rtx3090").name == "rtx-3090"
    assert library.load("hardware", "rtx5090").files[0].is_relative_to(data_root("specs"))


def test_two_documents_with_one_alias_are_reported(tmp_path):
    root = boxes(tmp_path, one="aliases: [Big Box]\n", two="aliases: [big-box]\n", three="aliases: [one]\n")
    for name, other in (("one", "two"), ("two", "one"), ("three", "one")):
        with pytest.raises(costmodel.SpecError, match=f"`{name}` and `{other}` both claim it"):
            validate_file(Library(), root / "hardware" / f"{name}.yaml")
    assert "both claim it" in run("validate", str(root / "hardware" / "one.yaml"), code=2)


def test_a_cached_prediction_sees_an_alias_that_came_later(tmp_path):
    root = boxes(tmp_path, mine="")
    env = {"COSTMODEL_PATH": str(root), "COSTMODEL_CACHE": str(tmp_path / "cache")}
    args = [__import__("sys").executable, "-m", "costmodel", "predict", "8b", "--hw", "4090", "--format", "json"]
    import os
    import subprocess

    def machine() -> str:
        return json.loads(subprocess.run(args, capture_output=True, text=True, env=os.environ | env, check=True).stdout)["hardware"]

    assert machine() == machine() == "rtx4090"
    file = root / "hardware" / "mine.yaml"
    file.write_text(file.read_text().replace("memory:", "aliases: ['4090']\nmemory:", 1))
    assert machine() == "mine"


def test_an_exact_name_reads_no_other_document():
    library = Library()
    library.load("hardware", "ddr5")
    assert "entries" not in library.kept


def test_headers_read_by_line_are_those_of_the_yaml_reader():
    for name, file in shared().names("hardware").items():
        doc = shared().load("hardware", str(file)).doc
        fast = header(file.read_text("utf-8"))
        assert fast is not None, name
        assert (fast.aliases, fast.title, fast.extends, fast.abstract) == (doc.aliases, doc.label(), doc.extends or "", doc.abstract)


def test_headers_written_otherwise_are_read_whole(tmp_path):
    root = boxes(tmp_path, mine="aliases:\n  - block one\n  - 'b, c'\ntitle:\n  en: Long title\n")
    found = read_header(Library(), root / "hardware" / "mine.yaml")
    assert found.aliases == ("block one", "b, c") and found.title == "Long title"


def test_list_shows_peaks_and_filters_by_quantities():
    rows = json.loads(
        run("list", "hardware", "--filter", "capacity>=24 GB", "--filter", "bandwidth>1.5TB/s", "--sort", "-fp16", "--format", "json")
    )
    assert {"rtx5090", "h100-sxm"} <= {r["name"] for r in rows} and all(r["bandwidth"] > 1.5e12 for r in rows)
    assert {"class", "capacity", "bandwidth", "fp32", "fp16", "int8", "aliases"} <= set(rows[0])
    assert "rtx4090" in run("list", "hardware", "GeForce RTX 40")
    assert "bandwidth>500" in run("list", "hardware", "--filter", "bandwidth>500", code=2)


def test_a_reserve_above_the_capacity_is_refused(tmp_path):
    path = tmp_path / "box.yaml"
    memory = "memory: {vram: {capacity: 24 GB, bandwidth: 900 GB/s, reserve: 30 GB}}"
    path.write_text(f"schema: costmodel/hardware@1\nname: box\nextends: nvidia-geforce\ncompute: {{fp16: 100 TFLOP/s}}\n{memory}\n")
    result = CliRunner().invoke(main, ["predict", "8b", "--hw", str(path)])
    assert result.exit_code == 2 and "more than the capacity" in result.stderr
