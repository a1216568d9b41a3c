"""What a run writes: seen by its later nodes at once, durable with its floor, and never at another's cost."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from agentui.jsonio import Json
from agentui.variables.committing import commit_staged
from agentui.variables.errors import CannotStage, VariableChanged
from agentui.variables.ledger import read_promotions, read_staged
from agentui.variables.paths import read
from agentui.variables.records import Filter, Put, find, put, remove
from agentui.variables.resolve import load_global, load_layers, resolve
from agentui.variables.scopes import GLOBAL, SCOPES, Scope, Target, branch_target
from agentui.variables.staging import NOT_READ, Staged
from agentui.variables.values import render
from tests.variables.database import ACCOUNT, Database


@dataclass
class Run:
    """One turn on a branch: its floor generates, its buffer holds what was durable when it began."""

    base: Database
    session: str
    floor: str
    staged: Staged
    branch: str = "main"

    @property
    def merged(self) -> Mapping[str, Json]:
        return self.staged.view()[0]

    @property
    def tiers(self) -> Mapping[Scope, Mapping[str, Json]]:
        return self.staged.view()[1]

    def commit(self) -> str:
        """Commit the turn; returns the output page."""
        page = self.base.add_page(self.floor)
        ids = ("run-1", self.session, self.branch, self.floor, page)
        self.base.run(commit_staged, ACCOUNT, *ids, self.staged.writes(), self.base.now)
        self.base.set_state(self.floor, "committed")
        return page


@pytest.fixture
def session(base: Database) -> str:
    return base.add_session()


def begin(base: Database, session: str, branch: str = "main") -> Run:
    floor = base.add_floor(session, branch, "generating")
    layers = base.run(load_layers, ACCOUNT, session, branch, floor, None)
    return Run(base, session, floor, Staged(layers, now=lambda: base.now), branch)


def durable(base: Database, *place: str | None) -> dict[str, Json]:
    layers = base.run(load_layers, ACCOUNT, *place)
    return {key: winner.value.value for key, winner in resolve(layers).items()}


def write(base: Database, target: Target, key: str, value: Json) -> str:
    return base.run(put, ACCOUNT, Put(target, key, render(value)), base.now).variable.id


def test_a_staged_value_shows_to_the_run_at_once_and_to_nobody_else(base: Database, session: str) -> None:
    write(base, Target("chat", session), "gold", 1)
    run = begin(base, session)
    view, tiers = run.staged.view()
    run.staged.stage("branch", "gold", 2)
    run.staged.stage("chat", "mood", {"now": "calm"})
    assert view["gold"] == 2
    assert tiers["chat"]["gold"] == 1
    assert tiers["branch"]["gold"] == 2
    assert dict(view) == {"gold": 2, "mood": {"now": "calm"}}
    assert len(view) == 2
    assert durable(base, session, "main", None, None) == {"gold": 1}
    run.commit()
    assert durable(base, session, "main", None, None) == {"gold": 2, "mood": {"now": "calm"}}


def test_every_tier_ends_where_it_belongs(base: Database, session: str) -> None:
    run = begin(base, session)
    for scope in SCOPES:
        run.staged.stage(scope, f"of {scope}", scope)
    page = run.commit()
    layers = base.run(load_layers, ACCOUNT, session, "main", run.floor, page)
    held = {scope: {key: variable.value for key, variable in tier.items()} for scope, tier in layers.items()}
    assert held == {
        "global": {"of global": "global"},
        "chat": {"of chat": "chat"},
        "branch": {"of branch": "branch"},
        "floor": {"of floor": "floor"},
        "page": {"of page": "page", "of floor": "floor"},
    }


def test_the_ledger_tells_what_became_of_page_and_floor_writes(base: Database, session: str) -> None:
    run = begin(base, session)
    source: Json = {"toolName": "set_variable", "providerId": "builtin"}
    run.staged.stage("floor", "mood", "steady", reason="builtin:set_variable", source=source)
    run.staged.stage("page", "note", [1])
    run.staged.stage("chat", "gold", 3)
    staged_at = base.now
    page = run.commit()
    layers = base.run(load_layers, ACCOUNT, session, "main", run.floor, page)
    told = base.run(read_staged, ACCOUNT, page)
    items = told.pop("items")
    place = {"page_id": page, "floor_id": run.floor, "session_id": session, "branch_id": "main"}
    assert told == place
    resolved_at = layers["page"]["note"].updated_at
    evidence = {"runId": "run-1", "generationAttemptNo": 1}
    beside = {
        "source_kind": "tool",
        "actor_client_id": None,
        "evidence_json": evidence,
        "rerouted_target": None,
        "linked_session_state_mutation_id": None,
    }
    assert [{name: value for name, value in item.items() if name != "id"} for item in items] == [
        {
            **beside,
            "source_json": source,
            "decision_code": None,
            "key": "mood",
            "op": "set",
            "value": "steady",
            "intent": "promote_to_floor_on_accept",
            "conflict_policy": "replace",
            "reason": "builtin:set_variable",
            "source": source,
            "evidence": {"runId": "run-1", "generationAttemptNo": 1},
            "status": "promoted",
            "decision_reason": None,
            "created_at": staged_at,
            "resolved_at": resolved_at,
        },
        {
            **beside,
            "source_json": {},
            "decision_code": None,
            "key": "note",
            "op": "set",
            "value": [1],
            "intent": "page_only",
            "conflict_policy": "replace",
            "reason": None,
            "source": {},
            "evidence": {"runId": "run-1", "generationAttemptNo": 1},
            "status": "accepted_page_only",
            "decision_reason": None,
            "created_at": staged_at,
            "resolved_at": resolved_at,
        },
    ]
    promoted = base.run(read_promotions, ACCOUNT, page)
    (trace,) = promoted.pop("items")
    assert promoted == place
    assert trace.pop("id") not in {item["id"] for item in items}
    assert trace == {
        **beside,
        "source": source,
        "source_json": source,
        "evidence": evidence,
        "decision_code": "promotion_allowed",
        "decision_reason": None,
        "staged_write_id": items[0]["id"],
        "key": "mood",
        "from_scope": "page",
        "from_scope_id": page,
        "to_scope": "floor",
        "to_scope_id": run.floor,
        "conflict_policy": "replace",
        "source_variable_id": layers["page"]["mood"].id,
        "target_variable_id": layers["floor"]["mood"].id,
        "value": "steady",
        "created_at": resolved_at,
    }


@pytest.mark.parametrize("order", [("page", "floor"), ("floor", "page")])
def test_a_pages_own_value_outlives_a_promotion_of_the_same_key(base: Database, session: str, order: tuple[Scope, ...]) -> None:
    run = begin(base, session)
    for scope in order:
        run.staged.stage(scope, "mood", f"of {scope}")
    page = run.commit()
    layers = base.run(load_layers, ACCOUNT, session, "main", run.floor, page)
    assert (layers["page"]["mood"].value, layers["floor"]["mood"].value) == ("of page", "of floor")


def test_a_path_is_kept_in_its_root_variable(base: Database, session: str) -> None:
    write(base, branch_target(session, "main"), "资产", {"银币": 5})
    run = begin(base, session)
    run.staged.stage("branch", "资产.金币", 3)
    run.staged.stage("branch", '装备["剑.名"]', "青锋")
    assert read(run.merged, "资产.金币") == 3
    assert run.tiers["branch"]["资产"] == {"银币": 5, "金币": 3}
    run.commit()
    assert durable(base, session, "main", None, None) == {"资产": {"银币": 5, "金币": 3}, "装备": {"剑.名": "青锋"}}


def test_a_flat_name_with_a_dot_is_written_as_it_is(base: Database, session: str) -> None:
    write(base, Target("chat", session), "assets.gold", 1)
    write(base, Target("chat", session), "assets", {"gold": 5})
    run = begin(base, session)
    run.staged.stage("chat", "assets.gold", 2)
    run.commit()
    assert durable(base, session, None, None, None) == {"assets.gold": 2, "assets": {"gold": 5}}


def test_what_a_whole_value_replaces_is_forgotten(base: Database, session: str) -> None:
    run = begin(base, session)
    run.staged.stage("chat", "bag.gold", 1)
    run.staged.stage("chat", "bag", {"rope": 1})
    run.staged.stage("chat", "bag.lamp", 1)
    run.commit()
    assert durable(base, session, None, None, None) == {"bag": {"rope": 1, "lamp": 1}}


def test_a_staged_value_is_a_copy(base: Database, session: str) -> None:
    run = begin(base, session)
    value: Json = {"gold": [1]}
    run.staged.stage("chat", "bag", value)
    value["gold"].append(2)
    assert run.merged["bag"] == {"gold": [1]}
    run.commit()
    assert durable(base, session, None, None, None) == {"bag": {"gold": [1]}}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("gold.coins", 1, "a number"),
        ("", 1, "at least 1 character"),
        ("big", "x" * 2**20, "1048576 bytes"),
        ("odd", object(), "only JSON"),
    ],
)
def test_what_cannot_be_kept_fails_in_the_node_that_writes_it(
    base: Database, session: str, path: str, value: Json, said: str
) -> None:
    write(base, Target("chat", session), "gold", 5)
    run = begin(base, session)
    with pytest.raises(CannotStage, match=said) as caught:
        run.staged.stage("chat", path, value)
    assert caught.value.status == 422
    assert run.staged.writes() == ()


def test_without_a_session_only_global_variables_are_written(base: Database) -> None:
    write(base, GLOBAL, "gold", 1)
    staged = Staged(base.run(load_global, ACCOUNT), writable=("global",), now=lambda: base.now)
    for scope in SCOPES[1:]:
        with pytest.raises(CannotStage, match="names no session"):
            staged.stage(scope, "gold", 2)
    staged.stage("global", "gold", staged.view()[0]["gold"] + 1)
    base.run(commit_staged, ACCOUNT, "run-1", None, None, None, None, staged.writes(), base.now)
    assert base.run(load_global, ACCOUNT)["global"]["gold"].value == 2


def test_nothing_staged_is_nothing_written(base: Database, session: str) -> None:
    run = begin(base, session)
    run.commit()
    assert base.run(find, ACCOUNT, Filter()) == ([], 0)


SHARED_TARGETS: list[Scope] = ["global", "chat", "branch"]


def target_of(scope: Scope, session: str) -> Target:
    return {"global": GLOBAL, "chat": Target("chat", session), "branch": branch_target(session, "main")}[scope]


@pytest.mark.parametrize("scope", SHARED_TARGETS)
def test_no_increment_overwrites_another(base: Database, session: str, scope: Scope) -> None:
    write(base, target_of(scope, session), "gold", 0)
    runs = [begin(base, session) for _ in range(2)]
    for run in runs:
        run.staged.stage(scope, "gold", run.merged["gold"] + 1)
    runs[0].commit()
    with pytest.raises(VariableChanged) as caught:
        runs[1].commit()
    assert (caught.value.status, caught.value.code) == (409, "variable_conflict")
    assert base.run(read_staged, ACCOUNT, base.add_page(runs[1].floor))["items"] == []
    again = begin(base, session)
    again.staged.stage(scope, "gold", again.merged["gold"] + 1)
    again.commit()
    assert durable(base, session, "main", None, None) == {"gold": 2}


def test_runs_that_try_again_after_a_conflict_count_every_one(base: Database, session: str) -> None:
    waiting = [begin(base, session) for _ in range(12)]
    rounds = 0
    while waiting:
        rounds += 1
        for run in waiting:
            run.staged.stage("chat", "gold", run.merged.get("gold", 0) + 1)
        lost = 0
        for run in waiting:
            try:
                run.commit()
            except VariableChanged:
                lost += 1
        waiting = [begin(base, session) for _ in range(lost)]
    assert rounds == 12
    assert durable(base, session, None, None, None) == {"gold": 12}


@pytest.mark.parametrize("scope", SHARED_TARGETS)
def test_two_who_both_found_nothing_do_not_both_begin(base: Database, session: str, scope: Scope) -> None:
    first, second = begin(base, session), begin(base, session)
    for run in (first, second):
        run.staged.stage(scope, "gold", run.tiers[scope].get("gold", 0) + 1)
    first.commit()
    with pytest.raises(VariableChanged):
        second.commit()


def test_a_value_read_through_a_farther_tier_guards_the_nearer_one(base: Database, session: str) -> None:
    write(base, GLOBAL, "gold", 10)
    run = begin(base, session)
    run.staged.stage("chat", "gold", run.merged["gold"] + 1)
    write(base, Target("chat", session), "gold", 99)
    with pytest.raises(VariableChanged):
        run.commit()


def test_a_write_without_a_read_simply_wins(base: Database, session: str) -> None:
    target = Target("chat", session)
    write(base, target, "mood", "calm")
    run = begin(base, session)
    run.staged.stage("chat", "mood", "wild")
    assert run.merged["mood"] == "wild"
    run.staged.stage("chat", "mood", "wilder")
    write(base, target, "mood", "tense")
    assert [item.expected for item in run.staged.writes()] == [NOT_READ]
    run.commit()
    assert durable(base, session, None, None, None) == {"mood": "wilder"}


def test_reading_what_one_does_not_write_is_no_conflict(base: Database, session: str) -> None:
    write(base, Target("chat", session), "gold", 1)
    run = begin(base, session)
    run.staged.stage("chat", "mood", f"has {run.merged['gold']}")
    write(base, Target("chat", session), "gold", 2)
    run.commit()
    assert durable(base, session, None, None, None) == {"gold": 2, "mood": "has 1"}


def test_reading_a_whole_tier_is_reading_each_of_its_variables(base: Database, session: str) -> None:
    write(base, Target("chat", session), "gold", 1)
    run = begin(base, session)
    run.staged.stage("chat", "gold", sum(run.tiers["chat"].values()))
    write(base, Target("chat", session), "gold", 2)
    with pytest.raises(VariableChanged):
        run.commit()


def test_a_variable_deleted_and_made_again_is_another(base: Database, session: str) -> None:
    target = Target("chat", session)
    old = write(base, target, "gold", 1)
    run = begin(base, session)
    run.staged.stage("chat", "gold", run.merged["gold"] + 1)
    base.run(remove, ACCOUNT, old)
    write(base, target, "gold", 1)
    with pytest.raises(VariableChanged):
        run.commit()


def test_two_runs_that_write_different_paths_both_count(base: Database, session: str) -> None:
    first, second = begin(base, session), begin(base, session)
    first.staged.stage("chat", "assets.gold", 1)
    second.staged.stage("chat", "assets.silver", 2)
    first.commit()
    second.commit()
    assert durable(base, session, None, None, None) == {"assets": {"gold": 1, "silver": 2}}


def test_reading_a_root_after_writing_into_it_is_reading_what_was_there(base: Database, session: str) -> None:
    run = begin(base, session)
    run.staged.stage("chat", "assets.gold", 1)
    run.staged.stage("chat", "assets.rich", bool(run.merged["assets"]))
    write(base, Target("chat", session), "assets", {"silver": 2})
    with pytest.raises(VariableChanged):
        run.commit()


def test_a_path_whose_root_became_a_number_is_a_conflict(base: Database, session: str) -> None:
    run = begin(base, session)
    run.staged.stage("chat", "assets.gold", 1)
    write(base, Target("chat", session), "assets", 5)
    with pytest.raises(VariableChanged):
        run.commit()
    assert durable(base, session, None, None, None) == {"assets": 5}


@pytest.mark.parametrize("value", [int("9" * 310), {"a": [-int("9" * 400)]}, 10**4000])
def test_a_number_that_no_database_reads_back_is_refused(value: object) -> None:
    staged = Staged({}, writable=("global",), now=lambda: 0)
    with pytest.raises(CannotStage, match="kept"):
        staged.stage("global", "n", value)
    staged.stage("global", "n", 2**256)
    assert staged.view()[0]["n"] == 2**256
