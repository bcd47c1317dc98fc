"""Cases written on one line: `8b@ddr5+int4+context=32k`."""

from __future__ import annotations

from pathlib import Path

from ...language.merge import SETTABLE
from ...language.problem import Mark, Source, problem, suggest
from ...sizes import MOST, MOST_DEVICES, read_size
from ..cases import Setting, with_techniques

WORKLOAD = {"prompt": 1, "output": 1, "context": 0, "batch": 1, "devices": 1}
"""Fields of the workload, and the least that each may be."""


def read_case(text: str, base: Setting, option: str) -> Setting:
    """`[MODEL][@HW][+PART]…` over a base: PART is a technique, or `field=value` of the workload, `engine=E`, or an override.

    Raises :class:`SpecError`; `option` names the argument in messages.
    """
    head, parts, mark = *_split(text), Mark(Source(option, text), 1, 1)
    model, at, hardware = head.rpartition("@") if "@" in head else (head, "", "")
    if at and not hardware:
        raise problem("nothing stands after the `@`", mark, "a machine, such as `@ddr5`")
    made = base._replace(model=model or base.model, hardware=hardware or base.hardware)
    if model and base.model and model != base.model:
        made = made._replace(set=tuple(s for s in made.set if not s.startswith("model.")))
    for part in parts:
        made = _with(made, part.strip(), mark)
    for field, help in (("model", "write MODEL@HW"), ("hardware", f"write `{text[:60]}@HW`, or give --hw")):
        if getattr(made, field) is None:
            raise problem(f"the case names no {field}", mark, help)
    return made


def _split(text: str) -> tuple[str, list[str]]:
    """(model and machine, parts). A `+` before the last `@`, or in a file's name, is the model's."""
    before, at, after = text.rpartition("@")
    if not at and _is_file(text):
        return text, []
    head, *parts = (after if at else text).split("+")
    return before + at + head, parts


def _is_file(text: str) -> bool:
    try:
        return "\0" not in text and Path(text).exists()
    except OSError:
        return False


def _with(setting: Setting, part: str, mark: Mark) -> Setting:
    """The setting with one more part."""
    key, equals, value = (x.strip() for x in part.partition("="))
    if not part:
        raise problem("nothing stands after a `+`", mark, "a technique, or `batch=8`")
    if not equals or ":" in key:
        return with_techniques(setting, (part,))
    if key in WORKLOAD:
        return setting._replace(workload=setting.workload | {key: _count(key, value, mark)})
    if key == "engine":
        return setting._replace(engine=value)
    if key.partition(".")[0] in SETTABLE and "." in key:
        return setting._replace(set=(*(s for s in setting.set if s.partition("=")[0].strip() != key), part))
    raise problem(f"`{key[:60]}` is no part of a case", mark, suggest(key[:60], [*WORKLOAD, "engine", *(f"{k}." for k in SETTABLE)]))


def _count(key: str, value: str, mark: Mark) -> int:
    most = MOST_DEVICES if key == "devices" else MOST
    try:
        number = read_size(value)
    except ValueError:
        raise problem(f"{key}: `{value[:40]}` is not a count", mark, "write 4096 or 8k") from None
    if not WORKLOAD[key] <= number <= most:
        raise problem(f"{key}: want {WORKLOAD[key]} to {most:,}, got {number:,}", mark)
    return number
