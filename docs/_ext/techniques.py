"""One page a technique: knobs, what it rewrites as formulas, how it changes the schedule, and its effect."""

from __future__ import annotations

from effects import effect, figures, predicted, ratio, workload_words
from marks import bullets, code, page, plain, section, source_lines, table
from rewrites import rewrite, schedule

from costmodel.api import library
from costmodel.language.formula.latex import latex
from costmodel.language.problem import SpecError
from costmodel.report.listing import rows_of

OVERVIEW = ("llama-3.1-8b", "rtx4090")


def pages() -> dict[str, str]:
    """A page for every technique of the library, and their index."""
    names = library().usable("technique")
    return {f"techniques/{n}.md": technique(n) for n in names} | {"techniques/index.md": index(names)}


def technique(name: str) -> str:
    """The page of one technique."""
    doc = library().load("technique", name).doc
    steps = [rewrite(r) for r in doc.rewrite]
    names = "Names in the formulas are [those of the language](../language.md#names-in-formulas), dims of the model, and knobs."
    return page(
        plain(doc.label()),
        f"`--technique {name}`, in Korean *{plain(doc.label('ko'))}*.\n\n{plain(doc.description)}\n",
        section("Effect", effect(name)),
        section("Knobs", knobs(doc)),
        section("Formats", formats(doc)),
        section("Requirements", requirements(doc)),
        section("Rewrites", names, "\n\n".join(steps)) if steps else "",
        section("Schedule", schedule(doc.schedule)),
        section("Assumptions", bullets(map(plain, doc.assumptions))),
        section("Not modelled", bullets(map(plain, doc.not_modelled))),
        section("Sources", source_lines(doc.sources)),
    )


def knobs(doc) -> str:
    """The table of knobs."""
    rows = [[f"`{name}`", *_knob(k), plain(k.description)] for name, k in doc.knobs.items()]
    return table(["knob", "default", "values", "changes nothing at", "meaning"], rows) if rows else ""


def _knob(k) -> list[str]:
    default = k.default if k.default is not None else k.model or k.hardware
    if k.model or k.hardware:
        values = "a model" if k.model else "a machine, or `same`"
    elif k.one_of:
        values = code(k.one_of)
    else:
        values = " … ".join(figure(v) for v in k.range) if k.range else ""
        values += ", whole" if k.whole else ""
    return [f"`{default}`", values, "" if k.neutral is None else f"`{k.neutral}`"]


def figure(value: float) -> str:
    """A whole number with commas, any other as it is."""
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def formats(doc) -> str:
    """Bits of the formats that a knob offers, where a rewrite changes the format."""
    named = {name for r in doc.rewrite if r.format for _, name in r.format if name}
    offered = [f for name in named & set(doc.knobs) for f in doc.knobs[name].one_of or ()]
    bits = {r["name"]: r for r in rows_of("format", None)}
    rows = [[f"`{f}`", plain(bits[f]["title"]), bits[f]["bits"]] for f in offered]
    return table(["format", "title", "bits per weight"], rows, (2,)) if rows else ""


def requirements(doc) -> str:
    """What a case must have, and techniques that exclude one another."""
    need = doc.requires
    lines = [f"{what}: {code(given)}" for what, given in (
        ("dims of the model", need.dims),
        ("operators of role", need.roles),
        ("features of the device", need.features),
        ("links of the machine", need.links),
    ) if given]  # fmt: skip
    lines += [f"${latex(node)}$, or it is refused: {plain(message)}" for message, node in need.conditions.items()]
    if doc.devices is not None:
        lines.append(f"devices: ${latex(doc.devices)}$")
    if doc.conflicts:
        shown = ", ".join(f"[{n}]({n}.md)" for n in doc.conflicts)
        lines.append(f"not together with {shown}")
    if doc.draft:
        lines.append("also holds for a draft model")
    return bullets(lines)


def index(names: list[str]) -> str:
    """All techniques in one table, with what each does to one case."""
    model, hardware = OVERVIEW
    rows = [[f"[{plain(library().load('technique', n).doc.label())}]({n}.md)", f"`{n}`", *overview(n)] for n in names]
    head = ["technique", "name", "memory", "TTFT", "TPOT", "tokens/s, all users"]
    return page(
        "Techniques",
        "Each page has the formulas that a technique rewrites and what it changes in a few cases. "
        f"Here: ratios for `{model}` on `{hardware}`; empty where it is refused or changes nothing. {workload_words()}",
        table(head, rows, (2, 3, 4, 5)),
        "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n",
    )


def overview(name: str) -> list[str]:
    """The ratios of the overview's case; empty where it is refused."""
    try:
        a, b = (figures(predicted(*OVERVIEW, t)) for t in ((), (name,)))
    except SpecError:
        return [""] * 4
    return [r if r != "=" else "" for r in (ratio(a[i], b[i]) for i in (2, 3, 4, 6))]
