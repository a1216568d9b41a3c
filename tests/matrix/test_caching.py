"""Prompt caching: marks of OpenAI-shaped callers reach Claude, and Gemini CLI's calls keep their thoughts."""

import pytest

from tests.matrix.conftest import Pair, agentui
from tests.matrix.neutral import CALLERS, Ask
from tests.upstreams.server import API_KEY, Call, Step

EPHEMERAL = {"type": "ephemeral"}
BEARER = {"authorization": f"Bearer {API_KEY}"}


def part(text: str) -> dict:
    return {"type": "text", "text": text, "cache_control": EPHEMERAL}


async def test_marks_of_an_openai_caller_reach_claude(session, mock, origin):
    said = [
        {"role": "system", "content": [part("Be brief."), {"type": "text", "text": "Be kind."}]},
        {"role": "user", "content": [{"type": "text", "text": "A book."}, part("The end.")]},
    ]
    body = {"model": "text", "max_tokens": 9, "messages": said, "cache_control": EPHEMERAL}
    async with session.post(f"{origin}/p/claude/v1/chat/completions", json=body, headers=BEARER) as reply:
        assert reply.status == 200, await reply.text()
        assert "x-agentui-dropped" not in reply.headers
    told = mock.last.body
    assert told["cache_control"] == EPHEMERAL
    assert told["system"] == [part("Be brief."), {"type": "text", "text": "Be kind."}]
    assert told["messages"] == [{"role": "user", "content": [{"type": "text", "text": "A book."}, part("The end.")]}]


BREAKPOINT = {"prompt_cache_breakpoint": {"mode": "explicit"}}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "chat/completions",
            {
                "messages": [
                    {"role": "system", "content": [{"type": "text", "text": "Be brief.", **BREAKPOINT}]},
                    {"role": "user", "content": [{"type": "text", "text": "A book.", **BREAKPOINT}]},
                ]
            },
        ),
        (
            "responses",
            {
                "input": [
                    {"role": "developer", "content": [{"type": "input_text", "text": "Be brief.", **BREAKPOINT}]},
                    {"role": "user", "content": [{"type": "input_text", "text": "A book.", **BREAKPOINT}]},
                ]
            },
        ),
    ],
)
async def test_breakpoints_of_openais_callers_are_marks_of_claude(session, mock, origin, path, body):
    body = {"model": "text", **body}
    async with session.post(f"{origin}/p/claude/v1/{path}", json=body, headers=BEARER) as reply:
        assert reply.status == 200, await reply.text()
        assert "x-agentui-dropped" not in reply.headers
    assert mock.last.body["system"] == [part("Be brief.")]
    assert mock.last.body["messages"] == [{"role": "user", "content": [part("A book.")]}]
    async with session.post(f"{origin}/p/gemini/v1/{path}", json=body, headers=BEARER) as reply:
        assert reply.status == 200 and "cache_control" in reply.headers["x-agentui-dropped"]


async def test_a_node_that_caches_leaves_what_it_does_not_understand_to_other_vendors(session, mock, tmp_path):
    body = {"model": "text", "messages": [{"role": "newest_role", "content": "Hello"}]}
    async with (
        agentui(tmp_path / "server", mock, prompt_cache="auto") as origin,
        session.post(f"{origin}/p/openai/v1/chat/completions", json=body, headers=BEARER) as reply,
    ):
        told = await reply.text()
    assert mock.last.body == body, told


async def test_at_most_four_marks_reach_claude(session, mock, origin):
    said = [
        {"role": "system", "content": [part("Be brief."), part("Be kind.")]},
        *({"role": role, "content": [part(role)]} for role in ("user", "assistant", "user", "assistant", "user")),
    ]
    body = {"model": "text", "max_tokens": 9, "messages": said}
    async with session.post(f"{origin}/p/claude/v1/chat/completions", json=body, headers=BEARER) as reply:
        assert reply.status == 200, await reply.text()
        assert reply.headers["x-agentui-dropped"] == "cache_control"
    told = mock.last.body
    assert ["cache_control" in block for block in told["system"]] == [False, True]
    assert ["cache_control" in said["content"][0] for said in told["messages"]] == [False, False, True, True, True]


async def test_a_node_that_caches_adds_no_fifth_mark(mock, session, tmp_path):
    def body(marks: int) -> dict:
        blocks = [part(str(number)) for number in range(marks)]
        return {"model": "text", "max_tokens": 9, "messages": [{"role": "user", "content": blocks}]}

    async with agentui(tmp_path / "server", mock, prompt_cache="auto") as origin:
        for marks in (3, 4):
            async with session.post(
                f"{origin}/p/claude/v1/messages", json=body(marks), headers={"x-api-key": API_KEY}
            ) as reply:
                assert reply.status == 200, await reply.text()
            assert ("cache_control" in mock.last.body) is (marks == 3)


async def test_other_vendors_are_told_nothing_of_them(session, mock, origin):
    body = {"model": "text", "messages": [{"role": "user", "content": [part("Hi")]}]}
    async with session.post(f"{origin}/p/gemini/v1/chat/completions", json=body, headers=BEARER) as reply:
        assert reply.status == 200, await reply.text()
        assert "cache_control" in reply.headers["x-agentui-dropped"]
    assert b"cache_control" not in mock.last.raw


@pytest.mark.parametrize("caller", CALLERS)
async def test_a_node_caches_whatever_may_be(mock, callers, tmp_path, caller):
    async with agentui(tmp_path / "server", mock, prompt_cache="auto") as origin:
        await Pair(caller, "claude", mock, callers, origin).ask(Ask())
        assert mock.last.body["cache_control"] == EPHEMERAL
        await Pair(caller, "openai", mock, callers, origin).ask(Ask())
        assert "cache_control" not in mock.last.body


async def test_gemini_cli_keeps_thinking_after_its_first_call(session, mock, origin):
    """It writes the documented sentinel where it has no signature, which is no signature of anybody's."""
    url = f"{origin}/p/claude/v1beta/models/some-claude:generateContent"
    tools = [{"functionDeclarations": [{"name": "look", "parametersJsonSchema": {"type": "object", "properties": {}}}]}]
    more = {"tools": tools, "generationConfig": {"thinkingConfig": {"thinkingBudget": 2048, "includeThoughts": True}}}
    asked = {"role": "user", "parts": [{"text": "Look, CLI."}]}
    mock.script([Step(text="", thinking="I look.", calls=(Call("look", "{}"),)), Step(text="Seen.")])
    async with session.post(url, json={"contents": [asked], **more}, headers={"x-goog-api-key": API_KEY}) as reply:
        parts = (await reply.json())["candidates"][0]["content"]["parts"]
    call = next(one["functionCall"] for one in parts if "functionCall" in one)
    made = {"role": "model", "parts": [{"functionCall": call, "thoughtSignature": "skip_thought_signature_validator"}]}
    result = {"functionResponse": {"name": "look", "id": call["id"], "response": {"result": "a wall"}}}
    contents = [asked, made, {"role": "user", "parts": [result]}]
    async with session.post(url, json={"contents": contents, **more}, headers={"x-goog-api-key": API_KEY}) as reply:
        assert reply.status == 200, await reply.text()
    assert mock.last.body["thinking"]["type"] == "enabled"
    assert mock.last.body["messages"][1]["content"][0]["thinking"] == "I look."
