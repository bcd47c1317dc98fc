"""What a cold start loads: asserted through `sys.modules`, in a new process."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import costmodel

HEAVY = ("sympy", "numpy", "pydantic", "jinja2", "yaml")


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return {m.partition(".")[0] for m in done.stderr.split()}


def test_warm_predict_loads_nothing_heavy():
    code = "from costmodel.cli import main\ntry:\n    main(['predict', '8b', '--hw', 'ddr5'])\nexcept SystemExit as stop:\n    assert not stop.code"
    modules_after(code)
    assert not modules_after(code) & set(HEAVY)


def test_import_loads_nothing():
    assert not modules_after("import costmodel") & {*HEAVY, "click", "json"}


def test_api_needs_neither_click_nor_sympy():
    assert not modules_after("import costmodel\ncostmodel.predict('8b', 'ddr5').tps.expected") & {"click", "sympy", "numpy", "jinja2"}


ROOMS = ["language", "schema", "importers", "probe", "library", "compile", "solve", "report", "cli"]
"""From left to right: nothing imports from its right. (`library` reads files through `importers`, which see it only as an argument.)"""


def test_imports_go_one_way():
    root = Path(costmodel.__file__).parent
    wrong = []
    for file in root.rglob("*.py"):
        parts = file.relative_to(root).parts
        room = parts[0].removesuffix(".py")
        if room not in ROOMS:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                inside = list(parts[: len(parts) - node.level]) + (node.module or "").split(".")
                target = next((p for p in inside if p in ROOMS), room)
                if ROOMS.index(target) > ROOMS.index(room):
                    wrong.append((str(file), node.module))
    assert not wrong
