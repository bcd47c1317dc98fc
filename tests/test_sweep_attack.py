"""Sweeps that someone tried to break: arguments of other types, nothing that meets, repeated goals, documents of one name, files."""

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

from costmodel import SpecError, load_model, predict, sweep
from costmodel.cli import main
from costmodel.solve.sweep.figures import NAMES, scalar
from costmodel.solve.sweep.ranges import read_axis

np = pytest.importorskip("numpy")
BW = "hw.memory.vram.bandwidth"
NONE = ["--where", "tps.expected>=1e9"]
SMALL = ["8b", "--hw", "ddr5", "--axis", "batch=1:8"]


def run(*args: str):
    result = CliRunner().invoke(main, ["sweep", *args])
    return result.exit_code, result.stdout, result.stderr


WRONG = [
    *({name: 5} for name in ("axes", "where", "best", "pareto", "quantiles", "histogram", "figures", "sets", "techniques")),
    *({name: 5} for name in ("library", "executor", "progress", "table", "force", "keep")),
    *({"axes": {BW: v}} for v in ([object()], [[1]], [1j], [b"1 TB/s"], [10**400], np.array(["2020-01-01"], "datetime64[D]"))),
    *({"axes": v} for v in ([1], "x")),
    *({"quantiles": {"tps.expected": v}} for v in (None, "x", [object()], [2])),
    *({"histogram": {"tps.expected": v}} for v in ("ab", [object(), 1], [[1], [2, 3]], [0, float("inf")])),
    *({"block_bytes": v} for v in (None, "x", -5, float("nan"))),
    *({"in_flight": v} for v in (-1, "x")),
    *({"out": v} for v in ("a\0b.csv", "/", "./", "../")),
    *({"where": v} for v in (b"memory.fits", "tps.expected<nan", "tps.expected>=20 GB", "ttft_s.expected<5 GB", {"memory.fits": 1})),
    *({"pareto": v} for v in (["tps.expected"] * 2, ["min:tps.expected", "max:tps.expected"], ["tps.expected", "decode.regime"])),
    *({"prompt": v} for v in ([10**400], np.ma.array([1, 2], mask=[0, 1]))),
    {"techniques": [[5]]},
    {"sets": [5]},
    {"best": "decode.regime"},
    {"quantiles": {"decode.regime": 0.5}},
]


@pytest.mark.parametrize("options", WRONG, ids=[f"{next(iter(o))}-{i}" for i, o in enumerate(WRONG)])
def test_what_is_of_another_type_is_one_clear_error(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError):
        sweep("8b", "rtx4090", **{"batch": [1, 2], **options})
    assert not os.listdir(tmp_path)


def test_other_numbers_of_python_are_taken():
    r = sweep("8b", "rtx4090", batch=[1, 2], sets=None, quantiles={"tps.expected": np.float32(0.5)}, block_bytes=1e6)
    assert r.quantiles["tps.expected"][0.5] > 0


def test_every_figure_is_read_of_every_prediction():
    used = {"techniques": ("offload:share=0.5",)}
    for p in (predict("8b", "ddr5"), predict("llama-3.3-70b", "rtx4090", **used)):
        assert len({n: scalar(p, n) for n in NAMES}) == len(NAMES)
    name = "memory.tiers.host.weights_bytes"
    r = sweep("llama-3.3-70b", "rtx4090", batch=[1, 2], figures=[name], **used)
    assert r[name][1] == pytest.approx(predict("llama-3.3-70b", "rtx4090", batch=2, **used).memory.tiers["host"]["weights_bytes"])


def test_documents_of_one_name_are_not_one(tmp_path):
    (tmp_path / "a.yaml").write_text("schema: costmodel/model@1\nname: 8b\nextends: llama-3.1-8b\nweights: {format: bf16}\n")
    models = [load_model("8b"), load_model(str(tmp_path / "a.yaml"))]
    want = [predict(m, "ddr5").tps.expected for m in models]
    assert want[0] > 2 * want[1]
    for table in (True, False):
        assert sweep(models, "ddr5", table=table).tps.expected.tolist() == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize(
    "asked", [["--pareto", "tps.expected, system_tps"], ["--best", "tps.expected"], ["--quantiles", "tps.expected=0.5"]]
)
@pytest.mark.parametrize("fmt", ["text", "json", "markdown", "csv"])
def test_no_point_that_meets_is_no_error(asked, fmt):
    code, printed, said = run(*SMALL, *asked, *NONE, "--format", fmt)
    assert code == 0 and not said and "rows" not in printed
    if fmt == "text" and asked[0] != "--quantiles":
        assert "no point meets the conditions" in printed


def test_both_ways_of_a_goal_are_kept():
    r = sweep("8b", "ddr5", batch=[1, 2, 4], best=["tps.expected", "min:tps.expected", "ttft_s.expected"])
    first = {name: rows[0]["batch"] for name, rows in r.best.items()}
    assert first == {"max:tps.expected": 1, "min:tps.expected": 4, "ttft_s.expected": 1}


def test_repeated_quantiles_add_up_and_repeated_histograms_are_refused():
    found = json.loads(run(*SMALL, "--quantiles", "tps.expected=0.1", "--quantiles", "tps.expected=0.5", "--format", "json")[1])
    assert set(found["quantiles"]["tps.expected"]) == {"0.1", "0.5"}
    code, printed, said = run(*SMALL, "--histogram", "tps.expected=0:1:2", "--histogram", "tps.expected=0:2:2")
    assert code == 2 and not printed and "given twice" in said


