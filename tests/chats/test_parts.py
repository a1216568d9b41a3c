"""Stored messages keep all their parts, and each medium once."""

import asyncio
import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from agentui.chat.messages import Media, Message, Opaque, Part, Refusal, Text, Thinking, ToolCall, ToolResult, text_message
from agentui.chats.messages import update_message
from agentui.chats.parts import content_of, input_parts, read_blob, read_parts, tidy_blobs
from agentui.errors import ApiError
from agentui.jsonio import loads
from agentui.store.tables import blobs, message_blobs, messages, sessions
from agentui.turns.locks import Owner
from agentui.turns.transactions import commit_floor, open_floor
from tests.chats.conftest import OWNER, Memory

PIXELS = b"\x89PNG" + bytes(range(256)) * 400
IMAGE = Media("image", "image/png", data=base64.b64encode(PIXELS).decode(), detail="high")
EVERYTHING: tuple[Part, ...] = (
    Thinking("Hm.", "sig==", None, "claude"),
    Thinking("", None, "enc==", "claude"),
    Text("Look:"),
    IMAGE,
    Media("document", None, url="https://example.org/a.pdf", filename="a.pdf"),
    Media("audio", "audio/wav", data="not base64!"),
    Media("video", file_id="files/1"),
    ToolCall("c1", "look", '{"at": "\\u0000"}', "thought", "gemini"),
    ToolCall(None, "look"),
    ToolResult("c1", (Text("A cat."), IMAGE), "look", is_error=True, value={"n": [1, None, 2.5]}),
    ToolResult(None),
    Refusal("No."),
    Opaque("claude", "web_search", {"type": "x", "deep": [{"a": None}]}),
    Opaque("claude", "nothing", None),
    Text("Bye."),
)


async def save(memory: Memory, parts: tuple[Part, ...], said: str = "Look:") -> str:
    """A turn whose user sent these parts; the id of the message."""
    joined, content = await memory.join(), await content_of(said, parts)
    owner = Owner(OWNER, memory.now + 60_000)
    opened = await memory.write(open_floor, joined.session_id, joined.branch_id, "run", owner, content, memory.now)
    await memory.write(commit_floor, opened.floor_id, await content_of("Fine.", (Text("Fine."),)), 1, 1, memory.now)
    rows = await memory.rows(select(messages.c.id).where(messages.c.page_id == opened.input_page_id))
    return str(rows[0].id)


async def stored(memory: Memory, id: str) -> tuple[Part, ...]:
    """The parts of a message as they are read again."""
    [row] = await memory.rows(select(messages).where(messages.c.id == id))
    parts: tuple[Part, ...] = await memory.read(read_parts, row.content, row.parts_json)
    return parts


async def test_every_kind_of_part_is_read_as_it_was_sent(memory: Memory) -> None:
    id = await save(memory, EVERYTHING)
    assert await stored(memory, id) == EVERYTHING


async def test_a_message_of_one_text_has_no_parts_beside_it(memory: Memory) -> None:
    id = await save(memory, (Text("Look:"),))
    [row] = await memory.rows(select(messages.c.content, messages.c.parts_json).where(messages.c.id == id))
    assert tuple(row) == ("Look:", None)
    assert await stored(memory, id) == (Text("Look:"),)


async def test_an_image_is_kept_once_and_no_longer_than_it_is_needed(memory: Memory) -> None:
    first, second = await save(memory, (Text("Look:"), IMAGE)), await save(memory, (IMAGE, Text("Again.")))
    [row] = await memory.rows(select(blobs))
    assert bytes(row.data) == PIXELS
    assert {link.message_id for link in await memory.rows(select(message_blobs))} == {first, second}
    [written] = await memory.rows(select(messages.c.parts_json).where(messages.c.id == first))
    assert len(written.parts_json) < 300
    assert await memory.read(read_blob, first, row.hash) == PIXELS
    for id, hash in ((first, "0" * 64), ("nobody", row.hash)):
        with pytest.raises(ApiError) as refused:
            await memory.read(read_blob, id, hash)
        assert refused.value.code == "not_found"
    assert await memory.store.write(tidy_blobs, memory.now + 10_000, 1000) == 0
    await memory.store.write(lambda db: db.execute(sessions.delete()) and None)
    assert await memory.store.write(tidy_blobs, memory.now + 10_000, 60_000) == 0
    assert await memory.store.write(tidy_blobs, memory.now + 10_000, 1000) == 1
    assert await memory.rows(select(blobs)) == []


async def test_a_new_content_takes_the_place_of_the_texts(memory: Memory) -> None:
    joined, content = await memory.join(), await content_of("One", (IMAGE, Text("One"), Text("Two"), Refusal("No.")))
    owner = Owner(OWNER, memory.now + 60_000)
    opened = await memory.write(open_floor, joined.session_id, joined.branch_id, "run", owner, content, memory.now)
    [row] = await memory.rows(select(messages.c.id).where(messages.c.page_id == opened.input_page_id))
    changed = await memory.write(update_message, row.id, {"content": "New"}, memory.now + 1_000_000)
    assert changed.content == "New"
    assert await stored(memory, row.id) == (IMAGE, Text("New"), Refusal("No."))


async def test_secrets_are_taken_out_of_words_and_never_out_of_signatures() -> None:
    parts = (
        Thinking("key-1", "key-1", None, "claude"),
        ToolCall("c", "f", '{"k": "key-1"}'),
        Opaque("v", "l", {"a": ["key-1"]}),
    )
    content = await content_of("", parts, lambda words: words.replace("key-1", "***"))
    thought, asked, raw = loads(content.parts_json or "")
    assert (thought["text"], thought["signature"]) == ("***", "key-1")
    assert asked["arguments"] == '{"k": "***"}'
    assert raw["raw"] == {"a": ["***"]}


def test_what_is_new_in_a_conversation_stands_behind_the_models_last_words() -> None:
    history = [
        text_message("system", "Be kind."),
        text_message("user", "Old"),
        Message("assistant", (ToolCall("c", "f"),)),
        Message("tool", (ToolResult("c", (Text("42"),)),)),
        text_message("system", "Still."),
        Message("user", (IMAGE, Text("And this?"))),
    ]
    assert input_parts(history) == (ToolResult("c", (Text("42"),)), IMAGE, Text("And this?"))
    assert input_parts(history[:3]) == ()
    assert input_parts(history[:2]) == (Text("Old"),)


@given(st.binary(max_size=50) | st.text(max_size=50))
def test_whatever_stands_for_data_comes_back(data: bytes | str) -> None:
    sent = base64.b64encode(data).decode() if isinstance(data, bytes) else data
    content = asyncio.run(content_of("", (Media("image", data=sent),)))
    [written] = loads(content.parts_json or "")
    kept = content.blobs[written["blob"]]
    assert sent == (kept.decode() if written.get("as") == "text" else base64.b64encode(kept).decode())
