"""The real SillyTavern, in Chromium, in a network namespace that holds nothing but loopback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.conftest import SHUT_IN
from tests.conftest import ROOT
from tests.tavern.stage import STORY


@pytest.mark.timeout(900)  # the first start compiles SillyTavern's page
def test_a_counter_counts_what_the_screen_shows(tavern_packages: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.tavern.stage", str(tavern_packages), str(tmp_path / "stage")]
    done = subprocess.run([*SHUT_IN, *command], cwd=ROOT, capture_output=True, text=True, timeout=840, check=False)
    assert done.returncode == 0, done.stderr
    told = [
        (request["scene"], request["headers"]["x-agentui-session"], request["told"]["x-agentui-turn"])
        for request in json.loads(done.stdout)
    ]
    assert told == [(scene, session, turn) for scene, session, turn, _ in STORY]
