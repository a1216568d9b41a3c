"""What passes through a pipeline: the vendors' own SDKs call every such route, and an honest upstream answers."""

import asyncio
import hashlib
import io
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import anthropic
import openai
import pytest
from anthropic import AsyncAnthropic
from google import genai
from google.genai import types
from openai import AsyncOpenAI
from yarl import URL

from agentui.demo import DemoServer
from agentui.jsonio import Json
from agentui.vendors.passed import PASSED, passed_route
from tests.conftest import Server, StartServer, call
from tests.upstreams.account import SOUND, Account, running_account
from tests.upstreams.server import API_KEY

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.filterwarnings("ignore:deprecated:DeprecationWarning"),  # OpenAI's word on variations of pictures
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),
]

WAYS = ("call", "raw")
LARGE = 8 * 1024 * 1024


@pytest.fixture
async def account() -> AsyncIterator[Account]:
    async with running_account() as account:
        yield account


def raw_forward(base_url: str, **config: Json) -> Json:
    """A pipeline of one RawForward."""
    node = {"id": "n1", "type": "RawForward", "config": {"base_url": base_url, **config}}
    return {"format": 1, "name": "raw", "nodes": [node]}


@pytest.fixture
async def server(start_server: StartServer, account: Account) -> Server:
    """``call`` asks in the caller's dialect, ``raw`` forwards; ``kept`` has a key of its own, the others one vendor each."""
    kept = {"Authorization": "Bearer [[SECRET:mine]]", "Content-Type": "application/json"}
    wrong = {"name": "wrong", "headers": {"Authorization": "Bearer sk-wrong", "Content-Type": "application/json"}}
    rows = [{"provider": "claude"}, wrong, {"name": "nobody", "preset": "nobody"}, {"name": "right"}]
    says = {"format": 1, "name": "says", "nodes": [{"id": "n1", "type": "SetVars", "config": {"variables": []}}]}
    pipelines = {
        "call": call("caller", account.origin),
        "raw": raw_forward(account.origin),
        "kept": call("openai", f"{account.origin}/v1", headers=kept),
        "claude": call("claude", account.origin),
        "openai": call("openai", account.origin),
        "spare": call("openai", account.origin, targets=rows, strategy="race"),
        "says": says,
    }
    return await start_server(pipelines, active="call", secret_env={"AGENTUI_SECRET_MINE": API_KEY}, max_upload=2 * LARGE)


@pytest.fixture(params=WAYS)
async def client(server: Server, request: pytest.FixtureRequest) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{server.origin}/p/{request.param}/v1", api_key=API_KEY, max_retries=0) as client:
        yield client


