"""Formulas and templates that want all time and all memory: they are refused, and everybody else is served meanwhile (T5)."""

import asyncio
import time

import pytest

from agentui.jsonio import Json
from tests.faults.callers import DIALECTS, Asked, ask, error_of
from tests.faults.conftest import PATIENCE, StartHouse
from tests.turns.house import chain, sets, text
from tests.upstreams.server import Mock


def formula(source: str) -> list[Json]:
    """A node that works it out."""
    return [sets(("run", "x", "expr", source))]


def doubling() -> list[Json]:
    """Nodes that each write twenty times what the one before wrote: ten characters become 25.6 billion."""
    first = sets(("run", "a0", "string", "boom boom "), id="n0")
    return [first, *(sets(("run", f"a{n}", "string", f"[[a{n - 1}]]" * 20), id=f"n{n}") for n in range(1, 9))]


def laughing(levels: int) -> list[Json]:
    """Nodes that each hold the one before twice: a few bytes in memory, and 2^levels texts when they are written."""
    first = sets(("run", "a0", "string", "ha"), id="n0")
    doubled = [
        sets(("run", f"a{n}", "json", f"[{{{{ a{n - 1} }}}}, {{{{ a{n - 1} }}}}]"), id=f"n{n}") for n in range(1, levels + 1)
    ]
    return [first, *doubled]


BOMBS: dict[str, list[Json]] = {
    "a product of products": formula("*".join(["9" * 70] * 50)),
    "a list of lists": formula("[1]" + "*99999" * 200),
    "a text of texts": formula("'xxxxxxxxxx'" + "*99999" * 200),
    "shifts": formula("1" + "<<9999" * 200),
    "many operators": formula("+".join(["1"] * 1000)),
    "deep brackets": formula("(" * 2000 + "1" + ")" * 2000),
    "a template of templates": doubling(),
    "a value of values": laughing(26),
    "a value of values, counted": [
        *laughing(18),
        sets(("run", "n", "string", "{{ [a18, a18, a18, a18]|json|length }}"), id="m"),
    ],
    "a value of what is known": [sets(("run", f"v{n}", "json", "[{{ vars }}, {{ OUT }}]"), id=f"n{n}") for n in range(30)],
}
LONGEST_SECONDS = 2.0
"""Seconds of the loop's own computing in one piece; the limits let it be a hundredth."""


class Pulse:
    """Follows how long the event loop computes without a look at anybody else."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def beat(self) -> None:
        """Look at every turn of the loop, until cancelled."""
        before = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            self.longest, before = max(self.longest, now - before), now


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_is_refused_and_everybody_else_is_served(start_house: StartHouse, mock: Mock, name: str) -> None:
    bomb = chain(*BOMBS[name], sets(text("It went off."), id="says"))
    house = await start_house(mock.origin, {"bomb": bomb})
    pulse = Pulse()
    beating = asyncio.create_task(pulse.beat())

    async def explode(number: int) -> None:
        asked = ask(DIALECTS[number % 4], stream=number % 8 > 3)
        heard = await house.send(Asked(f"/p/bomb{asked.path}", asked.headers, asked.body))
        assert b"It went off." not in heard.body
        assert heard.status != 200
        error_of(DIALECTS[number % 4], heard)

    bombs = asyncio.gather(*(explode(number) for number in range(16)))
    answered = 0
    async with asyncio.timeout(5 * PATIENCE):
        while not bombs.done() or not answered:
            async with house.session.get(house.origin + "/health") as health:
                assert health.status == 200
            answered += 1
        await bombs
    beating.cancel()
    assert pulse.longest < LONGEST_SECONDS
    assert mock.requests == []


async def test_views_of_large_results_are_summaries_and_nobody_waits_for_them(start_house: StartHouse, mock: Mock) -> None:
    """Each result is allowed by itself; written one after the other they would be gigabytes."""
    copies = [sets(("run", f"b{n}", "json", "{{ a16 }}"), id=f"m{n}") for n in range(300)]
    house = await start_house(mock.origin, {"wide": chain(*laughing(16), *copies, sets(text("Done."), id="says"))})
    asked = ask(DIALECTS[0])
    assert (await house.send(Asked(f"/p/wide{asked.path}", asked.headers, asked.body))).status == 200
    async with house.session.get(house.origin + "/api/runs") as runs:
        [summary, *_] = await runs.json()
    pulse = Pulse()
    beating = asyncio.create_task(pulse.beat())
    async with asyncio.timeout(PATIENCE), house.session.get(f"{house.origin}/api/runs/{summary['id']}") as answer:
        shown = await answer.json()
    beating.cancel()
    large = [event["data"] for event in shown["events"] if event["type"] == "node.finished" and event["node"].startswith("m")]
    assert len(large) == 300
    assert all(data["bytes"] > 2**18 and len(data["summary"]) == 500 and data["link"] for data in large)
    assert pulse.longest < LONGEST_SECONDS
