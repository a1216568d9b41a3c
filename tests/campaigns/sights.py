"""Random chats against a plain model of them: nothing of their memories is seen that must not be, and nothing hidden that must
be seen (tests/memories)."""

from random import Random

import aiohttp

from agentui.principal import DEFAULT_ACCOUNT
from tests.api.chats.conftest import Reader
from tests.api.editor_client import say
from tests.campaigns.campaign import Campaign, Trial
from tests.conftest import servers
from tests.memories.played import begin_play, play_chat

STEPS = 30


async def sight(trial: Trial) -> None:
    """Chat after chat on SQLite, until there were enough. What disagrees is told with the chat's number."""
    async with servers(trial.folder) as start, aiohttp.ClientSession() as session:
        server = await start({"default": say()})
        reader = Reader(server, session)
        while trial.counts["chats"] < trial.size and not trial.is_over() and not trial.failures:
            number = trial.random.getrandbits(64)
            try:
                play = await begin_play(reader, DEFAULT_ACCOUNT, Random(number))
                trial.counts["places"] += await play_chat(play, STEPS)
                await reader.delete(f"/sessions/{play.session}")
            except AssertionError as error:
                trial.fail(f"chat {number}: {error}")
            trial.counts["chats"] += 1


CAMPAIGNS = [Campaign("memories.sight", sight, counted="chats", short=3, long=10_000, short_seconds=30, long_seconds=7200)]
