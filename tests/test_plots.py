"""Pictures: labels that do not overlap, values that are the predictions', files, fonts, and the command."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import costmodel
from costmodel.cli import main
from costmodel.language.problem import SpecError
from costmodel.report import plots
from costmodel.report.plots import files, fonts
from costmodel.report.plots.front import Point, front
from costmodel.report.plots.words import TEXTS
from costmodel.report.predict import LABELS

pytest.importorskip("matplotlib")
from matplotlib.text import Text
from refresh_pictures import PAGE, PICTURES, commands

SHIPPED = {name: line for name, line in commands().items() if "--lang" not in line}
HANGUL = "".join(
    sorted({c for text in map(str, (TEXTS["ko"] | LABELS["ko"]).values()) for c in text if "가" <= c <= "힣"} | set(fonts.SAMPLE))
)


def run(*args: str, code: int = 0):
    result = CliRunner().invoke(main, ["plot", *map(str, args)])
    assert result.exit_code == code, result.output + result.stderr
    if code == 2:
        assert result.stdout == "" and "Traceback" not in result.stderr
    return result


# --- what is legible


def corners(text, renderer):
    """The four corners of a text's box as it is turned, and a little less, so that touching is no crossing."""
    import numpy as np

    angle = text.get_rotation()
    text.set_rotation(0)
    box = Text.get_window_extent(text, renderer)
    text.set_rotation(angle)
    turned = Text.get_window_extent(text, renderer)
    half = np.array([box.width, box.height]) / 2 - 0.5
    a = np.radians(angle)
    turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    middle = np.array([turned.x0 + turned.x1, turned.y0 + turned.y1]) / 2
    return [middle + turn @ (half * np.array(s)) for s in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def crossing(a, b) -> bool:
    """Whether two rectangles cross: no side of either parts them."""
    for box in (a, b):
        for i in range(2):
            dx, dy = box[i + 1] - box[i]
            one, two = ([x * dx + y * dy for x, y in other] for other in (a, b))
            if max(one) <= min(two) or max(two) <= min(one):
                return False
    return True


def shown(figure) -> list:
    """The texts that are drawn: labels of ticks only where the tick lies on the axis."""
    ticks, drawn = set(), set()
    for axis in figure.axes:
        for one in (axis.xaxis, axis.yaxis):
            ticks |= {t for tick in (*one.majorTicks, *one.minorTicks) for t in (tick.label1, tick.label2)}
            drawn |= {t for tick in one._update_ticks() for t in (tick.label1, tick.label2)} if one.get_visible() else set()
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    return [t for t in texts if t not in ticks or t in drawn]


def check(figure) -> int:
    """No text crosses another or leaves the figure; labels stay inside their axes. Returns how many labels there are."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    texts = shown(figure)
    boxes = {t: corners(t, renderer) for t in texts}
    for a, b in combinations(texts, 2):
        assert not crossing(boxes[a], boxes[b]), f"{a.get_text()!r} over {b.get_text()!r}"
    for t in texts:
        for x, y in boxes[t]:
            assert 0 <= x <= figure.bbox.x1 and 0 <= y <= figure.bbox.y1, f"{t.get_text()!r} leaves the figure"
    labels = [t for axis in figure.axes for t in axis.texts if t.get_text()]
    for t in labels:
        room = t.axes.get_window_extent(renderer)
        assert all(room.x0 <= x <= room.x1 and room.y0 <= y <= room.y1 for x, y in boxes[t]), f"{t.get_text()!r} leaves the axes"
        assert t.get_fontsize() >= 6.5
    return len(labels)


@pytest.fixture(scope="module")
def hangul(tmp_path_factory):
    """A family that has Hangul: an installed one, else squares as wide as such glyphs are."""
    if fonts.hangul() is None:
        from matplotlib.font_manager import fontManager

        fontManager.addfont(square_font(tmp_path_factory.mktemp("font") / "squares.ttf", "Squares", HANGUL))
        fonts.hangul.cache_clear()
    yield fonts.hangul()
    fonts.hangul.cache_clear()


def square_font(path: Path, family: str, characters: str, one: bool = False) -> str:
    """A font whose glyphs are all squares; with `one` a single glyph for all characters."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    for i, p in enumerate(((50, 0), (50, 800), (850, 800), (850, 0))):
        (pen.lineTo if i else pen.moveTo)(p)
    pen.closePath()
    square = pen.glyph()
    names = {ord(c): "same" if one else f"u{ord(c):04X}" for c in characters}
    order = [".notdef", *dict.fromkeys(names.values())]
    made = FontBuilder(1000, isTTF=True)
    made.setupGlyphOrder(order)
    made.setupCharacterMap(names)
    made.setupGlyf(dict.fromkeys(order, square))
    made.setupHorizontalMetrics(dict.fromkeys(order, (920, 50)))
    made.setupHorizontalHeader(ascent=880, descent=-120)
    made.setupNameTable({"familyName": family, "styleName": "Regular"})
    made.setupOS2()
    made.setupPost()
    made.save(path)
    return str(path)


KINDS = {line.split()[2]: name for name, line in SHIPPED.items()}
"""One picture of each kind: in Korean all of them are a longer run."""


@pytest.mark.parametrize(
    ("name", "lang"),
    [pytest.param(name, "en", marks=[] if name in KINDS.values() else pytest.mark.full) for name in SHIPPED]
    + [pytest.param(name, "ko", marks=[] if name in KINDS.values() else pytest.mark.full) for name in SHIPPED],
)
def test_shipped_pictures_are_legible(hangul, monkeypatch, tmp_path, name, lang):
    kept = []
    monkeypatch.setattr(files, "save", lambda figure, path, force=False: kept.append(figure))
    line = SHIPPED[name].split()[2:]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a missing glyph is one
        run(*[tmp_path / word if word == name else word for word in line], "--lang", lang)
    assert check(kept[0]) or "memory" in name
    words = " ".join(t.get_text() for t in shown(kept[0]))
    assert bool(re.search("[가-힣]", words)) == (lang == "ko")


CROWDED = {
    "eight techniques": lambda p: plots.roofline(
        [p("mixtral-8x7b", "h100-sxm", techniques=t, batch=64) for t in ([], ["fp8"], ["flash-attention"], ["mtp"], ["kv-int4"])]
    ),
    "host and operators": lambda p: plots.roofline(p("llama-3.3-70b", "rtx4090", techniques=["gpu-layers:layers=41"]), operators=True),
    "models and machines": lambda p: plots.roofline(
        [p(m, h, techniques=t) for m in ("gpt-oss-20b", "8b") for h in ("rtx4090", "m3-max") for t in ([], ["kv-int8"])], lang="ko"
    ),
    "disaggregation": lambda p: plots.roofline([p("8b", "h100-sxm", techniques=t) for t in ([], ["disaggregation:decode=rtx4090"])]),
    "six curves": lambda p: plots.batch(
        [p("llama-3.1-8b", h, techniques=t) for h in ("rtx4090", "h100-sxm") for t in ([], ["int4"], ["kv-int4"])], (1, 1024), lang="ko"
    ),
    "beyond the model": lambda p: plots.context([p("8b", "ddr5"), p("8b", "m4")], (1024, 2**20)),
    "nothing fits": lambda p: plots.context([p("llama-3.3-70b", "rtx4090"), p("mamba-2.8b", "rtx4090")]),
    "sixteen bars": lambda p: plots.memory(
        [p("gpt-oss-120b", h, techniques=t) for h in ("rtx4090", "h100-sxm") for t in ([], ["experts-on-host"])], (1024, 65536), lang="ko"
    ),
    "forty points": lambda p: plots.pareto(
        [p(m, h, sets=(f"model.weights.format={f}",), batch=b)
         for m in ("8b", "14b") for h in ("rtx4090", "ddr5") for f in ("q8_0", "q6_k", "q5_k_m", "q4_k_m", "bf16") for b in (1, 8)]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [n if i % 3 == 0 else pytest.param(n, marks=pytest.mark.full) for i, n in enumerate(CROWDED)])
def test_crowded_pictures_are_legible(hangul, name):
    figure = CROWDED[name](costmodel.predict)
    assert check(figure) or name == "sixteen bars"


@settings(max_examples=6, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), min_size=1, max_size=25))
def test_labels_of_any_points_keep_apart(points):
    from costmodel.report.plots.labels import Labels, settle
    from costmodel.report.plots.style import drawing, new_figure

    with drawing():
        figure = new_figure(4, 3)
        axis = figure.subplots()
        axis.set(xlim=(-1, 11), ylim=(-1, 11))
        settle(figure)
        labels = Labels(axis)
        xs, ys = zip(*points, strict=True)
        labels.keep_off(xs, ys)
        labels.avoid([0, 10], [0, 10])
        for i, (x, y) in enumerate(points):
            labels.add(f"point {i}", [x], [y])
        left = labels.place()
        assert left < len(points)
        assert check(figure) == len(points) - left


