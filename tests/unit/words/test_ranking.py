"""BM25 puts texts into the order that one expects."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agentui.words.ranking import bm25, rarity

COUNTS = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 5))


def test_a_rare_word_weighs_more_and_none_weighs_less_than_nothing() -> None:
    weights = [rarity(holding, 1000) for holding in (1, 10, 500, 1000, 2000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


@given(COUNTS, st.integers(1, 100), st.integers(1, 100))
def test_of_two_texts_with_the_same_words_the_shorter_one_answers_better(
    counts: dict[str, int], length: int, more: int
) -> None:
    wanted = dict.fromkeys("abcd", 1.0)
    short, long = (bm25(wanted, counts, each, 50.0) for each in (length, length + more))
    assert short > long if counts else short == long == 0


@given(COUNTS, st.sampled_from("abcd"))
def test_a_text_that_says_a_word_more_often_answers_better(counts: dict[str, int], word: str) -> None:
    wanted = dict.fromkeys("abcd", 1.0)
    more = Counter(counts) + Counter([word])
    assert bm25(wanted, more, 10, 10.0) > bm25(wanted, counts, 10, 10.0)


def test_words_that_nobody_wants_count_nothing_and_no_average_divides_by_nothing() -> None:
    assert bm25({"a": 1.0}, {"b": 9}, 9, 9.0) == 0
    assert bm25({"a": 1.0}, {"a": 1}, 0, 0.0) > 0
