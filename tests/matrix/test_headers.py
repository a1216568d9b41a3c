"""What stands beside the body: who pays, which request it was, which API is meant."""

from typing import Any

import aiohttp
import pytest

from tests.matrix.conftest import agentui
from tests.matrix.neutral import CALLERS
from tests.matrix.test_passthrough import request
from tests.upstreams.server import API_KEY, Mock

OPENAI = {"openai-organization": "org-1", "openai-project": "proj_1", "x-client-request-id": "mine-1"}
SAID: dict[str, dict[str, str]] = {
    "openai": OPENAI,
    "openai_responses": OPENAI,
    "claude": {"anthropic-version": "2023-06-01", "anthropic-beta": "some-beta-2026-01-01"},
    "gemini": {"x-goog-user-project": "project-1"},
}
streams = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
FAMILY = {"openai": "openai", "openai_responses": "openai", "claude": "claude", "gemini": "gemini"}


async def ask(
    session: aiohttp.ClientSession,
    origin: str,
    dialect: str,
    *,
    stream: bool = False,
    model: str = "text",
    headers: dict[str, str] | None = None,
    query: str = "",
) -> tuple[int, Any]:
    """Send a plain request; the status and the headers of the answer."""
    path, body = request(dialect, stream=stream, model=model)
    keys = {"x-goog-api-key": API_KEY} if dialect == "gemini" else {"authorization": f"Bearer {API_KEY}"}
    async with session.post(origin + path + query, json=body, headers={**keys, **(headers or {})}) as reply:
        await reply.read()
        return reply.status, reply.headers


@pytest.mark.parametrize("upstream", CALLERS)
@pytest.mark.parametrize("dialect", CALLERS)
@streams
async def test_what_a_caller_says_in_headers_stays_with_its_vendor(session, mock: Mock, origin, dialect, upstream, stream):
    status, _ = await ask(session, f"{origin}/p/{upstream}", dialect, stream=stream, headers=SAID[dialect])
    assert status == 200
    arrived = {name: mock.last.headers.get(name) for name in SAID[dialect]}
    if FAMILY[dialect] == FAMILY[upstream]:
        assert arrived == SAID[dialect]
    else:
        arrived.pop("anthropic-version", None)
        assert set(arrived.values()) <= {None}


async def test_the_callers_account_does_not_travel_with_the_pipelines_key(session, mock: Mock, tmp_path):
    async with agentui(tmp_path / "server", mock, headers={"Authorization": f"Bearer {API_KEY}"}) as origin:
        await ask(session, f"{origin}/p/openai", "openai", headers=OPENAI)
    assert "openai-organization" not in mock.last.headers
    assert "openai-project" not in mock.last.headers
    assert mock.last.headers["x-client-request-id"] == "mine-1"


async def test_a_header_that_no_header_may_hold_stays_behind(session, mock: Mock, origin):
    bad = {"x-client-request-id": "\udcff"}
    status, _ = await ask(session, f"{origin}/p/openai", "openai", headers=bad)
    assert status == 200


async def test_the_beta_of_the_path_passes(session, mock: Mock, origin):
    for query in ("?beta=true", "?beta=true&other=1"):
        await ask(session, f"{origin}/p/claude", "claude", query=query, headers=SAID["claude"])
        assert mock.last.query == {"beta": "true"}


@pytest.mark.parametrize("upstream", CALLERS)
@streams
@pytest.mark.parametrize("model", ["text", "error-400", "error-503"])
async def test_claudes_clients_find_the_id_of_the_request(session, mock: Mock, origin, upstream, stream, model):
    _, headers = await ask(session, f"{origin}/p/{upstream}", "claude", stream=stream, model=model, headers=SAID["claude"])
    assert headers["request-id"]
    bad, headers = await ask(session, f"{origin}/p/nowhere", "claude", headers=SAID["claude"])
    assert bad == 404 and headers["request-id"] == headers["x-request-id"]
