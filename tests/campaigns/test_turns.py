"""The campaign of turns that are asked for twice finds those that happen twice."""

from pathlib import Path

import pytest

from tests.campaigns.campaign import Trial
from tests.campaigns.turns import twice


@pytest.mark.timeout(300)
async def test_turns_that_happen_twice_are_found(tmp_path: Path) -> None:
    trial = Trial("turns.twice", 4, 120, 1, tmp_path)
    await twice(trial, ["sqlite"], has_one_key=False)
    assert any("has 2 floors" in failure for failure in trial.failures)
    assert any("was answered in 2 ways" in failure for failure in trial.failures)
