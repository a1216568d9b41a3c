"""The vendors' own SDKs come in by a client's key, and are refused in their vendors' words."""

import asyncio

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors, types

from tests.accounts.conftest import ALICE, StartTeam, bearer
from tests.conftest import call
from tests.upstreams.server import API_KEY, Mock

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),
]


async def test_every_vendors_client_is_let_in_and_turned_away(start_team: StartTeam, mock: Mock) -> None:
    team = await start_team(secret_env={"AGENTUI_SECRET_MAIN": API_KEY, "AGENTUI_SECRET_MAIN_ORIGINS": mock.origin})
    secret = "[[SECRET:main]]"
    bearing = {"authorization": f"Bearer {secret}"}
    shown = {
        "openai": bearing,
        "openai_responses": bearing,
        "claude": {"x-api-key": secret},
        "gemini": {"x-goog-api-key": secret},
    }
    for vendor, headers in shown.items():
        team.server.put(vendor, call(vendor, mock.origin, headers=headers))
    await team.account("alice")
    alice = team.person(**bearer(ALICE))
    made = await team.key(alice)
    key, origin = made["secret"], team.server.origin

    async def chat() -> str:
        async with openai.AsyncOpenAI(base_url=f"{origin}/p/openai/v1", api_key=key, max_retries=0) as client:
            said = await client.chat.completions.create(model="text", messages=[{"role": "user", "content": "Hello"}])
            return said.choices[0].message.content or ""

    async def response() -> str:
        async with openai.AsyncOpenAI(base_url=f"{origin}/p/openai_responses/v1", api_key=key, max_retries=0) as client:
            return (await client.responses.create(model="text", input="Hello")).output_text

    async def message() -> str:
        async with anthropic.AsyncAnthropic(base_url=f"{origin}/p/claude", api_key=key, max_retries=0) as client:
            said = await client.messages.create(model="text", max_tokens=64, messages=[{"role": "user", "content": "Hello"}])
            return "".join(block.text for block in said.content if block.type == "text")

    async def bearing_message() -> str:
        async with anthropic.AsyncAnthropic(base_url=f"{origin}/p/claude", auth_token=key, max_retries=0) as client:
            said = await client.messages.create(model="text", max_tokens=64, messages=[{"role": "user", "content": "Hello"}])
            return "".join(block.text for block in said.content if block.type == "text")

    def content() -> str:
        with genai.Client(api_key=key, http_options=types.HttpOptions(base_url=f"{origin}/p/gemini")) as client:
            return client.models.generate_content(model="text", contents="Hello").text or ""

    async def generated() -> str:
        return await asyncio.to_thread(content)

    for ask in (chat, response, message, bearing_message, generated):
        assert await ask(), ask.__name__
        assert key not in f"{mock.last.path} {dict(mock.last.headers)}"
    await alice.post(f"/clients/{made['item']['client_id']}/disable")
    for ask in (chat, response):
        with pytest.raises(openai.AuthenticationError) as refused:
            await ask()
        assert refused.value.code == "client_api_key_invalid"
    for ask in (message, bearing_message):
        with pytest.raises(anthropic.AuthenticationError) as turned:
            await ask()
        assert turned.value.status_code == 401
    with pytest.raises(errors.ClientError) as away:
        await generated()
    assert away.value.code == 401 and away.value.status == "UNAUTHENTICATED"
