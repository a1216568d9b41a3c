"""Events out of bytes, however the bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import UpstreamInvalid
from agentui.vendors.sse import SseDecoder, SseEvent

LINES = st.sampled_from(
    [b"data: x", b"data:y", b"data:  z", b"data", b"event: a", b"event:b", b"event: ", b"event: \xff", b": c", b"id: 1", b""]
)
STREAMS = st.builds(
    lambda mark, lines, ends: mark + b"".join(line + end for line, end in zip(lines, ends, strict=False)),
    st.sampled_from([b"", b"", b"\xef\xbb\xbf"]),
    st.lists(LINES, max_size=12),
    st.lists(st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r"]), min_size=12, max_size=12),
)


def heard(*chunks: bytes) -> tuple[list[SseEvent], bool]:
    """The events of these reads, and whether nothing waits after them."""
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events, decoder.is_clean


@given(STREAMS, st.sets(st.integers(1, 120)))
def test_a_stream_means_the_same_however_it_is_cut(stream: bytes, cuts: set[int]) -> None:
    edges = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    one_by_one = heard(*(bytes([byte]) for byte in stream))
    assert heard(stream) == one_by_one
    assert heard(*(stream[start:end] for start, end in pairwise(edges))) == one_by_one


def test_whole_events_of_one_read_come_out_one_by_one() -> None:
    assert heard(b"event: a\ndata: 1\n\ndata: 2\n\nevent:  b\ndata:  3\n\n") == (
        [SseEvent(b"1", "a"), SseEvent(b"2"), SseEvent(b" 3", " b")],
        True,
    )


def test_the_lines_of_an_event_are_lines_of_its_text() -> None:
    assert heard(b"data: a\ndata:\ndata: b\n\n") == ([SseEvent(b"a\n\nb")], True)


@pytest.mark.parametrize("cut", [b"dat", b"data: 2", b"data: 2\n", b"event: a\n"])
def test_a_stream_that_is_cut_within_an_event_is_not_clean(cut: bytes) -> None:
    assert heard(b"data: 1\n\n" + cut) == ([SseEvent(b"1")], False)


@pytest.mark.parametrize("begin", [b"data: ", b"data: 1\ndata: ", b"data: 1\n\ndata: "])
def test_an_event_that_grows_past_the_cap_is_refused(begin: bytes) -> None:
    decoder = SseDecoder(64)
    decoder.feed(begin)
    with pytest.raises(UpstreamInvalid):
        decoder.feed(b"x" * 100)
