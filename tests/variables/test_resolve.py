"""The five tiers as one mapping."""

import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from agentui.jsonio import Json
from agentui.variables.errors import HostNotFound, InvalidContext
from agentui.variables.places import Place
from agentui.variables.records import Put, put_all
from agentui.variables.resolve import MOST_NAMES, load_global, load_layers, load_place, resolve
from agentui.variables.scopes import GLOBAL, SCOPES, Scope, Target, branch_target
from agentui.variables.values import render
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


def test_variables_are_loaded_by_the_beginning_of_their_names(base: Database) -> None:
    session = base.add_session()
    keys = ["gold", "gold.old", "goldmine", "Gold", "金.a", ".hidden", "a%", "ab", '["x.y"].z', "mood"]
    targets = [GLOBAL, Target("chat", session), branch_target(session, "main")]
    base.run(put_all, ACCOUNT, [Put(target, key, "1") for target in targets for key in keys], base.now)

    def seen(*names: str) -> set[str]:
        layers = base.run(load_layers, ACCOUNT, session, "main", None, None, frozenset(names))
        assert list(layers) == ["global", "chat", "branch"]
        found = [set(tier) & set(keys) for tier in layers.values()]
        assert found[0] == found[1] == found[2]
        return found[0]

    for names in (("gold",), ("金", "mood"), ("a%",), ("",), ('["x',), ("gol", "ab", "n\0l", "'; --"), ("n\0l",), ()):
        assert seen(*names) == {key for key in keys if key.partition(".")[0] in names}, names
    # So many are not asked for one by one.
    assert seen(*(f"v{number}" for number in range(MOST_NAMES + 1))) == set(keys)


def test_every_character_of_keys_and_values_comes_back(base: Database) -> None:
    # Values stand in the database as JSON texts, which the database puts into JSON once more.
    odd = [*map(chr, range(1, 0x20)), *"\"\\/'{}[],:\x7f\x85\u2028\ud7ff\ue000\uffff\U0001f409\U0010ffff"]
    values: dict[str, Json] = {f"k{character}": {character: [character, None, 2**64, 1.5, ""]} for character in odd}
    values |= {"nul": "a\0b", "long": "x" * 100_000, "deep": [[[[{}]]]], "null": None}
    session = base.add_session()
    puts = [Put(target, key, render(value)) for target in (GLOBAL, Target("chat", session)) for key, value in values.items()]
    base.run(put_all, ACCOUNT, puts, base.now)
    layers = base.run(load_layers, ACCOUNT, session, "main", None, None)
    for scope in ("global", "chat"):
        assert {key: variable.value for key, variable in layers[scope].items()} == values
        assert {variable.target.scope for variable in layers[scope].values()} == {scope}
    assert layers["branch"] == {}


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


def test_resolving_builds_no_sql(base: Database) -> None:
    session = base.add_session()
    floor = base.add_floor(session)
    page = base.add_page(floor)
    built: list[str] = []

    def looked(db: Connection) -> None:
        def profile(frame: FrameType, event: str, _: object) -> None:
            file, name = frame.f_code.co_filename, frame.f_code.co_name
            is_built = file.endswith(("sql/compiler.py", "sql/selectable.py")) and name in ("__init__", "visit_select")
            if event == "call" and is_built:
                built.append(f"{file}: {name}")

        load_place(db, ACCOUNT, session, "main", floor, page)
        sys.setprofile(profile)
        try:
            load_place(db, ACCOUNT, session, "main", floor, page)
        finally:
            sys.setprofile(None)

    base.read(looked)
    assert not built
