"""The vendors' own SDKs with the header x-agentui-session: a chat with a memory."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from google import genai
from google.genai import types
from openai import APIStatusError, AsyncOpenAI

from tests.turns.conftest import StartHouse, on_engines
from tests.turns.house import House, chain, sets, target
from tests.upstreams.server import API_KEY

pytestmark = pytest.mark.sdk

GOLD = [{"kind": "text", "role": "system", "text": "Gold: {{ gold }}"}, {"kind": "history"}]
Say = Callable[[str, Mapping[str, str]], Awaitable[str]]


@pytest.fixture
async def adventure(start_house: StartHouse) -> AsyncIterator[House]:
    """A pipeline that finds one gold a turn on each branch."""
    house = await start_house()
    find = sets(("branch", "gold", "json", "{{ gold|default(0)|add(1) }}"), ("chat", "last", "string", "{{ chat.last_user }}"))
    house.server.put("gold", chain(find, target("caller", house.mock.origin, blocks=GOLD)))
    yield house


async def _openai(house: House, said: str, headers: Mapping[str, str], stream: bool) -> tuple[str, Mapping[str, str]]:
    async with AsyncOpenAI(base_url=f"{house.server.origin}/p/gold/v1", api_key=API_KEY, max_retries=0) as client:
        message: Any = {"role": "user", "content": said}
        ask = client.chat.completions.with_raw_response
        answer = await ask.create(model="text", messages=[message], stream=stream, extra_headers=headers)
        if not stream:
            return answer.parse().choices[0].message.content or "", answer.headers
        pieces = [chunk.choices[0].delta.content or "" async for chunk in answer.parse() if chunk.choices]
        return "".join(pieces), answer.headers


async def _responses(house: House, said: str, headers: Mapping[str, str], stream: bool) -> tuple[str, Mapping[str, str]]:
    async with AsyncOpenAI(base_url=f"{house.server.origin}/p/gold/v1", api_key=API_KEY, max_retries=0) as client:
        ask = client.responses.with_raw_response
        answer = await ask.create(model="text", input=said, stream=stream, extra_headers=headers)
        if not stream:
            return answer.parse().output_text, answer.headers
        pieces = [event.delta async for event in answer.parse() if event.type == "response.output_text.delta"]
        return "".join(pieces), answer.headers


async def _anthropic(house: House, said: str, headers: Mapping[str, str], stream: bool) -> tuple[str, Mapping[str, str]]:
    async with AsyncAnthropic(base_url=f"{house.server.origin}/p/gold", api_key=API_KEY, max_retries=0) as client:
        asked: Any = {"model": "text", "max_tokens": 64, "messages": [{"role": "user", "content": said}]}
        if not stream:
            answer = await client.messages.with_raw_response.create(**asked, extra_headers=headers)
            return (await answer.parse()).content[0].text, answer.headers
        async with client.messages.stream(**asked, extra_headers=dict(headers)) as heard:
            return "".join([text async for text in heard.text_stream]), heard.response.headers


async def _google(house: House, said: str, headers: Mapping[str, str], stream: bool) -> tuple[str, Mapping[str, str]]:
    options = types.HttpOptions(base_url=f"{house.server.origin}/p/gold", headers=dict(headers))

    def ask() -> tuple[str, Mapping[str, str]]:
        with genai.Client(api_key=API_KEY, http_options=options) as client:
            if stream:
                chunks = list(client.models.generate_content_stream(model="text", contents=said))
            else:
                chunks = [client.models.generate_content(model="text", contents=said)]
            response = chunks[0].sdk_http_response
            assert response is not None
            return "".join(chunk.text or "" for chunk in chunks), response.headers or {}

    return await asyncio.to_thread(ask)


SDKS = {"openai": _openai, "openai_responses": _responses, "anthropic": _anthropic, "google-genai": _google}


@on_engines(("sdk", "stream"), list(SDKS), (False, True))
async def test_an_sdk_keeps_a_chat(adventure: House, sdk: str, stream: bool) -> None:
    say, memory = SDKS[sdk], adventure.memory
    names = {"x-agentui-session": "tale"}
    text, headers = await say(adventure, "One", names, stream)
    assert text == "Hello from the mock."
    got = {name.lower(): value for name, value in headers.items()}
    session = got["x-agentui-session"]
    assert got["x-agentui-branch"] == "main"
    await say(adventure, "Two", {"x-agentui-session": session}, stream)
    await say(adventure, "Three", {**names, "x-agentui-branch": "what if"}, stream)
    assert await memory.states(session) == ["committed"] * 2
    assert [request.body for request in adventure.mock.requests if "Gold: 3" in str(request.body)]
    assert (await memory.seen(session))["gold"] == 2
    assert await memory.seen(session, "what if") == {"gold": 3, "last": "Three"}
    floor = (await memory.floors(session))[0]
    assert floor["id"] == got["x-agentui-floor"]
    assert await memory.said(floor["id"]) == [("input", "user", "One"), ("output", "assistant", "Hello from the mock.")]


async def test_an_sdk_reads_why_a_turn_is_refused(adventure: House) -> None:
    with pytest.raises(APIStatusError, match="name of a session") as refused:
        await _openai(adventure, "Hi", {"x-agentui-session": "x" * 201}, False)
    assert (refused.value.status_code, refused.value.code) == (400, "validation_error")
