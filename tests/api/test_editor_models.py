"""The models that an editor offers: the provider's list, asked for with a stored key that its page never sees."""

from collections.abc import AsyncIterator

import pytest

from tests.api.editor_client import Editor, editing, say
from tests.conftest import StartServer
from tests.upstreams.server import API_KEY, Mock

KEYED = {
    "openai": {"Authorization": "Bearer [[SECRET:mine]]"},
    "openai_responses": {"Authorization": "Bearer [[SECRET:mine]]"},
    "claude": {"x-api-key": "[[SECRET:mine]]"},
    "gemini": {"x-goog-api-key": "[[SECRET:mine]]"},
}


@pytest.fixture
async def editor(start_server: StartServer) -> AsyncIterator[Editor]:
    """An editor of a server that has the upstream's key."""
    async with editing(await start_server({"default": say()}, secret_env={"AGENTUI_SECRET_MINE": API_KEY})) as editor:
        yield editor


async def test_a_list_is_asked_for_with_a_stored_key_in_every_dialect(editor: Editor, mock: Mock) -> None:
    for provider, headers in KEYED.items():
        answer = await editor.post("/api/models", {"provider": provider, "base_url": mock.origin, "headers": headers})
        assert answer.status == 200, answer.text
        assert answer.body and all(set(one) == {"id", "display_name"} for one in answer.body)
        assert not any(one["id"].startswith("models/") for one in answer.body)
        asked = mock.requests[-1]
        assert (asked.method, asked.path.endswith("/models")) == ("GET", True)
        assert API_KEY in " ".join(asked.headers.values())
    # Nothing of it stands among the runs.
    assert (await editor.get("/api/runs")).body == []


async def test_what_a_provider_refuses_is_told_without_the_key(editor: Editor, mock: Mock) -> None:
    asked = {"provider": "openai", "base_url": mock.origin, "headers": {"Authorization": "Bearer [[SECRET:mine]]x"}}
    refused = await editor.post("/api/models", asked)
    assert (refused.status, refused.body["error"]["code"]) == (502, "upstream_error")
    assert API_KEY not in refused.text
    for wrong, code in (
        ({**asked, "base_url": "http://127.0.0.1:1"}, "upstream_unreachable"),
        ({**asked, "base_url": "ftp://x"}, "invalid_pipeline"),
        ({**asked, "base_url": "{{ incoming.json.address }}"}, "forbidden"),
        ({"provider": "caller"}, "bad_request"),
    ):
        answer = await editor.post("/api/models", wrong)
        assert (answer.body["error"]["code"], API_KEY in answer.text) == (code, False), wrong
