"""What other programs may rely on, against a list that is checked in: names, signatures, fields, schemas, commands.

A change of the list is a change of the contract. Where it is meant: `python tests/test_public.py > tests/golden/public.txt`.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import costmodel
import costmodel.types
from costmodel import api
from costmodel.commands import FILES
from costmodel.report.outputs import OUTPUTS
from costmodel.schema import KINDS
from costmodel.solve import cases, check, metrics
from costmodel.solve.record import Figures

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "golden" / "public.txt"
MORE = {
    "solve.check.check": check.check,
    "solve.cases.Setting": cases.Setting,
    **{f"solve.metrics.{n}": f for n, f in vars(metrics).items() if inspect.isfunction(f)},
    "importers.measurements.read_measurements": import_module("costmodel.importers.measurements").read_measurements,
}
"""Documented names that are reached through their modules."""
HIDDEN = {
    "Library": ("kept", "load_text", "path_of", "read"),
    "Prediction": ("decode_step", "decoder", "file_size"),
    "Program": ("constant", "repeat", "shown_dims", "term", "terms", "value", "natural"),
    "Spec": ("document",),
    "Use": ("numbers", "with_sets"),
}
"""Members that no page documents."""


def functions():
    """(name, function) of every public one, methods too."""
    for name in costmodel.__all__:
        value = api.compile if name == "compile" else getattr(costmodel, name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            for member, one in members(name, value):
                if inspect.isfunction(one):
                    yield f"{name}.{member}", one
    yield from ((n, f) for n, f in MORE.items() if inspect.isfunction(f))


def members(name: str, cls: type):
    """Public members of a class, its own and those of its parents here."""
    for member, value in inspect.getmembers(cls):
        if (
            not member.startswith("_")
            and member not in HIDDEN.get(name, ())
            and not hasattr(tuple, member)
            and not hasattr(Exception, member)
        ):
            yield member, value


def signature(function) -> str:
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(function)))


def shown(kind) -> str:
    """An annotation as it is written."""
    if isinstance(kind, str) or hasattr(kind, "__forward_arg__"):
        return getattr(kind, "__forward_arg__", kind)
    text = kind.__name__ if isinstance(kind, type) else str(kind)
    text = re.sub(r"typing\.Annotated\[(\w+), Unit\(words='([^']+)'.*?\)\]", r"\1 (\2)", text).replace("typing.", "")
    return re.sub(r"^Optional\[(.*)\]$", r"\1 | None", text)


def described(name: str, value) -> list[str]:
    """Lines of one public name."""
    if inspect.isfunction(value):
        return [f"{name}{signature(value)}"]
    if not inspect.isclass(value):
        return [name] if name == "__version__" else [f"{name} = {value}"]
    lines = [f"class {name}"]
    notes = [
        (f, a)
        for base in reversed(value.__mro__)
        for f, a in inspect.get_annotations(base).items()
        if not f.startswith("_") and f not in HIDDEN.get(name, ())
    ]
    fields = dict(notes) if issubclass(value, (Figures, tuple, dict)) or name in ("Spec", "SpecError") else {}
    lines += [f"  {field}: {shown(kind)}" for field, kind in fields.items()]
    for member, one in members(name, value):
        if inspect.isfunction(one):
            lines.append(f"  {member}{signature(one)}")
        elif member not in fields:
            getter = getattr(one, "function", getattr(one, "fget", None))
            kind = inspect.get_annotations(getter).get("return", "?") if getter else None
            lines += [f"  {member}: {kind}"] if kind else []
    return lines


def listing() -> str:
    """The public surface as text, sorted."""
    lines = ["# costmodel"]
    for name in sorted(costmodel.__all__):
        lines += described(name, api.compile if name == "compile" else getattr(costmodel, name))
    lines.append("# costmodel.types")
    for name in costmodel.types.__all__:
        if name not in costmodel.__all__:
            lines += described(name, getattr(costmodel.types, name))
    lines.append("# in their modules")
    for name, value in sorted(MORE.items()):
        lines += described(name, value) if inspect.isfunction(value) else [f"{name}({', '.join(value._fields)})"]
    lines.append("# schemas")
    lines += [f"costmodel/{kind}@1" for kind in sorted([*KINDS, *OUTPUTS])]
    lines.append("# commands")
    for command in sorted(FILES):
        parameters = import_module(f"costmodel.commands.{FILES[command]}").command.params
        lines.append(" ".join([command, *(max(p.opts, key=len) if p.opts[0].startswith("-") else p.opts[0].upper() for p in parameters)]))
    return "\n".join(lines) + "\n"


def test_the_public_surface_is_as_listed():
    assert listing() == LIST.read_text("utf-8"), "meant? `python tests/test_public.py > tests/golden/public.txt`"


def test_names_are_those_that_a_type_checker_sees():
    body = ast.parse(Path(costmodel.__file__).read_text("utf-8")).body
    (block,) = (node for node in body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen | {"__version__"} == set(costmodel.__all__) == {*costmodel._HOMES, "__version__", "compile"}
    assert costmodel.__all__ == sorted(costmodel.__all__)
    for name in costmodel.__all__:
        assert getattr(costmodel, name) is not None and name in dir(costmodel)
    with pytest.raises(AttributeError, match="predct"):
        costmodel.predct  # noqa: B018


def test_public_functions_are_typed_and_documented():
    bare = []
    for name, function in functions():
        parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
        if any(p.annotation is p.empty for p in parameters) or inspect.signature(function).return_annotation is inspect.Signature.empty:
            bare.append(name)
        assert function.__doc__, name
    assert not bare
    assert (Path(costmodel.__file__).parent / "py.typed").is_file()


def test_attributes_of_a_prediction_are_typed():
    once = [(n, v.function) for n, v in vars(costmodel.Prediction).items() if hasattr(v, "function") and not n.startswith("_")]
    assert len(once) > 12
    assert not [n for n, f in once if inspect.get_annotations(f).get("return") in (None, "dict", "Any")]


ODD = ["/no/such.yaml", "\0", "/dev/null", Path("specs"), 3, b"8b", "x" * 5000, [["a"]], {"a": 1}, object()]


@pytest.mark.parametrize("odd", ODD, ids=[type(o).__name__ + str(i) for i, o in enumerate(ODD)])
@pytest.mark.parametrize("argument", ["model", "hardware", "engine", "techniques", "sets", "library", "prompt", "context", "devices"])
def test_an_argument_of_another_kind_is_a_problem(argument, odd):
    if argument in ("prompt", "context", "devices") and odd == 3:
        return
    with pytest.raises(costmodel.SpecError) as refused:
        costmodel.predict(**{"model": "8b", "hardware": "ddr5", argument: odd})
    assert refused.value.problems and all(isinstance(p, costmodel.Problem) and p.message for p in refused.value.problems)
    if argument in ("model", "techniques", "sets"):
        with pytest.raises(costmodel.SpecError):
            costmodel.compile(**{"model": "8b", argument: odd}).params()


def test_one_technique_or_override_needs_no_list():
    own = ROOT / "specs" / "techniques" / "int4.yaml"
    ways = ["int4", ["int4"], ("int4",), costmodel.load_technique("int4"), [costmodel.load_technique("int4")], own, [str(own)]]
    assert len({costmodel.predict("8b", "ddr5", techniques=way).tps.expected for way in ways}) == 1
    fast = [
        costmodel.predict("8b", "ddr5", sets=s).tps.ceiling
        for s in ("hw.memory.dram.bandwidth=1 TB/s", ["hw.memory.dram.bandwidth=1 TB/s"])
    ]
    assert fast[0] == fast[1] > costmodel.predict("8b", "ddr5").tps.ceiling


def test_the_page_documents_every_name_and_type():
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    names = [*costmodel.__all__, *costmodel.types.__all__]
    assert not [n for n in names if n not in page]


def test_starting_costs_no_more_than_it_says():
    """`costmodel.types` brings neither documents nor a compiler's heavy packages."""
    code = "import sys, costmodel.types; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert not {"sympy", "numpy", "pydantic", "jinja2", "click"} & set(done.stdout.split())


if __name__ == "__main__":
    print(listing(), end="")
