"""What tests with the real SillyTavern share."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import skip


@pytest.fixture
def tavern_packages(request: pytest.FixtureRequest) -> Path:
    """The folder that npm installed SillyTavern into."""
    folder = request.config.getoption("sillytavern")
    if folder is None:
        pytest.skip("SillyTavern is not installed; --sillytavern names the folder that npm installed it into")
    if shutil.which("node") is None or not (Path(folder) / "node_modules" / "sillytavern").is_dir():
        skip(f"there is no SillyTavern below {folder}, or no node on this machine")
    return Path(folder).absolute()
