"""Signed thoughts come back where they belong, and nowhere else."""

import asyncio
from dataclasses import replace

import pytest

from agentui.chat.messages import Message, Text, Thinking, ToolCall
from agentui.chat.reply import Choice, Reply
from agentui.chat.request import VendorName
from agentui.jsonio import loads
from agentui.pipeline.caches import thought_cache
from agentui.pipeline.caches.thought_cache import MAX_CALLS, MAX_ENTRY_CHARS, ThoughtCache
from agentui.pipeline.incoming import Incoming
from agentui.principal import DEFAULT_ACCOUNT
from tests.costs import counting
from tests.unit.pipeline.parts import make_incoming

ASKED = make_incoming()
THOUGHT = Thinking("hmm", signature="sig", signed_by="claude")


def said(*parts: Text | Thinking | ToolCall) -> Reply:
    return Reply((Choice(parts, "tool_calls"),))


def assistant(*parts: Text | Thinking | ToolCall) -> Message:
    return Message("assistant", parts)


def call(id: str | None, **more: str) -> ToolCall:
    return ToolCall(id, "look", "{}", **more)


def restored(
    memory: ThoughtCache, message: Message, vendor: VendorName = "claude", incoming: Incoming | None = None
) -> Message:
    (only,) = memory.restore(vendor, DEFAULT_ACCOUNT, incoming or ASKED, [message])
    return only


def test_thoughts_return_before_the_call_that_they_led_to() -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, Text("Let me look."), call("c1")))
    message = replace(assistant(Text("Let me look."), call("c1")), raw={"role": "assistant"}, raw_vendor="openai")
    back = restored(memory, message)
    assert back.parts == (THOUGHT, Text("Let me look."), call("c1"))
    # What was said on the wire no longer tells everything, so it must not be sent in the message's place.
    assert (back.raw, back.raw_vendor) == (None, None)


def test_all_thoughts_of_a_turn_return_with_its_first_call_and_once() -> None:
    other = Thinking(redacted="blob", signed_by="claude")
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, other, call("c1"), call("c2")))
    assert restored(memory, assistant(call("c1"), call("c2"))).parts == (THOUGHT, other, call("c1"), call("c2"))


def test_thoughts_return_to_the_last_call_of_an_id_that_several_answers_have() -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call("call_0")))
    given = [assistant(call("call_0")), Message("user", (Text("And?"),)), assistant(call("call_0"), call("call_0"))]
    first, asked, last = memory.restore("claude", DEFAULT_ACCOUNT, ASKED, given)
    assert (first, asked) == (given[0], given[1])
    assert last.parts == (THOUGHT, call("call_0"), call("call_0"))


def test_thoughts_that_the_caller_gives_back_are_not_told_twice() -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call("c1")))
    given = [assistant(THOUGHT), assistant(call("c1"))]
    assert memory.restore("claude", DEFAULT_ACCOUNT, ASKED, given) == tuple(given)


def test_a_calls_signature_returns_to_that_call() -> None:
    memory = ThoughtCache()
    memory.remember("gemini", DEFAULT_ACCOUNT, ASKED, said(call("c1", signature="one"), call("c2", signature="two")))
    back = restored(memory, assistant(call("c1"), call("c2")), "gemini")
    assert [(part.signature, part.signed_by) for part in back.tool_calls] == [("one", "gemini"), ("two", "gemini")]


def test_thoughts_of_one_vendor_are_never_told_to_another() -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call("c1")))
    message = assistant(call("c1"))
    assert restored(memory, message, "gemini") is message


def talk(*said: tuple[str, str], **headers: str) -> Incoming:
    """A caller's conversation."""
    messages = [{"role": role, "content": text} for role, text in said]
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return make_incoming({"model": "m", "messages": messages}, headers=named)


BEGUN = (("system", "Today is Monday."), ("user", "Hello!"))
BOB = {"authorization": "Bearer sk-bob"}


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (talk(*BEGUN, **BOB), True),
        (talk(("system", "Today is Tuesday."), *BEGUN[1:], ("assistant", "Hi."), ("user", "And?"), **BOB), True),
        (talk(*BEGUN), False),
        (talk(*BEGUN, authorization="Bearer sk-eve"), False),
        (talk(*BEGUN, authorization="Basic sk-bob"), False),
        (talk(*BEGUN, x_api_key="sk-bob"), False),
        (talk(("user", "Another talk."), **BOB), False),
        (talk(*BEGUN, x_agentui_session="s", **BOB), False),
    ],
)
def test_thoughts_of_one_caller_and_conversation_are_never_told_in_another(other: Incoming, is_same: bool) -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, talk(*BEGUN, **BOB), said(THOUGHT, call("c1")))
    assert (restored(memory, assistant(call("c1")), incoming=other).parts[0] == THOUGHT) is is_same


