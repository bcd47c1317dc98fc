"""Faults of input that once ended in a traceback, a false place, a wrong number or a very long run."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from costmodel.cli import main
from costmodel.importers.measurements import read_text
from costmodel.library import Library
from costmodel.solve.measured.scores import scored

ENGINE = "schema: costmodel/engine@1\nname: mine\nextends: llama.cpp\n"
TABLE = "model,hardware,format,prompt_tokens,context_depth,gen_tokens,decode_tok_s\n"
ROW = "llama-3.1-8b,rtx3090,Q4_K_M,512,0,128,118\n"


def run(*args):
    """A command's result; standard error is kept apart."""
    found = CliRunner().invoke(main, [str(a) for a in args])
    assert found.exception is None or isinstance(found.exception, SystemExit)
    return found


@pytest.fixture
def written(tmp_path):
    """Writes a file and returns its path."""

    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_links_are_listed_sorted_and_filtered():
    assert "0.125 GB/s" in run("list", "links", "ethernet-1g").output
    rows = json.loads(run("list", "links", "--filter", "bandwidth>100GB/s", "--format", "json").output)
    assert rows and all(r["bandwidth"] > 100e9 and r["latency"] > 0 for r in rows)
    assert "links" in run("list", "--help").output


def test_a_note_of_the_reading_is_no_skipped_figure(written):
    data = written("a.csv", TABLE.replace("\n", ",colour\n") + ROW.replace("\n", ",red\n"))
    found = run("evaluate", data)
    assert "1 scored, 0 above the ceiling, 0 skipped" in found.stdout and "note: 1 column is ignored: `colour`" in found.stderr


@pytest.mark.parametrize("command", ["evaluate", "calibrate"])
def test_an_engine_that_was_asked_for_must_be_there(written, command):
    found = run(command, written("a.csv", TABLE + ROW), "--engine", "vlm")
    assert found.exit_code == 2 and "no engine `vlm`" in found.stderr and "did you mean `vllm`" in found.stderr
    bad = written("bad.yaml", ENGINE + "coefficients: {reach: {value: abc}}\n")
    found = run(command, written("a.csv", TABLE + ROW), "--engine", bad)
    assert found.exit_code == 2 and "bad.yaml:4:31" in found.stderr


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"512": '"1,5"'}, "want a whole number"),
        ({"118": "1e300"}, "the number is too large"),
        ({"118": "1e400"}, "the number is too large"),
    ],
)
def test_a_cell_is_not_taken_for_another_number(written, cells, said):
    row = ROW
    for old, new in cells.items():
        row = row.replace(old, new)
    found = run("evaluate", written("a.csv", TABLE + row))
    assert found.exit_code == 2 and said in found.stderr and "a.csv:2:" in found.stderr


def test_counts_may_still_be_grouped():
    assert read_text(TABLE + ROW.replace("512", '"1,024"'), "a.csv")[0].prompt == 1024


def test_rows_of_one_machine_and_model_are_read_once(monkeypatch):
    rows = read_text(TABLE + "".join(ROW.replace("512", str(500 + i)) for i in range(50)), "a.csv")
    made = []
    plain = Library.load_text
    monkeypatch.setattr(Library, "load_text", lambda self, *given: made.append(given) or plain(self, *given))
    results, _ = scored(Library(), rows)
    assert len(results) == 50 and len(made) == 1  # 4 ms each


@pytest.mark.parametrize("value", ["1e300", "inf"])
def test_a_speed_that_is_too_high_is_not_called_too_low(value):
    assert "want less than 10^12" in run("check", value, "--model", "8b", "--hw", "ddr5").stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("engine: nosuch", "box.yaml:4:9: no engine `nosuch`"),
        ("host: {processor: nosuch}", "box.yaml:4:19: no hardware `nosuch`"),
    ],
)
def test_what_a_machine_names_must_be_there(written, given, said):
    box = written("box.yaml", f"schema: costmodel/hardware@1\nname: box\nextends: rtx4090\n{given}\n")
    found = run("validate", box)
    assert found.exit_code == 2 and said in found.stderr
    found = run("predict", "8b", "--hw", box, "-ngl", "10")
    assert found.exit_code == 2 and said in found.stderr


def test_no_reserve_may_be_stated(written):
    box = written("box.yaml", "schema: costmodel/hardware@1\nname: box\nextends: rtx4090\nmemory: {vram: {reserve: 0 GiB}}\n")
    assert run("predict", "8b", "--hw", box).exit_code == 0


@pytest.mark.parametrize(
    ("reach", "said"),
    [
        ("{value: true, low: 0, high: 1}", "value: want a number, got true"),
        ("{value: 0.5, low: 0.9, high: 0.1}", "0.5 lies outside its range 0.9 … 0.1"),
        ("{value: 0.5, low: 0, high: 1, prior: 5}", "the prior 5 lies outside the range 0 … 1"),
    ],
)
def test_a_coefficient_must_make_sense(written, reach, said):
    found = run("predict", "8b", "--hw", "rtx4090", "--engine", written("mine.yaml", f"{ENGINE}coefficients:\n  reach: {reach}\n"))
    assert found.exit_code == 2 and said in found.stderr and "mine.yaml:5:" in found.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("coefficients: {rech: {value: 1, low: 0, high: 2}}", "no name in a formula matches `rech`"),
        ("classes: {nvidai-*: {fused: true}}", "no hardware class matches `nvidai-*`"),
        ("classes: {nvidia-*: {formats: {q4_k_n: {math: int8}}}}", "no number format or family matches `q4_k_n`"),
    ],
)
def test_validate_tells_what_nothing_takes_up(written, given, said):
    found = run("validate", written("mine.yaml", f"{ENGINE}{given}\n"))
    assert found.exit_code == 0 and said in found.stderr and "did you mean" in found.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [("{model: lager}", "no model `lager`"), ("{hardware: hots}", "no hardware `hots`"), ("{techniques: [mpt]}", "no technique `mpt`")],
)
def test_what_an_explanation_names_must_be_there(written, change, said):
    found = run("validate", written("mine.yaml", f"schema: costmodel/explanation@1\nname: mine\ntitle: x\nchange: {change}\n"))
    assert found.exit_code == 2 and said in found.stderr and "mine.yaml:4:" in found.stderr
