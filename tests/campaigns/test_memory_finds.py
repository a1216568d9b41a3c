"""The campaigns of the memory find a memory that forgets."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from agentui.turns import service
from agentui.variables.staging import NOT_READ
from tests.campaigns import writers
from tests.campaigns.campaign import Trial
from tests.campaigns.store import races
from tests.campaigns.variables import model
from tests.campaigns.writers import HANDS, ROUND
from tests.variables import test_model

pytestmark = pytest.mark.timeout(300)


async def test_turns_that_lose_what_they_wrote_are_found(tmp_path: Path) -> None:
    commit = service.commit_turn

    def forgetful(db: Any, place: Any, writes: Sequence[object], *rest: Any, **more: Any) -> object:
        """Keep the answer and no variable."""
        return commit(db, place, (), *rest, **more)

    trial = Trial("store.races", 24, 60, 1, tmp_path)
    with patch.object(service, "commit_turn", forgetful):
        await races(trial)
    assert any("not of turn" in failure for failure in trial.failures)


async def test_a_batch_that_keeps_its_first_half_is_found(tmp_path: Path) -> None:
    put_all = test_model.put_all

    def half(db: Any, account: str, items: Sequence[Any], *rest: Any) -> list[Any]:
        """Keep the first of several, and say that all were kept."""
        return list(put_all(db, account, items[:1], *rest)) * len(items)

    trial = Trial("variables.model", 2_000, 60, 1, tmp_path)
    with patch.object(test_model, "put_all", half):
        await model(trial)
    assert any("AssertionError" in failure for failure in trial.failures)


async def test_a_run_that_overwrites_what_another_wrote_is_found(tmp_path: Path) -> None:
    commit = writers.commit_staged

    def careless(db: Any, account: str, *place: Any) -> None:
        """Write without asking what the run had read."""
        *ids, writes, now = place
        commit(db, account, *ids, [replace(write, expected=NOT_READ) for write in writes], now)

    trial = Trial("writers.sqlite", 2 * HANDS * ROUND, 60, 1, tmp_path)
    with patch.object(writers, "commit_staged", careless):
        await writers.on_sqlite(trial)
    assert any("an update is lost" in failure for failure in trial.failures)


async def test_writes_that_are_told_and_not_kept_are_found(tmp_path: Path) -> None:
    put_all = writers.put_all

    def half(db: Any, account: str, items: Sequence[Any], *rest: Any) -> list[Any]:
        """Keep the first of several, and tell of all."""
        kept = put_all(db, account, items[:1], *rest)
        return [kept[0]._replace(variable=kept[0].variable._replace(key=item.key)) for item in items]

    trial = Trial("writers.sqlite", HANDS * ROUND, 60, 1, tmp_path)
    with patch.object(writers, "put_all", half):
        await writers.on_sqlite(trial)
    assert any("a reader saw" in failure for failure in trial.failures)
