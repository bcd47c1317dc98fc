"""Rewrites and schedules of a technique in words and formulas."""

from __future__ import annotations

from marks import code, table

from costmodel.language.formula.latex import latex, symbol
from costmodel.language.formula.nodes import Bin, Call, Name, Neg, Num

NODES = (Bin, Call, Name, Neg, Num)


def rewrite(r) -> str:
    """One rewrite: which rows, under which condition, and what becomes of them."""
    where = f"**{of(r)}** {on(r.only)}" + (f", where ${latex(r.when)} \\ne 0$" if r.when is not None and not _compares(r.when) else "")
    if r.when is not None and _compares(r.when):
        where += f", where ${latex(r.when)}$"
    return f"{where}:\n\n{body(r)}" if body(r) else f"{where}."


def _compares(node) -> bool:
    return isinstance(node, Bin) and node.op not in ("+", "-", "*", "/", "**")


def of(r) -> str:
    """The verb of a rewrite."""
    return next(v for v in ("drop", "insert", "format", "set", "replace", "scale", "add", "place", "model") if getattr(r, v))


def on(only) -> str:
    """The rows that a rewrite touches, in words."""
    if only is None:
        return "on the whole model"
    words = _patterns(only)
    but = _patterns(only.not_) if only.not_ else ""
    return "on rows of " + (words or "any kind") + (f", but not of {but}" if but else "")


def _patterns(p) -> str:
    return ", ".join(f"{k} {code(getattr(p, k))}" for k in ("role", "op", "name", "block") if getattr(p, k))


def body(r) -> str:
    """What a rewrite does, as formulas."""
    if r.insert:
        return _inserted(r.insert)
    if r.format:
        return "".join(f"- {what}: the format of knob `{name}`, see [formats](#formats)\n" for what, name in r.format if name)
    if r.place:
        return _placed(r.place)
    if r.model:
        return f"- the model of knob `{r.model}` stands in\n"
    groups: dict = {}
    for verb in ("set", "replace", "scale", "add"):
        for term, node in getattr(r, verb).items():
            groups.setdefault((verb, node), []).append(term)
    return "\n".join(_changed(verb, terms, node) for (verb, node), terms in groups.items())


def _changed(verb: str, terms: list[str], node) -> str:
    """Terms that change alike, as one formula."""
    x = Name(terms[0] if len(terms) == 1 else "x")
    right = {"scale": Bin("*", x, node), "add": Bin("+", x, node)}.get(verb, node)
    head = f"each $x$ of {code(terms)}:\n\n" if len(terms) > 1 else ""
    return head + display(rf"{latex(x)} \leftarrow {latex(right)}")


def _inserted(insert) -> str:
    rows = [
        [f"`{name}`", f"`{row.op}`", f"`{row.role}`", ", ".join(f"${symbol(k)} = {_arg(v)}$" for k, v in (row.model_extra or {}).items())]
        for name, row in insert.rows.items()
    ]
    return f"in every block that has a row of role `{insert.beside}`:\n\n{table(['new row', 'operator', 'role', 'arguments'], rows)}"


def _arg(value) -> str:
    from costmodel.language.formula import parse

    return latex(value if isinstance(value, NODES) else parse(value))


def _placed(p) -> str:
    verb = {"stream": "streamed over the link in each pass", "compute": "computed where they lie"}.get(p.mode, f"mode by knob `{p.mode}`")
    tier = f"tier `{p.tier}`" + (", a knob" if p.tier not in ("host", "disk") else "")
    source = " of what lies on the host" if p.of == "host" else ""
    moves_all = p.mode == "compute" and p.what == "weights"  # attention too, which has no weights
    what = "the rows" if moves_all else p.what
    head = f"{what}{source} to {tier}, {verb}"
    given = [
        ("share", p.share),
        ("layers from the first", p.layers),
        ("share of what is in no layer", p.rest if p.layers is not None else None),
    ]
    return f"{head}:\n\n" + "".join(f"- {k}: ${latex(n)}$\n" for k, n in given if n is not None)


def display(formula: str) -> str:
    """A formula on a line of its own."""
    return f"$$\n{formula}\n$$\n"


def schedule(s) -> str:
    """What a technique changes about which points prefill and decode visit."""
    parts = [_fields("the request", s, ("batch", "no_cache")), _fields("prefill", s.prefill), _fields("a decode step", s.decode)]
    if s.decode.also:
        also = s.decode.also
        parts.append(_fields(f"beside it, passes of `{also.model}` (a knob)", also))
    if s.decode.hardware:
        parts.append(f"decode runs on the machine of knob `{s.decode.hardware}`; the KV cache goes over its network link\n")
    return "\n".join(p for p in parts if p)


def _fields(title: str, part, only=None) -> str:
    found = [(k, v) for k, v in part if isinstance(v, NODES) and (only is None or k in only)]
    return f"**{title}**\n\n" + "\n".join(display(rf"{symbol(k)} = {latex(v)}") for k, v in found) if found else ""
