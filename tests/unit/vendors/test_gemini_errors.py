"""Gemini errors, read and written."""

import pytest
from google.genai import errors as sdk_errors
from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import BadRequest, Busy, NodeFailed, UpstreamRefused, UpstreamTimeout
from agentui.jsonio import dumps
from agentui.vendors.gemini import Gemini

GEMINI = Gemini()
RPC = "type.googleapis.com/google.rpc."


def body(code, message, status, *details):
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


@pytest.mark.parametrize(
    ("status", "name", "kind"),
    [
        (400, "INVALID_ARGUMENT", "invalid_request"),
        (401, "UNAUTHENTICATED", "authentication"),
        (403, "PERMISSION_DENIED", "permission"),
        (404, "NOT_FOUND", "not_found"),
        (429, "RESOURCE_EXHAUSTED", "rate_limit"),
        (500, "INTERNAL", "server"),
        (503, "UNAVAILABLE", "overloaded"),
        (504, "DEADLINE_EXCEEDED", "timeout"),
    ],
)
def test_an_error_keeps_its_status_and_words(status, name, kind):
    told = body(status, "Their words.", name)
    for sent in (told, [told]):
        error = GEMINI.parse_error(status, {}, dumps(sent))
        assert (error.status, error.kind, error.vendor_code, error.message) == (status, kind, name, "Their words.")
        assert GEMINI.render_error(error).body == told


def test_a_bad_key_is_an_authentication_error_with_status_400():
    told = body(400, "API key not valid.", "INVALID_ARGUMENT", {"@type": RPC + "ErrorInfo", "reason": "API_KEY_INVALID"})
    error = GEMINI.parse_error(400, {}, dumps(told))
    assert (error.kind, error.status) == ("authentication", 400)


def test_the_field_at_fault_is_kept():
    told = body(400, "x", "INVALID_ARGUMENT", {"@type": RPC + "BadRequest", "fieldViolations": [{"field": "contents[0]"}]})
    assert GEMINI.parse_error(400, {}, dumps(told)).upstream_param == "contents[0]"


def test_retry_info_becomes_seconds():
    told = body(429, "Slow down.", "RESOURCE_EXHAUSTED", {"@type": RPC + "RetryInfo", "retryDelay": "1.5s"})
    assert GEMINI.parse_error(429, {}, dumps(told)).retry_after == 1.5
    assert GEMINI.parse_error(429, {"Retry-After": "7"}, dumps(told)).retry_after == 7


def test_only_the_headers_that_travel_are_kept():
    headers = {"Retry-After": "7", "X-Request-Id": "q", "Set-Cookie": "secret", "Server": "x", "X-RateLimit-Limit": "9"}
    assert GEMINI.parse_error(429, headers, b"{}").headers == {
        "retry-after": "7",
        "x-request-id": "q",
        "x-ratelimit-limit": "9",
    }


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"<!DOCTYPE html><html>secret</html>", "The upstream answered 502 with an HTML page."),
        (b"", "The upstream answered 502 with an empty body."),
        (b"upstream connect error", "upstream connect error"),
        (b"\xff\xfe", "The upstream answered 502 with 2 bytes that are not text."),
        (b"null", "The upstream answered 502 without saying why."),
        (b'{"detail": "No model."}', "No model."),
        (b'{"error": "Nope."}', "Nope."),
        (b'{"error": {"message": 3}}', "The upstream answered 502 without saying why."),
    ],
)
def test_any_body_is_understood_somehow(sent, message):
    assert GEMINI.parse_error(502, {}, sent).message == message


def test_long_words_are_cut():
    assert len(GEMINI.parse_error(400, {}, dumps(body(400, "x" * 5000, "INVALID_ARGUMENT"))).message) == 2000


@given(
    st.integers(400, 599),
    st.binary() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(lambda v: dumps({"error": v})),
)
def test_no_body_breaks_the_reader(status, sent):
    error = GEMINI.parse_error(status, {}, sent)
    assert error.status == status
    assert error.message
    assert isinstance(GEMINI.render_error(error).body["error"]["code"], int)


@pytest.mark.parametrize(
    ("error", "status", "name"),
    [
        (BadRequest("x"), 400, "INVALID_ARGUMENT"),
        (NodeFailed("x"), 422, "INVALID_ARGUMENT"),
        (UpstreamTimeout("x"), 504, "DEADLINE_EXCEEDED"),
        (UpstreamRefused("x", status=529, kind="overloaded", vendor="claude"), 503, "UNAVAILABLE"),
        (
            UpstreamRefused("x", status=401, kind="authentication", vendor="openai", body={"error": {"code": "bad"}}),
            401,
            "UNAUTHENTICATED",
        ),
        (
            UpstreamRefused("x", status=429, kind="quota", vendor="gemini", body={"error": {"code": "quota"}}),
            429,
            "RESOURCE_EXHAUSTED",
        ),
    ],
)
def test_errors_are_written_so_that_the_sdk_reads_them(error, status, name):
    reply = GEMINI.render_error(error)
    assert reply.status == status
    assert reply.body == {"error": {"code": status, "message": "x", "status": name}}
    kind = sdk_errors.ServerError if status >= 500 else sdk_errors.ClientError
    assert str(kind(status, reply.body)) == f"{status} {name}. {reply.body}"


def test_a_wait_is_told_in_header_and_details():
    reply = GEMINI.render_error(Busy("Full.", retry_after=1.5))
    assert reply.headers == {"retry-after": "2"}
    assert reply.body["error"]["details"] == [{"@type": RPC + "RetryInfo", "retryDelay": "1.5s"}]