# --- what is true


def marks(axis) -> list[tuple]:
    """(x, y) of single marks, as drawn."""
    return [(line.get_xdata()[0], line.get_ydata()[0]) for line in axis.lines if len(line.get_xdata()) == 1]


@pytest.mark.parametrize(("model", "hardware", "techniques"), [("8b", "ddr5", []), ("deepseek-v2-lite", "h100-sxm", ["fp8"])])
def test_roofline_has_the_figures_of_the_prediction(model, hardware, techniques):
    p = costmodel.predict(model, hardware, techniques=techniques, batch=4)
    axis = plots.roofline(p).axes[0]
    data = p.to_dict()
    for phase in ("prefill", "decode"):
        d = data[phase]
        for y in (d["flops"] / d["expected_s"], d["attainable_flops"]):
            assert any(m == pytest.approx((d["intensity"], y)) for m in marks(axis)), (phase, y)
        assert any(line.get_xdata()[0] == pytest.approx(d["ridge"]) for line in axis.lines)
    rates = costmodel.load_hardware(hardware).doc
    bandwidth = next(iter(rates.memory.values())).bandwidth
    rising = [line for line in axis.lines if len(line.get_xdata()) > 50 and line.get_ydata()[0] < line.get_ydata()[-1]]
    flat = {line.get_ydata()[0] for line in axis.lines if len(line.get_xdata()) > 50 and line.get_ydata()[0] == line.get_ydata()[-1]}
    assert len(rising) == 1 and rising[0].get_ydata()[5] == pytest.approx(bandwidth * rising[0].get_xdata()[5])
    assert flat and flat <= set(map(float, rates.compute.values()))


