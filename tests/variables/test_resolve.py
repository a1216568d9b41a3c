"""The five tiers as one mapping."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.jsonio import Json
from agentui.variables.errors import HostNotFound, InvalidContext
from agentui.variables.hosts import Place
from agentui.variables.records import Put, put_all
from agentui.variables.resolve import load_global, load_layers, load_place, resolve
from agentui.variables.scopes import GLOBAL, SCOPES, Scope, Target, branch_target
from tests.variables.database import ACCOUNT, Database
from tests.variables.values import json_values

layers = st.dictionaries(
    st.sampled_from(SCOPES), st.dictionaries(st.sampled_from(["gold", "mood", "金", "a.b", "Z"]), json_values, max_size=4)
)


@given(layers)
def test_the_nearest_tier_that_has_a_key_wins(given: dict[Scope, dict[str, Json]]) -> None:
    resolved = resolve(given)
    assert list(resolved) == sorted({key for tier in given.values() for key in tier})
    for key, winner in resolved.items():
        having = [scope for scope in SCOPES if key in given.get(scope, {})]
        assert winner.scope == having[-1]
        assert winner.value is given[having[-1]][key]


def test_only_what_is_visible_from_the_place_is_loaded(base: Database) -> None:
    session, other = base.add_session(), base.add_session()
    base.add_branch(session, "alt")
    floor, page = base.add_floor(session), ""
    page = base.add_page(floor)
    targets = [GLOBAL, Target("chat", session), branch_target(session, "main"), Target("floor", floor), Target("page", page)]
    strangers = [Target("chat", other), branch_target(session, "alt"), branch_target(other, "main")]
    strangers += [Target("floor", base.add_floor(session)), Target("page", base.add_page(floor))]
    puts = [Put(target, f"of {target.scope}", "1") for target in targets] + [Put(target, "no", "1") for target in strangers]
    base.run(put_all, ACCOUNT, puts, base.now)
    base.run(put_all, "other", [Put(GLOBAL, "theirs", "1")], base.now)

    def seen(*place: str | None) -> dict[str, list[str]]:
        return {scope: list(found) for scope, found in base.run(load_layers, ACCOUNT, *place).items()}

    every = {scope: [f"of {scope}"] for scope in SCOPES}
    assert seen(session, "main", floor, page) == every
    assert seen(session, "main", floor, None) == {scope: every[scope] for scope in SCOPES[:4]}
    assert seen(session, "main", None, None) == {scope: every[scope] for scope in SCOPES[:3]}
    assert seen(session, None, None, None) == {scope: every[scope] for scope in SCOPES[:2]}
    assert list(base.run(load_global, ACCOUNT)["global"]) == ["of global"]
    assert list(base.run(load_global, ACCOUNT)) == ["global"]


def test_a_place_is_found_from_below_and_loaded(base: Database) -> None:
    session, other = base.add_session(), base.add_session()
    floor = base.add_floor(session)
    page = base.add_page(floor)
    base.run(put_all, ACCOUNT, [Put(Target("floor", floor), "mood", "1"), Put(Target("page", page), "mood", "2")], base.now)

    place, layers = base.run(load_place, ACCOUNT, session, None, None, page)
    assert place == Place(session, "main", floor, page)
    assert layers == base.run(load_layers, ACCOUNT, session, "main", floor, page)
    assert resolve(layers)["mood"].scope == "page"
    with pytest.raises(HostNotFound):
        base.run(load_place, ACCOUNT, session, "nowhere", None, None)
    with pytest.raises(InvalidContext):
        base.run(load_place, ACCOUNT, other, None, floor, None)
