"""A client's history is found again among the floors of a chat, and of all chats, on both engines."""

import pytest

from agentui.chat.messages import Message, text_message
from agentui.chat.messages import Role as Speaker
from agentui.chats.branches.writing import branch_from_floor
from agentui.turns.placing.candidates import find_chat, find_place, find_told_chat, new_fork
from agentui.turns.placing.matching import Placement
from agentui.turns.placing.sent import read_sent, words_of
from agentui.turns.transactions import Joined
from tests.chats.conftest import Memory

SIDES: dict[str, Speaker] = {"u": "user", "a": "assistant", "s": "system"}


def said(*texts: str) -> list[Message]:
    """Messages, each with the letter of its speaker."""
    return [text_message(SIDES[text[0]], text[2:]) for text in texts]


async def play(memory: Memory, joined: Joined, *turns: tuple[str, str]) -> list[str]:
    """Turns by their questions and answers; the floors' ids."""
    ids = []
    for question, answer in turns:
        opened = await memory.open(joined, question)
        await memory.commit(opened.floor_id, answer, output_page_id=opened.output_page_id)
        ids.append(opened.floor_id)
    return ids


async def where(memory: Memory, joined: Joined, *texts: str, branch: str | None = None) -> Placement:
    """Where a request belongs."""
    placement: Placement = await memory.read(find_place, joined.session_id, branch, read_sent(said(*texts)), None)
    return placement


TALE = [("I look.", "You see."), ("I dig.", "A hole."), ("I climb.", "You are out.")]


async def test_a_turn_is_found_on_the_branch_that_the_client_was_on(memory: Memory) -> None:
    joined = await memory.join()
    assert await where(memory, joined, "u:I look.") == Placement("new")
    first, second, third = await play(memory, joined, *TALE)
    history = ["u:I look.", "a:You see.", "u:I dig.", "a:A hole.", "u:I climb.", "a:You are out."]
    assert await where(memory, joined, *history, "u:On.") == Placement("new", third, "main")
    assert await where(memory, joined, *history[:5]) == Placement("regenerate", third, "main")
    assert await where(memory, joined, *history[:4], "u:I sing.") == Placement("fork", second, "main")
    assert await where(memory, joined, *history[2:4], "u:I sing.") == Placement("fork", second, "main")
    assert await where(memory, joined, "a:A greeting.", "u:Hello?") == Placement("fork", None, "main")
    fork = await memory.write(new_fork, joined.session_id, "main")
    assert fork == "main~2"
    await memory.write(branch_from_floor, second, fork, memory.now)
    on_fork = Joined(joined.session_id, fork)
    [other] = await play(memory, on_fork, ("I sing.", "La."))
    assert await where(memory, joined, *history[:4], "u:I sing.", "a:La.", "u:More.") == Placement("new", other, fork)
    # The client goes back to its other copy of the chat.
    assert await where(memory, joined, *history, "u:On.") == Placement("new", third, "main")
    assert await where(memory, joined, *history[:4], "u:I sleep.") == Placement("fork", second, "main")
    assert await memory.write(new_fork, joined.session_id, fork) == "main~3"
    del first


async def test_a_question_about_a_chat_finds_the_branch_that_its_client_is_on(memory: Memory) -> None:
    joined = await memory.join()
    first, _ = await play(memory, joined, *TALE[:2])
    fork = await memory.write(new_fork, joined.session_id, "main")
    await memory.write(branch_from_floor, first, fork, memory.now)
    await play(memory, Joined(joined.session_id, fork), ("I sing.", "La la la, you sing."))
    title = words_of(said("u:A title for: La la la, you sing."))
    assert await memory.read(find_told_chat, title) == (joined.session_id, fork)
    assert await memory.read(find_told_chat, words_of(said("u:A title for: nothing that was said."))) is None


async def test_a_branch_that_the_client_names_keeps_to_itself(memory: Memory) -> None:
    joined = await memory.join()
    _, second, third = await play(memory, joined, *TALE)
    await memory.write(branch_from_floor, second, "other", memory.now)
    [mine] = await play(memory, Joined(joined.session_id, "other"), ("I climb.", "You fall."))
    history = ["u:I look.", "a:You see.", "u:I dig.", "a:A hole.", "u:I climb."]
    assert await where(memory, joined, *history, branch="other") == Placement("regenerate", mine, "other")
    assert await where(memory, joined, *history, branch="main") == Placement("regenerate", third, "main")


async def test_an_early_floor_of_a_long_chat_is_found(memory: Memory) -> None:
    joined = await memory.join()
    turns = [(f"Question {number}.", f"Answer {number}.") for number in range(120)]
    ids = await play(memory, joined, *turns)
    history = [f"{side}:{text}" for turn in turns[:20] for side, text in zip("ua", turn, strict=True)]
    assert await where(memory, joined, *history, "u:Elsewhere.") == Placement("fork", ids[19], "main")
    assert await where(memory, joined, *history[:-1]) == Placement("fork", ids[18], "main")


@pytest.mark.parametrize("name", ["Ann: ", ""])
async def test_a_chat_is_found_among_all(memory: Memory, name: str) -> None:
    sessions = [await memory.join(f"chat {number}") for number in range(12)]
    for number, joined in enumerate(sessions):
        await play(memory, joined, ("Hello.", f"I am number {number}."), ("Go on.", f"Tale {number}."))
    sent = said("s:Be kind.", "a:Welcome.", f"u:{name}Hello.", "a:I am number 3.", f"u:{name}Go on.", "a:Tale 3.", "u:More.")
    assert await memory.read(find_chat, read_sent(sent)) == sessions[3].session_id
    assert await memory.read(find_chat, read_sent(said("a:Welcome.", "u:Hello."))) is None
