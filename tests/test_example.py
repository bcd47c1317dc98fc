"""The example project: found by its entry point as an installed package is, its own tests, its types; and entry points that are broken."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "estimator"
PROJECT = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]


def installed(folder: Path, name: str, entry: str, source: Path | None = None) -> dict[str, str]:
    """An environment in which a package with one entry point is installed: its metadata lie in `folder`, its code in `source`."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[costmodel.specs]\n{entry}\n")
    path = os.pathsep.join(map(str, [ROOT, folder, *([source] if source else [])]))
    return {**os.environ, "PYTHONPATH": path, "COSTMODEL_CACHE": str(folder / "cache")}


def costmodel(env: dict[str, str], *args: str, cwd: Path | None = None):
    return subprocess.run([sys.executable, "-m", "costmodel", *args], env=env, capture_output=True, text=True, cwd=cwd)


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> dict[str, str]:
    ((name, value),) = PROJECT["entry-points"]["costmodel.specs"].items()
    return installed(tmp_path_factory.mktemp("site"), PROJECT["name"], f"{name} = {value}", EXAMPLE / "src")


def test_documents_of_an_installed_package_are_found(example, tmp_path):
    found = costmodel(example, "predict", "8b", "--hw", "quiet-box", "-t", "prompt-lookup", cwd=tmp_path)
    assert found.returncode == 0 and "Quiet box" in found.stdout, found.stderr
    again = costmodel(example, "predict", "8b", "--hw", "quiet-box", "-t", "prompt-lookup", cwd=tmp_path)
    assert again.stdout == found.stdout  # from the program cache
    listed = costmodel(example, "list", "hardware", "quiet*", cwd=tmp_path)
    assert "quiet-box" in listed.stdout
    typo = costmodel(example, "predict", "8b", "--hw", "quiet-bx", cwd=tmp_path)
    assert typo.returncode == 2 and "did you mean `quiet-box`" in typo.stderr


def test_without_the_package_they_are_not(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = costmodel(env, "predict", "8b", "--hw", "quiet-box", cwd=tmp_path)
    assert found.returncode == 2 and "no hardware `quiet-box`" in found.stderr


def test_a_built_in_document_is_not_hidden_by_a_package(tmp_path):
    specs = tmp_path / "code" / "specs" / "hardware"
    specs.mkdir(parents=True)
    (specs / "ddr5.yaml").write_text("schema: costmodel/hardware@1\nname: ddr5\nextends: cpu-desktop\n")
    (specs / "mine.yaml").write_text("schema: costmodel/hardware@1\nname: mine\nextends: rtx4080\naliases: [geforce-rtx-4090, my-own]\n")
    (tmp_path / "code" / "other.py").write_text(f"SPECS = {str(specs.parent)!r}\n")
    env = installed(tmp_path / "site", "other", "x = other:SPECS", tmp_path / "code")
    assert costmodel(env, "predict", "8b", "--hw", "ddr5").returncode == 0
    code = "import costmodel\nfor name in {!r}: print(costmodel.load_hardware(name).name)"
    for names in (["GeForce RTX 4090", "my own"], ["my own", "GeForce RTX 4090"]):  # whether packages were asked before or not
        done = subprocess.run([sys.executable, "-c", code.format(names)], env=env, capture_output=True, text=True)
        assert sorted(done.stdout.split()) == ["mine", "rtx4090"], (done.stdout, done.stderr)


BROKEN = {
    "no module": ("x = nowhere:SPECS", "", "ModuleNotFoundError"),
    "no name": ("x = broken:SPEC", "SPECS = 1\n", "AttributeError"),
    "not a path": ("x = broken:SPECS", "SPECS = 3\n", "it loads to int; want a text or pathlib.Path"),
    "no folder": ("x = broken:SPECS", "SPECS = '/no/such/folder'\n", "no folder `/no/such/folder`"),
    "its code fails": ("x = broken:SPECS", "1 / 0\n", "ZeroDivisionError"),
    "its code ends the process": ("x = broken:SPECS", "import sys\nsys.exit(0)\n", "SystemExit: 0"),
    "several lines": ("x = broken:SPECS", "raise ValueError('first\\nsecond')\n", "`brokenpack`: ValueError: first\n"),
}


QUICK = ("no module", "its code ends the process")


@pytest.mark.parametrize(
    ("entry", "code", "want"), [pytest.param(*case, id=n, marks=[] if n in QUICK else pytest.mark.full) for n, case in BROKEN.items()]
)
def test_a_broken_entry_point_is_told_where_a_name_is_not_found(tmp_path, entry, code, want):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "broken.py").write_text(code)
    env = installed(tmp_path / "site", "brokenpack", entry, tmp_path / "code")
    config = str(ROOT / "tests" / "data" / "configs" / "gpt2.json")
    for args in (("predict", "8b", "--hw", "ddr5"), ("predict", config, "--hw", "RTX 4090"), ("list", "links")):
        assert costmodel(env, *args).returncode == 0, args  # what needs nothing of it works
    done = costmodel(env, "predict", "8b", "--hw", "quiet-box")
    assert done.returncode == 2 and not done.stdout and "Traceback" not in done.stderr
    assert done.stderr.startswith("error: --hw:1:1: no hardware `quiet-box`")
    assert "not searched: entry point `x = " in done.stderr and "package `brokenpack`" in done.stderr and want in done.stderr


def test_the_examples_documents_are_valid(example):
    done = costmodel(example, "validate", str(EXAMPLE / "src" / "rigplan" / "specs"))
    assert done.returncode == 0 and done.stdout == "2 documents valid\n", done.stderr


@pytest.mark.full
def test_the_examples_own_tests(example):
    run = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(EXAMPLE)]
    done = subprocess.run(run, env=example, capture_output=True, text=True, cwd=EXAMPLE)
    assert done.returncode == 0, done.stdout


@pytest.mark.full
def test_the_example_is_typed_to_the_last(example, tmp_path):
    env = {**example, "MYPYPATH": os.pathsep.join([str(ROOT), str(EXAMPLE / "src")])}
    run = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path), "--config-file", ""]
    done = subprocess.run([*run, str(EXAMPLE / "src" / "rigplan")], env=env, capture_output=True, text=True, cwd=EXAMPLE)
    assert done.returncode == 0, done.stdout
    typo = tmp_path / "typo.py"
    typo.write_text('import costmodel\np = costmodel.predict("8b", "ddr5")\np.tps.expcted\np.memory.fits + "x"\ncostmodel.predct\n')
    done = subprocess.run([*run, str(typo)], env=env, capture_output=True, text=True, cwd=EXAMPLE)
    assert done.returncode == 1 and done.stdout.count("error:") >= 3, done.stdout