def test_roofline_arrows_lead_from_the_plain_model_to_each_technique():
    cases = [costmodel.predict("llama-3.1-8b", "rtx4090", techniques=t) for t in ([], ["int4"], ["batching:slots=16"])]
    axis = plots.roofline(cases).axes[0]
    arrows = [a for a in axis.texts if not a.get_text() and a.arrow_patch is not None and a.arrowprops["arrowstyle"] == "-|>"]
    at = {(a.get_position(), a.xy) for a in arrows}
    plain, *others = [(p.decode.intensity, p.decode.flops / p.decode.expected_s) for p in cases]
    assert {(plain, other) for other in others} <= at


def test_context_curve_is_predict_at_every_context():
    p = costmodel.predict("llama-3.1-8b", "rtx4090", techniques=["kv-int8"])
    axis = plots.context(p, (1000, 200_000)).axes[0]
    found = dict(marks(axis))
    assert {1000, 2048, 65536, 131072, 200_000} <= set(found)
    for x, y in found.items():
        assert y == pytest.approx(costmodel.predict("llama-3.1-8b", "rtx4090", techniques=["kv-int8"], context=int(x)).tps.expected)
    line = max(axis.lines, key=lambda one: (one.get_linestyle() == "--", len(one.get_xdata())))
    at = costmodel.predict("llama-3.1-8b", "rtx4090", techniques=["kv-int8"], context=int(line.get_xdata()[7])).tps
    assert line.get_ydata()[7] == pytest.approx(at.ceiling)


