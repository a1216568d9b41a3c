"""Summaries are taken out of an answer, however it is cut into pieces."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agentui.prompt.summaries import SummaryCutter
from tests.unit.work import work_of

PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            ["<summary>", "</summary>", "<Summary>", "</SUMMARY>", "<sum", "mary>", "</", "<", ">", " ", "\n", "ſ", "İ"]
        ),
        st.text(max_size=5),
    ),
    max_size=20,
)


def cut_summaries(text: str) -> tuple[str, list[str]]:
    """A whole text without its summaries, and these."""
    cutter = SummaryCutter()
    shown = cutter.feed(text) + cutter.end()
    return shown, cutter.summaries


def test_a_summary_is_known_in_any_letters() -> None:
    assert cut_summaries("Night falls.<SUMMARY> They camp. </summary>") == ("Night falls.", ["They camp."])


@given(PIECES, st.lists(st.integers(0, 120), max_size=20))
def test_any_cut_of_a_text_gives_what_the_whole_gives(pieces: list[str], cuts: list[int]) -> None:
    text = "".join(pieces)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    cutter = SummaryCutter()
    shown = "".join(cutter.feed(text[start:end]) for start, end in pairwise(places)) + cutter.end()
    assert (shown, cutter.summaries) == cut_summaries(text)


@given(PIECES)
def test_what_is_cut_is_every_block_and_nothing_else(pieces: list[str]) -> None:
    text = "".join(pieces)
    blocks = re.compile("<summary>(.*?)</summary>", re.ASCII | re.DOTALL | re.IGNORECASE)
    found = [block.strip() for block in blocks.findall(text)]
    assert cut_summaries(text) == (blocks.sub("", text), [block for block in found if block])


def test_nothing_of_a_block_is_shown_before_it_is_known_to_end() -> None:
    cutter = SummaryCutter()
    assert [cutter.feed(piece) for piece in ("Night falls.<", "summ", "ary>They", " camp.</summary", ">Dawn.")] == [
        "Night falls.",
        "",
        "",
        "",
        "Dawn.",
    ]
    assert cutter.summaries == ["They camp."]


def test_a_block_that_never_ends_is_text() -> None:
    assert cut_summaries("Night <summary>falls") == ("Night <summary>falls", [])


def test_a_long_block_in_single_characters_is_linear() -> None:
    cutter = SummaryCutter()
    for character in "<summary>" + "<" * 300_000:
        assert cutter.feed(character) == ""
    assert len(cutter.end()) == 300_009


def test_work_is_linear_in_empty_blocks() -> None:
    few, many = (work_of(lambda count=count: cut_summaries("<summary></summary>" * count)) for count in (500, 4000))
    assert many.bytes < 16 * few.bytes and many.lines < 9 * few.lines
