"""What is sent, how often, and what becomes of answers."""

import io
from pathlib import Path

import httpx
import pytest

from agentui.sdk import (
    AsyncTavernClient,
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    RateLimited,
    ServerFailed,
    TavernApiError,
    TavernClient,
    TavernConnectionError,
    TavernTimeout,
    Unauthorized,
)
from agentui.sdk.endpoints import Endpoint, Request, compose
from agentui.sdk.errors import connection_error, error_of
from agentui.sdk.exchange import Policy
from tests.sdk.scripted import CLOSE, SILENCE, answer, refusal, scripted

SESSION = '{"data": {"id": "one"}}'
NOW = {"retry_after": "0"}
READ = Endpoint[str]("GET", "/things/{id}/parts/{part}", query=("limit", "is_new", "ids"))


def test_ids_are_quoted_and_what_is_no_id_is_refused() -> None:
    request = compose(READ, ("a/b c", "ü"), {"limit": 3, "is_new": True, "ids": ["a", "b"], "timeout": 2.0})
    assert request.path == "/things/a%2Fb%20c/parts/%C3%BC"
    assert request.params == {"limit": "3", "is_new": "true", "ids": "a,b"}
    assert request.timeout == 2.0
    for id in ("", ".", ".."):
        with pytest.raises(ValueError, match="no id"):
            compose(READ, (id, "part"), {})


def test_what_is_not_given_is_not_sent_and_null_is() -> None:
    request = compose(Endpoint[str]("PATCH", "/x", body="json"), (), {"title": None, "n": 1})
    assert request.content == b'{"title":null,"n":1}'
    assert compose(READ, ("a", "b"), {"limit": None}).params == {}


def test_options_are_headers_and_the_pipeline_is_a_path() -> None:
    given = {
        "account_id": "me",
        "caller_owner": {"owner_type": "plugin", "owner_id": "notes"},
        "idempotency_key": "k",
        "if_match": '"e"',
        "last_event_id": 7,
        "extra_headers": {"x-own": "1"},
        "pipeline": "my chat",
    }
    request = compose(Endpoint[str]("POST", "/x", body="json", by_pipeline=True), (), given)
    assert request.path == "/p/my%20chat/x"
    assert request.content == b"{}"
    assert request.is_repeatable
    assert request.headers == {
        "x-own": "1",
        "x-account-id": "me",
        "x-client-owner-type": "plugin",
        "x-client-owner-id": "notes",
        "idempotency-key": "k",
        "if-match": '"e"',
        "last-event-id": "7",
        "content-type": "application/json",
    }


def test_numbers_that_json_has_not_are_refused_before_anything_is_sent() -> None:
    for given in ({"value": float("nan")}, {"value": float("inf")}):
        with pytest.raises(ValueError):
            compose(Endpoint[str]("PUT", "/x", body="json"), (), given)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadRequest),
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, NotFound),
        (412, Conflict),
        (413, BadRequest),
        (422, BadRequest),
        (429, RateLimited),
        (500, ServerFailed),
        (503, ServerFailed),
    ],
)
def test_an_error_keeps_what_the_server_says(status: int, kind: type[TavernApiError]) -> None:
    told = {"error": {"code": "some_code", "message": "Some words.", "details": {"id": 3}}}
    error = error_of(httpx.Response(status, json=told, headers={"x-request-id": "req_1", "retry-after": "7"}))
    assert type(error) is kind
    assert (error.status, error.code, error.message) == (status, "some_code", "Some words.")
    assert (error.details, error.request_id, error.retry_after) == ({"id": 3}, "req_1", 7.0)
    assert str(error) == f"{status} some_code: Some words. (request req_1)"


@pytest.mark.parametrize("body", [b"<html>Bad gateway</html>", b"", b"[]", b'{"error": "words"}', b"\xff", b"[" * 100_000])
def test_an_answer_of_somebody_else_is_an_error_too(body: bytes) -> None:
    error = error_of(httpx.Response(502, content=body))
    assert type(error) is ServerFailed
    assert (error.code, error.details, error.request_id) == ("http_502", None, None)
    assert error.message


def test_no_header_is_too_odd_for_an_error() -> None:
    for told in ("Mon, 01 Jan 99999999999 00:00:00 GMT", "soon", "-1", ""):
        assert error_of(httpx.Response(503, headers={"retry-after": told})).retry_after is None


