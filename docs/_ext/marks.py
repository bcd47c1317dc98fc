"""Markdown of made pages: tables, lists, links between pages."""

from __future__ import annotations


def cell(value) -> str:
    """A table's cell: one line, bars escaped."""
    return " ".join(str("" if value is None else value).split()).replace("|", "\\|")


def table(headers: list[str], rows: list[list], right: tuple[int, ...] = ()) -> str:
    """A table; `right`: columns of figures."""
    rule = ["--:" if i in right else "---" for i in range(len(headers))]
    lines = [headers, rule, *([cell(c) for c in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def code(values) -> str:
    """Names as code, with commas between."""
    return ", ".join(f"`{v}`" for v in ((values,) if isinstance(values, str) else values))


def bullets(lines) -> str:
    """A list, one line an entry."""
    return "".join(f"- {' '.join(str(line).split())}\n" for line in lines)


def section(title: str, *parts: str, level: int = 2) -> str:
    """A heading with what stands below it; nothing where that is empty."""
    body = "\n\n".join(p.strip("\n") for p in parts if p and p.strip())
    return f"{'#' * level} {title}\n\n{body}\n" if body else ""


def page(title: str, *parts: str) -> str:
    """A page of sections."""
    return "\n".join([f"# {title}\n", *(p if p.endswith("\n") else p + "\n" for p in parts if p)])


def source_lines(sources: dict) -> str:
    """Sources of a document, one a line."""
    return bullets(
        f"`{key}` ({s.kind}): {plain(s.ref)}" + (f", <{s.url}>" if s.url else "") + (f", {s.date}" if s.date else "")
        for key, s in sources.items()
    )


def plain(text: str) -> str:
    """A text of a document, so that nothing in it is taken for markup."""
    parts = str(text).split("`")
    for i in range(0, len(parts), 2):
        for mark in "\\*_$<[":
            parts[i] = parts[i].replace(mark, "\\" + mark)
    return "`".join(parts)
