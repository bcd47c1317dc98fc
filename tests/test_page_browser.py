"""The page of `costmodel report` in headless Chromium: `pytest -m full`. Skipped where there is none (`apt-get install chromium`)."""

from __future__ import annotations

import json
import re

import pytest
from browser import Browser, find
from click.testing import CliRunner

from costmodel import predict
from costmodel.cli import main
from costmodel.sizes import scaled, seconds, short

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(find() is None, reason="no Chromium: install Debian's `chromium`, or name one in COSTMODEL_BROWSER"),
    pytest.mark.xdist_group("browser"),
]
BASE = {"engine": "rule-of-thumb", "techniques": ["flash-attention"], "sets": ("model.weights.format=bf16",), "prompt": 1024, "output": 256}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, words in {
        "table": ["memory-vs-speed"],
        "grid": [
            "--model",
            "8b",
            "--model",
            "3b",
            "--hw",
            "ddr5",
            "--hw",
            "rtx4090",
            "-t",
            "none",
            "-t",
            "speculative-decoding",
            "--formats",
            "bf16",
        ],
        "korean": ["local-pcs", "--lang", "ko", "--formats", "none"],
        "bare": ["hardware"],
        "odd": ["--model", "gpt-oss-20b", "--hw", "rtx4090", "--formats", "none"]
        + [w for t in ("chunked-prefill", "disaggregation:decode=h100-sxm", "experts-on-host", "continuous-batching") for w in ("-t", t)],
    }.items():
        done = CliRunner().invoke(main, ["report", *words, "-o", str(folder / f"{name}.html")])
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(find(), tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture
def opened(browser, files):
    """Opens a page, and afterwards asks that it logged nothing and asked for nothing but itself."""
    shown = []

    def show(name: str, **window):
        shown.append((files / f"{name}.html").as_uri())
        browser.open(files / f"{name}.html", **window)
        return browser

    yield show
    assert browser.console == [] and set(browser.requests) == {shown[-1]}


def cards(browser) -> dict[str, str]:
    return browser.js(
        "Object.fromEntries([...document.querySelectorAll('.card')].map(c => [c.id.slice(5), c.querySelector('.value').textContent]))"
    )


def as_printed(p) -> dict[str, str]:
    return {
        "tps": short(p.tps.expected),
        "tpot": seconds(p.tpot_s.expected),
        "ttft": seconds(p.ttft_s.expected),
        "memory": scaled(p.memory.total_bytes, "B"),
        "regime": p.decode.regime,
    }


def value_of(browser, control: str) -> float:
    return float(browser.js(f"document.getElementById('n-{control}').value"))


def focus(browser, selector: str) -> None:
    browser.js(f"document.querySelector({json.dumps(selector)}).focus()")


def test_untouched_it_shows_what_predict_prints(opened):
    browser = opened("table")
    assert cards(browser) == as_printed(predict("8b", "rtx4090", context=32768, **BASE))


def test_sliders_move_by_keyboard_and_the_numbers_are_those_of_predict(opened):
    browser = opened("table")
    focus(browser, "#s-context")
    browser.press("ArrowLeft", 3)
    context = int(value_of(browser, "context"))
    assert 16000 < context < 32768
    assert cards(browser) == as_printed(predict("8b", "rtx4090", context=context, **BASE))
    focus(browser, "#s-batch")
    browser.press("ArrowRight", 5)
    focus(browser, "#s-bw")
    browser.press("ArrowRight", 8)
    batch, bandwidth = int(value_of(browser, "batch")), value_of(browser, "bw")
    assert batch > 3 and bandwidth == pytest.approx(2 * 1008)
    moved = BASE | {"sets": (*BASE["sets"], f"hw.memory.vram.bandwidth={bandwidth} GB/s")}
    assert cards(browser) == as_printed(predict("8b", "rtx4090", context=context, batch=batch, **moved))
    assert browser.js("document.getElementById('s-context').getAttribute('aria-valuetext')") == f"{context:,}"
    browser.js("document.getElementById('reset').click()")
    browser.settle()
    assert cards(browser) == as_printed(predict("8b", "rtx4090", context=32768, **BASE))


def test_bits_step_to_a_compiled_format(opened):
    browser = opened("table")
    focus(browser, "#s-bits")
    browser.press("ArrowLeft", 4)
    assert browser.js("document.getElementById('format').selectedOptions[0].textContent").startswith("q8_0")
    q8 = BASE | {"sets": ("model.weights.format=q8_0",)}
    assert cards(browser) == as_printed(predict("8b", "rtx4090", context=32768, **q8))
    browser.press("ArrowLeft", 1)
    assert "Not a format" in browser.js("document.getElementById('h-bits').textContent")


def test_typed_numbers_and_acceptance(opened):
    browser = opened("grid")
    browser.js(
        "{ const s = document.querySelector('#choice-technique'); s.value = 'speculative-decoding'; s.dispatchEvent(new Event('change')); }"
    )
    browser.settle()
    focus(browser, "#n-knob_speculative_decoding_acceptance")
    browser.js("document.activeElement.select()")
    browser.type("0.9")
    browser.press("Tab")
    p = predict("8b", "ddr5", techniques=["speculative-decoding:acceptance=0.9"])
    assert cards(browser) == as_printed(p)
    focus(browser, "#n-batch")
    browser.js("document.activeElement.select()")
    browser.type("0")
    browser.press("Tab")
    assert value_of(browser, "batch") == 1 and cards(browser) == as_printed(p)


def test_choosing_another_model_and_machine(opened):
    browser = opened("grid")
    for axis, place in (("model", 1), ("hardware", 1)):
        focus(browser, f"#choice-{axis}")
        browser.js(
            f"{{ const s = document.querySelector('#choice-{axis}'); s.selectedIndex = {place}; s.dispatchEvent(new Event('change')); }}"
        )
        browser.settle()
    assert cards(browser) == as_printed(predict("3b", "rtx4090"))
    assert browser.js("document.querySelectorAll('#notes li').length") > 1


def test_tables_sort_and_filter_by_keyboard(opened):
    browser = opened("table")
    column = "[...document.querySelectorAll('#study tbody')].map(b => b.rows[0].cells[2].textContent)"
    order = browser.js(column)
    focus(browser, "#study th:nth-child(3) button")
    browser.press("Enter")
    heading = "document.querySelector('#study th:nth-child(3)').getAttribute('aria-sort')"
    assert browser.js(heading) == "ascending"
    ratios = [float(text.rpartition("(")[2].split("x")[0]) for text in browser.js(column)]
    assert ratios == sorted(ratios) and len(ratios) == len(order)
    browser.press(" ")
    assert browser.js(heading) == "descending" and browser.js(column)[0] == order[0]
    browser.press("Enter")
    assert browser.js(heading) is None and browser.js(column) == order
    focus(browser, "#filter")
    browser.type("kv quant")
    shown = browser.js("[...document.querySelectorAll('#study tbody')].filter(b => !b.hidden).map(b => b.rows[0].cells[0].textContent)")
    assert shown == ["KV quantization"] and "3 of 17" in browser.js("document.getElementById('shown').textContent")


def test_charts_are_read_by_keyboard_and_as_tables(opened):
    browser = opened("table")
    focus(browser, "#charts figure:nth-child(2) .drawing")
    browser.press("Home")
    first = browser.js("document.querySelector('#charts figure:nth-child(2) .readout').textContent")
    p = predict("8b", "rtx4090", context=1, **BASE)
    assert f"1: {short(p.tps.expected)} tok/s ({short(p.tps.low)} – {short(p.tps.high)}), ceiling {short(p.tps.ceiling)}" in first
    browser.press("ArrowRight", 3)
    assert browser.js("document.querySelector('#charts figure:nth-child(2) .readout').textContent") != first
    browser.js("document.querySelectorAll('#charts details').forEach(d => { d.open = true })")
    browser.settle()
    browser.wait("document.querySelectorAll('#charts details table').length === 4")
    counts = browser.js("[...document.querySelectorAll('#charts details tbody')].map(b => b.rows.length)")
    assert counts[0] >= 5 and all(n > 20 for n in counts[1:])
    assert browser.js("[...document.querySelectorAll('#charts svg')].every(s => !/NaN|Infinity/.test(s.outerHTML))")


def test_every_case_is_drawn_whatever_it_lacks(opened):
    browser = opened("odd")
    for place in range(4):
        browser.js(
            f"{{ const s = document.querySelector('#choice-technique'); s.selectedIndex = {place}; s.dispatchEvent(new Event('change')); }}"
        )
        browser.settle()
        if place == 0:
            assert cards(browser) == as_printed(predict("gpt-oss-20b", "rtx4090", techniques=["chunked-prefill"]))
            focus(browser, "#s-context")
            browser.press("ArrowRight")
            assert cards(browser)["ttft"] == "-" and cards(browser)["tps"] != "-"
        text = browser.js(
            "document.querySelector('#what-if').innerText + [...document.querySelectorAll('svg')].map(s => s.outerHTML).join()"
        )
        assert not re.search(r"NaN|undefined|Infinity|\[object", text)


def test_markup_in_titles_stays_text(browser, tmp_path):
    title = "</script><script>window.hit=1</script><img src=x onerror=window.hit=2>"
    rows = f"  - {{name: one, title: {{en: {json.dumps(title)}}}, case: {{techniques: [int4]}}}}"
    head = f"schema: costmodel/study@1\nname: evil\ntitle: {{en: {json.dumps(title)}}}\nview: memory-vs-speed\nbase: {{model: 8b, hardware: ddr5}}\n"
    (tmp_path / "evil.yaml").write_text(f"{head}rows:\n{rows}\n", "utf-8")
    done = CliRunner().invoke(main, ["report", str(tmp_path / "evil.yaml"), "-o", str(tmp_path / "evil.html"), "--formats", "none"])
    assert done.exit_code == 0, done.output
    browser.open(tmp_path / "evil.html")
    assert browser.js("[window.hit ?? null, document.title, document.querySelector('h1').textContent]") == [None, title, title]
    assert title in browser.js("[...document.querySelector('#choice-technique').options].map(o => o.textContent)") and browser.console == []


def test_a_title_without_spaces_pushes_no_column_away(browser, tmp_path):
    rows = f"  - {{name: one, title: {{en: {'LongTitle' * 30}}}, case: {{techniques: [int4]}}}}"
    head = "schema: costmodel/study@1\nname: long\nextends: words\ntitle: {en: Long}\nview: memory-vs-speed\nbase: {model: 8b, hardware: ddr5}\n"
    (tmp_path / "long.yaml").write_text(f"{head}rows:\n{rows}\n", "utf-8")
    done = CliRunner().invoke(main, ["report", str(tmp_path / "long.yaml"), "-o", str(tmp_path / "long.html"), "--formats", "none"])
    assert done.exit_code == 0, done.output
    browser.open(tmp_path / "long.html")
    assert browser.js("(() => { const s = document.querySelector('#study').parentElement; return s.scrollWidth - s.clientWidth })()") == 0


@pytest.mark.parametrize("name", ["table", "grid", "korean", "bare", "odd"])
def test_a_phone_shows_it_without_scrolling_sideways(opened, name):
    browser = opened(name, width=360, height=740, mobile=True)
    browser.js("document.querySelectorAll('details').forEach(d => { d.open = true })")
    browser.settle()
    assert browser.js("document.documentElement.scrollWidth") <= 360
    wide = browser.js(
        "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > 361 && !e.closest('.scroll, .unseen'))"
        ".map(e => e.tagName + '.' + e.className)"
    )
    assert wide == []


def test_every_control_is_reached_by_tab_and_shows_its_focus(opened):
    browser = opened("table")
    browser.js("document.querySelectorAll('details').forEach(d => { d.open = true }); document.activeElement.blur(); scrollTo(0, 0)")
    browser.settle()
    wanted = set(
        browser.js(
            "[...document.querySelectorAll('button, select, input, summary, .drawing, a')].map((e, i) => (e.dataset.at = i, String(i)))"
        )
    )
    found, plain = set(), []
    for _ in range(len(wanted) + 30):
        browser.press("Tab")
        at, look = browser.js(
            "(() => { const e = document.activeElement, s = getComputedStyle(e); return [e.dataset.at ?? null, [s.outlineStyle, s.outlineWidth]] })()"
        )
        if at is not None:
            found.add(at)
            if look[0] == "none" or look[1] == "0px":
                plain.append(at)
    assert wanted - found == set() and plain == []


def test_everything_that_takes_the_focus_has_a_name(opened):
    browser = opened("table")
    browser.js("document.querySelectorAll('details').forEach(d => { d.open = true })")
    named = [pair for pair in browser.names() if pair[0] not in ("RootWebArea",)]
    assert len(named) > 30 and [pair for pair in named if not pair[1].strip()] == []
    roles = {role for role, _ in named}
    assert not any(c in name for _, name in named for c in "↕↑↓•")
    assert {"slider", "spinbutton", "combobox", "button", "searchbox"} <= roles


def test_dark_windows_have_readable_contrast(opened):
    for scheme in ("light", "dark"):
        browser = opened("table", scheme=scheme)
        ratios = browser.js(
            """(() => {
              const parts = (c) => c.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
              const light = (c) => { const [r, g, b] = parts(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
              const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return "rgb(255,255,255)"; };
              return [...document.querySelectorAll('p, td, th, label, .value, .more, .what, a, summary, li, dd, dt')].filter((e) => e.offsetParent && e.textContent.trim())
                .map((e) => { const [a, b] = [light(getComputedStyle(e).color), light(back(e))]; return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.className, e.tagName]; })
                .filter(([ratio]) => ratio < 4.5);
            })()"""
        )
        assert ratios == []
    assert browser.js("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 22, 26)"


def test_policy_stops_connections(browser, files):
    browser.open(files / "table.html")
    refused = browser.js("fetch('https://example.org/').then(() => 'sent', () => 'refused')")
    tried = "const s = document.createElement('script'); s.textContent = 'window.hit = 1'; document.head.append(s); window.hit ?? 'stopped'"
    assert refused == "refused" and browser.js(f"(() => {{ {tried.replace('window.hit ??', 'return window.hit ??')} }})()") == "stopped"
    assert all(url.startswith("file:") for url in browser.requests)