def test_quantiles_and_histograms_are_tables():
    rows = list(csv.DictReader(run(*SMALL, "--quantiles", "tps.expected=0,1", "--format", "csv")[1].splitlines()))
    assert [r["rank"] for r in rows] == ["0.0", "1.0"] and float(rows[0]["value"]) < float(rows[1]["value"])
    rows = list(csv.DictReader(run(*SMALL, "--histogram", "tps.expected=0:20:2", "--format", "csv")[1].splitlines()))
    assert [r["from"] for r in rows] == ["", "0.0", "10.0", "20.0"] and sum(int(r["points"]) for r in rows) == 8
    assert "| tps.expected | 0.500 |" in run(*SMALL, "--quantiles", "tps.expected=0.5", "--format", "markdown")[1]


def test_what_csv_cannot_hold_is_refused_before_the_sweep_runs(tmp_path):
    path = tmp_path / "a.csv"
    code, printed, said = run(*SMALL, "--best", "tps.expected", "--quantiles", "tps.expected=0.5", "--format", "csv", "-o", str(path))
    assert code == 2 and not printed and "CSV is one table" in said and not path.exists()


def test_a_csv_file_has_one_heading(tmp_path):
    r = sweep(
        "8b", "ddr5", batch=range(1, 33), context=range(100, 20000, 200), where="tps.expected<3", out=tmp_path / "a.csv", block_bytes=1
    )
    with open(tmp_path / "a.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert 0 < r.chosen == len(rows) and all(float(row["tps.expected"]) < 3 for row in rows)


def test_force_removes_nothing_but_the_points_of_a_sweep(tmp_path):
    for name in ("mine", "mine.parquet", "b.parquet.partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("mine")
    for name in ("mine/", "mine.parquet", "b.parquet"):
        with pytest.raises(SpecError, match="more than a sweep's points"):
            sweep("8b", "ddr5", batch=[1, 2], out=f"{tmp_path}/{name}", force=True)
    assert [f.read_text() for f in tmp_path.rglob("a.txt")] == ["mine"] * 3


def test_folders_of_points_are_replaced(tmp_path):
    pytest.importorskip("pyarrow")
    for batch in ([1, 2], [1, 2, 4]):
        r = sweep("8b", "ddr5", batch=batch, out=f"{tmp_path}/points/", force=True)
    assert r.points == 3 and os.listdir(tmp_path) == ["points"] and os.listdir(tmp_path / "points") == ["part-000000.parquet"]


@pytest.mark.parametrize("name", ["no/a.json", "no/a.csv", "x" * 300 + ".csv"])
def test_files_that_cannot_be_written_are_refused_at_once(tmp_path, name):
    with pytest.raises(SpecError, match=r"no folder|cannot write"):
        sweep("8b", "ddr5", batch=[1, 2], out=tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "hw.usable=0:1:+1e-320",
        "hw.usable=-1e308:1e308:3",
        "model.dims.L=1e-320:1e308:x2",
        "model.dims.L=1:1e308:x1e400",
        "batch=1:8:" + "9" * 5000,
    ],
    ids=lambda t: t[:40],
)
def test_ranges_at_the_ends_of_numbers_are_refused(text):
    with pytest.raises(SpecError):
        read_axis(text)


def test_rows_beside_blanks_are_as_without_them():
    args = ["8b", "--hw", "rtx4090", "--axis", "batch=1,0", "--skip-invalid"]
    rows = json.loads(run(*args, "--format", "json")[1])["rows"]
    assert repr(rows[0]["batch"]) == "1" and rows[0]["memory.fits"] is True and rows[0]["decode.regime"] == "memory"
    assert repr(rows[1]["batch"]) == "0" and rows[1]["memory.fits"] is rows[1]["decode.regime"] is rows[1]["tps.expected"] is None
    assert run(*args, "--format", "csv")[1].splitlines()[2] == "0,,,,," and "without a value: 1" in run(*args)[1]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_processes_end_where_the_one_that_began_them_is_killed(tmp_path):
    args = ["sweep", "8b", "--hw", "ddr5", "--axis", "context=1:2000000", "--axis", "batch=1:1000", "-o", "a.csv", "--jobs", "2"]
    process = subprocess.Popen([sys.executable, "-m", "costmodel", *args], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for _ in range(3000):
        if (tmp_path / "a.csv.partial").exists() and (tmp_path / "a.csv.partial").stat().st_size > 0:
            break
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=60)  # ends when no process holds the pipe
    assert process.returncode == -signal.SIGKILL


def test_an_axis_is_not_given_beside_one_value(tmp_path):
    (tmp_path / "a.csv").write_text("model,batch\n14b,1\n")
    for args in (["--table", str(tmp_path / "a.csv")], ["--axis", "model=14b"], ["--axis", "hw=rtx4090"]):
        code, printed, said = run("8b", "--hw", "ddr5", *args)
        assert code == 2 and not printed and "is given twice" in said
    with pytest.raises(SpecError, match="given twice"):
        sweep("8b", "ddr5", batch=4, axes={"batch": [1, 2]})
    assert sweep(None, None, axes={"model": ["8b"], "hw": ["ddr5"], "batch": [1, 2]}).points == 2


def test_devices_have_ranges():
    assert read_axis("devices=1:8:log2").labels == [1, 2, 4, 8] and read_axis("devices=1:3").labels == [1, 2, 3]
    assert read_axis("devices=1,4").labels == [1, 4]
