"""Clients that know only their history and talk to a session's character: the vendors' own SDKs, and what may go wrong."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from google import genai
from google.genai import types
from openai import APIStatusError, AsyncOpenAI

from tests.api.callers import DIALECTS
from tests.turns.conftest import StartHouse
from tests.turns.house import KEY, House, Json
from tests.turns.talk import Talk
from tests.turns.test_live_assets import bound_talk, make, script
from tests.upstreams.server import API_KEY
from tests.upstreams.step import Step

Said = Sequence[tuple[str, str]]
Headers = Mapping[str, str]


async def _openai(house: House, said: Said, headers: Headers) -> str:
    messages: Any = [{"role": role, "content": text} for role, text in said]
    async with AsyncOpenAI(base_url=f"{house.server.origin}/p/plain/v1", api_key=API_KEY, max_retries=0) as client:
        chunks = await client.chat.completions.create(model="text", messages=messages, stream=True, extra_headers=headers)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])


async def _responses(house: House, said: Said, headers: Headers) -> str:
    items: Any = [{"role": role, "content": text} for role, text in said]
    async with AsyncOpenAI(base_url=f"{house.server.origin}/p/plain/v1", api_key=API_KEY, max_retries=0) as client:
        events = await client.responses.create(model="text", input=items, stream=True, extra_headers=headers)
        return "".join([event.delta async for event in events if event.type == "response.output_text.delta"])


async def _anthropic(house: House, said: Said, headers: Headers) -> str:
    asked: Any = {
        "model": "text",
        "max_tokens": 64,
        "messages": [{"role": role, "content": text} for role, text in said if role != "system"],
        "system": "\n\n".join(text for role, text in said if role == "system"),
    }
    async with (
        AsyncAnthropic(base_url=f"{house.server.origin}/p/plain", api_key=API_KEY, max_retries=0) as client,
        client.messages.stream(**asked, extra_headers=dict(headers)) as heard,
    ):
        return "".join([text async for text in heard.text_stream])


async def _google(house: House, said: Said, headers: Headers) -> str:
    roles = {"user": "user", "assistant": "model"}
    contents: Any = [types.Content(role=roles[role], parts=[types.Part(text=text)]) for role, text in said if role in roles]
    system = "\n\n".join(text for role, text in said if role == "system")
    options = types.HttpOptions(base_url=f"{house.server.origin}/p/plain", headers=dict(headers))

    def ask() -> str:
        with genai.Client(api_key=API_KEY, http_options=options) as client:
            config = types.GenerateContentConfig(system_instruction=system)
            chunks = client.models.generate_content_stream(model="text", contents=contents, config=config)
            return "".join(chunk.text or "" for chunk in chunks)

    return await asyncio.to_thread(ask)


Sdk = Callable[[House, Said, Headers], Awaitable[str]]
SDKS: Mapping[str, Sdk] = {
    "openai": _openai,
    "openai_responses": _responses,
    "anthropic": _anthropic,
    "google-genai": _google,
}


async def world_talk(house: House, **fields: Json) -> Talk:
    """A session with a character, a user, a preset, a lorebook whose entry stays for two messages, and scripts."""
    entry = {"uid": 7, "key": ["sea"], "content": "The sea is deep.", "sticky": 2}
    book = await make(house, "/worldbooks", name="World", data={"entries": {"7": entry}})
    scripts = [script("/cat/g", "dog", 1), script("/mock/", "sea-bird", 2), script("/dog/g", "hound", 1, promptOnly=True)]
    regex = await make(house, "/regex-profiles", name="R", data=scripts)
    return await bound_talk(house, worldbook_profile_id=book["id"], regex_profile_id=regex["id"], **fields)


def by_talk(talk: Talk, **more: str) -> dict[str, str]:
    """The headers of a client that wants its history assembled."""
    return {"x-agentui-session": talk.session, "x-agentui-assemble": "session", **more}


@pytest.mark.sdk
@pytest.mark.parametrize("sdk", SDKS)
async def test_an_sdk_talks_to_a_character_with_lore_and_scripts(start_house: StartHouse, sdk: str) -> None:
    house = await start_house(turn_matching=True)
    talk, say = await world_talk(house), SDKS[sdk]
    said = [("system", "Be brief."), ("user", "A cat at sea")]
    answer = await say(house, said, by_talk(talk))
    assert answer == "Hello from the mock."
    body = str(house.mock.last.body)
    for text in ("Play Ada.", "Ben is a sailor.", "Hello, Ben.", "Be brief.", "The sea is deep.", "A hound at sea"):
        assert text in body, text
    assert "cat" not in body
    # What is kept went through the scripts; the client knows what it said and heard, and is found by that.
    kept = [("assistant", "Hello, {{user}}."), ("user", "A dog at sea"), ("assistant", "Hello from the sea-bird.")]
    assert await talk.timeline() == kept
    await say(house, [*said, ("assistant", answer), ("user", "Go on")], by_talk(talk))
    body = str(house.mock.last.body)
    assert [body.count(text) for text in ("A hound at sea", "sea-bird", "The sea is deep.", "Hello, Ben.")] == [1, 1, 1, 1]
    assert (await talk.timeline())[3:] == [("user", "Go on"), ("assistant", "Hello from the sea-bird.")]
    # The same question once more is another answer of that floor, not a turn of its own.
    await say(house, [*said, ("assistant", answer), ("user", "Go on")], by_talk(talk))
    assert len(await talk.timeline()) == 5


@pytest.mark.parametrize("is_joined", [False, True])
async def test_a_client_presets_last_text_is_not_what_the_person_says(start_house: StartHouse, is_joined: bool) -> None:
    house = await start_house(turn_matching=True)
    talk = await world_talk(house)
    ends = "A dog writes the next scene."

    async def ask(*said: tuple[str, str]) -> None:
        *before, (role, words) = said
        last = [(role, f"{words}\n\n{ends}")] if is_joined else [(role, words), ("user", ends)]
        messages: Any = [{"role": role, "content": text} for role, text in [*before, *last]]
        body = {"model": "gpt-4o", "messages": messages}
        status, answer = await talk.post("/p/plain/v1/chat/completions", body, **by_talk(talk))
        assert status == 200, answer

    first = ("user", "I walk to the harbour")
    await ask(first)
    await ask(first, ("assistant", "Hello from the mock."), ("user", "A cat at sea"))
    sent = [message["content"] for message in house.mock.last.body["messages"]]
    # The scripts are for the person's words, and so is the search for lore.
    assert sent[-3:] == ["A hound at sea", "The sea is deep.", ends], sent
    assert [text for role, text in await talk.timeline() if role == "user"] == ["I walk to the harbour", "A dog at sea"]


async def test_a_presets_parameters_fill_what_the_client_leaves_open(house: House) -> None:
    talk = await bound_talk(house)
    limits = {"claude": ("max_tokens", 64), "gemini": ("maxOutputTokens", 222), "openai_responses": ("max_output_tokens", 222)}
    for dialect in DIALECTS:
        got = await house.turn("Hi", dialect=dialect, session=talk.session, assemble="session")
        assert got.headers["x-agentui-assemble"] == "session"
        body = house.mock.last.body
        spelled = body.get("generationConfig", body)
        assert spelled["temperature"] == 0.3
        name, value = limits.get(dialect, ("max_tokens", 222))
        assert spelled[name] == value
    asked = {"messages": [{"role": "user", "content": "Hi"}], "model": "text", "top_p": 0.5, "max_tokens": 9}
    got = await house.caller(session=talk.session, assemble="session").post("/v1/chat/completions", asked)
    body = house.mock.last.body
    assert (got.status, body["top_p"], body["max_tokens"], "temperature" in body) == (200, 0.5, 9, False)


async def test_a_session_may_want_it_and_a_client_may_refuse(house: House) -> None:
    talk = await bound_talk(house, assemble=True)
    assert (await house.memory.get(f"/sessions/{talk.session}"))["assemble"] is True
    await house.turn("Hi", session=talk.session)
    assert "Play Ada." in str(house.mock.last.body)
    got = await house.turn("Hi", session=talk.session, assemble="off")
    assert "x-agentui-assemble" not in got.headers
    assert house.mock.last.body["messages"] == [{"role": "user", "content": "Hi"}]
    status, _ = await house.memory.call("PATCH", f"/sessions/{talk.session}", {"assemble": None})
    assert status == 200
    await house.turn("Hi", session=talk.session)
    assert house.mock.last.body["messages"] == [{"role": "user", "content": "Hi"}]


async def test_every_pipeline_and_the_bodys_member_do(house: House) -> None:
    talk = await bound_talk(house)
    for pipeline in ("claude", "raw"):
        await house.turn("Hi", pipeline=pipeline, session=talk.session, assemble="session")
        assert "Play Ada." in str(house.mock.last.body)
    member = {"agentui": {"session": talk.session, "assemble": "session"}}
    got = await house.caller().ask("Hi", **member)
    assert (got.status, "Play Ada." in str(house.mock.last.body)) == (200, True)


async def test_a_prompt_is_explained_afterwards_and_its_effects_are_kept(house: House) -> None:
    talk = await world_talk(house)
    got = await house.turn("The sea", session=talk.session, assemble="session")
    told = await house.memory.get(f"/floors/{got.headers['x-agentui-floor']}/prompt-runtime/explain")
    assert told["assets"]["character_card"]["name"] == "Ada"
    assert told["prompt_snapshot"]["worldbook_activated_entry_uids"] == [7]
    assert (await house.memory.seen(talk.session))["agentui_lore"]


async def test_a_question_on_a_branch_that_keeps_its_assets_is_rewritten_by_them(start_house: StartHouse) -> None:
    house = await start_house(turn_matching=True)
    talk = await world_talk(house, deep_binding=True)

    async def say(*said: str) -> str:
        """What the user said so far, with the answers between; the branch of the turn."""
        history: list[Json] = [{"role": "user", "content": said[0]}]
        for words in said[1:]:
            history += [{"role": "assistant", "content": "Hello from the mock."}, {"role": "user", "content": words}]
        body = {"model": "text", "messages": history}
        got = await house.caller(session=talk.session, assemble="session").post("/v1/chat/completions", body)
        assert got.status == 200, got.text
        return got.headers["x-agentui-branch"]

    await say("A cat")
    await say("A cat", "One cat")
    regex = await make(house, "/regex-profiles", name="New", data=[script("/cat/g", "cow", 1)])
    status, _ = await house.memory.call("PATCH", f"/sessions/{talk.session}", {"regex_profile_id": regex["id"]})
    assert status == 200
    branch = await say("A cat", "Another cat")
    assert branch != "main"
    assert "Another hound" in str(house.mock.last.body)
    assert await say("A cat", "Another cat", "No cat") == branch
    assert await say("A cat", "One cat", "A last cat") == "main"
    kept = [words for role, words in await talk.timeline(branch) if role == "user"]
    assert kept == ["Another dog", "No dog"]
    assert [words for role, words in await talk.timeline() if role == "user"] == ["A dog", "One dog", "A last cow"]


async def test_what_cannot_be_assembled_is_refused_in_the_clients_dialect(house: House) -> None:
    talk = await bound_talk(house)
    for dialect in DIALECTS:
        for headers, words in (
            ({"assemble": "session"}, "needs a session"),
            ({"assemble": "session", "session": "auto"}, "needs a session that is named"),
            ({"assemble": "session", "session": "brand new"}, "nothing that a prompt could be assembled of"),
            ({"assemble": "yes", "session": talk.session}, "one of session, off"),
        ):
            got = await house.ask("Hi", dialect=dialect, **headers)
            assert got.status == 400, got.body
            assert words in got.json["error"]["message"]
    assert len(await talk.timeline()) == 1


@pytest.mark.sdk
async def test_a_conversation_that_is_kept_elsewhere_is_refused(house: House) -> None:
    talk = await bound_talk(house)
    async with AsyncOpenAI(base_url=f"{house.server.origin}/p/plain/v1", api_key=API_KEY, max_retries=0) as client:
        with pytest.raises(APIStatusError, match="kept at the provider") as refused:
            await client.responses.create(model="text", input="Hi", previous_response_id="resp_1", extra_headers=by_talk(talk))
    assert refused.value.status_code == 400


async def test_words_that_broke_off_go_through_the_scripts_too(start_house: StartHouse) -> None:
    house = await start_house(turn_matching=True)
    talk = await world_talk(house)
    house.mock.script([Step(text="The mock is", cut="clean", cut_after=-3)])
    await house.ask("Hi", stream=True, session=talk.session, assemble="session")
    role, words = (await talk.timeline())[-1]
    assert (role, words.startswith("The sea-bird")) == ("assistant", True)


async def test_a_system_text_with_a_nul_is_told_of_in_no_way_that_stops_the_next_turn(start_house: StartHouse) -> None:
    house = await start_house(turn_matching=True)
    talk = await world_talk(house)
    said: list[Json] = [{"role": "system", "content": "Be\0brief."}, {"role": "user", "content": "A cat at sea"}]
    path, headers = "/p/plain/v1/chat/completions", {**KEY, **by_talk(talk)}
    for words in ("Go on", "And then?"):
        status, answer = await house.memory.call("POST", path, {"model": "text", "messages": said}, **headers)
        assert status == 200, answer
        told = answer["choices"][0]["message"]["content"]
        said += [{"role": "assistant", "content": told}, {"role": "user", "content": words}]
    await talk.respond("And now?")
    assert [text for role, text in await talk.timeline() if role == "user"] == ["A dog at sea", "Go on", "And now?"]
