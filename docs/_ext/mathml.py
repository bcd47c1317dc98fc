"""LaTeX to MathML when the site is built: browsers draw it themselves, so pages load no script and need no network."""

from __future__ import annotations

import re
from html import escape

_LETTER = re.compile("<mi>(.)</mi>")
_LETTERS = re.compile(r'(?:<mi mathvariant="normal">[^<]*</mi>){2,}')


def mathml(latex: str, display: str = "inline") -> str:
    """A `<math>` element with its LaTeX as `alttext`. Raises :class:`ValueError` for LaTeX that is not understood."""
    from latex2mathml.converter import convert

    try:
        made = convert(latex.strip(), display=display)
    except Exception as error:  # every fault of the converter has a class of its own
        raise ValueError(f"no formula: {latex.strip()}: {type(error).__name__}") from error
    bare = re.sub(r"\\[{}]", "", latex)
    if bare.count("{") != bare.count("}"):
        raise ValueError(f"braces do not match: {latex.strip()}")
    if "\\" in made:
        raise ValueError(f"a command that is not known: {latex.strip()}")
    made = _LETTERS.sub(lambda m: f"<mi>{re.sub('<[^>]*>', '', m[0])}</mi>", made)
    made = _LETTER.sub(r'<mi mathvariant="normal" class="letter">\1</mi>', made)  # else a font with mathematical letters is needed
    return made.replace("<math ", f'<math alttext="{escape(latex.strip())}" ', 1)


def _visitor(display: str, frame: str):
    def visit(writer, node) -> None:
        from docutils.nodes import SkipNode
        from sphinx.util.logging import getLogger

        try:
            writer.body.append(frame.format(mathml(node.astext(), display)))
        except ValueError as error:
            getLogger(__name__).warning("%s", error, location=node)
        raise SkipNode

    return visit


def setup(app) -> dict:
    """The math renderer `mathml`."""
    block = _visitor("block", '<div class="math">{}</div>\n')
    app.add_html_math_renderer("mathml", (_visitor("inline", "{}"), None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
