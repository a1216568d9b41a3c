"""What looks like the end of a stream waits; everything before it does not."""

from collections.abc import Iterator

import pytest

from agentui.chat.request import VendorName
from agentui.vendors.base import StreamEnd
from agentui.vendors.gemini.stream import MAX_HELD
from agentui.vendors.registry import make_vendors

BEGIN: dict[VendorName, bytes] = {
    "openai": b'data: {"choices":[{"index":0,"delta":{"content":"one"}}]}\n\n',
    "openai_responses": b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"one"}\n\n',
    "claude": b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta",'
    b'"text":"one"}}\n\n',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"\\"finishReason\\""}]},"index":0}]}\n\n',
}
END: dict[VendorName, bytes] = {
    "openai": b"data: [DONE]\n\n",
    "openai_responses": b'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r","output":[],'
    b'"status":"completed"}}\n\n',
    "claude": b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    "gemini": b'data: {"candidates":[{"finishReason":"STOP","index":0}]}\n\n',
}


def cuts(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@pytest.fixture(params=list(BEGIN))
def name(request: pytest.FixtureRequest) -> VendorName:
    return request.param  # type: ignore[no-any-return]  # a fixture's parameter has no type


@pytest.mark.parametrize("size", [1, 7, 13, 64, 10_000])
def test_no_chunking_lets_the_end_of_a_stream_out(name: VendorName, size: int) -> None:
    end, data = make_vendors()[name].stream_end(), BEGIN[name] * 3 + END[name]
    out = b"".join(end.hold(chunk) for chunk in cuts(data, size))
    assert out + end.held == data
    assert END[name] not in out
    assert end.held.endswith(b"\n")


def test_a_chunk_without_the_end_goes_out_at_once(name: VendorName) -> None:
    end = make_vendors()[name].stream_end()
    assert end.hold(BEGIN[name]) == BEGIN[name]
    assert end.held == b""


def held_after(end: StreamEnd, *chunks: bytes) -> bytes:
    for chunk in chunks:
        end.hold(chunk)
    return end.held


def test_only_the_last_of_many_finishes_waits_in_gemini() -> None:
    end = make_vendors()["gemini"].stream_end()
    first, last = END["gemini"], END["gemini"].replace(b"STOP", b"MAX_TOKENS")
    assert held_after(end, first) == first
    assert end.hold(last) == first
    assert end.held == last


def test_gemini_does_not_wait_for_one_who_says_more_after_the_finish() -> None:
    end = make_vendors()["gemini"].stream_end()
    assert end.hold(END["gemini"]) == b""
    more = BEGIN["gemini"] * (MAX_HELD // len(BEGIN["gemini"]) + 1)
    assert end.hold(more) == END["gemini"] + more
    assert end.hold(BEGIN["gemini"]) == BEGIN["gemini"]


def test_what_is_of_no_dialect_has_no_end_that_is_known() -> None:
    for name in ("openai", "openai_responses", "claude"):
        end = make_vendors()[name].stream_end()
        assert end.hold(b"data: not JSON\n\n") == b"data: not JSON\n\n"
