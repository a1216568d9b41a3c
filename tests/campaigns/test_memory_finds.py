"""The campaigns of the memory find a memory that forgets."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import Phase, settings

from agentui.sessions import live
from tests.campaigns import variables
from tests.campaigns.campaign import Trial
from tests.campaigns.store import races
from tests.campaigns.variables import model
from tests.variables import test_model

pytestmark = pytest.mark.timeout(300)


async def test_turns_that_lose_what_they_wrote_are_found(tmp_path: Path) -> None:
    commit = live._commit

    def forgetful(db: Any, place: Any, run_id: str, writes: Sequence[object], *rest: Any) -> object:
        """Keep the answer and no variable."""
        return commit(db, place, run_id, (), *rest)

    trial = Trial("store.races", 24, 60, 1, tmp_path)
    with patch.object(live, "_commit", forgetful):
        await races(trial)
    assert any("not of turn" in failure for failure in trial.failures)


async def test_a_batch_that_keeps_its_first_half_is_found(tmp_path: Path) -> None:
    put_all = test_model.put_all

    def half(db: Any, account: str, items: Sequence[Any], *rest: Any) -> list[Any]:
        """Keep the first of several, and say that all were kept."""
        return list(put_all(db, account, items[:1], *rest)) * len(items)

    trial = Trial("variables.model", 2_000, 60, 1, tmp_path)
    # What was found is not made smaller first: that takes minutes.
    quickly = patch.object(variables, "settings", partial(settings, phases=(Phase.generate,)))
    with patch.object(test_model, "put_all", half), quickly:
        await model(trial)
    assert any("AssertionError" in failure for failure in trial.failures)
