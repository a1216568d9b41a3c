"""The circuit breaker, with the clock in our hands."""

from hypothesis import given
from hypothesis import strategies as st

from agentui.upstream.breaker import Breaker
from agentui.upstream.window import Window


def broken(now: float = 0.0) -> Breaker:
    breaker = Breaker()
    for _ in range(20):
        breaker.failed(now)
    return breaker


def test_nineteen_failures_open_nothing_and_the_twentieth_does() -> None:
    breaker = Breaker()
    for _ in range(19):
        breaker.failed(0.0)
    assert breaker.admit(0.0) is None
    breaker.failed(0.0)
    assert breaker.admit(0.0) == 5.0 and breaker.admit(3.0) == 2.0


def test_fewer_failures_than_half_open_nothing() -> None:
    breaker = Breaker()
    for _ in range(50):
        breaker.succeeded(0.0)
        breaker.succeeded(0.0)
        breaker.failed(0.0)
    assert not breaker.is_open()


def test_failures_spread_over_more_than_ten_seconds_open_nothing() -> None:
    breaker = Breaker()
    for second in range(100):
        breaker.failed(float(second))
    assert not breaker.is_open()


def test_after_five_seconds_one_probe_goes_through() -> None:
    breaker = broken()
    assert breaker.admit(5.0) is None
    assert breaker.admit(5.0) == 1.0


def test_a_probe_that_succeeds_closes_the_circuit_and_forgets() -> None:
    breaker = broken()
    breaker.admit(5.0)
    breaker.succeeded(5.1)
    assert not breaker.is_open() and breaker.admit(5.1) is None
    breaker.failed(5.2)
    assert not breaker.is_open()


def test_a_probe_that_fails_opens_it_again() -> None:
    breaker = broken()
    breaker.admit(5.0)
    breaker.failed(6.0)
    assert breaker.admit(6.0) == 5.0


def test_a_probe_that_was_given_up_leaves_its_place_to_the_next() -> None:
    breaker = broken()
    assert breaker.admit(5.0) is None
    breaker.left()
    assert breaker.admit(5.0) is None


def test_a_late_success_from_before_does_not_close_it() -> None:
    breaker = broken()
    breaker.succeeded(1.0)
    assert breaker.is_open()


@given(st.lists(st.tuples(st.floats(0, 3), st.booleans()), max_size=200))
def test_a_window_counts_what_a_list_would_but_for_a_tenth(steps: list[tuple[float, bool]]) -> None:
    window, now, past = Window(10.0), 0.0, []
    for pause, marked in steps:
        now += pause
        window.add(now, marked=marked)
        past.append(now)
        total, _ = window.counts(now)
        surely = sum(1 for moment in past if now - moment < 9.0)
        perhaps = sum(1 for moment in past if now - moment < 10.0)
        assert surely <= total <= perhaps
