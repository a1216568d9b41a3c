"""A request that says nothing but what the system says."""

import pytest

from tests.matrix.conftest import Pair, agentui, foreign_pairs, pairs, streamed
from tests.matrix.neutral import CALLERS, Ask, user
from tests.upstreams.server import API_KEY

ONLY = {"kind": "text", "role": "system", "text": "Tell a joke."}


# Gemini's SDK sends no request without contents; within one dialect an empty list is for the vendor itself to judge.
@foreign_pairs(("openai", "openai_responses", "claude"))
@streamed
async def test_system_text_alone_is_answered(pair: Pair, stream):
    answer = await pair.ask(Ask(system="Tell a joke.", turns=()), stream=stream)
    assert answer.text == "Hello from the mock."
    assert b"Tell a joke." in pair.mock.last.raw


@pairs()
async def test_blocks_of_system_text_alone_are_answered(pair: Pair, tmp_path):
    async with agentui(tmp_path / "server", pair.mock, blocks=[ONLY]) as pair.origin:
        answer = await pair.ask(Ask(turns=(user("Hello"),)))
    assert answer.text == "Hello from the mock."
    assert b"Tell a joke." in pair.mock.last.raw
    assert b"Hello" not in pair.mock.last.raw


@pytest.mark.parametrize("upstream", CALLERS)
async def test_a_template_of_system_text_alone_is_answered(mock, callers, tmp_path, upstream):
    bodies = {
        "openai": '{"model": "text", [[PROMPT]]}',
        "openai_responses": '{"model": "text", [[PROMPT]]}',
        "claude": '{"model": "text", "max_tokens": 50, [[PROMPT]]}',
        "gemini": "{[[PROMPT]]}",
    }
    async with agentui(tmp_path / "server", mock, blocks=[ONLY], template=bodies[upstream]) as origin:
        pair = Pair("openai", upstream, mock, callers, origin)
        assert (await pair.ask()).text == "Hello from the mock."
    assert b"Tell a joke." in mock.last.raw


@pytest.mark.parametrize("upstream", [name for name in CALLERS if name != "gemini"])
async def test_a_gemini_callers_instruction_alone_is_answered(session, mock, origin, upstream):
    body = {"contents": [], "systemInstruction": {"parts": [{"text": "Tell a joke."}]}}
    url = f"{origin}/p/{upstream}/v1beta/models/text:generateContent"
    async with session.post(url, json=body, headers={"x-goog-api-key": API_KEY}) as reply:
        assert reply.status == 200, await reply.text()
    assert b"Tell a joke." in mock.last.raw
