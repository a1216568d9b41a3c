"""Stop strings that are found here: any cut of the text into pieces gives the same answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.chat.deltas import End, Finish, TextDelta, ThinkingDelta, ToolCallDelta, Usage, UsageDelta
from agentui.chat.messages import Text, ToolCall
from agentui.chat.reply import Choice, Reply
from agentui.chat.request import Cut
from agentui.chat.stops import StopFilter, cut_of
from agentui.errors import UnsupportedFeature

STOPS = st.lists(st.text("ab\n", min_size=1, max_size=4), min_size=1, max_size=3)


def told(deltas):
    """The text of the first choice, and what stopped it."""
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    return text, [delta.stop_sequence for delta in deltas if isinstance(delta, Finish)]


def expected(text, stops):
    """The same by looking at every beginning of the text in turn."""
    for end in range(1, len(text) + 1):
        if found := [stop for stop in stops if text[:end].endswith(stop)]:
            return text[: end - max(map(len, found))], [max(found, key=len)]
    return text, [None]


@given(st.text("ab\n c", max_size=20), STOPS, st.data())
def test_any_pieces_give_what_the_whole_text_gives(text, stops, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    cutter = StopFilter(Cut(tuple(stops)))
    deltas = [delta for piece in pieces for delta in cutter.feed([TextDelta(piece)])]
    deltas += cutter.feed([Finish("stop"), End()])
    assert told(deltas) == expected(text, stops)
    assert [delta for delta in deltas if isinstance(delta, End)] == [End()]
    assert isinstance(deltas[-1], End)


def test_what_cannot_be_a_stop_string_goes_out_at_once():
    cutter = StopFilter(Cut(("\nUser:",)))
    assert cutter.feed([TextDelta("Hello\n")]) == [TextDelta("Hello")]
    assert cutter.feed([TextDelta("Us")]) == []
    assert cutter.feed([TextDelta("ed to it")]) == [TextDelta("\nUsed to it")]


def test_other_parts_release_what_was_held_and_pass():
    cutter = StopFilter(Cut(("STOP",)))
    call = ToolCallDelta(0, "id", "name", '{"STOP": 1}')
    deltas = cutter.feed([ThinkingDelta("STOP"), TextDelta("a ST"), call, UsageDelta(Usage(1)), Finish("tool_calls"), End()])
    assert deltas == [
        ThinkingDelta("STOP"),
        TextDelta("a "),
        TextDelta("ST"),
        call,
        UsageDelta(Usage(1)),
        Finish("tool_calls"),
        End(),
    ]


def test_each_choice_is_cut_by_itself_and_the_last_ends_the_answer():
    cutter = StopFilter(Cut(("X",), 2))
    assert cutter.feed([TextDelta("aXb"), TextDelta("c", 1)]) == [
        TextDelta("a"),
        Finish("stop_sequence", "X"),
        TextDelta("c", 1),
    ]
    assert not cutter.is_over
    assert cutter.feed([TextDelta("more"), TextDelta("dX", 1)]) == [TextDelta("d", 1), Finish("stop_sequence", "X", 1), End()]
    assert cutter.is_over
    assert cutter.feed([TextDelta("x"), End()]) == []


def test_a_whole_answer_is_cut_and_keeps_what_the_upstream_wrote():
    reply = Reply(
        (Choice((Text("one END two"), ToolCall("1", "f")), "stop"), Choice((Text("none"),), "length")),
        "id",
        usage=Usage(3, 4),
        raw={"x": 1},
        raw_vendor="openai",
    )
    cut = StopFilter(Cut(("END",), 2)).cut(reply)
    assert cut.choices == (Choice((Text("one "),), "stop_sequence", "END"), Choice((Text("none"),), "length"))
    assert (cut.usage, cut.raw, cut.raw_vendor, cut.id) == (Usage(3, 4), {"x": 1}, "openai", "id")


@pytest.mark.parametrize("size", [1000, 100_000])
def test_a_long_stop_string_is_looked_for_in_one_pass(size):
    stop = "a" * size
    cutter = StopFilter(Cut((stop,)))
    deltas = [delta for _ in range(size - 1) for delta in cutter.feed([TextDelta("a")])]
    assert deltas == []
    assert told([*cutter.feed([TextDelta("b")]), *cutter.feed([End()])]) == ("a" * (size - 1) + "b", [])


@pytest.mark.parametrize("stops", [["x" * 1001], [str(number) for number in range(65)]])
def test_what_would_take_long_to_look_for_is_refused(stops):
    with pytest.raises(UnsupportedFeature):
        cut_of(stops)


def test_stop_strings_that_say_nothing_are_none():
    assert cut_of(["", ""]) is None
    assert cut_of(["a", "a", ""], 2) == Cut(("a",), 2)


def test_an_end_without_a_finish_releases_what_was_held():
    cutter = StopFilter(Cut(("STOP",)))
    assert cutter.feed([TextDelta("a ST")]) == [TextDelta("a ")]
    assert cutter.feed([End()]) == [TextDelta("ST"), End()]
