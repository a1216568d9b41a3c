"""Chats: SillyTavern's lines become floors and come back, and a chat of our own loses nothing."""

import threading
import tracemalloc
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.files.chat_files import read_chat, write_and_drop
from agentui.assets.files.chat_lines import date_of, read_lines, write_lines
from agentui.assets.files.chats import (
    ChatBranch,
    ChatFile,
    ChatFloor,
    ChatMessage,
    ChatPage,
    ChatRecord,
    read_thchat,
    write_thchat,
)
from agentui.assets.files.kinds import kind_of
from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.jsonio import Json, dumps, loads
from agentui.threads import in_thread
from tests.unit.assets.values import ANYTHING, OBJECTS

LIMITS = FileLimits()
TEXTS = st.text(min_size=1, max_size=20).filter(lambda text: "\r" not in text)
NAMES = st.text(max_size=8).filter(lambda text: "\r" not in text)


def lines(*objects: Json) -> bytes:
    return b"\n".join(map(dumps, objects))


HEADER = {"user_name": "Ann", "character_name": "Mira", "chat_metadata": {"variables": {"mood": 3}, "note_prompt": "Slow."}}
HI = {"name": "Mira", "is_user": False, "is_system": False, "send_date": 1700000000000}
CHAT = lines(
    HEADER,
    {"name": "Mira", "is_user": False, "mes": "Two", "swipes": ["One", "", "Two"], "swipe_id": 2, "send_date": 1700000000000},
    {"name": "System", "is_system": False, "mes": "Night falls.", "extra": {"type": "narrator"}},
    {"name": "Ann", "is_user": True, "mes": "Hello.", "send_date": "June 19, 2023 2:20pm"},
    {"name": "Mira", "is_user": False, "mes": "Hi.", "extra": {"api": "openai"}},
    {"name": "Tom", "is_user": False, "is_system": True, "mes": "And I?"},
    {"name": "Ann", "is_user": True, "mes": "Bye."},
)


def test_a_groups_chat_tells_who_spoke_and_comes_out_as_it_was() -> None:
    group = lines(
        {"chat_metadata": {}, "user_name": "unused", "character_name": "unused"},
        {"name": "Ann", "is_user": True, "mes": "Hello."},
        {"name": "Mira", "is_user": False, "mes": "Hi.", "original_avatar": "mira.png", "force_avatar": "/thumb?mira"},
        {"name": "Tom", "is_user": False, "mes": "Ahoy.", "original_avatar": "tom.png"},
        {"name": "System", "is_user": False, "mes": "Night falls.", "extra": {"type": "narrator"}},
    )
    read = read_lines(group, LIMITS)
    assert (read.record.title, read.record.user_name, read.record.character_name) == ("Mira, Tom", "Ann", "")
    assert read.report.read["speakers"] == 2
    assert "group" in read.report.downgraded_entries[0]
    spoken = [(said.name, said.content) for floor in read.record.floors for page in floor.pages for said in page.messages]
    assert spoken == [("", "Hello."), ("Mira", "Hi."), ("Tom", "Ahoy."), ("System", "Night falls.")]
    _, *written = map(loads, write_lines(read.record).splitlines())
    for line, known in zip(written, map(loads, group.splitlines()[1:]), strict=True):
        assert line | known == line
    solo = read_lines(CHAT, LIMITS)
    assert "speakers" not in solo.report.read and not solo.report.downgraded_entries
    with pytest.raises(InvalidFile, match="a group of SillyTavern's"):
        kind_of({"id": "1", "name": "Crew", "members": ["mira.png"], "chat_id": "1", "chats": ["1"]})


