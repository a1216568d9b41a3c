"""What is tried again, and when."""

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.upstream.http.exchange import Outcome
from agentui.upstream.retry import RetryBudget, pause_before, retries_for, retry_after


@pytest.mark.parametrize("setback", [200, 204, 301, 400, 401, 402, 403, 404, 409, 413, 422, 499, "final"])
def test_what_cannot_succeed_is_never_tried_again(setback: Outcome) -> None:
    assert retries_for(setback) == 0


@pytest.mark.parametrize(
    "setback,times", [(408, 2), (429, 1), (500, 2), (502, 2), (503, 2), (504, 2), (529, 2), ("connect", 1)]
)
def test_what_may_pass_is_tried_again(setback: Outcome, times: int) -> None:
    assert retries_for(setback) == times


@pytest.mark.parametrize(
    "headers,seconds",
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 0 "}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": formatdate(1_000_004, usegmt=True)}, 4.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_retry_after_is_seconds_milliseconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, wall=1_000_000.0) == seconds


@given(st.text(max_size=40))
def test_no_retry_after_is_strange_enough_to_fail(text: str) -> None:
    seconds = retry_after({"retry-after": text}, wall=0.0)
    assert seconds is None or seconds >= 0


def test_more_than_five_seconds_is_for_the_caller() -> None:
    assert pause_before(1, {"retry-after": "5"}, jitter=0.0, wall=0.0) == 5.0
    assert pause_before(1, {"retry-after": "5.1"}, jitter=0.0, wall=0.0) is None


def test_an_upstream_that_says_no_is_believed() -> None:
    assert pause_before(1, {"x-should-retry": "false", "retry-after": "1"}, jitter=0.0, wall=0.0) is None


@given(st.floats(0, 1, exclude_max=True), st.integers(1, 2))
def test_pauses_double_and_scatter(jitter: float, retry: int) -> None:
    pause = pause_before(retry, {}, jitter=jitter, wall=0.0)
    assert pause is not None and 0.125 * 2 ** (retry - 1) <= pause <= 0.25 * 2 ** (retry - 1)


@given(st.integers(0, 500))
def test_retries_stay_below_a_fifth_and_three(requests: int) -> None:
    budget = RetryBudget()
    granted = 0
    for _ in range(requests):
        budget.asked(0.0)
        granted += budget.take(0.0) + budget.take(0.0)
    assert granted <= requests * 0.2 + 3


def test_the_budget_fills_again() -> None:
    budget = RetryBudget()
    while budget.take(0.0):
        pass
    assert not budget.take(9.0)
    assert budget.take(10.0)
