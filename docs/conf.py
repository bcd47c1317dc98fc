"""The site: `sphinx-build -W docs build/site` (extra `docs`). Pages of techniques, kinds and the library are made first, see `_ext`."""

import os
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "_ext"), str(Path(__file__).parent.parent)]

os.environ.pop("COSTMODEL_PATH", None)  # the site is about the documents of the repository

project = "costmodel"
author = "the costmodel authors"
copyright = author
extensions = ["myst_parser", "mathml", "made", "outside", "offline"]
root_doc = "index"
exclude_patterns = ["_*"]

myst_enable_extensions = ["attrs_inline", "dollarmath"]
myst_dmath_double_inline = False
myst_heading_anchors = 6
suppress_warnings = ["misc.highlighting_failure"]  # documents that are refused are no YAML, and are shown as they are

smartquotes = False  # options start with two dashes

html_theme = "furo"
html_title = "costmodel"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_search_summary = False  # would be fetched, which pages opened from a disk may not do
html_show_sphinx = False
html_last_updated_fmt = None
