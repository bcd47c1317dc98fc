"""The README's commands and Python, executed. Speeds may move with costmodel's releases, so their digits are not compared."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
MODULES = {"rigplan": "rigplan.cli", "costmodel": "costmodel"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def masked(text: str) -> str:
    """A text without the figures of speeds and times."""
    return re.sub(r"[\d.]+ (?=tok/s|s,)", "# ", text)


COMMANDS = [part.partition("\n")[::2] for block in blocks("console") for part in re.split(r"^\$ ", block, flags=re.M)[1:]]


@pytest.mark.parametrize(("line", "printed"), COMMANDS)
def test_commands(line, printed):
    command, _, code = line.partition("  # exits ")
    program, *args = shlex.split(command)
    done = subprocess.run([sys.executable, "-m", MODULES[program], *args], capture_output=True, text=True)
    assert done.returncode == int(code or 0), done.stderr
    shown = done.stdout + done.stderr
    if printed.endswith("...\n"):
        assert shown.startswith(printed.removesuffix("...\n"))
    else:
        assert masked(shown) == masked(printed)


def test_python():
    test = doctest.DocTestParser().get_doctest("\n".join(blocks("python")), {}, "README", "README.md", 0)
    assert test.examples and not doctest.DocTestRunner().run(test).failed
