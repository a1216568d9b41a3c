"""What is remembered of targets that failed, by a clock that is set by hand."""

from hypothesis import given
from hypothesis import strategies as st

from agentui.upstream.health import FAILURES, KEPT, LONGEST_REST, Away, TargetHealth


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_target_is_left_alone_after_failures_in_a_row_until_a_probe_answers() -> None:
    clock = Clock()
    health = TargetHealth(clock)
    for _ in range(FAILURES - 1):
        assert health.admit("a") is None
        health.failed("a", 30)
    assert health.away("a") is None
    health.failed("a", 30)
    assert health.admit("a") == health.away("a") == Away(30.0, is_asked=False)
    assert health.admit("b") is None, "another target is another one"
    clock.now += 30
    assert health.away("a") is None
    assert health.admit("a") is None, "the probe"
    assert health.admit("a") is not None, "and only one"
    health.failed("a", 30)
    assert health.admit("a") == Away(30.0, is_asked=False), "a probe that fails begins the pause anew"
    clock.now += 30
    assert health.admit("a") is None
    health.left("a")
    assert health.admit("a") is None, "a probe that was given up is the next one's"
    health.succeeded("a")
    assert (health.admit("a"), len(health)) == (None, 0)


def test_a_pause_that_is_asked_for_is_kept_even_when_an_older_call_still_answers() -> None:
    clock = Clock()
    health = TargetHealth(clock)
    health.failed("a", 30, retry_after=7)
    assert health.admit("a") == Away(7.0, is_asked=True)
    health.succeeded("a")
    assert health.admit("a") == Away(7.0, is_asked=True)
    clock.now += 7
    assert health.admit("a") is None
    health.succeeded("a")
    assert len(health) == 0
    health.failed("a", 0, retry_after=10 * LONGEST_REST)
    assert health.admit("a") == Away(LONGEST_REST, is_asked=True)


def test_a_pause_that_is_asked_for_stays_one_when_older_calls_still_fail() -> None:
    health = TargetHealth(Clock())
    health.failed("a", 30, retry_after=600)
    for _ in range(FAILURES):
        health.failed("a", 30)
    assert health.admit("a") == Away(600.0, is_asked=True)


def test_without_a_cooldown_no_failures_leave_a_target_alone() -> None:
    health = TargetHealth(Clock())
    for _ in range(FAILURES * 3):
        assert health.admit("a") is None
        health.failed("a", 0)


def test_no_more_is_remembered_than_the_limit() -> None:
    health = TargetHealth(Clock())
    for number in range(KEPT + 10):
        health.failed(str(number), 30, retry_after=60)
    assert len(health) == KEPT
    assert health.admit("0") is None and health.admit(str(KEPT)) is not None


@given(st.lists(st.tuples(st.sampled_from(["fail", "answer", "wait"]), st.floats(0, 40)), max_size=40))
def test_nobody_is_asked_within_the_pause_and_everybody_after_it(story: list[tuple[str, float]]) -> None:
    clock = Clock()
    health = TargetHealth(clock)
    row, until = 0, 0.0
    for what, seconds in story:
        clock.now += seconds
        away = health.admit("a")
        assert (away is None) == (clock.now >= until)
        if away is not None:
            continue
        match what:
            case "answer":
                health.succeeded("a")
                row, until = 0, 0.0
            case "fail":
                health.failed("a", 30)
                row += 1
                until = clock.now + 30 if row >= FAILURES else until
            case "wait":
                health.failed("a", 30, retry_after=12)
                row += 1
                until = clock.now + (30 if row >= FAILURES else 12)
