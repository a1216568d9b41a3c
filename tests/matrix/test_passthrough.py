"""Within one dialect nothing is touched: fields and events that nobody knows arrive as they were sent."""

import base64
import json
from itertools import permutations
from typing import Any

import aiohttp
import pytest

from tests.matrix.neutral import CALLERS
from tests.matrix.readers import read
from tests.upstreams.server import API_KEY, Mock, Step

PLAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "openai": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello"}]}),
    "openai_responses": ("/v1/responses", {"input": "Hello"}),
    "claude": ("/v1/messages", {"max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}),
    "gemini": ("/v1beta/models/{model}:{operation}", {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}),
}
KNOWN_ONLY_THERE: dict[str, dict[str, Any]] = {
    "openai": {"logit_bias": {"50256": -100}, "metadata": {"a": "b"}, "verbosity": "low", "prompt_cache_key": "k"},
    "openai_responses": {"prompt_cache_key": "k", "metadata": {"a": "b"}, "text": {"verbosity": "low"}, "store": True},
    "claude": {"service_tier": "auto", "system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]},
    "gemini": {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
               "cachedContent": "cachedContents/1", "generation_config": {"media_resolution": "MEDIA_RESOLUTION_LOW"}},
}  # fmt: skip
ONLY_THERE = {"openai": "metadata", "openai_responses": "metadata", "claude": "service_tier", "gemini": "safetySettings"}
dialects = pytest.mark.parametrize("dialect", CALLERS)
streams = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def request(dialect: str, *, stream: bool, model: str = "text", **more: Any) -> tuple[str, dict[str, Any]]:
    """Path with query, and body."""
    path, body = PLAIN[dialect]
    body = {**body, **more}
    if dialect == "gemini":
        operation = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return path.format(model=model, operation=operation), body
    return path, {**body, "model": model, **({"stream": True} if stream else {})}


async def post(session: aiohttp.ClientSession, origin: str, dialect: str, path: str, body: Any) -> tuple[int, bytes]:
    """Send, and read everything."""
    headers = {"authorization": f"Bearer {API_KEY}"}
    if dialect == "claude":
        headers["anthropic-version"] = "2023-06-01"
    if dialect == "gemini":
        headers = {"x-goog-api-key": API_KEY}
    async with session.post(origin + path, json=body, headers=headers) as reply:
        return reply.status, await reply.read()


@dialects
@streams
async def test_a_request_arrives_as_it_was_sent(session, mock: Mock, origin, dialect, stream):
    path, body = request(dialect, stream=stream, **KNOWN_ONLY_THERE[dialect])
    status, data = await post(session, f"{origin}/p/{dialect}", dialect, path, body)
    assert status == 200, data
    assert mock.last.body == body
    assert mock.last.path == path.partition("?")[0]


@dialects
@streams
async def test_a_field_that_nobody_knows_reaches_the_vendor_who_judges_it(session, mock: Mock, origin, dialect, stream):
    path, body = request(dialect, stream=stream, brand_new={"deep": [1, None, {"x": "✓"}], "big": 2**53 + 1})
    status, data = await post(session, f"{origin}/p/{dialect}", dialect, path, body)
    assert mock.last.body == body
    assert status == 400
    direct = await post(session, mock.origin, dialect, path, body)
    assert (status, json.loads(data)) == (direct[0], json.loads(direct[1]))


@dialects
async def test_an_answer_comes_as_it_was_given(session, mock: Mock, origin, dialect):
    path, body = request(dialect, stream=False)
    mock.script([Step(extras=True)] * 2)
    status, data = await post(session, f"{origin}/p/{dialect}", dialect, path, body)
    assert status == 200
    unknown = "xUnknown" if dialect == "gemini" else "x_unknown"
    assert unknown in json.loads(data)
    _, direct = await post(session, mock.origin, dialect, path, body)
    assert without_serials(data) == without_serials(direct)


STEPS = (Step(extras=True), Step(thinking="Hm."), Step(text="", chunks=()), Step(finish="length"))
BLOCKED = Step(blocked=True, text="", finish="content_filter")


@pytest.mark.parametrize(
    ("dialect", "step"), [*((dialect, step) for dialect in CALLERS for step in STEPS), ("gemini", BLOCKED)]
)
async def test_events_come_as_they_were_given(session, mock: Mock, origin, dialect, step):
    path, body = request(dialect, stream=True)
    mock.script([step] * 2)
    status, data = await post(session, f"{origin}/p/{dialect}", dialect, path, body)
    assert status == 200
    _, direct = await post(session, mock.origin, dialect, path, body)
    assert events(data) == events(direct)


def without_serials(data: bytes) -> Any:
    """An answer without the ids that count the mock's requests."""
    return json.loads(data, object_hook=lambda value: {k: v for k, v in value.items() if k not in ("id", "responseId")})


def events(data: bytes) -> list[tuple[str, Any]]:
    """The events as name and payload."""
    found = []
    for block in data.decode().replace("\r\n", "\n").split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if not lines:
            continue
        name = "".join(line[7:] for line in lines if line.startswith("event: "))
        payload = "\n".join(line[6:] for line in lines if line.startswith("data: "))
        kept = without_serials(payload.encode()) if payload != "[DONE]" else payload
        found.append((name, without_tokens(kept)))
    return found


def without_tokens(value: Any) -> Any:
    """Item ids and signatures count the mock's requests too."""
    if isinstance(value, dict):
        hidden = ("item_id", "signature", "thoughtSignature", "encrypted_content")
        return {key: without_tokens(inner) for key, inner in value.items() if key not in hidden}
    return [without_tokens(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("dialect", "upstream"), list(permutations(CALLERS, 2)))
async def test_what_only_one_dialect_knows_stays_there_and_is_named(session, mock: Mock, origin, dialect, upstream):
    known = {name: value for name, value in KNOWN_ONLY_THERE[dialect].items() if name != "cachedContent"}
    path, body = request(dialect, stream=False, brand_new={"secret": "field"}, **known)
    headers = {"authorization": f"Bearer {API_KEY}", "anthropic-version": "2023-06-01"}
    async with session.post(f"{origin}/p/{upstream}{path}", json=body, headers=headers) as reply:
        assert reply.status == 200, await reply.text()
        dropped = reply.headers["x-agentui-dropped"].split(", ")
    assert b"brand_new" not in mock.last.raw
    # Google's names have two spellings, of which one is shown.
    assert {"brandNew" if dialect == "gemini" else "brand_new", ONLY_THERE[dialect]} <= set(dropped)


@pytest.mark.parametrize("upstream", CALLERS)
async def test_usage_streams_to_openai_callers_who_ask_for_it_only(session, mock: Mock, origin, upstream):
    path, body = request("openai", stream=True)
    _, data = await post(session, f"{origin}/p/{upstream}", "openai", path, body)
    assert all(not payload.get("usage") and payload["choices"] for _, payload in events(data) if payload != "[DONE]")
    _, data = await post(session, f"{origin}/p/{upstream}", "openai", path, {**body, "stream_options": {"include_usage": True}})
    last = [payload for _, payload in events(data) if payload != "[DONE]"][-1]
    assert last["choices"] == [] and last["usage"]["completion_tokens"] == 7


@pytest.mark.parametrize("upstream", CALLERS)
async def test_a_developers_words_are_the_systems(session, mock: Mock, origin, upstream):
    said = [("developer", "Be brief."), ("user", "one"), ("assistant", "two"), ("system", "Be kind."), ("user", "three")]
    body = {"model": "text", "messages": [{"role": role, "content": text} for role, text in said]}
    status, data = await post(session, f"{origin}/p/{upstream}", "openai", "/v1/chat/completions", body)
    assert status == 200, data
    seen = read(mock.last)
    assert "Be brief." in seen.system
    assert b"Be kind." in mock.last.raw
    assert [role for role, _ in seen.turns] == ["user", "assistant", "user"]


@pytest.mark.parametrize("upstream", CALLERS)
async def test_googles_other_spelling_is_understood(session, mock: Mock, origin, upstream):
    picture = bytes([251, 255, 254, 0, 1])
    held = {"mime_type": "image/png", "data": base64.urlsafe_b64encode(picture).decode()}
    body = {
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "What is this?"}, {"inline_data": held}]}],
        "generation_config": {"max_output_tokens": 50, "top_p": 0.5},
    }
    path = "/v1beta/models/text:generateContent"
    status, data = await post(session, f"{origin}/p/{upstream}", "gemini", path, body)
    assert status == 200, data
    seen = read(mock.last)
    assert (seen.system, seen.max_tokens, seen.top_p) == ("Be brief.", 50, 0.5)
    assert seen.parts("image") == [("image", picture)]


