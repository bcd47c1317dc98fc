"""What the library holds: engines with their coefficients, formats, machines, models."""

from __future__ import annotations

from marks import cell, code, page, plain, section, source_lines, table

from costmodel.api import library
from costmodel.language.formula.latex import latex
from costmodel.report.listing import PEAKS, classes, rows_of
from costmodel.sizes import billions, capacity, scaled

RATES = [p for p in PEAKS if p != "bf16"]


def pages() -> dict[str, str]:
    """One page a shelf."""
    return {
        "library/engines.md": engines(),
        "library/formats.md": formats(),
        "library/hardware.md": hardware(),
        "library/models.md": models(),
    }


def links(kind: str) -> str:
    """Where the fields of a kind are."""
    return f"[Fields](../reference/{kind}.md), [explained](../language.md#{kind}).\n"


def engines() -> str:
    """Every engine: formulas, coefficients where they are stated, sources."""
    intro = "Engines say what share of a machine's rates is reached (R47, [fields](../reference/engine.md)). "
    intro += "An engine with a parent shows what differs from it. How the values were fitted: [accuracy](../accuracy.md).\n"
    return page("Engines", intro, *(engine(n) for n in library().usable("engine")))


def engine(name: str) -> str:
    """One engine's section."""
    spec = library().load("engine", name)
    doc = spec.doc
    parent = library().load("engine", doc.extends).doc if doc.extends else None
    link = f"Extends [{plain(parent.label())}](#{anchor(parent.label())}). " if parent and not parent.abstract else ""
    old = {} if parent is None else dict(coefficients(parent))
    rows = [row(where, key, c) for (where, key), c in coefficients(doc) if old.get((where, key)) != c]
    return section(
        plain(doc.label()),
        f"`--engine {name}`. {link}{plain(doc.description)}",
        formulas(doc, parent),
        table(["coefficient", "where", "value", "range", "prior"], rows, (2,)) if rows else "",
        source_lines({k: v for k, v in doc.sources.items() if parent is None or parent.sources.get(k) != v}),
    )


def anchor(title: str) -> str:
    """The anchor of a heading."""
    import re

    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def row(where: str, key: str, c) -> list:
    """A coefficient's line."""
    fixed = c.low == c.high
    return [f"`{key}`", where, f"{c.value:g}", "fixed" if fixed else f"{c.low:g} … {c.high:g}", "" if c.prior is None else f"{c.prior:g}"]


def coefficients(doc):
    """((where, name), coefficient) of an engine: general ones, of formats, of classes and of formats in a class."""
    for where, settings in [("", doc), *((f"`{k}`", s) for k, s in doc.formats.items())]:
        yield from (((where, k), c) for k, c in settings.coefficients.items())
    for name, settings in doc.classes.items():
        yield from (((f"`{name}`", k), c) for k, c in settings.coefficients.items())
        for inner, s in settings.formats.items():
            yield from (((f"`{name}`, `{inner}`", k), c) for k, c in s.coefficients.items())


def formulas(doc, parent) -> str:
    """General efficiencies and fixed times as formulas, where they differ from the parent's."""
    lines = []
    for group in ("efficiency", "overhead"):
        old = dict(getattr(parent, group)) if parent else {}
        for field, node in getattr(doc, group):
            if node is not None and node != old.get(field):
                lines.append([f"`{group}.{field}`", f"${latex(node)}$"])
    return table(["share or time", "formula"], lines) if lines else ""


def formats() -> str:
    """Number formats by family."""
    rows = [[f"`{r['name']}`", plain(r["title"]), r["bits"], r["family"]] for r in rows_of("format", None)]
    intro = "Bits per weight with scales; a *mix* gives roles different formats. " + links("format")
    return page("Number formats", intro, table(["name", "title", "bits", "family"], rows, (2,)))


def hardware() -> str:
    """Machines by class."""
    rows = rows_of("hardware", None)
    intro = "Peak rates are dense, in FLOP/s; of a machine without fp16 the rate of bf16. Every figure has a source in its document; "
    intro += "an *assumed* one is marked in predictions. "
    intro += links("hardware")
    parts = [machines(c, [r for r in rows if r["class"] == c["name"]]) for c in classes()]
    others = [r for r in rows if r["class"] not in {c["name"] for c in classes()}]
    return page("Hardware", intro, *parts, machines({"name": "other", "title": "Variants of these"}, others))


def machines(group: dict, rows: list[dict]) -> str:
    """The table of a class."""
    lines = [
        [
            f"`{r['name']}`",
            plain(r["title"]),
            capacity(r["capacity"]) if r["capacity"] else "",
            f"{r['bandwidth'] / 1e9:,.0f} GB/s",
            *(scaled(rate) if (rate := r[p] or (r["bf16"] if p == "fp16" else None)) else "" for p in RATES),
            evidence(r["name"]),
            code(r["aliases"]),
        ]
        for r in rows
    ]
    head = ["name", "title", "memory", "bandwidth", *RATES, "evidence", "aliases"]
    return section(plain(group["title"]), f"`{group['name']}`", table(head, lines, tuple(range(2, 4 + len(RATES))))) if lines else ""


def evidence(name: str) -> str:
    """The kinds of a machine's sources."""
    return ", ".join(sorted({s.kind for s in library().load("hardware", name).doc.sources.values()}))


def models() -> str:
    """All models, with what people choose by."""
    lines = [
        [
            f"`{r['name']}`",
            plain(r["title"]),
            billions(r["params"]),
            billions(r["active"]),
            f"{r['context']:,}" if r["context"] else "",
            cell(r["format"]),
            r["kind"],
        ]
        for r in rows_of("model", None)
    ]
    intro = "Parameters are counted from the document and checked against the published number. " + links("model")
    return page("Models", intro, table(["name", "title", "parameters", "active", "context", "format", "kind"], lines, (2, 3, 4)))
