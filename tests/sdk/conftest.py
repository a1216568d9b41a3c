"""A server to speak to."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.test_docs import running_demo


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The demo, in a thread of its own, so that programs that wait can speak to it."""
    folder = tmp_path_factory.mktemp("demo")
    started, stop = Event(), asyncio.Event()
    told: list[str] = []
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with running_demo(Path(folder)) as address:
            told.append(address)
            started.set()
            await stop.wait()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            started.set()
            loop.close()

    thread = Thread(target=run)
    thread.start()
    started.wait()
    try:
        yield told[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
