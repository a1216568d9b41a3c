"""What a request costs, counted: a row that grows by more than a twentieth fails until its number is changed, with a reason in
the commit. One that shrinks by as much fails, too, so that the next growth is seen."""

import sys
from collections.abc import Mapping

import aiohttp
import pytest

from agentui.jsonio import Json
from tests.bench.__main__ import body, pipeline
from tests.conftest import StartServer
from tests.costs import Costs, counting
from tests.upstreams.server import API_KEY, Mock

TOLERANCE = 0.05

LINES: Mapping[str, int] = {"same": 1941, "block": 1941, "claude": 2450, "streamed": 3018}
"""Lines of Python in ``agentui`` for one request of 1 KB. ``same``: two nodes that set variables and a call in the caller's
dialect, as the bench has it; ``block``: the same from a Prompt Block; ``claude``: translated."""

lines_of_311 = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="other Pythons count the lines of comprehensions differently"
)


def documents(mock: Mock) -> dict[str, Json]:
    """The bench's pipelines."""
    port = int(mock.origin.rpartition(":")[2])
    return {"same": pipeline("openai", port), "block": pipeline("openai", port, 1), "claude": pipeline("claude", port)}


async def cost_of_one(origin: str, case: str) -> Costs:
    """What a request costs once the server is warm."""
    is_stream = case == "streamed"
    url = f"{origin}/p/{'same' if is_stream else case}/v1/chat/completions"
    content = body(1, "bench-1-1-0", stream=is_stream)
    headers = {"content-type": "application/json", "authorization": f"Bearer {API_KEY}"}

    async def ask(session: aiohttp.ClientSession) -> None:
        async with session.post(url, data=content, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            await answer.read()

    async with aiohttp.ClientSession() as session:
        for _ in range(3):
            await ask(session)
        with counting() as counted:
            return await counted.least(lambda: ask(session))


@lines_of_311
@pytest.mark.parametrize("case", LINES)
async def test_a_request_does_no_more_than_it_did(start_server: StartServer, mock: Mock, case: str) -> None:
    server = await start_server(documents(mock))
    costs = await cost_of_one(server.origin, case)
    assert LINES[case] * (1 - TOLERANCE) <= costs.lines <= LINES[case] * (1 + TOLERANCE), f"{costs.lines}\n{costs.largest()}"
    assert (costs.replaced, costs.copied, costs.statements) == (0, 0, 0)
