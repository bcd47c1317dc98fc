"""Pages of `costmodel report` for tests: parsed, run in node, and the predictions that they stand for."""

from __future__ import annotations

import json
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from costmodel.api import library
from costmodel.compile.build import Case
from costmodel.report.page.cases import _first_of_each
from costmodel.report.page.write import report_page
from costmodel.solve.cases import DEFAULT_WORKLOAD
from costmodel.solve.grid import Axes, ad_hoc
from costmodel.solve.record import REGIMES
from costmodel.solve.settings import settings_of
from costmodel.solve.views import run_study

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the page's JavaScript")
GRID = Axes(
    models=("8b", "deepseek-v3"),
    hardware=("h100-sxm",),
    techniques=("none", "speculative-decoding", "prefix-caching+kv-int8"),
    contexts=(2048,),
)
OTHERS = Axes(
    models=("gpt-oss-20b",),
    hardware=("rtx4090",),
    techniques=("experts-on-host", "disaggregation:decode=h100-sxm", "continuous-batching", "chunked-prefill"),
)
STUDIES = {"memory-vs-speed": Axes(), "techniques": Axes(), "grid": GRID, "others": OTHERS, "decode-ceiling": Axes()}
FORMATS = {"memory-vs-speed": ("q4_k_m", "q8_0"), "grid": ("bf16",)}
INNER = ("compute_s", "memory_s", "link_s")


class Parsed(HTMLParser):
    """A page's elements, and the texts of scripts, styles and cells."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.texts: list[list] = []
        self.open = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.texts.append([tag, ""])
        self.open = True

    def handle_endtag(self, tag):
        self.open = False

    def handle_data(self, data):
        if self.open:
            self.texts[-1][1] += data

    def of(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]

    def attributes(self, tag: str) -> list[dict]:
        return [attributes for name, attributes in self.elements if name == tag]


class Page:
    """A study's page, and what it was made of."""

    def __init__(self, study, formats=(), lang="en"):
        self.study = study
        self.result = run_study(study, library())
        self.text = report_page(study, self.result, library(), lang, formats)
        self.parsed = Parsed(self.text)
        self.data_text, self.script = self.parsed.of("script")
        self.data = json.loads(self.data_text)
        self.settings = [one.setting for one in _first_of_each(settings_of(study))[0]]

    def node(self, code: str):
        """What a piece of JavaScript prints as JSON, with the page's code before it and its data in `page`."""
        program = f"{self.script}\nconst page = {self.data_text};\nconsole.log(JSON.stringify((() => {{{code}}})()))"
        done = subprocess.run(["node", "-"], input=program, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:2000]
        return json.loads(done.stdout)


_pages: dict[str, Page] = {}


def page(name: str) -> Page:
    if name not in _pages:
        axes = STUDIES[name]
        study, _ = ad_hoc(library(), "memory-vs-speed" if any(axes) else name, axes)
        _pages[name] = Page(study, FORMATS.get(name, ()))
    return _pages[name]


def figure(prediction, path: str):
    for part in path.split("."):
        prediction = prediction.get(part) or {} if isinstance(prediction, dict) else getattr(prediction, part)
    prediction = None if prediction == {} else prediction  # a tier that holds nothing
    return REGIMES.index(prediction) if path.endswith("regime") else int(prediction) if isinstance(prediction, bool) else prediction


def close(found, want) -> bool:
    """Whether two figures agree to 1e-9; what a prediction does not state is 0 or nothing."""
    return (
        found == want or (found == 0 and want is None) or (found is not None and want is not None and abs(found - want) <= 1e-9 * abs(want))
    )


def case_of(setting, program) -> Case:
    sets = (*(s for s in setting.set if not s.startswith("model.weights.format=")), f"model.weights.format={program['format']}")
    work = DEFAULT_WORKLOAD | setting.workload
    return Case(setting.model, setting.hardware, setting.engine, setting.techniques, work["devices"], sets)
