"""The memory of kept answers, by a clock that is set by hand."""

from unittest.mock import patch

from agentui.chat.deltas import TextDelta
from agentui.pipeline.caches import answer_cache
from agentui.pipeline.caches.answer_cache import AnswerCache


def test_an_answer_counts_until_its_time_is_up() -> None:
    now = [100.0]
    cache = AnswerCache(lambda: now[0])
    cache.keep("a", [TextDelta("A")], 1, 60)
    now[0] += 59
    found = cache.find("a")
    assert found is not None and (list(found[0].deltas), found[1]) == ([TextDelta("A")], 59)
    now[0] += 1
    assert cache.find("a") is None and len(cache) == 0
    assert cache.find("b") is None


def test_no_more_is_kept_than_the_limits_and_what_was_asked_for_stays() -> None:
    with patch.object(answer_cache, "MAX_ANSWERS", 3), patch.object(answer_cache, "MAX_CHARS", 100):
        cache = AnswerCache(lambda: 0.0)
        for name in "abc":
            cache.keep(name, [], 10, 60)
        assert cache.find("a") is not None
        cache.keep("d", [], 10, 60)
        assert [cache.find(name) is not None for name in "abcd"] == [True, False, True, True]
        cache.keep("e", [], 90, 60)
        assert [cache.find(name) is not None for name in "acde"] == [False, False, True, True]
        cache.keep("e", [], 10, 60)
        cache.keep("f", [], 80, 60)
        assert [cache.find(name) is not None for name in "def"] == [True, True, True]
        cache.keep("g", [], answer_cache.MAX_ANSWER_CHARS + 1, 60)
        assert cache.find("g") is None
