"""Write docs/accuracy.md: predictions against public measurements, in sample and for hardware families left out.

python benchmarks/accuracy.py            # a few minutes; needs the extras fit and plot
"""

from __future__ import annotations

from pathlib import Path

from costmodel.api import library
from costmodel.importers.measurements import read_measurements
from costmodel.report.plots.scatter import save_plot
from costmodel.solve.errors import beyond, summary
from costmodel.solve.measured.fit import left_out, points_of, scored_with

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data" / "measured.csv"
PAGE = ROOT / "docs" / "accuracy.md"
START, END = "<!-- tables: written by benchmarks/accuracy.py -->\n", "<!-- end of tables -->\n"
NEEDED = 3
"""Families of hardware that a class must have to count as one in which leaving a family out says something."""
TARGETS = {
    "nvidia-geforce": "≤ 10 %, ≥ 75 %",
    "classes of three or more families": "≤ 14 %, ≥ 65 %, ≤ 55 %",
}


def rows_of(points, kinds, chosen, leave: bool) -> list[dict]:
    """Result rows of the points of some kinds, without those that beat the ceiling."""
    standing = {key: found[2].value for key, found in points.coefficients.items()}
    some = type(points)(p for p in points if p.run.kind in kinds)
    some.coefficients = points.coefficients
    return [r for r in (left_out(some, chosen) if leave else scored_with(some, standing)) if not beyond(r)]


def line(name: str, rows: list[dict], target: str = "") -> str:
    """One row of a table."""
    found = summary(rows)
    figures = (f"{found['median']:.0%}", f"{found['near']:.0%}", f"{found['p90']:.0%}", f"{found['bias']:+.0%}", f"{found['in_span']:.0%}")
    cells = (name, str(len({r["family"] for r in rows})), str(found["n"]), *(f.replace("%", " %") for f in figures), target)
    return "| " + " | ".join(cells) + " |"


def table(title: str, rows: list[dict], targets: bool = False) -> list[str]:
    """A table by class: those of three or more families together first."""
    groups: dict[str, list[dict]] = {}
    for row in rows:
        groups.setdefault(row["class"], []).append(row)
    big = [c for c, found in groups.items() if len({r["family"] for r in found}) >= NEEDED]
    out = [
        f"**{title}**",
        "",
        "| class | families | rows | median error | within 20 % | p90 | bias | in span | target |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    together = [r for c in big for r in groups[c]]
    if together:
        name = "classes of three or more families"
        out.append(line(name, together, TARGETS[name] if targets else ""))
    for name in sorted(groups, key=lambda c: (c not in big, -len(groups[c]))):
        out.append(line(name, groups[name], TARGETS.get(name, "") if targets else ""))
    return [*out, line("all", rows), ""]


def main() -> None:
    """Fit, leave out, and write the page and its plot."""
    usable = [m for m in read_measurements(DATA) if (m.quality or "") in "AB"]
    out: list[str] = []
    shown: list[dict] = []
    for title, engine, columns in (
        ("engine by the tool that measured", None, False),
        ("class default (`typical`), from class and datasheet figures alone", "typical", True),
    ):
        points = points_of(library(), usable, engine, columns, lambda m, run, phase: run.kind != "aggregate")
        typical = str(library().load("engine", "typical").files[0])
        own = (lambda key, file=Path(typical).name: file in key) if engine else (lambda key, file=Path(typical).name: file not in key)
        for kinds, leave, words in ((("single",), True, "family left out"), (("single",), False, "in sample")):
            rows = rows_of(points, kinds, own, leave)
            shown = shown or rows
            for phase in ("decode", "prefill"):
                some = [r for r in rows if r["phase"] == phase]
                out += table(f"{phase}, one sequence, one device; {title}; {words}", some, leave and phase == "decode")
        for kind in ("batched", "multi"):
            rows = [r for r in rows_of(points, (kind,), own, False) if r["phase"] == "decode"]
            out += table(f"decode, {kind}; {title}; in sample", rows)
    save_plot([r for r in shown if r["phase"] == "decode"], str(ROOT / "docs" / "accuracy.svg"))
    head, _, rest = PAGE.read_text("utf-8").partition(START)
    PAGE.write_text(head + START + "\n" + "\n".join(out) + "\n" + END + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()