async def test_gemini_streams_an_array_to_those_who_ask_for_no_events(session, mock: Mock, origin):
    for upstream in CALLERS:
        path = "/v1beta/models/text:streamGenerateContent"
        status, data = await post(session, f"{origin}/p/{upstream}", "gemini", path, PLAIN["gemini"][1])
        assert status == 200
        chunks = json.loads(data)
        texts = [part.get("text", "") for chunk in chunks for one in chunk["candidates"] for part in one["content"]["parts"]]
        assert "".join(texts) == "Hello from the mock."
        assert chunks[-1]["candidates"][0]["finishReason"] == "STOP"
        assert sum("finishReason" in chunk["candidates"][0] for chunk in chunks) == 1


@pytest.mark.parametrize("spelling", ["query", "header", "bearer"])
async def test_a_key_is_taken_wherever_it_stands(session, mock: Mock, origin, spelling):
    for upstream in CALLERS:
        query = f"?key={API_KEY}" if spelling == "query" else ""
        headers = {"x-goog-api-key": API_KEY} if spelling == "header" else {}
        if spelling == "bearer":
            headers = {"authorization": f"Bearer {API_KEY}"}
        url = f"{origin}/p/{upstream}/v1beta/models/text:generateContent{query}"
        async with session.post(url, json=PLAIN["gemini"][1], headers=headers) as reply:
            assert reply.status == 200, await reply.text()
        assert API_KEY not in mock.last.path


@dialects
async def test_bad_json_is_refused_in_the_routes_own_shape(session, mock: Mock, origin, dialect):
    path, _ = request(dialect, stream=False)
    headers = {"content-type": "application/json", "authorization": f"Bearer {API_KEY}"}
    async with session.post(f"{origin}/p/openai{path}", data=b'{"model": "x", ', headers=headers) as reply:
        error = await reply.json()
    assert reply.status == 400
    assert ("type" in error) == (dialect == "claude")
    assert isinstance(error["error"].get("code"), int) == (dialect == "gemini")
    assert "JSON" in error["error"]["message"]
