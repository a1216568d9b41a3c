"""Errors of OpenAI and of the servers that speak like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import (
    BadRequest,
    Busy,
    NotFound,
    UpstreamRefused,
    UpstreamTimeout,
)
from agentui.jsonio import Json, dumps
from agentui.vendors.claude import Claude
from agentui.vendors.gemini import Gemini
from agentui.vendors.openai import OpenAI
from agentui.vendors.openai_responses import OpenAIResponses

NOON = 1_445_412_480.0
OPENAI = OpenAI(now=lambda: NOON)


def parse(body: Json, status: int = 400, **headers: str) -> UpstreamRefused:
    raw = body if isinstance(body, bytes) else dumps(body)
    return OPENAI.parse_error(status, {name.replace("_", "-"): value for name, value in headers.items()}, raw)


def test_the_upstreams_own_words_are_kept():
    body = {"error": {"message": "No such model", "type": "invalid_request_error", "param": "model", "code": "model_not_found"}}
    error = parse(body, 404)
    assert (error.message, error.status, error.kind) == ("No such model", 404, "not_found")
    assert (error.vendor_code, error.upstream_param, error.body, error.vendor) == ("model_not_found", "model", body, "openai")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "just text"}, "just text"),
        ({"message": "m"}, "m"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": ["body", "model"], "msg": "field required"}]}, "body.model: field required"),
        ({"detail": {"error": "deep"}}, "deep"),
        ([{"error": {"message": "in a list"}}], "in a list"),
        ({"object": "error", "message": "vllm", "code": 400}, "vllm"),
        (b"plain words", "plain words"),
        ("quoted", "quoted"),
        (b"", "The upstream answered 400 with an empty body."),
        (b"<html><body>secret page</body></html>", "The upstream answered 400 with an HTML page."),
        ({}, "The upstream answered 400 without a message."),
        ({"error": {"message": "x" * 5000}}, "x" * 2000),
    ],
)
def test_the_message_is_found_wherever_it_is(body, message):
    assert parse(body).message == message


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, {"type": "insufficient_quota", "code": "insufficient_quota"}, "quota"),
        (429, {"type": "tokens", "code": "rate_limit_exceeded"}, "rate_limit"),
        (401, {"type": "invalid_request_error", "code": "invalid_api_key"}, "authentication"),
        (401, {"type": "invalid_request_error"}, "authentication"),
        (400, {"type": "invalid_request_error", "code": "context_length_exceeded"}, "context_overflow"),
        (403, {}, "permission"),
        (500, {"type": "server_error"}, "server"),
        (503, {}, "overloaded"),
        (504, {}, "timeout"),
        (429, {"code": 429}, "rate_limit"),
    ],
)
def test_the_kind_is_read_from_code_type_and_status(status, error, kind):
    assert parse({"error": {"message": "m", **error}}, status).kind == kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "7", "retry_after_ms": "250"}, 0.25),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:05 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 5.0),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:05 GMT"}, 5.0),
        ({"retry_after": "Wed, 21 Oct 1990 07:28:05 GMT"}, 0.0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-1"}, None),
        ({"retry_after": "nan"}, None),
    ],
)
def test_when_to_try_again_is_understood(headers, seconds):
    assert parse({}, 429, **headers).retry_after == seconds


def test_only_headers_that_mean_something_travel():
    headers = {"Retry-After": "1", "X-Request-Id": "r", "x-ratelimit-remaining-tokens": "0", "Set-Cookie": "c", "Server": "s"}
    error = OPENAI.parse_error(429, headers, b"{}")
    assert error.headers == {"retry-after": "1", "x-request-id": "r", "x-ratelimit-remaining-tokens": "0"}


@given(st.integers(400, 599), st.binary(max_size=60), st.text(max_size=20))
def test_any_bytes_are_understood_somehow(status, body, retry_after):
    error = OPENAI.parse_error(status, {"retry-after": retry_after}, body)
    assert error.message
    assert OPENAI.render_error(error).status in (status, 401, 404, 429, 503)


# Whole numbers of more than 64 bits are read as floats.
NUMBERS = st.integers(-(2**63), 2**64 - 1)


@given(st.recursive(st.none() | NUMBERS | st.text(max_size=4), lambda inner: st.lists(inner, max_size=2), max_leaves=4))
def test_any_error_object_is_understood_somehow(value):
    for field in ("error", "message", "detail", "code", "type", "param"):
        for body in ({field: value}, {"error": {field: value}}):
            error = parse(body, 500)
            assert error.message
            shown = OPENAI.render_error(error).body
            assert shown == body if "error" in body else shown["error"]["message"] == error.message


def test_an_error_of_the_same_dialect_comes_back_whole():
    body = {"error": {"message": "m", "type": "t", "param": None, "code": None, "x": 1}}
    reply = OPENAI.render_error(parse(body, 418, x_request_id="r"))
    assert (reply.status, reply.headers, reply.body) == (418, {"x-request-id": "r"}, body)


@pytest.mark.parametrize(
    ("kind", "status", "shown", "type", "code"),
    [
        ("authentication", 400, 401, "invalid_request_error", "invalid_api_key"),
        ("not_found", 404, 404, "invalid_request_error", "model_not_found"),
        ("rate_limit", 429, 429, "requests", "rate_limit_exceeded"),
        ("quota", 429, 429, "insufficient_quota", "insufficient_quota"),
        ("overloaded", 529, 503, "server_error", "server_overloaded"),
        ("server", 500, 500, "server_error", "api_error"),
        ("invalid_request", 400, 400, "invalid_request_error", "api_error"),
        ("too_large", 413, 413, "invalid_request_error", "request_too_large"),
    ],
)
def test_another_dialects_error_is_told_in_this_ones_words(kind, status, shown, type, code):
    error = UpstreamRefused("words", status=status, kind=kind, vendor="claude", vendor_code="api_error", body={"type": "error"})
    reply = OPENAI.render_error(error)
    assert reply.status == shown
    assert reply.body == {"error": {"message": "words", "type": type, "param": None, "code": code}}


@pytest.mark.parametrize(
    ("error", "status", "type", "code", "param"),
    [
        (BadRequest("m", param="stream"), 400, "invalid_request_error", "bad_request", "stream"),
        (NotFound("m"), 404, "invalid_request_error", "not_found", None),
        (UpstreamTimeout("m"), 504, "server_error", "upstream_timeout", None),
    ],
)
def test_our_own_errors_are_told_in_this_dialects_words(error, status, type, code, param):
    reply = OPENAI.render_error(error)
    assert reply.status == status
    assert reply.body == {"error": {"message": "m", "type": type, "param": param, "code": code}}


@pytest.mark.parametrize(
    ("seconds", "headers"),
    [(3, {"retry-after": "3"}), (0.25, {"retry-after": "1", "retry-after-ms": "250"}), (None, {})],
)
def test_when_to_try_again_is_told(seconds, headers):
    assert OPENAI.render_error(Busy("m", retry_after=seconds)).headers == headers


def test_the_upstreams_own_retry_header_wins():
    error = parse({}, 429, retry_after="Wed, 21 Oct 2015 07:28:05 GMT")
    assert OPENAI.render_error(error).headers == {"retry-after": "Wed, 21 Oct 2015 07:28:05 GMT"}


@pytest.mark.parametrize("upstream", [OPENAI, OpenAIResponses(), Claude(), Gemini()], ids=lambda vendor: vendor.name)
@pytest.mark.parametrize("caller", [OPENAI, OpenAIResponses(), Claude(), Gemini()], ids=lambda vendor: vendor.name)
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"detail": "No such model."}', "No such model."),
        (b'{"detail": [{"loc": ["body", "model"], "msg": "field required"}]}', "body.model: field required"),
        (b'[{"error": {"message": "In a list."}}]', "In a list."),
    ],
)
def test_whoever_asked_reads_the_words_of_a_servers_own_error_where_its_client_looks(caller, upstream, body, words):
    reply = caller.render_error(upstream.parse_error(422, {"content-type": "application/json"}, body))
    assert reply.status == 422
    assert reply.body["error"]["message"] == words
