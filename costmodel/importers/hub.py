"""`hf:org/name`: the files of a model on the Hugging Face Hub, from the local cache; over the network only where allowed.

Needs the extra `hub`. `COSTMODEL_ONLINE=1` allows downloads of the configuration, never of weights.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..language.problem import Mark, problem

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?")
WANTED = ("config.json", "hf_quant_config.json")


def hub_file(name: str, mark: Mark | None = None) -> Path:
    """The config.json of `hf:org/name`. Raises :class:`SpecError` where it is not at hand."""
    repo = name.removeprefix("hf:")
    if not _ID.fullmatch(repo) or ".." in repo:
        raise problem(f"`{name[:80]}` is not a model's name", mark, "write hf:organisation/model")
    try:
        import huggingface_hub as hub
    except ImportError:
        raise problem("`hf:` names need huggingface_hub", mark, "pip install huggingface_hub") from None
    online = os.environ.get("COSTMODEL_ONLINE") == "1"
    found = _download(hub, repo, mark) if online else hub.try_to_load_from_cache(repo, "config.json")
    if not isinstance(found, str):
        help = "download its config.json, or set COSTMODEL_ONLINE=1 to let costmodel fetch it (the configuration only)"
        raise problem(f"`{repo}` is not in the local cache of the hub", mark, help)
    return Path(found)


def _download(hub, repo: str, mark: Mark | None) -> str:
    """Fetch the configuration files; the optional ones may be missing."""
    found = None
    for file in WANTED:
        try:
            path = hub.hf_hub_download(repo, file)
        except Exception as error:  # the library's own errors, and those of its network layers
            if file == WANTED[0]:
                first = (str(error).splitlines() or [type(error).__name__])[0][:200]
                raise problem(f"`{repo}`: {first}", mark, "check the name, the network, and whether the model needs a login") from None
            continue
        found = found or path
    assert found is not None
    return found