def sound(size: int = 1000) -> tuple[str, io.BytesIO]:
    return "talk.wav", io.BytesIO(b"\x00\xff" * (size // 2))


# --- OpenAI -----------------------------------------------------------------------------------------------------------


async def test_moderations_pictures_and_rankings(client: AsyncOpenAI, account: Account) -> None:
    verdict = await client.moderations.create(model="omni-moderation-latest", input="bad words")
    assert verdict.results[0].flagged
    pictures = await client.images.generate(model="gpt-image-1", prompt="a cat", n=2)
    assert len(pictures.data or []) == 2
    picture = ("cat.png", b"png")
    assert (await client.images.edit(model="gpt-image-1", image=picture, prompt="blue")).data
    assert (await client.images.create_variation(image=picture, n=1)).data
    kinds = [event.type async for event in await client.images.generate(prompt="a cat", stream=True)]
    assert kinds == ["image_generation.partial_image", "image_generation.completed"]
    ranked: Any = await client.post("/rerank", cast_to=object, body={"model": "r", "query": "q", "documents": ["a", "b"]})
    assert [one["index"] for one in ranked["results"]] == [0, 1]


async def test_sound_goes_both_ways(client: AsyncOpenAI, account: Account) -> None:
    async with client.audio.speech.with_streaming_response.create(model="tts-1", voice="alloy", input="Hi") as speech:
        assert speech.headers["content-type"] == "audio/mpeg"
        assert await speech.read() == SOUND
    heard = await client.audio.transcriptions.create(model="whisper-1", file=sound(LARGE))
    assert hashlib.sha256(b"\x00\xff" * (LARGE // 2)).hexdigest() in heard.text
    assert "talk.wav" in (await client.audio.translations.create(model="whisper-1", file=sound())).text
    events = await client.audio.transcriptions.create(model="gpt-4o-transcribe", file=sound(), stream=True)
    assert [event.type async for event in events] == ["transcript.text.delta", "transcript.text.done"]


async def test_openai_keeps_files_and_batches(client: AsyncOpenAI, account: Account) -> None:
    file = await client.files.create(file=("in.jsonl", b'{"a": 1}\n'), purpose="batch")
    assert (await client.files.retrieve(file.id)).filename == "in.jsonl"
    assert [one.id async for one in client.files.list(limit=5)] == [file.id]
    assert account.requests[-1][1] == "/v1/files?limit=5"
    assert (await client.files.content(file.id)).content == b'{"a": 1}\n'
    assert (await client.files.delete(file.id)).deleted
    with pytest.raises(openai.NotFoundError, match="No such File object"):
        await client.files.retrieve(file.id)
    batch = await client.batches.create(input_file_id="file-1", endpoint="/v1/chat/completions", completion_window="24h")
    assert (await client.batches.retrieve(batch.id)).id == batch.id
    assert [one.id async for one in client.batches.list()] == [batch.id]
    assert (await client.batches.cancel(batch.id)).status == "cancelling"


async def test_responses_that_openai_keeps(client: AsyncOpenAI, account: Account) -> None:
    assert (await client.responses.retrieve("resp_1")).status == "completed"
    stream = await client.responses.retrieve("resp_1", stream=True)
    assert [event.type async for event in stream] == ["response.created", "response.completed"]
    assert [item.id async for item in client.responses.input_items.list("resp_1")] == ["msg_1"]
    assert (await client.responses.cancel("resp_1")).status == "cancelled"
    await client.responses.delete("resp_1")
    assert account.requests[-1][:2] == ("DELETE", "/v1/responses/resp_1")
    with pytest.raises(openai.NotFoundError, match="resp_2"):
        await client.responses.retrieve("resp_2")


# --- Anthropic and Google ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
async def test_anthropic_keeps_batches_and_files(server: Server, account: Account, way: str) -> None:
    async with AsyncAnthropic(base_url=f"{server.origin}/p/{way}", api_key=API_KEY, max_retries=0) as client:
        batches = client.messages.batches
        message: Any = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
        batch = await batches.create(requests=[{"custom_id": "c0", "params": message}])
        assert (await batches.retrieve(batch.id)).id == batch.id
        assert [one.id async for one in batches.list()] == [batch.id]
        assert (await batches.cancel(batch.id)).processing_status == "canceling"
        assert (await batches.delete(batch.id)).id == batch.id
        results = await batches.with_raw_response.results(batch.id)
        assert results.headers["content-type"] == "application/x-jsonl"
        assert [one.custom_id async for one in await results.parse()] == ["c0", "c1", "c2"]
        files = client.beta.files
        file = await files.upload(file=("notes.txt", b"hello", "text/plain"))
        assert file.filename == "notes.txt" and [one.id async for one in files.list()] == [file.id]
        assert await (await files.download(file.id)).read() == b"hello"
        await files.delete(file.id)
        with pytest.raises(anthropic.NotFoundError, match="No such File"):
            await files.retrieve_metadata(file.id)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("version", ["v1", "v1beta"])
async def test_gemini_keeps_files_and_contents(server: Server, account: Account, way: str, version: str) -> None:
    account.files["f1"] = ("a.txt", b"hello")
    options = types.HttpOptions(base_url=f"{server.origin}/p/{way}", api_version=version)

    def ask() -> None:
        with genai.Client(api_key=API_KEY, http_options=options) as client:
            assert client.files.get(name="files/f1").display_name == "a.txt"
            assert [file.name for file in client.files.list()] == ["files/f1"]
            client.files.delete(name="files/f1")
            made = client.caches.create(model="gemini-2.5-flash", config={"display_name": "d"})
            assert made.name == "cachedContents/c1"
            assert client.caches.get(name="cachedContents/c1").display_name == "d"
            assert [entry.name for entry in client.caches.list()] == ["cachedContents/c1"]
            client.caches.update(name="cachedContents/c1", config={"ttl": "60s"})
            client.caches.delete(name="cachedContents/c1")

    await asyncio.to_thread(ask)
    assert account.files == {} and account.requests[-1][0] == "DELETE"


# --- one rule for all of them -----------------------------------------------------------------------------------------


async def test_every_route_of_the_table_is_served_with_the_callers_key_and_leaves_a_run(
    server: Server, account: Account
) -> None:
    """By prefix and by header; the caller's own key goes on, and what the history keeps holds none."""
    keys = {"openai": "authorization", "openai_responses": "authorization", "claude": "x-api-key", "gemini": "x-goog-api-key"}
    async with aiohttp.ClientSession() as http:
        for route in PASSED:
            path = route.name.replace("{id}", "resp_1").replace("{version}", "v1beta")
            header = keys[route.vendor or "openai"]
            headers = {header: f"Bearer {API_KEY}" if header == "authorization" else API_KEY, "x-agentui-pipeline": "call"}
            sent: dict[str, Any] = {"json": {"model": "pipeline/call/real", "input": "", "documents": [], "voice": "v"}}
            if route.body == "form":
                form = aiohttp.FormData({"model": "m"})
                form.add_field("file", b"data", filename="a")
                form.add_field("image", b"data", filename="a")
                sent = {"data": form}
            elif route.body == "none":
                sent = {}
            before = len(account.requests)
            async with http.request(route.method, f"{server.origin}{path}", headers=headers, **sent) as answer:
                await answer.read()
                assert answer.headers["x-agentui-pipeline"] == "call", (route, await answer.text())
                run = server.state.history.get(answer.headers["x-agentui-run"])
            method, seen, seen_headers, body = account.requests[before]
            assert (method, seen) == (route.method, path)
            assert API_KEY in seen_headers.get("authorization", "") + seen_headers.get(keys[route.vendor or "openai"], "")
            assert b"pipeline/call" not in body and (route.body != "json" or b'"real"' in body)
            events = [event.as_json(run.id, place, run.redactor) for place, event in enumerate(run.events.items)]
            assert [event["type"] for event in events][-1] == "run.finished"
            assert run.state == "finished" and run.incoming.operation == "forward" and API_KEY not in str(events)


async def test_another_target_is_asked_where_one_refuses_what_passes_through(server: Server, account: Account) -> None:
    async with AsyncOpenAI(base_url=f"{server.origin}/p/spare/v1", api_key=API_KEY, max_retries=0) as client:
        got = await client.moderations.with_raw_response.create(model="omni-moderation-latest", input="bad words")
        assert got.parse().results and got.headers["x-agentui-target"] == "right"
        run = server.state.history.get(got.headers["x-agentui-run"])
        told = [(attempt["target"], attempt["state"]) for attempt in run.out["n1"]["attempts"]]
        assert told == [("wrong", "failed"), ("nobody", "failed"), ("right", "answered")]
        kinds = [event.type async for event in await client.images.generate(prompt="a cat", stream=True)]
        assert kinds[-1] == "image_generation.completed"
        # What is uploaded can be read once.
        with pytest.raises(openai.AuthenticationError):
            await client.audio.transcriptions.create(model="w", file=sound())


@pytest.mark.parametrize("pipeline", ["claude", "openai", "says"])
async def test_what_an_upstream_of_another_kind_has_not_is_a_clear_404(server: Server, account: Account, pipeline: str) -> None:
    async with AsyncOpenAI(base_url=f"{server.origin}/p/{pipeline}/v1", api_key=API_KEY, max_retries=0) as client:
        if pipeline != "openai":
            with pytest.raises(openai.NotFoundError, match="pipeline"):
                await client.moderations.create(input="x")
            with pytest.raises(openai.NotFoundError, match="pipeline"):
                await client.audio.transcriptions.create(model="w", file=sound())
            with pytest.raises(openai.NotFoundError, match="pipeline"):
                await client.responses.retrieve("resp_1")
    async with AsyncAnthropic(base_url=f"{server.origin}/p/{pipeline}", api_key=API_KEY, max_retries=0) as client:
        if pipeline != "claude":
            with pytest.raises(anthropic.NotFoundError, match="pipeline"):
                await client.messages.batches.list()
    assert account.requests == []


async def test_the_demo_says_what_it_does_not_serve(start_server: StartServer, demo: DemoServer) -> None:
    server = await start_server({"default": call("caller", "demo")}, named_origins={"demo": demo.origin})
    async with AsyncOpenAI(base_url=f"{server.origin}/v1", api_key="none", max_retries=0) as client:
        with pytest.raises(openai.NotFoundError, match="demo does not serve POST /v1/moderations"):
            await client.moderations.create(input="x")


async def test_what_passes_through_cannot_be_tried(server: Server, account: Account) -> None:
    asked = {"pipeline": "call", "request": {"path": "/v1/moderations", "body": {"input": "x"}}}
    async with aiohttp.ClientSession() as http, http.post(f"{server.origin}/api/try", json=asked) as answer:
        assert answer.status == 404 and "No pipeline runs" in (await answer.json())["error"]["message"]
    assert account.requests == []


async def test_a_stored_key_goes_instead_of_the_callers_and_no_header_of_the_node_breaks_a_form(
    server: Server, account: Account
) -> None:
    async with AsyncOpenAI(base_url=f"{server.origin}/p/kept/v1", api_key="the-callers-own-key", max_retries=0) as client:
        heard = await client.audio.transcriptions.create(model="whisper-1", file=sound())
        assert "talk.wav" in heard.text
        seen = account.requests[-1][2]
        assert seen["authorization"] == f"Bearer {API_KEY}" and "the-callers-own-key" not in str(seen)
        assert seen["content-type"].startswith("multipart/form-data; boundary=")


async def test_a_refusal_passes_without_the_key_that_it_repeats(client: AsyncOpenAI, account: Account) -> None:
    wrong = client.with_options(api_key="sk-wrong-key-0123456789")
    with pytest.raises(openai.AuthenticationError) as refused:
        await wrong.moderations.create(input="x")
    assert "Incorrect API key" in str(refused.value) and "sk-wrong-key" not in str(refused.value)


async def test_a_file_that_a_browser_would_run_is_plain_text(client: AsyncOpenAI, server: Server) -> None:
    file = await client.files.create(file=("page.html", b"<script>alert(1)</script>"), purpose="assistants")
    answer = await client.files.with_raw_response.content(file.id)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"] and answer.content.startswith(b"<script>")


@pytest.mark.parametrize("id", ["..%2f..%2fadmin", "..", "%2e%2e", "a%2fb", "a b", "x" * 300, "a%00"])
async def test_an_id_that_would_climb_reaches_no_upstream(server: Server, account: Account, id: str) -> None:
    headers = {"authorization": f"Bearer {API_KEY}"}
    async with aiohttp.ClientSession() as http:
        for path in ("/v1/files/{}/content", "/v1/responses/{}/cancel"):
            method = "GET" if "files" in path else "POST"
            url = (
                URL(f"{server.origin}{path.replace('{}', id)}", encoded=True)
                if " " not in id
                else URL(f"{server.origin}/v1/files/a b")
            )
            async with http.request(method, url, headers=headers) as answer:
                assert 400 <= answer.status < 500
    assert account.requests == []


async def test_what_is_too_large_or_of_another_kind_is_refused_before_it_is_sent(server: Server, account: Account) -> None:
    headers = {"authorization": f"Bearer {API_KEY}"}
    async with aiohttp.ClientSession(headers=headers) as http:
        form = aiohttp.FormData({"model": "m"})
        form.add_field("file", io.BytesIO(b"\0" * (2 * LARGE + 1)), filename="a")
        async with http.post(f"{server.origin}/v1/audio/transcriptions", data=form) as answer:
            assert answer.status == 413 and "larger than" in (await answer.json())["error"]["message"]
        form = aiohttp.FormData({"model": "m"})
        form.add_field("file", b"data", filename="a")
        async with http.post(f"{server.origin}/v1/moderations", data=form) as answer:
            assert answer.status == 415 and (await answer.json())["error"]["message"]
        async with http.post(f"{server.origin}/v1/files", data={"file": "a"}) as answer:
            assert answer.status == 415
        async with http.post(
            f"{server.origin}/v1/moderations", data=b"{", headers={"content-type": "application/json"}
        ) as answer:
            assert answer.status == 400
        foreign = {"origin": "http://evil.example"}
        form = aiohttp.FormData({"model": "m"})
        form.add_field("file", b"data", filename="a")
        async with http.post(f"{server.origin}/v1/files", data=form, headers=foreign) as answer:
            assert answer.status == 403
    assert account.requests == []


async def test_a_refusal_in_the_middle_of_an_upload_reaches_the_caller(client: AsyncOpenAI, account: Account) -> None:
    with pytest.raises(openai.APIStatusError, match="too large") as refused:
        await client.audio.translations.create(model="whisper-1", file=sound(2 * LARGE - 4096))
    assert refused.value.status_code == 413


START = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'


def _head(host: str, size: int) -> bytes:
    """The head of an upload of so many bytes."""
    head = f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {API_KEY}\r\n"
    return f"{head}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {size}\r\n\r\n".encode()


async def _upload_part(server: Server, size: int, part: int) -> asyncio.StreamWriter:
    """Begin an upload of ``size`` bytes and send ``part`` of them."""
    host, port = server.origin.removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(_head(host, size) + START + b"x" * part)
    await writer.drain()
    return writer


async def test_an_upload_is_passed_on_while_it_comes_and_ends_with_its_caller(server: Server, account: Account) -> None:
    writer = await _upload_part(server, LARGE, 100_000)
    await account.until(lambda: account.most_read >= 60_000)
    writer.transport.abort()
    await account.until(lambda: account.aborted == 1)
    await _until(lambda: server.state.in_flight == 0)
    assert [run.state for run in server.state.history.list()] == ["cancelled"]


async def test_an_upload_that_stalls_is_told_so_and_ends(start_server: StartServer, account: Account) -> None:
    server = await start_server({"default": call("caller", account.origin)}, body_timeout=0.5)
    host, port = server.origin.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(_head(host, LARGE) + START + b"x" * 1000)
    answer = await reader.readuntil(b"\r\n\r\n")
    assert b" 408 " in answer.splitlines()[0]
    await account.until(lambda: account.aborted == 1)
    writer.close()


async def test_an_answer_ends_with_its_caller(client: AsyncOpenAI, server: Server, account: Account) -> None:
    async with client.audio.speech.with_streaming_response.create(model="t", voice="slow", input="Hi") as speech:
        async for piece in speech.iter_bytes(1024):
            assert piece
            break
    await _until(lambda: account.aborted == 1)
    await _until(lambda: server.state.in_flight == 0)


async def _until(holds: Any) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110  what is waited for tells nobody
            await asyncio.sleep(0.01)


def test_no_path_of_the_table_is_another_routes_too() -> None:
    for route in PASSED:
        path = route.name.replace("{id}", "x1").replace("{version}", "v1beta")
        assert passed_route(path, route.method) is route
    for path in (
        "/v1/chat/completions",
        "/v1/files/",
        "/v1/files/..",
        "/v1/files/a/b",
        "/v1/models",
        "/v1/responses/input_tokens",
    ):
        assert passed_route(path, "POST") is None
