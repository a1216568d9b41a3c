"""Whole chats come in and go out as they were, on both engines."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection, delete, select, update

from agentui.assets.files.chats import ChatBranch, ChatFloor, ChatMessage, ChatPage, ChatRecord
from agentui.chat.fingerprints import fingerprint
from agentui.chats.branches.writing import branch_from_floor
from agentui.chats.conversations import list_sessions
from agentui.chats.listing import Paging
from agentui.chats.questions import copy_question
from agentui.chats.rows import REMOVAL, branch_head, remove_part
from agentui.chats.text_index import floors_saying, sessions_saying
from agentui.errors import ApiError
from agentui.jsonio import dumps_text, loads
from agentui.library.incoming import ImportedChat, IncomingChat, incoming, keep_chat
from agentui.library.transfer import export_chat
from agentui.store.tables import branches, floors, jobs, messages, pages, sessions, text_index
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
                ChatMessage("narrator", "Night falls.", said_at=9000, beside={"extra": {"bias": "x"}, "force_avatar": "a.png"}),
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
    header={"create_date": "2023-6-19 @14h 20m 30s"},
)


async def test_a_chat_goes_out_as_it_came_in(memory: Memory) -> None:
    made: ImportedChat = await memory.write(keep_chat, IncomingChat(RECORD), memory.now)
    assert (made.floors, made.pages, made.messages, made.variables) == (4, 8, 9, 2)
    assert made.session.title == "At sea"
    assert await memory.read(export_chat, made.session.id, "main", include_variables=True) == RECORD
    without = await memory.read(export_chat, made.session.id, "main", include_variables=False)
    assert without.variables == {}


async def test_thoughts_of_answers_go_out_as_reasoning(memory: Memory) -> None:
    own = ChatFloor((ChatPage(0, "output", (ChatMessage("assistant", "So.", said_at=5, beside={"extra": {"model": "m"}}),)),))
    made: ImportedChat = await memory.write(keep_chat, IncomingChat(ChatRecord((own,))), memory.now)

    def think(db: Connection, account: str) -> None:
        parts = dumps_text([{"type": "thinking", "text": "Hm."}, {"type": "text", "text": "So."}])
        db.execute(update(messages).where(messages.c.account_id == account).values(parts_json=parts))

    await memory.write(think)
    [floor] = (await memory.read(export_chat, made.session.id, "main", include_variables=True)).floors
    assert floor.pages[0].messages[0].beside == {"extra": {"model": "m", "reasoning": "Hm."}}


async def test_a_copied_question_keeps_what_its_file_told(memory: Memory) -> None:
    made: ImportedChat = await memory.write(keep_chat, IncomingChat(RECORD), memory.now)
    asked = ChatMessage("user", "Question?", said_at=1, beside={"extra": {"token_count": 2}})
    record = ChatRecord((ChatFloor((ChatPage(0, "input", (asked,)),)),))
    source: ImportedChat = await memory.write(keep_chat, IncomingChat(record), memory.now)
    head = await memory.read(branch_head, source.session.id, "main")
    target = await memory.read(branch_head, made.session.id, "main")
    assert head is not None and target is not None

    def copy(db: Connection, account: str) -> str:
        page = db.execute(select(pages.c.id).where(pages.c.floor_id == target.id)).scalar_one()
        db.execute(delete(messages).where(messages.c.page_id == page))
        copy_question(db, account, head.id, page, 1)
        return str(page)

    await memory.write(copy)
    record = await memory.read(export_chat, made.session.id, "main", include_variables=True)
    assert record.floors[-1].pages[0].messages == (asked,)


async def test_a_chat_of_a_thousand_turns_goes_out_as_it_came_in(memory: Memory) -> None:
    record = ChatRecord(tuple(turn(number, versions=2) for number in range(1100)), variables={"gold": 3})
    async with incoming(memory.store, memory.account, IncomingChat(record, "Long"), memory.now) as chat:
        assert len(await memory.rows(select(floors.c.id))) == 1100
        assert (await memory.read(list_sessions, Paging())).items == []
        assert chat.rows is not None
        assert await memory.read(floors_saying, chat.rows.session_id, [("assistant", fingerprint("Answer 2.0"))]) == set()
        made: ImportedChat = await memory.write(keep_chat, chat, memory.now)
        await memory.store.close()  # what is kept is kept, whatever comes after
    await memory.store.start()
    assert made.session.title == "Long" and await memory.rows(select(jobs)) == []
    assert (await memory.read(list_sessions, Paging())).items == [made.session]
    told = await memory.read(export_chat, made.session.id, "main", include_variables=True)
    assert (told.floors, told.variables) == (record.floors, record.variables)


async def test_what_was_written_of_a_long_chat_that_was_not_kept_is_removed(memory: Memory) -> None:
    lines = [tuple(turn(number) for number in range(first, first + 150)) for first in (0, 150)]
    record = ChatRecord(lines[0], branches=(ChatBranch("side", "main", 150, lines[1]),), variables={"": 1})
    with pytest.raises(ApiError):
        async with incoming(memory.store, memory.account, IncomingChat(record), memory.now) as chat:
            await memory.write(keep_chat, chat, memory.now)
    (job,) = await memory.rows(select(jobs))
    assert (job.kind, job.due_at) == (REMOVAL, memory.now)
    while await memory.store.write(remove_part, *loads(job.payload_json)):
        continue
    for table in (sessions, branches, floors, pages, messages, text_index):
        assert await memory.rows(select(table)) == []


async def test_a_chat_that_came_in_is_found_by_its_words_and_can_be_forked(memory: Memory) -> None:
    made: ImportedChat = await memory.write(keep_chat, IncomingChat(RECORD), memory.now)
    found = await memory.read(sessions_saying, "me", [("assistant", fingerprint("Answer 2.3"))], 5)
    assert [row[2] for row in found] == [made.session.id]
    head = await memory.read(branch_head, made.session.id, "main")
    assert head is not None and head.floor_no == 3
    forked = await memory.write(branch_from_floor, head.id, "other", memory.now)
    assert forked.source_floor_no == 3
    assert await memory.read(export_chat, made.session.id, "other", include_variables=True) == RECORD
    with pytest.raises(ApiError) as refused:
        await memory.read(export_chat, made.session.id, "nowhere", include_variables=True)
    assert code_of(refused.value) == "branch_not_found"


async def test_all_branches_of_a_chat_go_out_and_come_in_again(memory: Memory) -> None:
    def branches() -> tuple[ChatBranch, ...]:
        return (
            ChatBranch("alt", "main", 2, (turn(7), turn(8))),
            ChatBranch("of alt", "alt", 3, (turn(9),)),
            ChatBranch("early", "of alt", 1, (turn(10),)),
            ChatBranch("even", "alt", 4, ()),
            ChatBranch("alone", "main", 0, (turn(11),)),
        )

    record = replace(RECORD, branches=branches())
    made: ImportedChat = await memory.write(keep_chat, IncomingChat(record), memory.now)
    assert made.floors == 9
    out: ChatRecord = await memory.read(export_chat, made.session.id, None, include_variables=True)
    assert out.floors == record.floors
    paths = {"main": record.floors} | {
        "alt": (*record.floors[:2], turn(7), turn(8)),
        "of alt": (*record.floors[:2], turn(7), turn(9)),
        "early": (record.floors[0], turn(10)),
        "even": (*record.floors[:2], turn(7), turn(8)),
        "alone": (turn(11),),
    }
    assert {branch.branch_id for branch in out.branches} == paths.keys() - {"main"}
    again: ImportedChat = await memory.write(keep_chat, IncomingChat(out), memory.now)
    assert again.floors == 9
    assert await memory.read(export_chat, again.session.id, None, include_variables=True) == out
    for session in (made.session.id, again.session.id):
        for branch_id, path in paths.items():
            assert (await memory.read(export_chat, session, branch_id, include_variables=True)).floors == path


@pytest.mark.parametrize(
    ("variables", "code"), [({"": 1}, "validation_error"), ({"x": "y" * 1024 * 1024}, "payload_too_large")]
)
async def test_a_chat_whose_variables_cannot_be_kept_leaves_nothing(
    memory: Memory, variables: dict[str, str], code: str
) -> None:
    record = ChatRecord((turn(1),), variables=variables)
    with pytest.raises(ApiError) as refused:
        await memory.write(keep_chat, IncomingChat(record), memory.now)
    assert code_of(refused.value) == code
    number = fingerprint("Answer 1.1")
    assert await memory.read(sessions_saying, "me", [("user", number)], 5) == []


async def test_a_chat_with_a_character_that_is_not_there_leaves_nothing(memory: Memory) -> None:
    with pytest.raises(ApiError) as refused:
        await memory.write(keep_chat, IncomingChat(RECORD, None, "nobody"), memory.now)
    assert code_of(refused.value) == "character_not_found"
    assert await memory.read(sessions_saying, "me", [("assistant", fingerprint("Answer 2.3"))], 5) == []
