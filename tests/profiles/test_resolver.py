"""Which profile and which config count: a law against the order as the contract says it."""

from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import ApiError
from agentui.profiles.records import SLOTS, Binding, InstanceConfig, Place, Profile, Slot, masked
from agentui.profiles.resolver import choose_config, choose_profile
from agentui.secrets.store import Secret

PLACES = [(scope, slot) for scope in (None, "s") for slot in SLOTS]
STATES = ("active", "disabled", "deleted", "unopenable")


def binding(session: str | None, slot: Slot, state: str) -> Binding:
    id = f"{session}/{slot}"
    status = "active" if state == "unopenable" else state
    sealed = "" if state == "unopenable" else "sealed"
    profile = Profile(id, id, "openai", "m", None, None, "****", status, None, 0, 0, sealed)  # type: ignore[arg-type]
    return Binding(Place.of(session), slot, profile, None)


def opened(profile: Profile) -> Secret:
    if not profile.sealed_key:
        raise ApiError("cannot be opened", status=500, code="secret_invalid_format")
    return Secret(profile.id, "key")


@given(st.dictionaries(st.sampled_from(PLACES), st.sampled_from(STATES)), st.sampled_from(SLOTS))
def test_the_first_profile_that_can_serves_and_those_before_it_are_told(
    bound: dict[tuple[str | None, Slot], str], slot: Slot
) -> None:
    choice = choose_profile(slot, [binding(*place, state) for place, state in bound.items()], opened)
    order = list(dict.fromkeys([("s", slot), (None, slot), ("s", "*"), (None, "*")]))
    there = [place for place in order if place in bound]
    first = next((place for place in there if bound[place] == "active"), None)
    expected = there if first is None else there[: there.index(first)]
    reasons = {"unopenable": "secret_invalid_format"}
    assert [each.profile_id for each in choice.skipped] == [f"{session}/{each}" for session, each in expected]
    assert [each.reason for each in choice.skipped] == [reasons.get(bound[place], bound[place]) for place in expected]
    assert (None if choice.binding is None else choice.binding.profile.id) == (
        None if first is None else f"{first[0]}/{first[1]}"
    )
    sources = {None: "env", "s": "session_profile"}
    assert choice.source == ("env" if first is None else sources.get(first[0]) if first[0] else "global_profile")


@given(st.sets(st.sampled_from(PLACES)), st.sampled_from(SLOTS))
def test_configs_have_an_order_of_their_own(there: set[tuple[str | None, Slot]], slot: Slot) -> None:
    configs = [
        InstanceConfig(f"{s}/{each}", "global" if s is None else "session", s or "global", each, None, True, None, 0, 0)
        for s, each in there
    ]
    found = choose_config(slot, configs)
    order = [("s", slot), ("s", "*"), (None, slot), (None, "*")]
    first = next((f"{s}/{each}" for s, each in order if (s, each) in there), None)
    assert (None if found is None else found.id) == first


@given(st.text(min_size=1, max_size=60))
def test_a_masked_key_shows_no_more_than_its_ends(key: str) -> None:
    shown = masked(key)
    start, stars, end = shown[: shown.index("****")], "****", shown[shown.index("****") + 4 :] if len(key) > 4 else ""
    if len(key) <= 4:
        assert shown == "****"
    else:
        ends = 1 if len(key) <= 8 else 4
        assert (shown, len(shown)) == (key[:ends] + stars + key[-ends:], 4 + 2 * ends) and start is not end
