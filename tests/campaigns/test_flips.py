"""The campaign of flipped files finds a library that serves whatever stands in a file."""

import os
from pathlib import Path
from unittest.mock import patch

from agentui.documents.folder import FolderLibrary
from tests.campaigns.campaign import Trial
from tests.campaigns.flips import flips


async def test_a_library_that_forgets_the_last_good_version_is_found(tmp_path: Path) -> None:
    trial = Trial("files.flips", 40, 60, 1, tmp_path)
    with patch.object(FolderLibrary, "_last_good", lambda library, id: None):
        await flips(trial)
    assert any("is of no version" in failure for failure in trial.failures)


async def test_a_library_that_does_not_look_again_is_found(tmp_path: Path) -> None:
    look = FolderLibrary._look

    def look_once(library: FolderLibrary[object], id: str, path: Path, status: os.stat_result) -> None:
        """Read a file the first time only."""
        if id not in library:
            look(library, id, path, status)

    trial = Trial("files.flips", 3, 60, 1, tmp_path)
    with patch.object(FolderLibrary, "_look", look_once):
        await flips(trial)
    assert any("the answer is" in failure for failure in trial.failures)
