"""A study's table in a format: templates for text, markdown and HTML; CSV and JSON by the standard library."""

from __future__ import annotations

from .study import table_of, with_reasons
from .table import text_table


def render_study(study, result: dict, fmt: str, lang: str = "en", columns: int = 80) -> str:
    """The result of :func:`costmodel.solve.views.run_study` as a document."""
    if fmt == "json":
        import json

        return json.dumps(
            {"schema": "costmodel/matrix@1"} | with_reasons(study, result, lang), ensure_ascii=False, indent=2, allow_nan=False
        )
    table = table_of(study, result, lang)
    if fmt == "csv":
        return _csv(with_reasons(study, result, lang))
    if fmt == "text":
        table["body"] = text_table(table["headers"], table["rows"], columns, table["right"])
        table["columns"] = columns
    return environment().get_template(f"study.{fmt}.j2").render(**table)


def environment():
    """A sandboxed jinja2 environment over the report templates; HTML is escaped."""
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from ..folders import data_root
    from .table import wrap

    made = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(data_root("reports/templates")),
        autoescape=lambda name: name is not None and ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["wrapped"] = lambda text, columns: "\n".join(wrap(text, columns))
    made.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    return made


def _csv(result: dict) -> str:
    import csv
    import io

    flat = [_flat(row) for row in result["rows"]]
    fields = list(dict.fromkeys(k for row in flat for k in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return out.getvalue()


def _flat(row: dict, prefix: str = "") -> dict:
    out: dict[str, object] = {}
    for key, value in row.items():
        name = prefix + key
        if isinstance(value, dict):
            out |= _flat(value, name + ".")
        elif isinstance(value, list):
            out[name] = "; ".join(str(v["name"] if isinstance(v, dict) and "name" in v else v) for v in value)
        else:
            out[name] = "" if value is None else value
    return out
