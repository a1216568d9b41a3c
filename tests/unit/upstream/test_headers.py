"""Which headers travel."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import BadRequest
from agentui.upstream.headers import forwardable_request_headers, harmless_content_type, returnable_response_headers
from agentui.upstream.http.request import check_header


def test_an_sdks_own_headers_are_forwarded() -> None:
    sent = {
        "Authorization": "Bearer k",
        "X-API-Key": "k",
        "X-Goog-Api-Key": "k",
        "Anthropic-Version": "2023-06-01",
        "Anthropic-Beta": "a,b",
        "OpenAI-Organization": "o",
        "OpenAI-Project": "p",
        "OpenAI-Beta": "b",
        "Idempotency-Key": "i",
        "X-Stainless-Lang": "python",
        "X-Goog-Api-Client": "c",
        "X-Request-Id": "r",
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
        "User-Agent": "sdk/1",
    }
    assert forwardable_request_headers(sent) == {name.lower(): value for name, value in sent.items()}


@pytest.mark.parametrize(
    "name",
    [
        "Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authorization", "Proxy-Connection",
        "Host", "Cookie", "Content-Length", "Accept-Encoding", "Expect", "X-Forwarded-For", "X-Forwarded-Host", "Forwarded",
        "X-Real-IP", "Origin", "Referer", "Sec-Fetch-Site", "x-agentui-pipeline", "X-Agentui-Session", "Via", "X-Anything",
    ],
)  # fmt: skip
def test_what_is_for_this_hop_or_for_us_stays_here(name: str) -> None:
    assert forwardable_request_headers({name: "v"}) == {}


def test_what_connection_lists_stays_here() -> None:
    assert forwardable_request_headers({"Connection": "close, X-Request-ID", "x-request-id": "r", "accept": "a"}) == {
        "accept": "a"
    }


def test_what_a_caller_needs_comes_back_and_nothing_else() -> None:
    useful = {
        "content-type": "application/json",
        "retry-after": "1",
        "retry-after-ms": "5",
        "x-should-retry": "true",
        "request-id": "r",
        "x-request-id": "r",
        "x-ratelimit-remaining-tokens": "1",
        "anthropic-ratelimit-requests-limit": "1",
        "openai-processing-ms": "3",
    }
    hostile = {
        "set-cookie": "a=b",
        "access-control-allow-origin": "*",
        "location": "/",
        "server": "x",
        "content-encoding": "gzip",
        "content-length": "3",
        "transfer-encoding": "chunked",
        "refresh": "0",
        "clear-site-data": "*",
        "alt-svc": "h3",
        "x-agentui-run": "r",
    }
    assert returnable_response_headers(useful | hostile) == useful


@given(st.dictionaries(st.sampled_from(["content-type", "x-request-id", "set-cookie"]), st.text(max_size=20)))
def test_nothing_that_comes_back_could_break_a_header_block(headers: dict[str, str]) -> None:
    for name, value in returnable_response_headers(headers).items():
        assert not set("\r\n\0") & set(value)
        value.encode()
        check_header(name, value)


@pytest.mark.parametrize("value", ["a\rb", "a\nb", "a\0b", "\x1b[0m", "\x7f", "\ud800"])
def test_a_value_that_breaks_out_is_refused_naming_only_its_header(value: str) -> None:
    with pytest.raises(BadRequest, match="X-Test") as caught:
        check_header("X-Test", f"secret{value}secret")
    assert "secret" not in str(caught.value)


def test_ordinary_values_pass() -> None:
    for value in ("", "a b\tc", "ü€", "Bearer sk-1"):
        check_header("X-Test", value)


@pytest.mark.parametrize("end", ["", ";", " ; ", "x", "; a=b x"])
def test_a_content_type_of_many_spaces_is_read_in_one_go(end: str) -> None:
    """In seconds of the processor; trying every split of the spaces took twenty of them."""
    told = f"application/json{' ' * 60_000}{end}"
    began = time.thread_time()
    shown = harmless_content_type(told)
    assert time.thread_time() - began < 0.7
    assert shown == ("application/octet-stream" if end.endswith("x") else told)
