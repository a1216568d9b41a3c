"""Errors from Claude understood, and any error told to a Claude caller."""

import pytest
from anthropic.types import ErrorResponse
from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import (
    AgentUIError,
    BadRequest,
    Busy,
    NotFound,
    Unauthorized,
    UpstreamRefused,
    UpstreamTimeout,
    UpstreamTruncated,
)
from agentui.jsonio import Json, dumps
from agentui.vendors.claude import Claude

CLAUDE = Claude()


def error_body(kind: str, message: str = "No.") -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def shown(error: AgentUIError) -> tuple[int, str, str]:
    """Status, type and message as the caller reads them, in a shape that the SDK knows."""
    reply = CLAUDE.render_error(error)
    told = reply.body["error"]
    # The SDK's union leaves out this one type of the API's list, and reads it by its status.
    if told["type"] != "request_too_large":
        assert ErrorResponse.model_validate(reply.body).error.type == told["type"]
    assert reply.body.keys() == {"type", "error", "request_id"}
    return reply.status, told["type"], told["message"]


@pytest.mark.parametrize(
    ("status", "type", "kind"),
    [
        (400, "invalid_request_error", "invalid_request"),
        (401, "authentication_error", "authentication"),
        (402, "billing_error", "billing"),
        (403, "permission_error", "permission"),
        (404, "not_found_error", "not_found"),
        (413, "request_too_large", "too_large"),
        (429, "rate_limit_error", "rate_limit"),
        (500, "api_error", "server"),
        (504, "timeout_error", "timeout"),
        (529, "overloaded_error", "overloaded"),
    ],
)
def test_claudes_own_errors_are_understood_and_come_back_untouched(status: int, type: str, kind: str) -> None:
    body = error_body(type)
    error = CLAUDE.parse_error(status, {"Request-Id": "req_1"}, dumps(body))
    assert (error.status, error.kind, error.vendor_code, error.message) == (status, kind, type, "No.")
    reply = CLAUDE.render_error(error)
    assert (reply.status, reply.body, reply.headers) == (status, body, {"request-id": "req_1"})
    foreign = UpstreamRefused("No.", status=status, kind=error.kind, vendor="openai")
    assert shown(foreign) == (status, type, "No.")


@pytest.mark.parametrize(
    ("body", "content_type", "message"),
    [
        (b"<html>502 nginx</html>", "text/html", "The upstream answered 502 with an HTML page."),
        (b" \n<!DOCTYPE html>", "", "The upstream answered 502 with an HTML page."),
        (b"oops", "text/html", "The upstream answered 502 with an HTML page."),
        (b"", "", "The upstream answered 502 with an empty body."),
        (b"bad gateway\n", "text/plain", "bad gateway"),
        (b'{"detail":"who?"}', "application/json", "who?"),
        (b'{"message":"gateway"}', "application/json", "gateway"),
        (b'{"error":"flat"}', "application/json", "flat"),
        (b"{}", "application/json", "The upstream answered 502 with JSON that names no error."),
        (b"null", "application/json", "null"),
        (b'{"error":{"message":"' + b"x" * 3000 + b'"}}', "", "x" * 2000),
    ],
)
def test_any_answer_has_a_message_for_people(body: bytes, content_type: str, message: str) -> None:
    error = CLAUDE.parse_error(502, {"content-type": content_type}, body)
    assert (error.message, error.kind) == (message, "server")


@given(st.integers(400, 599), st.binary(max_size=40))
def test_any_bytes_are_an_error_that_the_caller_can_read(status: int, body: bytes) -> None:
    error = CLAUDE.parse_error(status, {}, body)
    assert error.message
    assert shown(error)[0] in (status, 401)


def test_only_the_headers_that_matter_travel() -> None:
    headers = {
        "Retry-After": "7",
        "X-Should-Retry": "true",
        "request-id": "r",
        "anthropic-ratelimit-requests-remaining": "0",
        "set-cookie": "c",
        "content-type": "application/json",
    }
    error = CLAUDE.parse_error(429, headers, dumps(error_body("rate_limit_error")))
    assert error.retry_after == 7
    assert CLAUDE.render_error(error).headers == {
        "retry-after": "7",
        "x-should-retry": "true",
        "request-id": "r",
        "anthropic-ratelimit-requests-remaining": "0",
    }


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after-ms": "1500"}, 1.5), ({"retry-after": "Wed, 21 Oct 2026"}, None), ({"retry-after": "-1"}, None), ({}, None)],
)
def test_the_wait_is_in_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert CLAUDE.parse_error(429, headers, b"").retry_after == seconds


def test_a_bad_gemini_key_is_401_here() -> None:
    error = UpstreamRefused("API key not valid.", status=400, kind="authentication", vendor="gemini", body={"error": {}})
    assert shown(error) == (401, "authentication_error", "API key not valid.")


def test_a_spent_quota_is_a_rate_limit_with_its_wait() -> None:
    error = UpstreamRefused("Pay.", status=429, kind="quota", vendor="openai", retry_after=1.2)
    assert shown(error) == (429, "rate_limit_error", "Pay.")
    assert CLAUDE.render_error(error).headers == {"retry-after": "2"}


def test_a_claude_error_in_a_foreign_shape_is_shown_in_claudes() -> None:
    error = CLAUDE.parse_error(404, {}, b'{"detail":"no route"}')
    assert shown(error) == (404, "not_found_error", "no route")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            BadRequest("Must be true or false.", param="stream"),
            (400, "invalid_request_error", "stream: Must be true or false."),
        ),
        (BadRequest("stream must be true.", param="stream"), (400, "invalid_request_error", "stream must be true.")),
        (Unauthorized("No token."), (401, "authentication_error", "No token.")),
        (NotFound("No pipeline."), (404, "not_found_error", "No pipeline.")),
        (Busy("Full.", retry_after=1), (503, "overloaded_error", "Full.")),
        (UpstreamTimeout("Slow."), (504, "timeout_error", "Slow.")),
        (UpstreamTruncated("Cut."), (502, "api_error", "Cut.")),
        (AgentUIError("Bug."), (500, "api_error", "Bug.")),
    ],
)
def test_our_own_errors_have_claudes_shape(error: AgentUIError, expected: tuple[int, str, str]) -> None:
    assert shown(error) == expected