def test_lines_become_floors() -> None:
    read = read_lines(CHAT, LIMITS)
    said = [
        [(page.page_no, page.kind, page.version, page.is_active, [m.content for m in page.messages]) for page in floor.pages]
        for floor in read.record.floors
    ]
    assert said == [
        [(0, "output", 1, False, ["One"]), (0, "output", 2, True, ["Two"])],
        [(0, "input", 1, True, ["Night falls.", "Hello."]), (1, "output", 1, True, ["Hi."])],
        [(0, "output", 1, True, ["And I?"])],
        [(0, "input", 1, True, ["Bye."])],
    ]
    (tom,) = read.record.floors[2].pages[0].messages
    assert (tom.name, tom.is_hidden, tom.role) == ("Tom", True, "assistant")
    assert read.record.floors[1].pages[0].messages[0].role == "narrator"
    assert read.record.variables == {"mood": 3}
    assert read.record.metadata == {"note_prompt": "Slow."}
    assert read.report.ignored_fields == ["[].extra.api"]
    assert read.report.read == {"floors": 4, "pages": 6, "messages": 7, "variables": 1, "swipes": 1}


def test_lines_come_back() -> None:
    record = read_lines(CHAT, LIMITS).record
    written = write_lines(record)
    assert read_lines(written, LIMITS).record == record
    assert loads(written.splitlines()[0]) == HEADER
    greeting = loads(written.splitlines()[1])
    assert (greeting["swipes"], greeting["swipe_id"], greeting["send_date"]) == (["One", "Two"], 1, "2023-11-14T22:13:20.000Z")


def test_what_lines_tell_of_each_version_comes_back() -> None:
    header = {**HEADER, "create_date": "2023-6-19 @14h 20m 30s"}
    infos: list[Json] = [{"send_date": 1600000000000, "extra": {"model": "small"}}, None, {"gen_started": "old"}]
    told = {"gen_started": "now", "extra": {"reasoning": "Hm.", "reasoning_duration": 12, "model": "large"}}
    line = {**HI, "swipes": ["One", "Two", "Three"], "swipe_id": 2, "mes": "Three", "swipe_info": infos, **told}
    night = {
        "name": "",
        "is_system": False,
        "mes": "Night.",
        "extra": {"type": "narrator", "bias": "x"},
        "force_avatar": "a.png",
    }
    read = read_lines(lines(header, line, night), LIMITS)
    said = [page.messages[0] for page in read.record.floors[0].pages]
    assert [(message.said_at, message.beside) for message in said] == [
        (1600000000000, {"extra": {"model": "small"}}),
        (1700000000000, {}),
        (1700000000000, told),
    ]
    assert "[].extra.reasoning" in read.report.ignored_fields
    assert "line 1: create_date" in read.report.ignored_fields
    written = write_lines(read.record)
    assert read_lines(written, LIMITS).record == read.record
    first, one, two = map(loads, written.splitlines())
    assert first == header
    assert {name: one[name] for name in told} == told
    assert [info["extra"] for info in one["swipe_info"]] == [{"model": "small"}, {}, told["extra"]]
    assert (two["extra"], two["force_avatar"]) == (night["extra"], "a.png")


def test_lines_that_say_nothing_are_passed_over_and_counted() -> None:
    read = read_lines(CHAT + b"\n{broken\n[]\n\n" + dumps({"is_user": True, "mes": ""}), LIMITS)
    assert read.record == read_lines(CHAT, LIMITS).record
    assert len(read.report.warnings) == 2


def test_texts_of_other_programs_stand_in_objects() -> None:
    read = read_lines(lines(HEADER, {"mes": {"message": "Hi."}, "swipes": [{"message": "Hi."}, {"message": "Ho."}]}), LIMITS)
    assert [page.messages[0].content for page in read.record.floors[0].pages] == ["Hi.", "Ho."]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1700000000000, 1700000000000),
        (1700000000, 1700000000000),
        ("2023-11-14T22:13:20.000Z", 1700000000000),
        ("2023-11-15T00:13:20+02:00", 1700000000000),
        ("November 14, 2023 10:13pm", 1699999980000),
        ("2023-11-14 @22h 13m 20s 5ms", 1700000000005),
        ("2023-13-41 @22h 13m 20s", None),
        ("yesterday", None),
        (-5, None),
        (1e300, None),
        ("9999-12-31T23:59:59-23:00", 253_402_300_799_000),
        (True, None),
        (None, None),
    ],
)
def test_dates_in_every_form_are_read(value: Json, expected: int | None) -> None:
    assert date_of(value) == expected


