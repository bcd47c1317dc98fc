"""The page as one HTML file: the template, its style and scripts, and the study's data, under a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

from ...language.problem import problem
from ..render import environment
from ..study import table_of
from ..words import Words
from .cases import FORMATS, MOST_PROGRAMS, collect
from .tables import groups
from .words import words_in

SCRIPTS = ("format.js", "model.js", "table.js", "controls.js", "chart.js", "charts.js", "figures.js", "main.js")
"""The page's own code, in the order in which it is loaded."""


MOST_NAMED = 3
"""Most models, and most machines, that stand in the title of a grid."""


def report_page(study, result: dict, library, lang: str = "en", formats=FORMATS, progress=None) -> str:
    """The page of a study and its result (:func:`costmodel.solve.views.run_study`). Raises :class:`SpecError`."""
    from markupsafe import Markup

    from ... import __version__

    table = table_of(study, result, lang)
    found = collect(study, library, Words(study, lang), formats, progress)
    texts = words_in(lang)
    data = {key: found[key] for key in ("axes", "cases", "programs")} | {"words": texts}
    style = asset("page.css")
    script = "\n".join(['"use strict";', f"const FORMULAS = {found['functions']};", *map(asset, SCRIPTS)])
    checked_script(script)
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            **table | {"title": titled(study, table["title"], found["cases"])},
            groups=groups(table),
            w=texts,
            version=__version__,
            varied=bool(found["cases"]),
            left_out=found["left_out"],
            few_formats=found["few_formats"],
            refused=found["refused"],
            most=MOST_PROGRAMS,
            policy=policy(script, style),
            style=Markup(style),
            script=Markup(script),
            data=Markup(json_in_html(data)),
        )
    )


def titled(study, title: str, cases: list[dict]) -> str:
    """The study's title; of a grid of options, which has none of its own, its models and machines where these are few."""
    names = [list(dict.fromkeys(one["labels"][axis] for one in cases)) for axis in ("model", "hardware")]
    if study.title != study.texts.get("combinations") or not all(0 < len(found) <= MOST_NAMED for found in names):
        return title
    return " / ".join(", ".join(found) for found in names)


def checked_target(target: Path, force: bool) -> Path:
    """The file to write. Raises :class:`SpecError` for a folder, another suffix, and what is there already unless `force`."""
    from ..importing import is_there

    shown = str(target)[:120]
    there = is_there(target)
    if there and target.is_dir():
        raise problem(f"`{shown}` is a folder", help="give a name that ends in .html")
    if target.suffix.lower() not in (".html", ".htm"):
        raise problem(f"`{shown}` is no page's name", help="give a name that ends in .html")
    if there and not force:
        raise problem(f"`{shown}` is there already", help="--force replaces it")
    return target


def asset(name: str) -> str:
    """A file of the page's style or code, as it is."""
    from ...folders import data_root

    return (Path(data_root("reports/templates")) / "page" / name).read_text("utf-8")


def json_in_html(data) -> str:
    """JSON that no text in it can end: `<`, `>`, `&` and the line separators of JavaScript are escaped. Raises ValueError for NaN."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda m: f"\\u{ord(m[0]):04x}", text)


def checked_script(text: str) -> None:
    """Refuse code that would end its own element."""
    found = re.search(r"</script|<!--|<script", text, re.I)
    if found:
        raise problem(f"`{found[0]}` in a formula cannot be written into a page")


def policy(script: str, style: str) -> str:
    """The content security policy: this script and this style by their hashes, no connection, no other source."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
