"""Tasks that end together: whose failure counts, and that a cancellation is neither lost nor left behind."""

import asyncio

import pytest

from agentui.errors import NodeFailed
from agentui.pipeline.walk.group import Group, in_group


async def fail() -> None:
    raise NodeFailed("No.")


class Lingering:
    """Work that, once it is cancelled, goes on until it may end."""

    def __init__(self) -> None:
        self.ends, self.may_end = asyncio.Event(), asyncio.Event()

    async def work(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.ends.set()
            await self.may_end.wait()


def both(lingering: Lingering, group: Group) -> None:
    group.start(lingering.work(), "lingers")
    group.start(fail(), "fails")


async def test_a_failure_cancels_the_others_and_leaves_no_cancellation_behind() -> None:
    lingering = Lingering()
    lingering.may_end.set()
    with pytest.raises(NodeFailed):
        await in_group(lambda group: both(lingering, group))
    task = asyncio.current_task()
    assert lingering.ends.is_set()
    assert task is not None and task.cancelling() == 0


async def test_a_cancellation_that_comes_while_tasks_end_is_not_lost() -> None:
    lingering = Lingering()
    task = asyncio.create_task(in_group(lambda group: both(lingering, group)))
    await lingering.ends.wait()
    task.cancel()
    lingering.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_is_started_while_tasks_end_is_cancelled() -> None:
    begun = False

    async def late() -> None:
        nonlocal begun
        begun = True

    async def start(group: Group) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            group.start(late(), "late")

    def begin(group: Group) -> None:
        group.start(start(group), "starts")
        group.start(fail(), "fails")

    with pytest.raises(NodeFailed):
        await in_group(begin)
    assert not begun


async def test_a_cancellation_that_nobody_asked_for_is_a_failure() -> None:
    async def vanish() -> None:
        raise asyncio.CancelledError

    with pytest.raises(RuntimeError, match="'vanishes'"):
        await in_group(lambda group: group.start(vanish(), "vanishes"))