MESSAGES = st.builds(
    ChatMessage,
    st.sampled_from(["user", "assistant", "system", "narrator"]),
    TEXTS,
    NAMES,
    st.booleans(),
    st.none() | st.integers(0, 10**12),
    beside=OBJECTS,
)


@st.composite
def floors(draw: st.DrawFn) -> ChatFloor:
    pages = []
    for number in range(draw(st.integers(1, 2))):
        versions = draw(st.integers(1, 3))
        active = draw(st.integers(1, versions))
        pages += [
            ChatPage(
                number,
                draw(st.sampled_from(["input", "output", "mixed"])),
                tuple(draw(st.lists(MESSAGES, max_size=2))),
                version,
                version == active,
            )
            for version in range(1, versions + 1)
        ]
    return ChatFloor(tuple(pages))


LINES = st.lists(floors(), max_size=3).map(tuple)
BRANCHES = st.lists(LINES, max_size=2).map(
    lambda lines: tuple(ChatBranch(f"b{number}", "main", 0, line) for number, line in enumerate(lines))
)


@given(st.builds(ChatRecord, LINES, NAMES, NAMES, NAMES, OBJECTS, OBJECTS, OBJECTS, BRANCHES))
def test_a_chat_of_our_own_loses_nothing(record: ChatRecord) -> None:
    assert read_thchat(loads(write_thchat(record)), LIMITS).record == record
    assert write_thchat(record) == dumps(loads(write_thchat(record)))
    assert write_lines(record)


TURNS = st.lists(
    st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3), st.integers(0, 2), st.none() | st.integers(0, 10**12)), max_size=4
)


@given(TURNS, NAMES, NAMES, OBJECTS)
def test_a_chat_of_turns_goes_through_lines_and_comes_back(
    turns: list[tuple[str, list[str], int, int | None]], user: str, character: str, variables: dict[str, Json]
) -> None:
    made = tuple(
        ChatFloor(
            (
                ChatPage(0, "input", (ChatMessage("user", question, said_at=said_at),)),
                *(
                    ChatPage(1, "output", (ChatMessage("assistant", text),), version, version == min(active + 1, len(answers)))
                    for version, text in enumerate(answers, 1)
                ),
            )
        )
        for question, answers, active, said_at in turns
    )
    record = ChatRecord(made, "", user, character, variables, {"note": 1})
    assert read_lines(write_lines(record), LIMITS).record == record


def page(**changes: Json) -> Json:
    good = {"page_no": 0, "page_kind": "input", "messages": [{"role": "user", "content": "Hello."}]}
    return {"spec": "thchat", "floors": [{"pages": [{**good, **changes}]}]}


def branch(**changes: Json) -> Json:
    good = {"branch_id": "alt", "source_branch_id": "main", "shared_floor_count": 1, "floors": []}
    return {**page(), "branches": [{**good, **changes}]}


def test_a_branch_of_a_chat_is_read() -> None:
    assert read_thchat(branch(), LIMITS).record.branches == (ChatBranch("alt", "main", 1, ()),)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "spec: "),
        ({"spec": "thchat"}, "floors: "),
        ({"spec": "thchat", "floors": [{"pages": []}]}, r"floors\[0\]\.pages: "),
        (branch(branch_id="main"), r"branches\[0\]\.branch_id: "),
        (branch(branch_id=""), r"branches\[0\]\.branch_id: "),
        (branch(source_branch_id="alt"), r"branches\[0\]\.source_branch_id: "),
        (branch(shared_floor_count=2), r"branches\[0\]\.shared_floor_count: This is a number from 0 to 1"),
        (branch(floors=None), r"branches\[0\]\.floors: "),
        ({**page(), "branches": [{}] * 1001}, "branches: A chat has a list of at most 1000"),
        (page(page_kind="odd"), r"floors\[0\]\.pages\[0\]\.page_kind: "),
        (page(page_no=-1), r"floors\[0\]\.pages\[0\]: "),
        (page(is_active=False), r"just one is active"),
        (page(messages={}), r"pages\[0\]\.messages: "),
        (page(messages=[{"role": "me", "content": "x"}]), r"messages\[0\]\.role: "),
        (page(messages=[{"role": "user", "content": ""}]), r"messages\[0\]\.content: "),
        (page(messages=[{"role": "user", "content": "x", "content_format": "odd"}]), r"messages\[0\]\.content_format: "),
    ],
)
def test_a_chat_that_is_wrong_is_refused_and_the_place_named(document: Json, words: str) -> None:
    with pytest.raises(InvalidFile, match=words):
        read_thchat(document, LIMITS)


