"""Error statistics, the report of an evaluation, and its plot, on rows made here."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.language.problem import SpecError
from costmodel.report.evaluate import TEXTS, render
from costmodel.report.plots.scatter import save_plot
from costmodel.solve.errors import beyond, error, evaluate, quantile, summary


def row(measured=10.0, expected=11.0, phase="decode", **more):
    made = {"id": "a", "phase": phase, "measured": measured, "expected": expected, "low": 8.0, "high": 12.0, "ceiling": 1e9}
    return (
        made
        | {"class": "cpu-desktop", "format": "q4_k_m", "engine": "llama.cpp", "kind": "single", "model": "8b", "hardware": "ddr5"}
        | more
    )


def many(n=60, seed=1):
    pick = random.Random(seed)
    made = []
    for i in range(n):
        measured = 10 ** pick.uniform(0, 3)
        labels = {
            "class": pick.choice(["cpu-desktop", "nvidia-geforce"]),
            "kind": pick.choice(["single", "batched"]),
            "in_sample": i % 2 == 0,
        }
        made.append(row(measured, measured * pick.lognormvariate(0, 0.3), pick.choice(["decode", "prefill"]), id=f"m{i}", **labels))
    return made


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.floats(0, 1))
def test_quantiles_are_those_of_numpy(values, share):
    numpy = pytest.importorskip("numpy")
    assert quantile(values, share) == pytest.approx(float(numpy.quantile(values, share)), abs=1e-6)


def test_quantile_of_nothing_is_an_error():
    with pytest.raises(ValueError):
        quantile([], 0.5)


def test_summary_of_rows_counted_by_hand():
    rows = [row(10, 12), row(10, 9), row(10, 5, low=None), row(10, 20, low=11.0)]
    assert [round(error(r), 9) for r in rows] == [0.2, -0.1, -0.5, 1.0]
    found = summary(rows)
    assert found["n"] == 4 and found["near"] == 0.5
    assert found["median"] == pytest.approx(0.35) and found["bias"] == pytest.approx(0.05)
    assert found["p90"] == pytest.approx(0.85)
    assert found["in_span"] == pytest.approx(2 / 3)
    assert set(summary([]).values()) == {0, None}


def test_rows_above_the_ceiling_are_apart():
    # R61
    fine, not_fine = row(10, 10, ceiling=10), row(10.1, 2, ceiling=10)
    assert (beyond(fine), beyond(not_fine), beyond(row(ceiling=None))) == (False, True, False)
    found = evaluate([fine, not_fine])
    assert (found["rows"], found["scored"], found["above_ceiling"]) == (2, 1, [not_fine])
    assert found["overall"][0]["median"] == 0


def test_worst_is_by_factor_whichever_way():
    half, more, zero = row(10, 4.9, id="half"), row(10, 20, id="double"), row(10, 0, id="zero")
    assert [r["id"] for r in evaluate([more, half, zero, row()], worst=3)["worst"]] == ["zero", "half", "double"]


def test_groups_add_up_and_phases_stay_apart():
    found = evaluate(many())
    for label, groups in found["groups"].items():
        assert sum(g["n"] for g in groups) == found["scored"], label
    everything = {(r["phase"], r["rows"]): r["n"] for r in found["overall"]}
    for phase in ("decode", "prefill"):
        assert everything[phase, "all"] == everything[phase, "held_out"] + everything[phase, "in_sample"]


def test_skipped_rows_are_counted_by_reason():
    assert list(evaluate([], ["b", "a", "b"])["skipped"].items()) == [("b", 2), ("a", 1)]
    assert evaluate([], {"c": 3})["skipped"] == {"c": 3}


@pytest.mark.parametrize("fmt", ["text", "markdown"])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_report_shows_its_parts(fmt, lang):
    rows = [*many(), row(10, 5, ceiling=9, id="too-fast"), row(10, 99, id="worst-of-all")]
    text = render(rows, ["no document"] * 3, fmt, lang)
    for part in (
        TEXTS[lang]["worst"],
        TEXTS[lang]["above"].split("(")[0],
        "too-fast",
        "worst-of-all",
        "+890 %",
        "no document",
        "nvidia-geforce",
    ):
        assert part in text
    assert not re.search(r"\{\w*\}|None|\n\n\n", text)
    assert fmt == "markdown" or all(len(line) <= 100 for line in text.splitlines())


def test_report_of_nothing():
    assert TEXTS["en"]["none"] in render([])


def test_control_characters_are_not_printed():
    assert "\x1b" not in render([row(id="\x1b[31mred", model="a|b")], ["\x1b[0m"], "markdown")


def test_json_is_plain_and_complete():
    rows = many()
    data = json.loads(render(rows, {"x": 1}, "json"), parse_constant=pytest.fail)
    assert data["schema"] == "costmodel/evaluation@1" and data["skipped"] == {"x": 1}
    assert [r["id"] for r in data["rows"]] == [r["id"] for r in rows]
    first = data["rows"][0]
    assert first["error"] == pytest.approx(first["expected"] / first["measured"] - 1)
    assert len(data["worst"]) == 10 and data["count"] == 60


def test_both_languages_have_the_same_words():
    assert TEXTS["en"].keys() == TEXTS["ko"].keys()
    for key, text in TEXTS["en"].items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", TEXTS["ko"][key])), key


@pytest.mark.parametrize(("suffix", "head"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_plot_is_written(tmp_path, suffix, head):
    pytest.importorskip("matplotlib")
    target = tmp_path / f"plot.{suffix}"
    save_plot([*many(), row(10, 5, ceiling=9)], target)
    assert target.read_bytes().startswith(head)


def test_plot_draws_every_row_and_is_the_same_twice(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [*(row(3 + i, 4 + i) for i in range(7)), *(row(10, 5 + i, ceiling=9, **{"class": "tpu"}) for i in range(2))]
    for name in ("a.svg", "b.svg"):
        save_plot(rows, tmp_path / name)
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert text == (tmp_path / "b.svg").read_text("utf-8")
    points = [len(re.findall("<use ", part)) for part in re.findall(r'<g id="PathCollection_\d+">.*?\n   </g>', text, re.S)]
    assert sorted(points) == [2, 2, 7]  # the classes, and the ring


def test_plot_refuses(tmp_path):
    with pytest.raises(SpecError, match=r"ends in \.svg"):
        save_plot(many(), tmp_path / "plot.gif")
    with pytest.raises(SpecError, match="nothing to draw"):
        save_plot([], tmp_path / "plot.svg")
    pytest.importorskip("matplotlib")
    (tmp_path / "a.svg").write_text("")
    with pytest.raises(SpecError, match="cannot write"):
        save_plot(many(), tmp_path / "a.svg" / "plot.svg")


def test_reports_load_no_matplotlib():
    code = "import sys, costmodel.report.evaluate, costmodel.report.plots, costmodel.solve.errors; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert not {"matplotlib", "numpy", "scipy", "jinja2", "sympy"} & set(done.stdout.split())
