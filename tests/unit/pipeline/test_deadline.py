"""A deadline cancels its task once, and says whether it was the one who did."""

import asyncio

import pytest

from agentui.pipeline.deadline import Deadline


async def test_it_cancels_its_task_and_takes_the_cancellation_back() -> None:
    deadline = Deadline(-1.0)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.Event().wait()
    assert not deadline.is_running
    assert deadline.was_the_cause()
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0


async def test_stopped_it_never_cancels() -> None:
    deadline = Deadline(0.0)
    states = [deadline.is_running]
    deadline.stop()
    states.append(deadline.is_running)
    assert states == [True, False]
    await asyncio.sleep(0.01)
    assert not deadline.was_the_cause()


async def test_a_cancellation_by_somebody_else_is_not_its_own() -> None:
    found: list[bool] = []

    async def work() -> None:
        deadline = Deadline(60.0)
        try:
            await asyncio.Event().wait()
        finally:
            deadline.stop()
            found.append(deadline.was_the_cause())

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert found == [False]


async def test_when_both_cancel_it_is_the_other_ones() -> None:
    found: list[bool] = []

    async def work() -> None:
        deadline = Deadline(0.0)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            current = asyncio.current_task()
            assert current is not None
            current.cancel()
            found.append(deadline.was_the_cause())
            raise

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(work())
    assert found == [False]
