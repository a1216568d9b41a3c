"""Whole chats come in and go out as they were, on both engines."""

import pytest

from agentui.assets.files.chats import ChatFloor, ChatMessage, ChatPage, ChatRecord
from agentui.chat.fingerprints import fingerprint
from agentui.chats.branches import branch_from_floor
from agentui.chats.rows import branch_head
from agentui.chats.text_index import sessions_saying
from agentui.errors import ApiError
from agentui.library.transfer import ImportedChat, export_chat, import_chat
from tests.chats.conftest import Memory, code_of, make_store, memory

__all__ = ["make_store", "memory"]


def turn(number: int, versions: int = 1) -> ChatFloor:
    question = ChatPage(0, "input", (ChatMessage("user", f"Question {number}?", said_at=1000 + number),))
    answers = [
        ChatPage(
            1, "output", (ChatMessage("assistant", f"Answer {number}.{version}", said_at=2000),), version, version == versions
        )
        for version in range(1, versions + 1)
    ]
    return ChatFloor((question, *answers))


GREETING = ChatFloor((ChatPage(0, "output", (ChatMessage("assistant", "Ahoy.", said_at=500),)),))
STRANGE = ChatFloor(
    (
        ChatPage(
            0,
            "mixed",
            (
                ChatMessage("narrator", "Night falls.", said_at=9000),
                ChatMessage("assistant", "I come.", "Tom", is_hidden=True, said_at=9001, content_format="markdown"),
            ),
        ),
    )
)
RECORD = ChatRecord(
    (GREETING, turn(1), turn(2, versions=3), STRANGE),
    title="At sea",
    user_name="Ann",
    character_name="Mira",
    variables={"mood": {"deep": [1, None]}, "ship": "Gull"},
    metadata={"note_prompt": "Slow."},
)


async def test_a_chat_goes_out_as_it_came_in(memory: Memory) -> None:
    made: ImportedChat = await memory.write(import_chat, RECORD, None, None, memory.now)
    assert (made.floors, made.pages, made.messages, made.variables) == (4, 8, 9, 2)
    assert made.session.title == "At sea"
    assert await memory.read(export_chat, made.session.id, "main", include_variables=True) == RECORD
    without = await memory.read(export_chat, made.session.id, "main", include_variables=False)
    assert without.variables == {}


async def test_a_chat_of_a_thousand_turns_goes_out_as_it_came_in(memory: Memory) -> None:
    record = ChatRecord(tuple(turn(number, versions=2) for number in range(1100)))
    made: ImportedChat = await memory.write(import_chat, record, "Long", None, memory.now)
    assert (await memory.read(export_chat, made.session.id, "main", include_variables=True)).floors == record.floors


async def test_a_chat_that_came_in_is_found_by_its_words_and_can_be_forked(memory: Memory) -> None:
    made: ImportedChat = await memory.write(import_chat, RECORD, None, None, memory.now)
    found = await memory.read(sessions_saying, fingerprint("Answer 2.3"), 5)
    assert found == [made.session.id]
    head = await memory.read(branch_head, made.session.id, "main")
    assert head is not None and head.floor_no == 3
    forked = await memory.write(branch_from_floor, head.id, "other", memory.now)
    assert forked.source_floor_no == 3
    assert await memory.read(export_chat, made.session.id, "other", include_variables=True) == RECORD
    with pytest.raises(ApiError) as refused:
        await memory.read(export_chat, made.session.id, "nowhere", include_variables=True)
    assert code_of(refused.value) == "branch_not_found"


@pytest.mark.parametrize(
    ("variables", "code"), [({"": 1}, "validation_error"), ({"x": "y" * 1024 * 1024}, "payload_too_large")]
)
async def test_a_chat_whose_variables_cannot_be_kept_leaves_nothing(
    memory: Memory, variables: dict[str, str], code: str
) -> None:
    record = ChatRecord((turn(1),), variables=variables)
    with pytest.raises(ApiError) as refused:
        await memory.write(import_chat, record, None, None, memory.now)
    assert code_of(refused.value) == code
    number = fingerprint("Answer 1.1")
    assert await memory.read(sessions_saying, number, 5) == []


async def test_a_chat_with_a_character_that_is_not_there_leaves_nothing(memory: Memory) -> None:
    with pytest.raises(ApiError) as refused:
        await memory.write(import_chat, RECORD, None, "nobody", memory.now)
    assert code_of(refused.value) == "character_not_found"
    assert await memory.read(sessions_saying, fingerprint("Answer 2.3"), 5) == []
