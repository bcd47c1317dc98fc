"""The README's blocks, executed: console commands, Python, YAML; and its figures."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from costmodel.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", README, re.S)


def commands() -> list[tuple[str, str]]:
    """(command line, printed text) of every console block."""
    found = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, printed = part.partition("\n")
            found.append((line, printed))
    return found


@pytest.mark.parametrize(("line", "printed"), commands())
def test_console_blocks(line, printed):
    import shlex

    line, _, note = line.partition("#")
    result = CliRunner().invoke(main, shlex.split(line)[1:])
    assert result.exit_code == (int(note.split()[-1]) if "exits" in note else 0), result.output
    for piece in printed.split("...\n"):
        for text in piece.strip().splitlines():
            assert text.strip() in result.output, text


def test_python_blocks():
    text = "\n".join(blocks("python"))
    test = doctest.DocTestParser().get_doctest(text, {}, "README", "README.md", 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_yaml_blocks(tmp_path):
    import costmodel

    for text in blocks("yaml"):
        name = re.search(r"^name: (\S+)", text, re.M)[1]
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
        assert costmodel.predict("8b", str(tmp_path / f"{name}.yaml")).tps.ceiling > 0


def test_the_two_commands_are_those_of_ci():
    setup = [b.strip() for b in blocks("sh")]
    assert len(setup) == 2
    assert setup[1] in (ROOT / ".ci/run").read_text("utf-8")
    assert "costmodel predict specs/models/8b.yaml --hw ddr5" in setup[0] and "costmodel matrix" in setup[0]


def test_links_resolve():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_counts_in_the_changelog():
    from conftest import usable

    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    hardware, classes = len(usable("hardware")), len(list((ROOT / "specs/hardware").glob("*.yaml"))) - len(usable("hardware"))
    assert f"{hardware} devices and {classes} classes, {len(usable('model'))} models, {len(usable('technique'))} techniques" in text
