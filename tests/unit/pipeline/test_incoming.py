"""The request of a run: its bytes, what is parsed from them, and the bytes that go out."""

from dataclasses import replace

import pytest

from agentui.jsonio import Json, dumps, loads
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
