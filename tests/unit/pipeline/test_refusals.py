"""What is remembered of refusals: little, and not for ever."""

from agentui.pipeline.caches.refusals import KEPT_SECONDS, MAX_MODELS, MAX_REFUSALS, Refusals
from agentui.principal import DEFAULT_ACCOUNT
from agentui.vendors.amending import Refusal

URL = "http://127.0.0.1/v1/chat/completions"


def test_refusals_are_few_of_few_models_and_are_forgotten() -> None:
    refusals = Refusals()
    for number in range(MAX_REFUSALS + 5):
        refusals.remember(DEFAULT_ACCOUNT, URL, "one", Refusal(f"unknown field {number}"), 0)
        refusals.remember(DEFAULT_ACCOUNT, URL, "one", Refusal("unknown field 0"), 5)
    assert refusals.of(DEFAULT_ACCOUNT, URL, "one", KEPT_SECONDS) == tuple(
        Refusal(f"unknown field {at}") for at in range(MAX_REFUSALS)
    )
    assert refusals.of(DEFAULT_ACCOUNT, URL, "one", KEPT_SECONDS + 1) == () == refusals.of(DEFAULT_ACCOUNT, URL, "two", 0)
    refusals.remember(DEFAULT_ACCOUNT, URL, "one", Refusal("unknown field"), 0)
    for number in range(MAX_MODELS):
        refusals.remember(DEFAULT_ACCOUNT, URL, f"model-{number}", Refusal("unknown field"), 0)
    assert refusals.of(DEFAULT_ACCOUNT, URL, "one", 0) == ()
    assert refusals.of(DEFAULT_ACCOUNT, URL, "model-0", 0) == (Refusal("unknown field"),)


def test_models_that_are_asked_stay_known() -> None:
    refusals = Refusals()
    for number in range(MAX_MODELS):
        refusals.remember(DEFAULT_ACCOUNT, URL, f"model-{number}", Refusal("unknown field"), 0)
    assert refusals.of(DEFAULT_ACCOUNT, URL, "model-0", 0)
    refusals.remember(DEFAULT_ACCOUNT, URL, "another", Refusal("unknown field"), 0)
    assert [bool(refusals.of(DEFAULT_ACCOUNT, URL, f"model-{number}", 0)) for number in (0, 1, 2)] == [True, False, True]
