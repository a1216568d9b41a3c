"""Addresses that nobody may be sent to, in every spelling and behind every name, from the pipeline to the socket (T11)."""

import socket
from collections.abc import AsyncIterator, Sequence

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from agentui.errors import UpstreamUnreachable
from agentui.jsonio import Json
from agentui.upstream.call import UpstreamCall
from agentui.upstream.client import Upstream
from agentui.upstream.http import pool
from tests.conftest import call
from tests.faults.callers import DIALECTS, Asked, ask, error_of
from tests.faults.conftest import House, StartHouse, forward
from tests.unit.upstream.conftest import Bytes, Visit
from tests.unit.upstream.test_policy import FINE_WHEN_PRIVATE_IS_ALLOWED, NEVER_FINE

KEYS = {"AGENTUI_SECRET_PROVIDER": "sk-stored-canary-0123456789abcdef"}


class Connected(Exception):
    """Somebody went out of the door."""


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network on which the only connections are those to this computer's own loopback: any other is a failure."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: tuple[str, int]) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1"):
            raise Connected(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


def test_the_table_is_large_and_has_every_kind() -> None:
    assert len(NEVER_FINE) == len(set(NEVER_FINE)) >= 100


@pytest.mark.parametrize("allow_private", [True, False])
async def test_the_client_itself_calls_none_of_them(sealed: None, allow_private: bool) -> None:
    urls = NEVER_FINE if allow_private else [*NEVER_FINE, *FINE_WHEN_PRIVATE_IS_ALLOWED]
    async with Upstream(allow_private=allow_private) as upstream:
        for url in urls:
            with pytest.raises(UpstreamUnreachable) as caught:
                await upstream.send(UpstreamCall("POST", url, {"authorization": "Bearer sk-1234567890"}, b"{}"))
            assert "sk-1234567890" not in caught.value.message, url


@pytest.mark.parametrize("stream", [False, True])
async def test_no_pipeline_reaches_one_of_them_for_any_caller(sealed: None, start_house: StartHouse, stream: bool) -> None:
    headers: Json = {"authorization": "Bearer [[SECRET:provider]]"}
    urls = [url for url in NEVER_FINE if url]
    pipelines: dict[str, Json] = {}
    for number, url in enumerate(urls):
        dialect = DIALECTS[number % 4]
        pipelines[f"call{number}"] = call(dialect, url, headers=headers)
        pipelines[f"raw{number}"] = forward(url, extra_headers=headers)
    house = await start_house("http://127.0.0.1:9", pipelines, secret_env=KEYS)
    for number in range(len(urls)):
        for kind in ("call", "raw"):
            await is_turned_away(house, f"{kind}{number}", DIALECTS[(number + number // 4) % 4], stream=stream)


async def is_turned_away(house: House, pipeline: str, dialect: str, *, stream: bool) -> None:
    """Fail unless a caller of this pipeline is told, in its own shape, that the address cannot be called."""
    asked = ask(dialect, stream=stream)
    heard = await house.send(Asked(f"/p/{pipeline}{asked.path}", asked.headers, asked.body))
    assert heard.status in (404, 422, 502), (pipeline, heard.body)
    error_of(dialect, heard)
    assert KEYS["AGENTUI_SECRET_PROVIDER"].encode() not in heard.body


@pytest.mark.parametrize("stream", [False, True])
async def test_an_address_put_together_from_a_callers_text_is_judged_as_well(
    sealed: None, start_house: StartHouse, stream: bool
) -> None:
    pipelines: dict[str, Json] = {
        "whole": call("caller", "[[VAR:model]]"),
        "host": call("caller", "http://[[VAR:model]]/v1"),
        "raw": forward("http://[[VAR:model]]/v1"),
    }
    house = await start_house("http://127.0.0.1:9", pipelines)
    for dialect in ("openai", "openai_responses", "claude"):
        for pipeline in pipelines:
            for target in ("169.254.169.254", "0xa9fea9fe", "[::ffff:a9fe:a9fe]", "x@169.254.169.254", "169。254。169。254"):
                asked = ask(dialect, f"http://{target}" if pipeline == "whole" else target, stream=stream)
                heard = await house.send(Asked(f"/p/{pipeline}{asked.path}", asked.headers, asked.body))
                assert heard.status in (400, 404, 422, 502), (pipeline, target, heard.body)
                error_of(dialect, heard)


async def test_a_list_of_models_is_asked_for_at_none_of_them(sealed: None, start_house: StartHouse) -> None:
    urls = NEVER_FINE[::4]
    house = await start_house(
        "http://127.0.0.1:9", {f"call{number}": call("openai", url) for number, url in enumerate(urls) if url}
    )
    for number, url in enumerate(urls):
        if url:
            async with house.session.get(f"{house.origin}/p/call{number}/v1/models", headers=ask("openai").headers) as reply:
                assert reply.status == 200
                assert {model["id"].split("/")[0] for model in (await reply.json())["data"]} == {"pipeline"}


class Flipping(AbstractResolver):
    """Names that lead somewhere else at every look-up, in turn."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = answers
        self.asked = 0

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        answer = self.answers[self.asked % len(self.answers)]
        self.asked += 1
        return [
            ResolveResult(
                hostname=host, host=ip, port=port, family=socket.AF_INET6 if ":" in ip else socket.AF_INET, proto=0, flags=0
            )
            for ip in answer
        ]

    async def close(self) -> None:
        return None


@pytest.fixture
async def forgetful(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """No look-up is remembered, so that a name may flip between any two calls."""
    monkeypatch.setattr(pool, "TTL", -1.0)
    yield


@pytest.mark.parametrize(
    "bad", ["169.254.169.254", "::ffff:169.254.169.254", "64:ff9b:1::a9fe:a9fe", "fd00:ec2::254", "0.0.0.0", "fe80::1%1"]
)
async def test_a_name_that_flips_is_judged_by_where_it_leads_each_time(
    sealed: None, forgetful: None, wild: Bytes, bad: str
) -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(200, b"{}", Connection="close")

    wild.script = script
    port = wild.url.rpartition(":")[2]
    resolver = Flipping(["127.0.0.1"], [bad], [bad, "127.0.0.1"], ["127.0.0.1", bad])
    url = f"http://models.example:{port}/v1"
    async with Upstream(resolver=resolver) as upstream:
        for good in (True, False, True, True):
            if good:
                assert (await upstream.send(UpstreamCall("POST", url, {}, b"{}"))).status == 200
            else:
                with pytest.raises(UpstreamUnreachable, match=r"models\.example:\d+ leads to"):
                    await upstream.send(UpstreamCall("POST", url, {}, b"{}"))
    assert resolver.asked == 4
    assert len(wild.visits) == 3


async def test_a_name_of_this_computer_is_private_when_private_addresses_are_closed(sealed: None, wild: Bytes) -> None:
    port = wild.url.rpartition(":")[2]
    async with Upstream(allow_private=False, resolver=Flipping(["127.0.0.1"], ["::1"], ["10.0.0.1"], ["fd12::1"])) as upstream:
        for name in ("localhost", "localhost.", "a.localhost", "models.example"):
            with pytest.raises(UpstreamUnreachable):
                await upstream.send(UpstreamCall("POST", f"http://{name}:{port}/v1", {}, b"{}"))
    assert wild.visits == []
