"""The key of a past caller: whoever takes a recorded request for a preview or a try gets the request without it."""

from collections.abc import AsyncIterator, Mapping

import pytest

from agentui.jsonio import Json
from tests.api.editor_client import Editor, editing, say
from tests.conftest import StartServer, call
from tests.faults.conftest import forward
from tests.upstreams.server import API_KEY, Mock

KEY = "sk-Past-Caller-0123456789-aBcDeF"
OWN = "sk-own-9876543210-fedcba"

PLACES: dict[str, tuple[str, Mapping[str, str], Json]] = {
    "authorization": ("", {"authorization": f"Bearer {KEY}"}, {}),
    "basic": ("", {"authorization": f"Basic {KEY}"}, {}),
    "x-api-key": ("", {"x-api-key": KEY}, {}),
    "x-goog-api-key": ("", {"x-goog-api-key": KEY}, {}),
    "azure": ("", {"api-key": KEY}, {}),
    "another header": ("", {"x-auth-token": KEY}, {}),
    "cookie": ("", {"cookie": f"theme=dark; session={KEY}"}, {}),
    "query": (f"?key={KEY}", {}, {}),
    "query, encoded": (f"?k%65y={KEY}&a=b", {}, {}),
    "query, another": (f"?access_token={KEY}", {}, {}),
    "body": ("", {}, {"api_key": KEY}),
    "body, deep": ("", {}, {"metadata": {"x": [{"authorization_token": f"Bearer {KEY}"}]}}),
    "header and body": ("", {"x-api-key": KEY}, {"user": f"I am {KEY}"}),
    "header and another": ("", {"x-api-key": KEY, "openai-organization": f"of {KEY}"}, {}),
}
READS = (
    "{{ incoming|json }} {{ OUT|json }} {{ KEPT }}",
    "{{ incoming|json|upper }} {{ OUT|json|lower }}",
    '{{ incoming|json|replace("-", "+") }} {{ KEPT|replace("-", "+") }}',
    "[[VAR:incoming.api_key]] [[VAR:incoming.api_keys]] [[VAR:incoming.url]] [[VAR:incoming.query]]",
    "[[VAR:incoming.query_lists]] [[VAR:incoming.query_params]]",
    "{{ chat }} {{ model }} {{ system }} {{ params }}",
)


@pytest.fixture
async def editor(start_server: StartServer, mock: Mock) -> AsyncIterator[Editor]:
    server = await start_server({"default": say("[[VAR:incoming.headers]] [[VAR:incoming.query]]", "KEPT")})
    async with editing(server) as editor:
        yield editor


async def recorded(editor: Editor, query: str, headers: Mapping[str, str], more: Json) -> str:
    """The id of the run of a caller that has left."""
    body = {"model": "text", "messages": [{"role": "user", "content": "Hello!"}], **more}
    answer = await editor.call("POST", f"/v1/chat/completions{query}", body, headers)
    assert answer.status == 200
    return answer.headers["x-agentui-run"]


def check_clean(text: str) -> None:
    """Fail where the key stands in the text, in any case."""
    for form in (KEY, KEY.replace("-", "+")):
        assert form.lower() not in text.lower(), text


@pytest.mark.parametrize("place", PLACES)
async def test_a_try_and_a_preview_of_a_recorded_request_read_no_key(editor: Editor, place: str) -> None:
    run = await recorded(editor, *PLACES[place])
    for source in READS:
        document = twice(source)
        tried = await editor.post("/api/try", {"run_id": run, "document": document})
        assert tried.status == 200
        check_clean(tried.text)
        for node in ("n1", "n2"):
            shown = await editor.post("/api/preview", {"run_id": run, "document": document, "node": node})
            assert shown.status == 200
            check_clean(shown.text)
    check_clean((await editor.post("/api/preview", {"run_id": run, "node": "n1"})).text)


def twice(source: str) -> Json:
    """A pipeline whose second node, which answers, reads what the first one gave."""
    [first], [second] = say(source, "KEPT")["nodes"], say(source)["nodes"]
    return {"format": 1, "name": "twice", "nodes": [first, {**second, "id": "n2"}], "edges": [{"from": "n1", "to": "n2"}]}


@pytest.mark.parametrize("place", PLACES)
async def test_a_try_sends_a_recorded_key_nowhere(editor: Editor, mock: Mock, place: str) -> None:
    run = await recorded(editor, *PLACES[place])
    for document in (forward(mock.origin), call("openai", mock.origin), call("gemini", mock.origin, model="text")):
        await editor.post("/api/try", {"run_id": run, "document": document})
        sent = mock.last
        check_clean(f"{sent.path} {sent.headers} {sent.body}")
        # Left out, not masked: a mask would be taken for a key.
        assert not any("***" in value for name, value in sent.headers.items() if name != "openai-organization")


async def test_a_search_of_runs_tells_no_letter_of_a_key(editor: Editor) -> None:
    await recorded(editor, "", {"x-api-key": KEY}, {"model": KEY, "user": "x"})
    assert len((await editor.get("/api/runs?q=chat/completions")).body) == 1
    for part in (KEY, KEY[:12], KEY[3:9]):
        assert (await editor.get(f"/api/runs?q={part}")).body == []


async def test_a_try_of_a_recorded_request_takes_a_key_of_ones_own(editor: Editor, mock: Mock) -> None:
    run = await recorded(editor, *PLACES["authorization"])
    document = call("openai", mock.origin)
    refused = await editor.post("/api/try", {"run_id": run, "document": document})
    assert refused.status == 401 and "authorization" not in mock.last.headers
    answer = await editor.post("/api/try", {"run_id": run, "document": document, "headers": {"X-Api-Key": API_KEY}})
    assert answer.status == 200 and mock.last.headers["authorization"] == f"Bearer {API_KEY}"
    assert API_KEY not in (await editor.get(f"/api/runs/{answer.headers['x-agentui-run']}")).text
