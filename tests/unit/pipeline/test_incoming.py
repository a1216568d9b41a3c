"""The request of a run: its bytes, what is parsed from them, and the bytes that go out."""

from dataclasses import replace

import pytest

from agentui.chat.messages import Message, Opaque, Text, text_message
from agentui.chat.request import ChatRequest
from agentui.jsonio import Json, dumps, loads
from agentui.pipeline.incoming import Incoming
from agentui.redaction import Redactor
from agentui.turns.live.generation import Conversation
from tests.unit.pipeline.parts import OPENAI, VENDORS, make_incoming

CLAUDE: Json = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
GEMINI: Json = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
ASKED = [
    (OPENAI, "/v1/chat/completions"),
    (CLAUDE, "/v1/messages"),
    ({"model": "gpt-5", "input": "Hi"}, "/v1/responses"),
    (GEMINI, "/v1beta/models/gemini-x:generateContent"),
]


@pytest.mark.parametrize(("body", "path"), ASKED)
def test_an_unchanged_body_goes_out_as_the_very_bytes_that_came(body: Json, path: str) -> None:
    incoming = make_incoming(body, path)
    wire = incoming.wire
    assert wire is not None
    same = VENDORS[wire.vendor].patch_request(wire, model=str(wire.model), stream=wire.stream)
    assert incoming.body_of(same) is incoming.body


@pytest.mark.parametrize(
    "change",
    [
        {"model": "another"},
        {"stream": True},
        {"temperature": 1},
        {"messages": [{"role": "user", "content": "Something else"}]},
        {"max_tokens": True},
    ],
)
def test_a_changed_body_is_written_anew(change: Json) -> None:
    incoming = make_incoming({**OPENAI, "max_tokens": 1})
    assert incoming.wire is not None
    body = {**incoming.wire.body, **change}
    assert incoming.body_of(replace(incoming.wire, body=body)) == dumps(body) != incoming.body


def test_a_body_that_lost_a_member_is_written_anew() -> None:
    incoming = make_incoming({**OPENAI, "user": "me"})
    assert incoming.wire is not None
    assert "user" not in loads(incoming.body_of(replace(incoming.wire, body=dict(OPENAI))))


@pytest.mark.parametrize(("body", "path"), ASKED)
def test_what_was_released_is_parsed_again(body: Json, path: str) -> None:
    incoming = make_incoming(body, path)
    json, wire, chat = incoming.json, incoming.wire, incoming.chat
    incoming.release()
    assert incoming.json == json
    assert incoming.json is not json
    assert (incoming.wire, incoming.chat) == (wire, chat)
    assert incoming.wire is not wire
    assert incoming.chat is not chat


SECRET = "sk-of-a-member-0123"


def known(incoming: Incoming, text: str) -> str:
    """A text as it leaves the server once the request's keys are known."""
    redactor = Redactor()
    incoming.register_keys(redactor)
    return redactor.redact(text)


def chat_of(message: Message) -> ChatRequest:
    return ChatRequest(vendor="agentui", model="m", messages=(text_message("user", "words " * 30_000), message))


@pytest.mark.parametrize(
    "message",
    [
        Message("user", (Text("Hi"),), raw={"role": "user", "content": "Hi", "api_key": SECRET}, raw_vendor="openai"),
        Message("user", (Text("Hi"), Opaque("openai", "odd", {"type": "odd", "api_key": SECRET}))),
    ],
)
async def test_a_turns_own_request_is_walked_for_keys_where_a_message_is_more_than_a_text(message: Message) -> None:
    incoming = await Conversation(chat_of(message), {}, "", VENDORS).incoming()
    assert SECRET in incoming.body.decode()
    assert SECRET not in known(incoming, f"It says {SECRET}.")


async def test_a_turns_own_request_of_texts_knows_the_callers_key() -> None:
    chat = chat_of(text_message("assistant", f"Words are no members: {SECRET}"))
    incoming = await Conversation(chat, {"authorization": "Bearer sk-of-a-header-0123"}, "", VENDORS).incoming()
    assert known(incoming, f"{SECRET} sk-of-a-header-0123") == f"{SECRET} ***0123"


@pytest.mark.parametrize("size", [1, 200_000])
def test_a_request_that_asks_something_else_is_walked_for_its_own_keys(size: int) -> None:
    incoming = make_incoming({**OPENAI, "user": "u" * size})
    incoming.find_keys()
    raw = {"role": "user", "content": "Hi", "api_key": SECRET}
    asking = incoming.asking(Message("user", (Text("Hi"),), raw=raw, raw_vendor="openai"))
    assert SECRET in asking.body.decode()
    assert SECRET not in known(asking, SECRET)


@pytest.mark.parametrize(("model", "role"), [("gpt-4o", "user"), ("local-model", "system")])
def test_who_speaks_in_an_example_is_known_behind_a_request_of_openais(model: str, role: str) -> None:
    """OpenAI's body says ``example_user`` alone; where all system texts are one message, it says no name at all."""
    examples = [
        Message("system", (Text(text),), f"example_{name}", speaker=who)
        for text, name, who in (("Hello.", "user", "Ann"), ("Hello.", "assistant", "Bo"), ("Hello.", "user", "Cy"))
    ]
    incoming = make_incoming({**OPENAI, "model": model}).saying((*examples, text_message("user", "Go on.")), lambda wire: wire)
    for name in ("claude", "gemini"):
        sent = dumps(VENDORS[name].render_request(incoming.chat).body).decode()
        assert [sent.count(f"{who}: Hello.") for who in ("Ann", "Bo", "Cy")] == [1, 1, 1]
        assert "example_" not in sent
    incoming.release()
    assert "Ann: Hello." in dumps(VENDORS["claude"].render_request(incoming.chat).body).decode()