def test_memory_runs_out_where_the_solver_says():
    p = costmodel.predict("llama-3.1-8b", "rtx4090")
    text = next(t.get_text() for t in plots.context(p).axes[0].texts if "full" in t.get_text())
    most = int(text.rpartition(" ")[2].replace(",", ""))
    fits = [costmodel.predict("llama-3.1-8b", "rtx4090", context=c).memory.fits for c in (most, most + 1)]
    assert fits == [True, False]
    per_user, all_users = plots.batch(costmodel.predict("llama-3.1-8b", "rtx4090", context=4096)).axes
    most = int(next(t.get_text() for t in per_user.texts if "full" in t.get_text()).rpartition(" ")[2])
    fits = [costmodel.predict("llama-3.1-8b", "rtx4090", context=4096, batch=b).memory.fits for b in (most, most + 1)]
    assert fits == [True, False]
    for x, y in marks(all_users):
        assert y == pytest.approx(costmodel.predict("llama-3.1-8b", "rtx4090", context=4096, batch=int(x)).system_tps)


def test_memory_bars_are_the_parts_of_memory():
    cases = [costmodel.predict("jamba-v0.1", "h100-sxm"), costmodel.predict("8b", "rtx4090", techniques=["speculative-decoding"])]
    axis = plots.memory(cases).axes[0]
    for row, p in enumerate(cases):
        wide = [b.get_width() for b in axis.patches if abs(b.get_y() + b.get_height() / 2 - row) < 0.1]
        parts = [getattr(p.memory, f"{k}_bytes") for k in ("weights", "kv", "state", "workspace", "draft")]
        assert wide == pytest.approx([size / 1e9 for size in parts if size])
        assert sum(wide) == pytest.approx(p.memory.total_bytes / 1e9)
    lines = {round(line.get_xdata()[0] * 1e9) for line in axis.lines}
    assert lines == {round(v) for p in cases for v in (p.memory.usable_bytes, p.memory.capacity_bytes)}
    host = plots.memory(costmodel.predict("llama-3.3-70b", "rtx4090", techniques=["gpu-layers:layers=41"]))
    assert len(host.axes[0].get_yticklabels()) == 2


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6), st.booleans()), max_size=12))
def test_front_is_what_nothing_beats(points):
    made = [Point(str(i), *p) for i, p in enumerate(points)]
    able = [p for p in made if p.counts]
    best = {(p.x, p.y) for p in able if not any((q.x <= p.x and q.y >= p.y and (q.x, q.y) != (p.x, p.y)) for q in able)}
    found = front(made)
    assert {(p.x, p.y) for p in found} == best and len(found) == len(best)
    assert [p.x for p in found] == sorted(p.x for p in found)


def test_savings_are_the_ratios_of_the_matrix():
    import json

    result = CliRunner().invoke(main, ["matrix", "--format", "json"])
    rows = json.loads(result.stdout)["rows"]
    want = [(v["memory_ratio"], v["speed_ratio"]) for row in rows for v in row["variants"] or [row]]
    from costmodel.api import library
    from costmodel.solve.views import run_study

    study = library().load("study", "memory-vs-speed").doc
    found = marks(plots.savings(study, run_study(study, library())).axes[0])
    for drawn, wanted in zip(sorted(found), sorted([*want, (1, 1)]), strict=True):
        assert drawn == pytest.approx(wanted)


def test_what_does_not_fit_is_hollow_and_in_no_front():
    cases = [costmodel.predict(m, "rtx4090") for m in ("llama-3.3-70b", "8b", "1b")]
    axis = plots.pareto(cases).axes[0]
    hollow = [line for line in axis.lines if len(line.get_xdata()) == 1 and line.get_markerfacecolor() == "white"]
    assert [line.get_xdata()[0] for line in hollow] == pytest.approx([cases[0].memory.total_bytes / 1e9])


def test_labels_name_what_differs():
    cases = [
        costmodel.predict("8b", "rtx4090", techniques=t) for t in (["int4"], ["int4", "batching:slots=4"], ["int4", "batching:slots=8"])
    ]
    texts = [t.get_text() for t in plots.context(cases).legends[0].get_texts()]
    assert texts[:3] == ["plain", "batching slots=4", "batching"]
    same = [costmodel.predict("8b", "rtx4090")] * 2
    assert [t.get_text() for t in plots.context(same).legends[0].get_texts()][:2] == ["plain (1)", "plain (2)"]


