"""Fonts that have the glyphs of a text, looked up by the glyphs themselves rather than by name."""

from __future__ import annotations

from functools import cache

LATIN = "DejaVu Sans"
"""Comes with matplotlib."""
KNOWN = (
    "Noto Sans KR", "Noto Sans CJK KR", "Noto Sans CJK JP", "NanumGothic", "NanumBarunGothic", "Malgun Gothic",
    "Apple SD Gothic Neo", "AppleGothic", "Pretendard", "Spoqa Han Sans Neo", "Source Han Sans KR", "UnDotum", "Baekmuk Gulim",
)  # fmt: skip
"""Families to take first; any other that has the glyphs will do."""
SAMPLE = "가각갸걀값괜꿰뉘됐뭘쁠쎄웹읽쟁퀀텍툴핥힣"
NOTE = "no font with Hangul is installed: the picture is in English (for Korean install one, e.g. Noto Sans CJK KR or NanumGothic)"


@cache
def hangul() -> str | None:
    """The family of an installed font that has Hangul, None where there is none."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    listed = {entry.fname for entry in fontManager.ttflist}
    found = _best(fontManager.ttflist)
    if found is None:  # matplotlib keeps its list between runs: look for what was installed since
        for file in sorted(set(map(str, findSystemFonts())) - listed):
            if _has_hangul(file):
                fontManager.addfont(file)
        found = _best([entry for entry in fontManager.ttflist if entry.fname not in listed])
    return found


def _best(entries) -> str | None:
    """The first family of :data:`KNOWN`, else of any other, whose regular face has Hangul."""
    ordered = sorted(entries, key=lambda e: (str(e.weight) not in ("400", "normal", "regular"), e.style != "normal", e.fname))
    faces: dict[str, str] = {}
    for entry in ordered:
        faces.setdefault(entry.name, entry.fname)
    names = [*(n for n in KNOWN if n in faces), *sorted(faces.keys() - set(KNOWN))]
    return next((name for name in names if _has_hangul(faces[name])), None)


def _glyphs(file: str) -> dict:
    """Character to glyph of a font's file; empty for what cannot be read."""
    from matplotlib.font_manager import get_font

    try:
        return get_font(file).get_charmap()
    except (OSError, RuntimeError, ValueError):
        return {}


def _has_hangul(file: str) -> bool:
    """Whether each sample has a glyph of its own (a font of last resort draws all of them as one)."""
    glyphs = _glyphs(file)
    return len({glyphs.get(ord(c), 0) for c in SAMPLE} - {0}) == len(SAMPLE)


def drawable(text: str) -> bool:
    """Whether the fonts in use have every character of a text."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont

    known = [_glyphs(findfont(FontProperties(family=[name]))) for name in rcParams["font.family"]]
    return all(any(ord(c) in glyphs for glyphs in known) for c in text if not c.isspace())


def readable(lang: str) -> tuple[str, str | None]:
    """(language to draw in, what to tell the user): English with a note where Hangul is asked for and no font has it."""
    return ("en", NOTE) if lang == "ko" and hangul() is None else (lang, None)