def test_a_redirect_is_no_fault_of_what_was_sent() -> None:
    error = error_of(httpx.Response(302, headers={"location": "/login"}))
    assert (type(error), error.code) == (TavernApiError, "http_302")


@pytest.mark.parametrize("status", [200, 502])
def test_a_body_that_cannot_be_unpacked_is_an_error_of_the_connection(status: int) -> None:
    with (
        scripted(answer("{}", status, content_encoding="gzip")) as server,
        TavernClient(server.origin, retries=0) as client,
        pytest.raises(TavernConnectionError, match="DecodingError"),
    ):
        client.sessions.get("one")


def test_an_answer_nested_without_end_is_not_the_servers() -> None:
    with (
        scripted(answer("[" * 100_000)) as server,
        TavernClient(server.origin) as client,
        pytest.raises(TavernConnectionError, match="not as agentui does"),
    ):
        client.sessions.get("one")


def test_a_write_with_a_condition_is_sent_once() -> None:
    put, get = Endpoint[str]("PUT", "/x", body="json"), Endpoint[str]("GET", "/x")
    assert [compose(put, (), given).is_repeatable for given in ({}, {"if_match": "e"}, {"if_none_match": "*"})] == [
        True,
        False,
        False,
    ]
    assert compose(get, (), {"if_none_match": "e"}).is_repeatable
    assert compose(put, (), {"if_match": "e", "idempotency_key": "k"}).is_repeatable
    busy = refusal(503, "busy", **NOW)
    with scripted(busy) as server, TavernClient(server.origin) as client, pytest.raises(ServerFailed):
        client.request("PUT", "/x", body={}, headers={"If-Match": "e"})
    assert len(server.asked) == 1


def test_when_a_call_is_sent_once_more() -> None:
    policy = Policy(10, 2, {})
    repeatable, once = Request("GET", "/x", is_repeatable=True), Request("POST", "/x")
    lost = connection_error(httpx.ReadError("gone"))
    busy = error_of(httpx.Response(503))
    assert policy.pause(once, 0, lost) is None
    assert policy.pause(repeatable, 2, lost) is None
    first, second = policy.pause(repeatable, 0, lost), policy.pause(repeatable, 1, busy)
    assert first is not None and 0.25 <= first <= 0.5
    assert second is not None and 0.5 <= second <= 1.0
    for status in (400, 404, 409, 500, 501):
        assert policy.pause(repeatable, 0, error_of(httpx.Response(status))) is None
    assert policy.pause(repeatable, 0, error_of(httpx.Response(429, headers={"retry-after": "12"}))) == 12
    assert policy.pause(repeatable, 0, error_of(httpx.Response(429, headers={"retry-after": "600"}))) is None


def test_a_call_that_may_be_repeated_is_sent_until_it_is_answered() -> None:
    script = (refusal(503, "busy", **NOW), refusal(429, "slow_down", **NOW), answer(SESSION))
    with scripted(*script) as server, TavernClient(server.origin) as client:
        assert client.sessions.get("one")["id"] == "one"
    assert len(server.asked) == 3


def test_a_call_that_changes_something_is_sent_once() -> None:
    with (
        scripted(refusal(503, "busy", **NOW)) as server,
        TavernClient(server.origin) as client,
        pytest.raises(ServerFailed) as told,
    ):
        client.sessions.create()
    assert told.value.code == "busy"
    assert len(server.asked) == 1


def test_a_call_with_a_key_is_sent_again_with_the_same_key() -> None:
    with scripted([CLOSE], answer(SESSION)) as server, TavernClient(server.origin) as client:
        client.sessions.create(idempotency_key="k")
    assert [asked.headers["idempotency-key"] for asked in server.asked] == ["k", "k"]


def test_nothing_is_sent_again_when_a_byte_of_the_answer_came() -> None:
    head, body = answer(SESSION)
    with (
        scripted([head, body[:5], CLOSE]) as server,
        TavernClient(server.origin) as client,
        pytest.raises(TavernConnectionError),
    ):
        client.sessions.get("one")
    assert len(server.asked) == 1


def test_silence_is_a_timeout() -> None:
    with scripted([SILENCE]) as server, TavernClient(server.origin, retries=0) as client:
        with pytest.raises(TavernTimeout):
            client.sessions.get("one", timeout=0.5)
        assert server.left.get()


