"""The command that adds a missing package to the environment that gradcli runs in.

Invariant: the text is one line that a shell runs as it is, also zsh.

    how_to_install("pyarrow")        # "pipx inject gradcli pyarrow"
"""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which


def how_to_install(*packages: str) -> str:
    """Return the command that installs packages beside gradcli: by pipx or uv where
    one of them installed gradcli, else by pip."""
    names = shlex.join(packages)
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx inject gradcli {names}"
    receipt = prefix / "uv-receipt.toml"
    if receipt.is_file():
        more = " ".join(f"--with {shlex.quote(each)}" for each in packages)
        return f"uv tool install {_source(receipt)} {more}"
    python = shlex.quote(_python())
    if find_spec("pip") is None and which("uv") is not None:
        return f"uv pip install --python {python} {names}"
    return f"{python} -m pip install {names}"


def _source(receipt: Path) -> str:
    """Return the folder that uv installed gradcli from, or its name on an index."""
    from tomllib import TOMLDecodeError, loads

    try:
        tool = loads(receipt.read_text(encoding="utf-8"))["tool"]
        for each in tool["requirements"]:
            if each["name"] == "gradcli":
                folder = each.get("directory") or each.get("editable") or "gradcli"
                return shlex.quote(folder)
    except (OSError, ValueError, TOMLDecodeError, LookupError, TypeError):
        pass
    return "gradcli"


def _python() -> str:
    """Return the name of this Python, or its path where the name is another one's."""
    for name in ("python", "python3"):
        path = which(name)
        if (
            path is not None
            and Path(path).absolute() == Path(sys.executable).absolute()
        ):
            return name
    return sys.executable or "python"
