"""Arguments that say nothing, whole and in pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.vendors.arguments import ArgumentPieces, whole_arguments


def said(pieces):
    """What is passed on of pieces."""
    arguments = ArgumentPieces()
    return "".join([*(arguments.feed(piece) for piece in pieces), arguments.close()])


@given(st.text('nul {}"1', max_size=12), st.data())
def test_any_cut_gives_the_same_arguments(text, data):
    cut = data.draw(st.integers(0, len(text)))
    again = data.draw(st.integers(cut, len(text)))
    passed = said([text[:cut], text[cut:again], text[again:]])
    if not text.strip().startswith("null"):
        assert passed.lstrip() == text.lstrip()
    assert whole_arguments(passed).split() == whole_arguments(text).split() or text.strip().startswith("null ")


@pytest.mark.parametrize("text", ["", "null", " null\n"])
def test_nothing_is_an_empty_object(text):
    assert whole_arguments(text) == "{}"


def test_a_brace_is_passed_on_at_once():
    assert ArgumentPieces().feed('{"a": "x ') == '{"a": "x '
