"""Messages of MCP servers are counted before they are read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.jsonio import dumps
from agentui.mcp.value_count import MAX_VALUES, TooManyValues, Weighing

texts = st.text(st.characters(codec="utf-8")) | st.sampled_from(['"', "\\", '\\"', "[[,,{", "\n\n"])
values = st.recursive(st.none() | st.integers() | texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner))


def counted(value: Any) -> int:
    """How many lists, objects, and commas a value is written with."""
    if isinstance(value, dict):
        return 1 + max(len(value) - 1, 0) + sum(map(counted, value.values()))
    if isinstance(value, list):
        return 1 + max(len(value) - 1, 0) + sum(map(counted, value))
    return 0


def weigh(chunks: list[bytes]) -> int:
    """What comes out of bytes in pieces."""
    weighing = Weighing()
    for chunk in chunks:
        weighing.feed(chunk)
    return weighing._count


@given(values, st.integers(1, 9))
def test_what_stands_in_texts_is_not_counted_however_the_bytes_come(value: Any, size: int) -> None:
    line = dumps(value)
    assert weigh([line[at : at + size] for at in range(0, len(line), size)]) == counted(value)


@pytest.mark.parametrize("before", [b"", b': a comment with one "\r\n', b': "\r', b'event: "\n', b"id: \\\n"])
def test_a_message_of_too_many_values_is_refused_whatever_stands_around_it(before: bytes) -> None:
    many = dumps([[]] * MAX_VALUES)
    with pytest.raises(TooManyValues):
        weigh([before + b"data: " + many + b"\n\n"])


def test_each_message_of_a_stream_counts_on_its_own() -> None:
    one = b"data: " + dumps([0] * (MAX_VALUES // 2)) + b"\r\n\r\n"
    assert weigh([one] * 5 + [b'data: "a long text, [with {much}, in it]"']) == 0
    weigh([b'data: "' + b"[," * MAX_VALUES + b'"'])


def test_an_end_of_a_line_that_comes_in_two_chunks_ends_no_message() -> None:
    with pytest.raises(TooManyValues):
        weigh([b"data: " + b"," * (MAX_VALUES // 2) + b"\r", b"\n"] * 3)
    assert weigh([b"data: ,\r", b"\n", b"\r\n"]) == weigh([b"data: ,\r\r"]) == 0
