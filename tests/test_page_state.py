"""What the page of `costmodel report` says of a moved case: no claim without a figure, the right machine's memory, the model's limits."""

from __future__ import annotations

from reportpages import Page, needs_node, page

from costmodel import predict
from costmodel.api import library
from costmodel.report.page.words import words_in
from costmodel.solve.grid import Axes, ad_hoc

WORDS = words_in("en")
FAR = "const moved = (i, id, v) => withValue(page, untouched(page, i), page.cases[i].controls.find((c) => c.id === id), v);"


def place_of(found: Page, technique: str) -> int:
    return next(i for i, one in enumerate(found.data["cases"]) if technique in one["labels"]["used"])


def grid(**axes) -> Page:
    return Page(ad_hoc(library(), "memory-vs-speed", Axes(**axes))[0])


def test_memory_is_that_of_the_machine_that_decodes():
    found = page("others")
    for setting, case in zip(found.settings, found.data["cases"], strict=True):
        memory = predict(setting.model, setting.hardware, techniques=setting.techniques).memory
        assert found.data["programs"][case["programs"][0]]["usable"] == memory.usable_bytes, setting
    assert len({p["usable"] for p in found.data["programs"]}) == 2


@needs_node
def test_memory_without_a_formula_is_not_said_to_fit():
    found = page("others")
    i = place_of(found, "chunked-prefill")
    still, moved, chart, first = found.node(
        f"{FAR} const state = moved({i}, 'context', 2 ** 20), start = untouched(page, {i});"
        "const fit = (s) => fitOf(page.words, figuresOf(page, s), programOf(page, s).program)[0];"
        "const chart = (s) => memoryOverContext(page, s, figuresOf(page, s));"
        "return [fit(start), fit(state), chart(state), chart(start)]"
    )
    assert (still, moved) == (WORDS["fits"], WORDS["no_formula"])
    assert chart["rows"] == [] and WORDS["no_formula"] in chart["summary"] and chart["y"]["high"] > 24
    total = predict("gpt-oss-20b", "rtx4090", techniques=["chunked-prefill"]).memory.total_bytes
    assert abs(first["points"][0]["y"] - total / 1e9) < 1e-9


@needs_node
def test_a_roof_is_drawn_where_a_phase_has_no_compute_time():
    found = page("others")
    i = place_of(found, "chunked-prefill")
    data = found.node(f"const s = untouched(page, {i}); return rooflineData(page, s, figuresOf(page, s))")
    heights = [y for shape in data["shapes"] if shape["kind"] == "line" for _, y in shape["points"]]
    assert all(y is not None for y in heights)  # JSON has null for what is not finite
    p = predict("gpt-oss-20b", "rtx4090", techniques=["chunked-prefill"]).prefill
    peak = p.attainable_flops * max(1, p.ridge / p.intensity)
    assert min(abs(y / peak - 1) for y in heights) < 1e-9


@needs_node
def test_more_tokens_than_the_model_was_made_for_are_told():
    found = page("others")
    i = place_of(found, "experts-on-host")
    last, beyond = found.node(f"{FAR} return [131072 - 256, 131072 - 255].map((n) => beyond(page, moved({i}, 'context', n)))")
    assert last == "" and "131,073" in beyond and "131,072" in beyond
    assert any("more than the model's context" in note for note in predict("gpt-oss-20b", "rtx4090", context=131072 - 255).assumptions)


@needs_node
def test_memory_of_several_devices_is_said_to_be_of_each():
    found = grid(models=("8b",), hardware=("rtx4090",), devices=(2,))
    told = found.node(
        "const s = untouched(page, 0), f = figuresOf(page, s); return cardsOf(page, s, f, f).find((c) => c.id === 'memory').more"
    )
    assert "each of 2 devices" in told


def test_a_study_of_refused_cases_says_so():
    refused = grid(models=("8b",), hardware=("rtx4090",), techniques=("experts-on-host",))
    assert refused.data["cases"] == []
    assert WORDS["all_refused"] in refused.parsed.of("p") and WORDS["nothing"] not in refused.parsed.of("p")
    bare = Page(ad_hoc(library(), "hardware", Axes())[0])
    assert WORDS["nothing"] in bare.parsed.of("p") and WORDS["all_refused"] not in bare.parsed.of("p")


@needs_node
def test_a_ceiling_in_the_column_of_floors_is_called_one():
    rows = page("others").node("return speedRows(page.words, figuresOf(page, untouched(page, 0)))")
    assert rows[0][1].endswith(" (ceiling)") and [len(row) for row in rows] == [4] * 4
    assert " " not in rows[2][3].replace("– ", "") and rows[2][3].count("– ") == 1  # numbers stay with their units


def test_workloads_are_told_in_the_language_of_the_page():
    axes = Axes(models=("1b",), hardware=("ddr5",), contexts=(1024, 8192))
    study, _ = ad_hoc(library(), "memory-vs-speed", axes)
    for lang, want in (("en", ["context 1,024", "context 8,192"]), ("ko", ["컨텍스트 1,024", "컨텍스트 8,192"])):
        assert [c["labels"]["workload"] for c in Page(study, (), lang).data["cases"]] == want


def test_a_grid_of_options_is_named_after_its_models_and_machines():
    assert grid(models=("1b",), hardware=("ddr5",)).parsed.of("h1") == ["1B (Llama 3.2 1B, Q4_K_M) / Desktop, dual-channel DDR5-5600"]
    assert grid(models=("1b", "3b", "8b", "14b"), hardware=("ddr5",)).parsed.of("title") == ["Every combination"]
    study = page("memory-vs-speed").study
    assert page("memory-vs-speed").parsed.of("h1") == [study.title.en]
