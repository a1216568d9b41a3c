"""Whatever is played - turns, broken ones, swipes, edits, deletions, forks of forks, resets, merges, imports - what is seen
of memories is what a plain model of the chat says. ``python -m tests.campaigns memories.sight`` plays thousands of chats."""

from collections import Counter
from random import Random

from agentui.principal import DEFAULT_ACCOUNT
from tests.api.chats.conftest import Reader
from tests.memories.played import begin_play, play_chat

CHATS = {"sqlite": 8, "postgresql": 3}
STEPS = 28


async def test_what_is_seen_is_what_the_chat_says(reader: Reader) -> None:
    compared, steps = 0, Counter[str]()
    chats = CHATS[reader.server.state.store.status["engine"]]
    for number in range(chats):
        play = await begin_play(reader, DEFAULT_ACCOUNT, Random(f"chat {number}"))
        compared += await play_chat(play, STEPS)
        steps.update(play.steps)
    assert compared >= chats * STEPS
    assert chats < 8 or steps.keys() == {step.__name__ for step, _ in play.ways()}, "each way was gone"
