"""Files of a sweep, its interruption, and the command."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from costmodel import SpecError, predict, sweep
from costmodel.cli import main
from costmodel.language.units import BYTE, BYTE_RATE, FLOP_RATE, SECOND, WATT
from costmodel.solve.sweep.axes import axis
from costmodel.solve.sweep.ranges import read_axis
from costmodel.solve.sweep.units import base_text, base_value, dim_of

np = pytest.importorskip("numpy")
MESH = {"batch": [1, 2, 4], "context": range(100, 5000, 70), "axes": {"model.weights.format": ["q4_k_m", "bf16"]}}


def run(*args: str):
    result = CliRunner().invoke(main, ["sweep", *args])
    return result.exit_code, result.stdout, result.stderr


def rows_of(path) -> list[dict]:
    parquet = pytest.importorskip("pyarrow.parquet")
    return parquet.read_table(path).to_pylist()


def wanted() -> list[dict]:
    result = sweep("8b", "rtx4090", **MESH)
    columns = {n: c.tolist() for n, c in result.columns().items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("block_bytes", [1, 1 << 26], ids=["many blocks", "one block"])
@pytest.mark.parametrize("name", ["points.parquet", "points/"])
def test_parquet_holds_every_point(tmp_path, name, block_bytes):
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / name
    result = sweep("8b", "rtx4090", out=f"{path}{'/' if name.endswith('/') else ''}", block_bytes=block_bytes, **MESH)
    assert rows_of(path) == wanted() and result.file == str(path)
    assert os.listdir(tmp_path) == [name.rstrip("/")]
    if name.endswith("parquet"):
        assert pq.ParquetFile(path).num_row_groups == (1 if block_bytes > 1 else -(-result.points // 1024))


def test_csv_and_json_hold_every_point(tmp_path):
    sweep("8b", "rtx4090", out=tmp_path / "a.csv", block_bytes=1, **MESH)
    sweep("8b", "rtx4090", out=tmp_path / "a.json", block_bytes=1, **MESH)
    assert json.loads((tmp_path / "a.json").read_text())["points"] == wanted()
    with open(tmp_path / "a.csv", newline="") as stream:
        read = list(csv.DictReader(stream))
    assert [float(r["tps.expected"]) for r in read] == [r["tps.expected"] for r in wanted()]
    assert read[0]["memory.fits"] == "true" and read[0]["model.weights.format"] == "q4_k_m"


def test_conditions_choose_the_points_that_are_written_and_printed(tmp_path):
    result = sweep("8b", "rtx4090", where=["tps.expected>=60", "memory.fits"], out=tmp_path / "a.json", block_bytes=1, **MESH)
    points = [r for r in wanted() if r["tps.expected"] >= 60 and r["memory.fits"]]
    assert json.loads((tmp_path / "a.json").read_text())["points"] == points and 0 < result.chosen == len(points) < result.points
    args = ["8b", "--hw", "ddr5", "--axis", "batch=1:64:log2", "--where", "tps.expected>=5", "--format"]
    assert len(run(*args, "csv")[1].splitlines()) == 1 + len(json.loads(run(*args, "json")[1])["rows"])
    assert "4 of 7 points meet tps.expected>=5" in run(*args, "text")[1]


def test_blanks_are_null(tmp_path):
    pytest.importorskip("pyarrow")
    for name in ("a.parquet", "a.csv", "a.json"):
        sweep("8b", "rtx4090", batch=[1, 0], out=tmp_path / name, errors="nan")
    assert [r["memory.fits"] for r in json.loads((tmp_path / "a.json").read_text())["points"]] == [True, None]
    assert (tmp_path / "a.csv").read_text().splitlines()[2] == "0,,,,,"
    found = rows_of(tmp_path / "a.parquet")
    assert found[1]["decode.regime"] is None and found[0]["decode.regime"] == "memory" and found[1]["memory.fits"] is None


def test_files_that_are_there_are_kept(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("mine")
    with pytest.raises(SpecError, match="there already"):
        sweep("8b", "ddr5", batch=[1, 2], out=path)
    assert path.read_text() == "mine"
    sweep("8b", "ddr5", batch=[1, 2], out=path, force=True)
    assert len(path.read_text().splitlines()) == 3
    (tmp_path / "b.csv.partial").write_text("left")
    with pytest.raises(SpecError, match="interrupted sweep left"):
        sweep("8b", "ddr5", batch=[1, 2], out=tmp_path / "b.csv")
    with pytest.raises(SpecError, match="no folder"):
        sweep("8b", "ddr5", batch=[1, 2], out=tmp_path / "c" / "d.csv")
    with pytest.raises(SpecError, match="whole number"):
        sweep("8b", "ddr5", batch=[1, 2.5], out=tmp_path / "e.csv")
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "b.csv.partial"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("name", ["points.parquet", "points.csv"])
def test_what_was_written_before_a_signal_can_be_read(tmp_path, how, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    args = ["sweep", "8b", "--hw", "ddr5", "--axis", "context=1:2000000", "--axis", "batch=1:1000", "-o", name]
    process = subprocess.Popen(
        [sys.executable, "-m", "costmodel", *args], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    partial = tmp_path / f"{name}.partial"
    for _ in range(2000):
        if len(list(partial.glob("part-*"))) >= 2 or (partial.is_file() and partial.stat().st_size > 500_000):
            break
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(how)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -how) and not printed
    assert not (tmp_path / name).exists()
    if how == signal.SIGINT:
        assert said.endswith("interrupted\n") and f"of 2,000,000,000 points are in {name}.partial" in said
    if name.endswith("parquet"):
        table = pytest.importorskip("pyarrow.parquet").read_table(partial)
        points = [table.slice(i, 1).to_pylist()[0] for i in (0, 1, 2, len(table) // 2, len(table) - 1)]
    else:
        with open(partial, newline="") as stream:
            points = list(csv.DictReader(stream))[:-1]
    for row in (points[0], points[-2], points[-1]):
        p = predict("8b", "ddr5", context=int(float(row["context"])), batch=int(float(row["batch"])))
        assert float(row["tps.expected"]) == pytest.approx(p.tps.expected, rel=1e-9)
    assert [int(float(points[i]["batch"])) for i in range(3)] == [1, 2, 3]


RANGES = [
    ("batch=1:64:log2", [1, 2, 4, 8, 16, 32, 64]),
    ("batch=1:100:log2", [1, 2, 4, 8, 16, 32, 64]),
    ("batch=1:4", [1, 2, 3, 4]),
    ("context=1k:4k:4", [1024, 2048, 3072, 4096]),
    ("context=0:8k:+2k", [0, 2048, 4096, 6144, 8192]),
    ("prompt=1:10000:5:log", [1, 10, 100, 1000, 10000]),
    ("output=3,1,8k", [3, 1, 8192]),
    ("hw.memory.vram.bandwidth=500GB/s:2TB/s:4", [5e11, 1e12, 1.5e12, 2e12]),
    ("hw.memory.vram.bandwidth=500 GB/s, 1 TB/s", [5e11, 1e12]),
    ("hw.memory.vram.capacity=8 GiB:32 GiB:x2", [2**33, 2**34, 2**35]),
    ("hw.links.peer.latency=1us:3us:+1us", [1e-6, 2e-6, 3e-6]),
    ("tech.speculative-decoding.acceptance=0.5:0.9:3", [0.5, 0.7, 0.9]),
    ("tech.speculative-decoding.drafted=1,2,4", [1, 2, 4]),
    ("model.dims.L=8:32:log2", [8, 16, 32]),
]


@pytest.mark.parametrize(("text", "numbers"), RANGES)
def test_ranges_are_read(text, numbers):
    assert read_axis(text).numbers.tolist() == pytest.approx(numbers)


def test_lists_of_names_are_read():
    assert read_axis("model.weights.format=q4_k_m, bf16").values == ["q4_k_m", "bf16"]
    assert read_axis("techniques=none;int4+kv-int8;speculative-decoding:drafted=2,acceptance=0.5").labels == [
        "none",
        "int4+kv-int8",
        "speculative-decoding:drafted=2,acceptance=0.5",
    ]
    assert read_axis("engine=vllm,llama.cpp").name == "engine" and read_axis("hw=ddr5,rtx4090").name == "hardware"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("batch", "is not NAME=VALUES"),
        ("batch=", "is not NAME=VALUES"),
        ("batch=8:1:log2", "goes upwards"),
        ("batch=1:8:often", "says no values"),
        ("batch=1:8:4:exp", "says no values"),
        ("batch=0:8:log2", "start above 0"),
        ("batch=1:8:x1", "factor above 1"),
        ("batch=1:8:+0", "no step"),
        ("hw.memory.vram.bandwidth=1GB/s:2GB/s", "say how many"),
        ("context=0:1k:5:log", "starts above 0"),
        ("batch=1:1000000000000", "values; want 1 to"),
        ("batch=1:8:99999999999", "values; want 1 to"),
        ("nothing=1,2", "is no axis"),
    ],
)
def test_ranges_that_cannot_be_read_are_refused(text, message):
    with pytest.raises(SpecError) as refused:
        read_axis(text)
    assert message in str(refused.value)


def test_units_come_from_the_schema():
    units = {
        ("memory", "vram", "bandwidth"): BYTE_RATE,
        ("memory", "vram", "capacity"): BYTE,
        ("host", "dram", "bandwidth"): BYTE_RATE,
        ("host", "compute", "int8"): FLOP_RATE,
        ("compute", "fp16"): FLOP_RATE,
        ("links", "peer", "latency"): SECOND,
        ("power",): WATT,
    }
    for path, dim in units.items():
        assert dim_of("hardware", path) == dim
        assert base_value(base_text(1234.5, dim), dim) == 1234.5
    assert dim_of("hardware", ("usable",)) is not None and base_text(0.5, dim_of("hardware", ("usable",))) == "0.5"
    assert dim_of("hardware", ("nothing", "here")) is None and dim_of("model", ("weights", "format")) is None
    assert axis("hw.memory.vram.bandwidth", [1e12, "1 TB/s"]).numbers.tolist() == [1e12, 1e12]


def test_the_command_prints_every_point_of_a_small_mesh():
    code, printed, _ = run("8b", "--hw", "ddr5", "--axis", "batch=1:4:log2", "--axis", "context=1k,4k", "--format", "csv")
    rows = list(csv.DictReader(printed.splitlines()))
    assert code == 0 and len(rows) == 6
    assert float(rows[3]["tps.expected"]) == pytest.approx(predict("8b", "ddr5", batch=2, context=4096).tps.expected, rel=1e-9)
    for fmt in ("text", "markdown"):
        assert (
            f"{predict('8b', 'ddr5', batch=2, context=4096).tps.expected:.1f}"
            in run("8b", "--hw", "ddr5", "--axis", "batch=2", "--axis", "context=1k,4k", "--format", fmt)[1]
        )


def test_the_command_as_json():
    args = ["8b", "14b", "--hw", "rtx4090", "--axis", "context=1k:128k:40", "--axis", "batch=1:64:log2", "--where", "memory.fits"]
    args += [
        "--best",
        "system_tps",
        "--pareto",
        "system_tps,tps.expected",
        "--quantiles",
        "tps.expected=0.1,0.9",
        "--histogram",
        "tps.expected=0:100:4",
    ]
    code, printed, said = run(*args, "--format", "json")
    found = json.loads(printed)
    assert code == 0 and not said and found["schema"] == "costmodel/sweep@1" and found["points"] == 2 * 40 * 7
    best = found["best"]["system_tps"][0]
    p = predict(best["model"], "rtx4090", context=best["context"], batch=best["batch"])
    assert best["system_tps"] == pytest.approx(p.system_tps, rel=1e-9) and best["memory.fits"] and len(found["best"]["system_tps"]) == 5
    counts = found["histograms"]["tps.expected"]
    assert sum(counts["counts"]) + counts["below"] + counts["above"] == found["chosen"] and set(found["quantiles"]["tps.expected"]) == {
        "0.1",
        "0.9",
    }
    for lang in ("en", "ko"):
        assert run(*args, "--lang", lang)[0] == 0


def test_the_command_reads_a_table(tmp_path):
    table = tmp_path / "points.csv"
    table.write_text("model,hw,batch,hw.memory.vram.bandwidth\n8b,rtx4090,4,500 GB/s\n14b,rtx3090,1,1 TB/s\n")
    code, printed, _ = run("--table", str(table), "--figure", "tps.expected", "--format", "csv")
    rows = list(csv.DictReader(printed.splitlines()))
    p = predict("14b", "rtx3090", sets=("hw.memory.vram.bandwidth=1 TB/s",))
    assert code == 0 and float(rows[1]["tps.expected"]) == pytest.approx(p.tps.expected, rel=1e-9) and len(rows) == 2
    for text, message in (
        ("", "want a heading"),
        ("batch\n", "want a heading"),
        ("batch,context\n1\n", "row 2 has 1 cells"),
        ("btach\n1\n", "no axis"),
        ("batch\n2.5\n", "got"),
    ):
        table.write_text(text)
        code, printed, said = run("8b", "--hw", "ddr5", "--table", str(table))
        assert code == 2 and not printed and message in said, text
    assert run("8b", "--hw", "ddr5", "--table", str(tmp_path / "none.csv"))[0] == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--axis", "batch=1:2000"], "2,000 points are more than are printed (1,000)"),
        (["--axis", "batch=1:8:3", "--best", "tps"], "no figure `tps`"),
        (["--axis", "batch=1,x"], "whole number"),
        (["--axis", "batch=1,2", "--quantiles", "tps.expected"], "cannot be read"),
        (["--axis", "batch=1,2", "--histogram", "tps.expected=1:2"], "cannot be read"),
        (["--axis", "batch=1,2", "--best", "tps.expected", "--best", "system_tps", "--format", "csv"], "CSV is one table"),
        (["--axis", "batch=1,2", "--axis", "batch=1,2"], "given twice"),
        (["--axis", "batch=1,2", "--table", "x.csv"], "--table` has the axes"),
        (["--axis", "techniques=none;int4", "-t", "kv-int8"], "techniques are given twice"),
        (["--axis", "batch=1,2", "-o", "x.doc"], "want a name that ends in"),
    ],
)
def test_the_command_refuses_in_one_message(args, message):
    code, printed, said = run("8b", "--hw", "ddr5", *args)
    assert code == 2 and not printed and said.startswith("error: ") and message in said and "Traceback" not in said


def test_without_numpy_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    code, printed, said = run("8b", "--hw", "ddr5", "--axis", "batch=1:4")
    assert code == 2 and not printed and "needs NumPy" in said and "pip install numpy" in said


def test_processes_give_the_same(tmp_path):
    args = [
        "8b",
        "--hw",
        "ddr5",
        "--axis",
        "batch=1:64",
        "--axis",
        "context=1k:9k:500",
        "--best",
        "system_tps",
        "--where",
        "memory.fits",
        "--format",
        "json",
    ]
    assert run(*args, "--jobs", "2") == run(*args)


def test_the_command_wants_a_model_and_a_machine():
    assert "no model is given" in run("--hw", "ddr5", "--axis", "batch=1,2")[2]
    assert "no hardware is given" in run("8b", "--axis", "batch=1,2")[2]


@pytest.mark.full
def test_a_hundred_million_points_take_little_memory():
    program = """
import resource, numpy as np, costmodel
r = costmodel.sweep("8b", "ddr5", batch=np.arange(1, 201), context=np.arange(1, 20001, 20), best="tps.expected", where="memory.fits",
    axes={"hw.memory.dram.bandwidth": np.linspace(4e10, 4e12, 500)}, pareto=["system_tps", "tps.expected"], quantiles={"tps.expected": 0.5})
print(r.points, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    points, peak = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert int(points) == 10**8 and int(peak) * 1024 < 10**9