# --- files


def test_the_same_case_is_the_same_file_whatever_the_settings(tmp_path):
    import matplotlib

    p = costmodel.predict("8b", "ddr5")
    plots.save(plots.roofline(p), tmp_path / "a.svg")
    with matplotlib.rc_context({"font.size": 25, "axes.facecolor": "red", "svg.fonttype": "none", "lines.linewidth": 9}):
        plots.save(plots.roofline(p), tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert text == (tmp_path / "b.svg").read_text("utf-8")
    assert "<text" not in text and "<dc:date>" not in text


@pytest.mark.parametrize(("suffix", "head"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("PDF", b"%PDF")])
def test_formats(tmp_path, suffix, head):
    target = tmp_path / f"new folder/memory.{suffix}"
    assert run("memory", "8b", "--hw", "ddr5", "-o", target).stdout == f"wrote {target}\n"
    assert target.read_bytes().startswith(head)


def test_nothing_is_overwritten_unasked(tmp_path):
    target = tmp_path / "a.svg"
    target.write_text("mine")
    assert "--force replaces it" in run("memory", "8b", "--hw", "ddr5", "-o", target, code=2).stderr
    assert target.read_text() == "mine"
    with pytest.raises(SpecError, match="is there already"):
        plots.save(plots.memory(costmodel.predict("8b", "ddr5")), target)
    run("memory", "8b", "--hw", "ddr5", "-o", target, "--force")
    assert target.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("roofline", "8b", "--hw", "ddr5", "-o", "a.gif"), r"ends in \.svg, \.png or \.pdf"),
        (("roofline", "8b", "--hw", "ddr5", "-o", "svg"), r"ends in \.svg"),
        (("roofline", "8b", "--hw", "ddr5", "-o", "folder.svg"), "is a folder"),
        (("roofline", "8b", "--hw", "ddr55", "-o", "a.svg"), "no hardware `ddr55`"),
        (("roofline", "9b", "--hw", "ddr5", "-o", "a.svg"), "no model `9b`"),
        (("roofline", "8b", "--hw", "ddr5", "-t", "int44", "-o", "a.svg"), "no technique `int44`"),
        (("context", "8b", "--hw", "ddr5", "--weights", "q4", "-o", "a.svg"), "q4"),
        (("context", "8b", "--hw", "ddr5", "--from", "8k", "--to", "4k", "-o", "a.svg"), "is no range"),
        (("batch", *["8b", "14b", "1b", "3b"], "--hw", "ddr5", "--hw", "rtx4090", "-o", "a.svg"), "8 cases in one picture; at most 6"),
        (("memory", "8b", "--hw", "ddr5", *["--context", "1", "--context", "2"] * 9, "-o", "a.svg"), "at most 16"),
        (("pareto", "phases", "-o", "a.svg"), "no memory and speed"),
        (("pareto", "nonsense", "-o", "a.svg"), "no study `nonsense`"),
        (("pareto", "--model", "8b", "--filter", "tps>9999", "-o", "a.svg"), "nothing to draw"),
        (("roofline", "8b", "-o", "a.svg"), "Missing option '--hw'"),
        (("roofline", "8b", "--hw", "ddr5"), "Missing option '-o'"),
    ],
)
def test_refusals(tmp_path, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.svg").mkdir()
    assert re.search(message, run(*args, code=2).stderr)
    assert [p.name for p in tmp_path.iterdir()] == ["folder.svg"]


def test_without_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    told = run("roofline", "8b", "--hw", "ddr5", "-o", tmp_path / "a.svg", code=2).stderr
    assert "need matplotlib" in told and "pip install matplotlib" in told
    with pytest.raises(SpecError, match="need matplotlib"):
        plots.pareto(costmodel.predict("8b", "ddr5"))


def test_pictures_load_matplotlib_only_when_drawn():
    code = "import sys, costmodel.report.plots, costmodel.commands.plot; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert not {"matplotlib", "numpy", "jinja2", "sympy", "pydantic"} & set(done.stdout.split())


def test_documents_may_have_any_title(desk, tmp_path):
    path = desk.machine(90, 1)
    text = Path(path).read_text("utf-8").replace("name: test-box", 'name: test-box\ntitle: {en: "$\\\\frac{ 漢字 $x_1$ <b>&"}')
    Path(path).write_text(text, "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plots.roofline([costmodel.predict("8b", path), costmodel.predict("8b", "ddr5")])
        plots.save(figure, tmp_path / "a.svg")
    assert "test-box" in [t.get_text() for t in figure.legends[0].get_texts()]
    Path(path).write_text(text.replace("漢字", ""), "utf-8")
    assert "$\\frac{" in costmodel.predict("8b", costmodel.Library().load("hardware", path)).runnable.meta["titles"]["hardware"]["en"]
    title = plots.memory(costmodel.predict("8b", costmodel.Library().load("hardware", path)))._suptitle.get_text()
    assert "$x_1$ <b>&" in title


# --- fonts


@pytest.fixture
def only(monkeypatch):
    """Matplotlib as where just the given font files are installed beside its own."""
    from matplotlib import font_manager

    def install(*paths: str) -> None:
        fonts.hangul.cache_clear()
        own = [e for e in font_manager.fontManager.ttflist if "mpl-data" in e.fname]
        monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
        monkeypatch.setattr(font_manager, "findSystemFonts", lambda *a, **k: list(paths))

    yield install
    fonts.hangul.cache_clear()


def test_korean_without_a_font_is_english_with_a_note(only, tmp_path):
    only(square_font(tmp_path / "last.ttf", "Last Resort", HANGUL, one=True), square_font(tmp_path / "some.ttf", "Some", "가나다"))
    assert fonts.hangul() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run("memory", "8b", "--hw", "ddr5", "--lang", "ko", "-o", tmp_path / "a.svg")
    assert result.stderr.count("\n") == 1 and "no font with Hangul is installed" in result.stderr and "NanumGothic" in result.stderr
    run("memory", "8b", "--hw", "ddr5", "-o", tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    with pytest.warns(UserWarning, match="no font with Hangul"):
        figure = plots.memory(costmodel.predict("8b", "ddr5"), lang="ko")
    assert figure.axes[0].get_xlabel() == TEXTS["en"]["memory"]


def test_korean_takes_a_font_by_its_glyphs(only, tmp_path):
    names = [square_font(tmp_path / "last.ttf", "Last Resort", HANGUL, one=True), square_font(tmp_path / "yes.ttf", "Unheard Of", HANGUL)]
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    only(*names, str(tmp_path / "broken.ttf"))
    assert fonts.hangul() == "Unheard Of"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run("memory", "llama-3.1-8b", "--hw", "rtx4090", "--lang", "ko", "-o", tmp_path / "a.svg")
        figure = plots.memory(costmodel.predict("llama-3.1-8b", "rtx4090"), lang="ko")
    assert result.stderr == "" and figure.axes[0].get_xlabel() == TEXTS["ko"]["memory"]


# --- words and pages


def test_both_languages_have_the_same_words():
    assert TEXTS["en"].keys() == TEXTS["ko"].keys()
    for key, text in TEXTS["en"].items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", TEXTS["ko"][key])), key


def test_the_page_shows_every_picture_that_is_shipped():
    text = PAGE.read_text("utf-8")
    shown = dict(re.findall(r"!\[([^\]]+)\]\(pictures/([^)]+)\)", text))
    assert sorted(shown.values()) == sorted(p.name for p in PICTURES.iterdir()) == sorted(commands())


def test_names_of_ticks_do_not_touch_however_far_a_range_goes():
    p = costmodel.predict("8b", "rtx4090")
    for figure in (plots.batch(p, (1, 10**12)), plots.context(p, (1, 2**30))):
        assert check(figure) > 0
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()][-1] == "256M"


@pytest.mark.parametrize(("devices", "said"), [(1, "memory, GB"), (2, "memory of each device, GB")])
def test_memory_of_several_devices_is_that_of_each(devices, said):
    cases = [costmodel.predict("8b", "rtx4090", techniques=t, devices=devices) for t in ([], ["kv-int8"])]
    for figure in (plots.memory(cases), plots.pareto(cases)):
        assert figure.axes[0].get_xlabel().startswith(said)
