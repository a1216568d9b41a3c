"""The deno that the maintainers' scripts run: from PyPI (``pip install deno``), so that none of them needs Node."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parent
CONFIG = BUILD / "deno.json"


class ToolMissing(Exception):
    """A tool that a script needs is not installed; the message says how to get it."""


def find_deno() -> Path:
    """
    The ``deno`` beside the running Python, else the one on the PATH.

    Raises ToolMissing where there is neither.
    """
    found = shutil.which("deno", path=str(Path(sys.executable).parent)) or shutil.which("deno")
    if found is None:
        raise ToolMissing('deno is not installed: pip install -e ".[editor-dev]"')
    return Path(found)


def run_deno(*arguments: str, folder: Path = BUILD) -> subprocess.CompletedProcess[str]:
    """Run deno in this folder, without colours and without a look for updates; its output is captured, its exit code kept."""
    environment = {**os.environ, "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"}
    return subprocess.run(
        [str(find_deno()), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