def test_what_one_process_sends_another_takes_in_for_the_same_conversation_only() -> None:
    sent: list[bytes] = []

    async def send(data: bytes) -> None:
        sent.append(data)

    asyncio.run(ThoughtCache(send).share("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call("c1"))))
    memory = ThoughtCache()
    memory.receive(loads(sent[0]))
    assert restored(memory, assistant(call("c1"))).parts[0] == THOUGHT
    assert restored(memory, message := assistant(call("c1")), incoming=talk(*BEGUN, **BOB)) is message


def test_unsigned_thoughts_are_not_kept() -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(Thinking("just words"), call("c1")))
    message = assistant(call("c1"))
    assert restored(memory, message) is message


def test_an_answer_without_tools_is_not_kept() -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, Text("Done.")))
    message = assistant(Text("Done."))
    assert restored(memory, message) is message


def test_thoughts_of_the_caller_make_way_for_the_signed_ones() -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call("c1")))
    assert restored(memory, assistant(Thinking("hmm, unsigned"), call("c1"))).parts == (THOUGHT, call("c1"))


def test_a_signature_that_the_caller_kept_stays_the_callers() -> None:
    memory = ThoughtCache()
    memory.remember("gemini", DEFAULT_ACCOUNT, ASKED, said(call("c1", signature="ours")))
    message = assistant(call("c1", signature="theirs", signed_by="gemini"))
    assert restored(memory, message, "gemini") is message


def test_other_messages_are_left_alone() -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call("c1")))
    talk = [Message("user", (Text("c1"),)), assistant(Text("c1")), assistant(call("other")), assistant(call(None))]
    back = memory.restore("claude", DEFAULT_ACCOUNT, ASKED, talk)
    assert all(new is old for new, old in zip(back, talk, strict=True))


def test_a_thought_too_long_to_keep_is_let_go() -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(Thinking("x" * (MAX_ENTRY_CHARS + 1), signature="sig"), call("c1")))
    message = assistant(call("c1"))
    assert restored(memory, message) is message


def test_the_oldest_go_first_when_there_are_too_many() -> None:
    memory = ThoughtCache()
    for number in range(MAX_CALLS + 1):
        memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call(f"c{number}")))
    first, second = assistant(call("c0")), assistant(call("c1"))
    assert restored(memory, first) is first
    assert restored(memory, second).parts[0] == THOUGHT


def test_the_oldest_go_first_when_they_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thought_cache, "MAX_CHARS", 3 * len("hmm" + "sig"))
    memory = ThoughtCache()
    for name in ("c1", "c2", "c3", "c3", "c4"):
        memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call(name)))
    gone = assistant(call("c1"))
    assert restored(memory, gone) is gone
    assert all(restored(memory, assistant(call(name))).parts[0] == THOUGHT for name in ("c2", "c3", "c4"))
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(Thinking("x" * 100, signature="sig"), call("c5")))
    for name in ("c2", "c3", "c4", "c5"):
        assert restored(memory, message := assistant(call(name))) is message


def test_the_old_do_not_wait_until_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = ThoughtCache()
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call("c1")))
    monkeypatch.setattr(thought_cache, "MAX_AGE_SECONDS", -1.0)
    memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call("c2")))
    monkeypatch.setattr(thought_cache, "MAX_AGE_SECONDS", 3600.0)
    for name in ("c1", "c2"):
        assert restored(memory, message := assistant(call(name))) is message


def test_whether_anything_is_kept_of_a_dialect_costs_the_same_however_much_is_kept() -> None:
    memory = ThoughtCache()
    for number in range(300):
        memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call(f"c{number}")))
    with counting() as counted, counted.all() as costs:
        assert not memory.has_any("openai")
    assert costs.lines <= 3
    assert memory.has_any("claude")


def test_nothing_is_kept_of_a_dialect_once_newer_thoughts_have_taken_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thought_cache, "MAX_CALLS", 2)
    memory = ThoughtCache()
    memory.remember("gemini", DEFAULT_ACCOUNT, ASKED, said(call("g1", signature="one")))
    memory.remember("gemini", DEFAULT_ACCOUNT, ASKED, said(call("g1", signature="again")))
    for number in range(2):
        memory.remember("claude", DEFAULT_ACCOUNT, ASKED, said(THOUGHT, call(f"c{number}")))
    assert (memory.has_any("gemini"), memory.has_any("claude")) == (False, True)
