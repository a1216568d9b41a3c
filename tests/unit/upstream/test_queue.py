"""Calls beyond an origin's limit wait for their turn: in order, for a while, and not too many of them."""

import asyncio
import time

import pytest

from agentui.errors import Busy, UpstreamTimeout
from agentui.upstream.call import UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http.exchange import Timeouts
from tests.unit.upstream.conftest import PATIENCE, Bytes, Visit

PATIENT = Timeouts(connect=60)
"""A busy machine may take long to connect; that is not what is tested here."""


def call(server: Bytes, number: int = 0, deadline: float | None = None) -> UpstreamCall:
    return UpstreamCall("POST", f"{server.url}/{number}", body=b"{}", timeouts=PATIENT, deadline=deadline)


class Gate:
    """A script that lets nobody through until it is opened, and counts who is inside."""

    def __init__(self, server: Bytes) -> None:
        self.server = server
        self.opened = asyncio.Event()
        self.entered = asyncio.Event()
        self.inside = self.most_inside = 0
        server.script = self

    async def __call__(self, visit: Visit) -> None:
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        self.entered.set()
        await self.opened.wait()
        self.inside -= 1
        await visit.answer()

    @property
    def order(self) -> list[int]:
        return [int(visit.head.split()[1][1:]) for visit in self.server.visits]


def queued(upstream: Upstream) -> int:
    return sum(len(origin.queue) for origin in upstream.origins().values())


def in_flight(upstream: Upstream) -> int:
    return sum(origin.in_flight for origin in upstream.origins().values())


async def until_queued(upstream: Upstream, count: int) -> None:
    async with asyncio.timeout(60):
        while queued(upstream) != count:  # noqa: ASYNC110 - a queue tells nobody
            await asyncio.sleep(0.001)


async def test_calls_beyond_the_limit_wait_and_go_in_the_order_in_which_they_came(server: Bytes) -> None:
    gate = Gate(server)
    async with Upstream(max_in_flight=1) as upstream:
        calls = []
        for number in range(50):
            calls.append(asyncio.create_task(upstream.send(call(server, number))))
            await until_queued(upstream, number)
        gate.opened.set()
        replies = await asyncio.gather(*calls)
        assert [reply.status for reply in replies] == [200] * 50
        assert gate.order == list(range(50)) and gate.most_inside == 1
        assert (in_flight(upstream), queued(upstream)) == (0, 0)


async def test_who_comes_later_does_not_overtake_who_waits(server: Bytes) -> None:
    gate = Gate(server)
    async with Upstream(max_in_flight=1) as upstream:
        first = asyncio.create_task(upstream.send(call(server, 0)))
        await gate.entered.wait()
        second = asyncio.create_task(upstream.send(call(server, 1)))
        await until_queued(upstream, 1)
        first.add_done_callback(lambda _: late.append(asyncio.create_task(upstream.send(call(server, 2)))))
        late: list[asyncio.Task[object]] = []
        gate.opened.set()
        await asyncio.gather(first, second)
        await asyncio.gather(*late)
        assert gate.order == [0, 1, 2]


async def test_one_too_many_is_refused_at_once(server: Bytes) -> None:
    gate = Gate(server)
    async with Upstream(max_in_flight=1, max_queued=1000, queue_timeout=60) as upstream:
        calls = [asyncio.create_task(upstream.send(call(server, number))) for number in range(1001)]
        await until_queued(upstream, 1000)
        with pytest.raises(Busy, match="1000 wait for their turn") as caught:
            await asyncio.wait_for(upstream.send(call(server)), PATIENCE)
        assert caught.value.retry_after == 1.0
        [origin] = upstream.origins().values()
        assert origin.counts.refused == 1
        gate.opened.set()
        assert {reply.status for reply in await asyncio.gather(*calls)} == {200}


async def test_who_waited_too_long_is_refused_and_the_others_go_on(server: Bytes) -> None:
    gate = Gate(server)
    async with Upstream(max_in_flight=1, queue_timeout=0.2) as upstream:
        first = asyncio.create_task(upstream.send(call(server)))
        await gate.entered.wait()
        with pytest.raises(Busy, match=r"did not come within 0\.2 seconds") as caught:
            await upstream.send(call(server, 1))
        assert caught.value.retry_after == 1.0 and queued(upstream) == 0
        gate.opened.set()
        assert (await first).status == 200
        assert (await upstream.send(call(server, 2))).status == 200
        assert gate.order == [0, 2]


async def test_the_deadline_of_a_call_counts_while_it_waits(server: Bytes) -> None:
    gate = Gate(server)
    async with Upstream(max_in_flight=1) as upstream:
        first = asyncio.create_task(upstream.send(call(server)))
        await gate.entered.wait()
        with pytest.raises(UpstreamTimeout, match="could be asked"):
            await upstream.send(call(server, 1, deadline=time.monotonic() + 0.1))
        with pytest.raises(UpstreamTimeout):
            await upstream.send(call(server, 1, deadline=time.monotonic() - 1))
        gate.opened.set()
        assert (await first).status == 200
        assert gate.order == [0]


async def test_a_caller_who_leaves_gives_up_the_turn(server: Bytes) -> None:
    gate = Gate(server)
    async with Upstream(max_in_flight=1) as upstream:
        calls = []
        for number in range(4):
            calls.append(asyncio.create_task(upstream.send(call(server, number))))
            await until_queued(upstream, number)
        calls[1].cancel()
        await until_queued(upstream, 2)
        # The next one leaves in the very moment in which its turn comes.
        [origin] = upstream.origins().values()
        turn = next(iter(origin.queue))
        turn.add_done_callback(lambda _: calls[2].cancel())
        gate.opened.set()
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(result).__name__ for result in results] == [
            "UpstreamReply", "CancelledError", "CancelledError", "UpstreamReply"
        ]  # fmt: skip
        assert gate.order in ([0, 3], [0, 2, 3])
        assert (in_flight(upstream), queued(upstream)) == (0, 0)
        assert (await upstream.send(call(server))).status == 200


async def test_a_queue_at_one_origin_holds_up_no_other(server: Bytes) -> None:
    gate = Gate(server)
    async with Upstream(max_in_flight=1) as upstream:
        waiting = [asyncio.create_task(upstream.send(call(server, number))) for number in range(2)]
        await until_queued(upstream, 1)
        other = server.url.replace("127.0.0.1", "localhost")
        beside = asyncio.create_task(upstream.send(UpstreamCall("POST", f"{other}/9", body=b"{}", timeouts=PATIENT)))
        async with asyncio.timeout(60):
            while gate.inside < 2:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.001)
        gate.opened.set()
        assert {reply.status for reply in await asyncio.gather(*waiting, beside)} == {200}