@pytest.mark.parametrize(
    ("data", "words"), [(b"", "No line"), (b"{}", "No line"), (b'{"a": 1}', "line 1: "), (b"x\ny", "No line")]
)
def test_lines_that_are_no_chat_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(InvalidFile, match=words):
        read_lines(data, LIMITS)


def test_what_a_file_tells_of_its_chat_has_a_limit() -> None:
    told: dict[str, Json] = {"notes": ["x" * 900] * 2}
    record = read_lines(lines({"mes": "a"}), LIMITS).record
    files: list[Callable[[FileLimits], ChatFile]] = [
        lambda limits: read_lines(lines({"user_name": "Ann", "chat_metadata": told}, {"mes": "a"}), limits),
        lambda limits: read_thchat(loads(write_thchat(replace(record, metadata=told))), limits),
    ]
    for read in files:
        assert read(FileLimits(text=2000)).record.metadata == told
        with pytest.raises(InvalidFile, match="metadata: What is told of the chat has more than 1000 bytes") as refused:
            read(FileLimits(text=1000))
        assert refused.value.is_too_large


def test_a_file_of_too_many_values_is_refused_before_it_is_parsed() -> None:
    many = b"[" + b'"ab",' * 2_100_000 + b"1]"
    for read in (LIMITS.parse, lambda data: read_chat(data, LIMITS)):
        with pytest.raises(InvalidFile, match="more than 2000000 values") as refused:
            read(many)
        assert refused.value.is_too_large


def test_short_lines_take_no_more_memory_than_the_file() -> None:
    empty = b"\n" * 1_000_000 + b'{"mes": "a", "name": "Ann", "is_user": true}\r{"mes": "b", "name": "Bob"}'
    tracemalloc.start()
    try:
        read_lines(empty, LIMITS)
        assert tracemalloc.get_traced_memory()[1] < 3 * len(empty)
    finally:
        tracemalloc.stop()


def test_a_chat_of_too_many_messages_is_refused() -> None:
    swipes: list[Json] = [{"mes": "a", "swipes": ["a", "b"]}, {"mes": "c"}]
    assert read_lines(lines(*swipes), FileLimits(messages=3)).report.read["messages"] == 3
    record = read_lines(lines(*swipes), LIMITS).record
    reads: list[Callable[[FileLimits], ChatFile]] = [
        lambda limits: read_lines(lines(*swipes), limits),
        lambda limits: read_lines(lines(*[{"mes": "a"}] * 9), limits),
        lambda limits: read_thchat(loads(write_thchat(record)), limits),
    ]
    for read in reads:
        with pytest.raises(InvalidFile, match="more than 2 messages") as refused:
            read(FileLimits(messages=2))
        assert refused.value.is_too_large


@given(st.lists(ANYTHING, max_size=5))
def test_lines_of_anything_are_read_or_refused(objects: list[Json]) -> None:
    try:
        read_lines(lines(*objects), LIMITS)
    except InvalidFile as refused:
        assert str(refused)


class Variables(dict[str, Any]):
    """Variables that can be watched as they end."""


async def test_a_chat_that_was_written_ends_in_the_thread_that_wrote_it() -> None:
    """Freeing each object of a long chat would hold the loop."""
    ended_in: list[int] = []
    variables = Variables(gold=3)
    weakref.finalize(variables, lambda: ended_in.append(threading.get_ident()))
    record = [ChatRecord((), title="Long", variables=variables)]
    del variables
    data, name = await in_thread(partial(write_and_drop, record, "thchat"))
    assert name == "Long" and loads(data)["variables"] == {"gold": 3}
    assert len(ended_in) == 1 and ended_in[0] != threading.get_ident()