def test_nobody_there_is_an_error_of_the_connection() -> None:
    with scripted() as server:
        pass
    address = server.origin.replace("//", "//me:hush-hush@")
    with TavernClient(address, retries=0) as client, pytest.raises(TavernConnectionError) as told:
        client.sessions.list(keyword="private")
    assert str(told.value).startswith(f"GET {server.origin}/sessions failed: ConnectError: ")


@pytest.mark.parametrize(
    "address", ["127.0.0.1:7860", "localhost", "", "ftp://host", "http://", "http://[::1", "http://a:b@c:d"]
)
def test_an_address_that_is_none_is_refused_at_once(address: str) -> None:
    for kind in (TavernClient, AsyncTavernClient):
        with pytest.raises(ValueError, match="server's address"):
            kind(address)


def test_an_answer_that_is_no_json_says_so() -> None:
    with (
        scripted(answer("<html>")) as server,
        TavernClient(server.origin) as client,
        pytest.raises(TavernConnectionError, match="not as agentui does"),
    ):
        client.sessions.get("one")


async def test_headers_come_from_the_program_each_time() -> None:
    tokens = iter(("first", "second"))

    async def get_headers() -> dict[str, str]:
        return {"authorization": f"Bearer {next(tokens)}"}

    with scripted(answer(SESSION), answer(SESSION)) as server:
        async with AsyncTavernClient(server.origin, get_headers=get_headers, account_id="me") as client:
            await client.sessions.get("one")
            await client.sessions.get("one", account_id="you")
    told = [(asked.headers["authorization"], asked.headers["x-account-id"]) for asked in server.asked]
    assert told == [("Bearer first", "me"), ("Bearer second", "you")]


def test_a_base_url_may_have_a_path() -> None:
    with scripted(answer(SESSION)) as server, TavernClient(f"{server.origin}/behind/a/proxy/") as client:
        client.sessions.get("a/b")
    assert server.asked[0].line == "GET /behind/a/proxy/sessions/a%2Fb HTTP/1.1"


def test_files_are_parts_of_forms(tmp_path: Path) -> None:
    (tmp_path / "Mira.png").write_bytes(b"picture")
    made = '{"data": {}}'
    with scripted(answer(made), answer(made), answer(made)) as server, TavernClient(server.origin) as client:
        client.imports.character(file=tmp_path / "Mira.png", create_session=True)
        with (tmp_path / "Mira.png").open("rb") as file:
            client.imports.character(file=file)
        client.characters.put_image("one", file=io.BytesIO(b"picture"))
    assert [b'filename="Mira.png"' in asked.body for asked in server.asked] == [True, True, False]
    assert all(b'name="file"' in asked.body and b"\r\npicture\r\n" in asked.body for asked in server.asked)
    assert b'name="create_session"\r\n\r\ntrue\r\n' in server.asked[0].body


def test_an_opened_file_is_sent_once_and_a_named_one_again(tmp_path: Path) -> None:
    (tmp_path / "Mira.png").write_bytes(b"picture")
    with scripted(refusal(503, "busy", **NOW)) as server, TavernClient(server.origin) as client, pytest.raises(ServerFailed):
        client.characters.put_image("one", file=io.BytesIO(b"picture"))
    assert len(server.asked) == 1
    with scripted(refusal(503, "busy", **NOW), answer('{"data": {}}')) as server, TavernClient(server.origin) as client:
        client.characters.put_image("one", file=tmp_path / "Mira.png")
    assert [b"\r\npicture\r\n" in asked.body for asked in server.asked] == [True, True]


def test_a_download_that_breaks_off_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text("before")
    head, body = answer("0123456789")
    with (
        scripted([head, body[:4], CLOSE]) as server,
        TavernClient(server.origin) as client,
        pytest.raises(TavernConnectionError),
    ):
        client.exports.chat("one").save(tmp_path / "chat.json")
    assert [path.name for path in tmp_path.iterdir()] == ["chat.json"]
    assert (tmp_path / "chat.json").read_text() == "before"


def test_any_request_has_the_errors_of_all() -> None:
    with scripted(refusal(404, "not_found"), answer("[1]")) as server, TavernClient(server.origin) as client:
        with pytest.raises(NotFound):
            client.request("GET", "/things", params={"a": "b c"})
        assert client.request("POST", "/things", body={"a": 1}).json() == [1]
    assert [asked.line for asked in server.asked] == ["GET /things?a=b+c HTTP/1.1", "POST /things HTTP/1.1"]
    assert server.asked[1].body == b'{"a":1}'
