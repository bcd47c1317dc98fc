"""Tables for the terminal: aligned by display width (Hangul takes two columns) and wrapped to fit."""

from __future__ import annotations

from ..sizes import pad, width

GAP = 2


def text_table(headers: list[str], rows: list[list[str]], columns: int = 80, right: tuple[int, ...] = ()) -> str:
    """Aligned columns within `columns`; long cells wrap at spaces. `right`: columns aligned right."""
    cells = [[str(c) for c in row] for row in [headers, *rows]]
    widths = _fit([max(width(r[i]) for r in cells) for i in range(len(headers))], cells, columns, right)
    spaced = len(cells) <= 60 and any(_lines(c, w) > 1 for row in cells[1:] for c, w in zip(row, widths, strict=True))
    lines = []
    for index, row in enumerate(cells):
        wrapped = [wrap(c, w) for c, w in zip(row, widths, strict=True)]
        if spaced and index > 1:
            lines.append("")
        for n in range(max(map(len, wrapped))):
            parts = [pad(w[n] if n < len(w) else "", widths[i], i in right and bool(index)) for i, w in enumerate(wrapped)]
            lines.append((" " * GAP).join(parts).rstrip())
        if index == 0:
            lines.append((" " * GAP).join("-" * w for w in widths))
    return "\n".join(lines)


def _fit(natural: list[int], cells: list[list[str]], columns: int, fixed: tuple[int, ...] = ()) -> list[int]:
    """Narrow the columns that cost the fewest lines until the table fits, never below a column's longest word (up to 24)."""
    widths = list(natural)
    sample = cells[:60]
    words = [max(max((width(w) for w in row[i].split()), default=1) for row in cells) for i in range(len(widths))]
    body = [max((width(row[i]) for row in cells[1:]), default=1) for i in range(len(widths))]
    least = [max(words[i], body[i]) if i in fixed else min(24, words[i]) for i in range(len(widths))]  # figures never wrap
    while sum(widths) + GAP * (len(widths) - 1) > columns:
        loose = [i for i in range(len(widths)) if widths[i] > least[i]]
        if not loose:
            break
        widths[min(loose, key=lambda i: _cost(sample, widths, i))] -= 1
    return widths


def _cost(cells: list[list[str]], widths: list[int], narrower: int) -> tuple[float, int]:
    """Lines of the table with one column narrower; of equals, the widest column gives way."""
    tried = [w - (i == narrower) for i, w in enumerate(widths)]
    lines = sum(max(_lines(c, w) for c, w in zip(row, tried, strict=True)) for row in cells)
    filled = sum(_lines(row[narrower], tried[narrower]) for row in cells)
    return (lines + filled / (10 * len(cells)), -widths[narrower])


def _lines(text: str, columns: int) -> int:
    return 1 if width(text) <= columns else len(wrap(text, columns))


def wrap(text: str, columns: int) -> list[str]:
    """Lines of at most `columns` display columns, broken at spaces, or inside a word where it must."""
    lines, line = [], ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if width(joined) <= columns:
            line = joined
            continue
        if line:
            lines.append(line)
        while width(word) > columns:
            cut = _cut(word, columns)
            lines.append(word[:cut])
            word = word[cut:]
        line = word
    lines.append(line)
    return lines


def _cut(word: str, columns: int) -> int:
    total = 0
    for index, char in enumerate(word):
        total += width(char)
        if total > columns:
            return max(1, index)
    return len(word)
