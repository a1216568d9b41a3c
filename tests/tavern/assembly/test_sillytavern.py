"""SillyTavern sends what was recorded of it: in Chromium, in a network namespace that holds nothing but loopback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.conftest import SHUT_IN
from tests.conftest import ROOT
from tests.tavern.assembly.case import recorded
from tests.tavern.assembly.record import keep


@pytest.mark.timeout(1800)  # hundreds of chats in a browser, and the first start compiles SillyTavern's page
def test_sillytavern_sends_what_was_recorded(tavern_packages: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """With ``--rerecord`` what it sends now is kept."""
    command = [sys.executable, "-m", "tests.tavern.assembly.stage", str(tavern_packages), str(tmp_path / "stage")]
    done = subprocess.run([*SHUT_IN, *command], cwd=ROOT, capture_output=True, text=True, timeout=1740, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if request.config.getoption("rerecord"):
        keep(found)
    assert found == recorded()
