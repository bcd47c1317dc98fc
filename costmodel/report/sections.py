"""Reports made of headings, lines and tables, as text for a terminal or as markdown."""

from __future__ import annotations

from ..sizes import pad, short, width
from .table import text_table, wrap

SCALES = {
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
    "": ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")),
}


class Sections:
    """Parts of a report in order; `text` and `markdown` print them."""

    def __init__(self):
        self.parts: list[tuple] = []

    def heading(self, title: str, level: int = 2) -> None:
        """A heading."""
        self.parts.append(("heading", title, level))

    def lines(self, *lines: str, indent: int = 0) -> None:
        """Lines of text, each its own paragraph when it is too long."""
        self.parts += [("line", line, indent) for line in lines]

    def block(self, text: str) -> None:
        """Text that is never wrapped."""
        self.parts.append(("block", text))

    def table(self, headers: list[str], rows: list[list[str]], right: tuple = ()) -> None:
        """A table; `right`: columns of figures."""
        if rows:
            self.parts.append(("table", headers, rows, right))

    def entries(self, headers: list[str], rows: list[list[str]], right: tuple = (), indent: int = 2) -> None:
        """Rows whose last cell is running text: it takes the rest of the line, and is never broken inside a word."""
        if rows:
            self.parts.append(("entries", headers, rows, right, indent))

    def text(self, columns: int = 80) -> str:
        """For a terminal."""
        out: list[str] = []
        for kind, *rest in self.parts:
            if kind == "heading":
                out += ["", rest[0]]
            elif kind == "line":
                out += [" " * rest[1] + line for line in wrap(rest[0], columns - rest[1])]
            elif kind == "block":
                out.append(rest[0])
            elif kind == "entries":
                out += _entries(rest[1], rest[2], rest[3], columns)
            else:
                headers, rows, right = rest
                body = text_table(headers, rows, columns - 2, right).splitlines()
                out += [f"  {line}".rstrip() for line in (body if any(headers) else body[2:])]
        return "\n".join(out).strip("\n")

    def markdown(self) -> str:
        """As markdown, headings from the second level on."""
        out: list[str] = []
        for kind, *rest in self.parts:
            if kind == "heading":
                out += ["", f"{'#' * rest[1]} {rest[0]}", ""]
            elif kind == "line":
                out.append(f"{'' if not rest[1] else '- '}{_escaped(rest[0])}" + ("" if rest[1] else "  "))
            elif kind == "block":
                out += ["", "```", rest[0], "```", ""]
            else:
                headers, rows, right = rest[:3]
                marks = ["---:" if i in right else "---" for i in range(len(headers))]
                lines = [headers, marks, *([_escaped(str(c)).replace("|", "\\|") for c in row] for row in rows)]
                out += ["", *(f"| {' | '.join(line)} |" for line in lines), ""]
        text = "\n".join(line.rstrip() if not line.endswith("  ") else line for line in out)
        while "\n\n\n" in text:
            text = text.replace("\n\n\n", "\n\n")
        return text.strip("\n")


def _entries(rows: list[list[str]], right: tuple, indent: int, columns: int) -> list[str]:
    """Aligned cells, then the last one wrapped under itself; under the row where little room is left."""
    widths = [max(width(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    used = [i for i, w in enumerate(widths) if w]
    start = indent + sum(widths[i] + 2 for i in used)
    longest = min(60, max((width(word) for row in rows for word in row[-1].split()), default=0))
    hang = start if columns - start >= max(36, longest) else indent + 4
    lines = []
    for *cells, last in rows:
        head = " " * indent + "  ".join(pad(cells[i], widths[i], i in right) for i in used)
        body = wrap(last, columns - hang) if last else []
        if hang == start and body:
            head += "  " + body.pop(0)
        lines += [head.rstrip(), *(" " * hang + line for line in body)]
    return lines


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("*", "\\*").replace("_", "\\_").replace("<", "&lt;")


def bill_rows(
    lines: list[tuple[str, float]], unit: str, digits: int = 5, more: str = "({n} more)"
) -> tuple[list[tuple[str, str, str]], tuple[str, str, str]]:
    """((name, amount, share) of every line, the same of the total), in one unit, rounded so that the printed lines sum to the total.

    Lines that would print as 0 become one of their own, `…`.
    """
    total = sum(a for _, a in lines)
    size = max((abs(a) for _, a in lines), default=0.0)
    step, prefix = next(
        ((s, p) for s, p in SCALES["s" if unit == "s" else ""] if size >= s * 0.9995), SCALES["s"][-1] if unit == "s" else (1, "")
    )
    shown = prefix if unit == "s" else f"{prefix}{unit}"
    decimals = max(0, digits - len(str(int(size / step))))
    if step == 1 and unit == "B" and all(a == int(a) for _, a in lines):
        decimals = 0
    grain = 10.0**-decimals
    whole = rounded([a / step / grain for _, a in lines])
    kept = [(n, a, w) for (n, a), w in zip(lines, whole, strict=True) if w]
    small = [a for (_, a), w in zip(lines, whole, strict=True) if not w]
    if small:
        kept.append((more.format(n=len(small)), sum(small), 0))
    share = [f"{a / total:.1%}" if total else "" for _, a, _ in kept]
    rows = [(n, f"{w * grain:,.{decimals}f} {shown}", s) for (n, _, w), s in zip(kept, share, strict=True)]
    return rows, ("", f"{sum(whole) * grain:,.{decimals}f} {shown}", "100%" if total else "")


def rounded(values: list[float]) -> list[int]:
    """Whole numbers that sum to the rounded sum of the values: each is rounded, and the largest takes what is left."""
    whole = [round(v) for v in values]
    if whole:
        most = max(range(len(values)), key=lambda i: abs(values[i]))
        whole[most] += round(sum(values)) - sum(whole)
    return whole


def measure(value, unit: str, digits: int = 4) -> str:
    """A value with its unit: times, bytes and rates with a prefix, counts as they are."""
    from ..sizes import scaled, seconds

    if value is None or isinstance(value, (str, bool)):
        return "-" if value is None else str(value).lower() if isinstance(value, bool) else value
    if unit == "s":
        return seconds(value)
    if unit in ("B", "FLOP", "B/s", "FLOP/s"):
        return scaled(value, unit, digits) if value else "0"
    text = f"{value:,}" if isinstance(value, int) else short(value, digits)
    return f"{text} {unit}".strip()
