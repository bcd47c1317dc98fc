"""LaTeX to MathML when the site is built: browsers draw it themselves, so pages load no script and need no network."""

from __future__ import annotations

import re
from html import escape

from latex2mathml.converter import convert
from sphinx.errors import ExtensionError

_LETTER = re.compile("<mi>(.)</mi>")
_LETTERS = re.compile(r'(?:<mi mathvariant="normal">[^<]*</mi>){2,}')


def mathml(latex: str, display: str = "inline") -> str:
    """A `<math>` element with its LaTeX as `alttext`. Raises :class:`ExtensionError` for LaTeX that is not understood."""
    try:
        made = convert(latex.strip(), display=display)
    except Exception as error:  # every fault of the converter has a class of its own
        raise ExtensionError(f"no formula: {latex!r}: {type(error).__name__}") from error
    if "\\" in made:
        raise ExtensionError(f"a command that is not known in {latex!r}")
    made = _LETTERS.sub(lambda m: f"<mi>{re.sub('<[^>]*>', '', m[0])}</mi>", made)
    made = _LETTER.sub(r'<mi mathvariant="normal" class="letter">\1</mi>', made)  # else a font with mathematical letters is needed
    return made.replace("<math ", f'<math alttext="{escape(latex.strip())}" ', 1)


def _inline(writer, node) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(mathml(node.astext()))
    raise SkipNode


def _block(writer, node) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(f'<div class="math">{mathml(node.astext(), "block")}</div>\n')
    raise SkipNode


def setup(app) -> dict:
    """The math renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
