"""Where the agents are, and whether they can be shut in: they run in a network namespace that holds nothing but loopback."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, skip

Stage = Callable[[str, str, str], Mapping[str, Any]]
SHUT_IN = ("unshare", "--net", "--map-root-user", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


@pytest.fixture(scope="session")
def packages(request: pytest.FixtureRequest) -> Path:
    """The folder that npm installed the agents into."""
    folder = request.config.getoption("agents")
    if folder is None:
        pytest.skip("the coding agents are not installed; --agents names the folder (see docs/coding-agents.md)")
    if shutil.which("node") is None:
        skip("no node on this machine")
    if not (Path(folder) / "node_modules" / ".bin").is_dir():
        skip(f"npm installed nothing into {folder}")
    tried = subprocess.run([*SHUT_IN, "true"], capture_output=True, text=True, timeout=30, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no network namespace can be made here: {tried.stderr.strip()}")
    return Path(folder).absolute()


@pytest.fixture
def stage(packages: Path, tmp_path: Path) -> Stage:
    """Play a scene with one agent over one upstream, and hear what happened (``tests.agents.stage``)."""

    def play(name: str, upstream: str, scene: str) -> Mapping[str, Any]:
        command = [sys.executable, "-m", "tests.agents.stage", name, upstream, scene, str(packages), str(tmp_path / "stage")]
        done = subprocess.run([*SHUT_IN, *command], cwd=ROOT, capture_output=True, text=True, timeout=540, check=False)
        assert done.returncode == 0, done.stderr
        told: Mapping[str, Any] = json.loads(done.stdout)
        return told

    return play
