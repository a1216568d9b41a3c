"""Whatever is done to them in whatever order, the durable variables agree with the model."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from agentui.chats import conversations, rows
from agentui.jsonio import Json
from agentui.variables.committing import commit_staged
from agentui.variables.errors import DuplicateTarget, HostNotFound, SnapshotMissing, TargetLocked, VariableChanged
from agentui.variables.records import Filter, Put, find, put, put_all, remove
from agentui.variables.resolve import load_layers, resolve
from agentui.variables.scopes import SCOPES, Target, branch_target
from agentui.variables.snapshots import fork_branch_variables
from agentui.variables.staging import Staged
from agentui.variables.values import render
from tests.variables.database import ACCOUNT, Database, save_branch_snapshot
from tests.variables.model import Floor, Model, text_of
from tests.variables.values import json_values

letters = st.characters(codec="utf-8", exclude_characters="\0")
keys = st.one_of(st.sampled_from(["gold", "mood", "金", "a.b"]), st.text(letters, min_size=1, max_size=4))
branch_names = st.sampled_from(["alt", "side:way", "金"])


class Tiers(RuleBasedStateMachine):
    """Hosts come and go; variables are written alone, together and by runs; branches fork."""

    base: Database

    def __init__(self) -> None:
        super().__init__()
        self.base.empty()
        self.model = Model()
        self.runs: list[tuple[str, Staged, dict[Target, dict[str, str]]]] = []

    def _some_target(self, data: st.DataObject) -> Target:
        strangers = [
            Target("chat", "nobody"),
            branch_target("nobody", "main"),
            Target("floor", "nobody"),
            Target("page", "nobody"),
        ]
        return data.draw(st.sampled_from([*self.model.targets(), strangers[data.draw(st.integers(0, 3))]]), label="target")

    @rule()
    def add_session(self) -> None:
        id = self.base.add_session()
        self.model.sessions.add(id)
        self.model.branches.add((id, "main"))

    @precondition(lambda self: self.model.sessions)
    @rule(data=st.data(), branch=branch_names)
    def add_branch(self, data: st.DataObject, branch: str) -> None:
        session = data.draw(st.sampled_from(sorted(self.model.sessions)))
        if (session, branch) not in self.model.branches:
            self.base.add_branch(session, branch)
            self.model.branches.add((session, branch))

    @precondition(lambda self: self.model.branches)
    @rule(data=st.data())
    def add_floor(self, data: st.DataObject) -> None:
        session, branch = data.draw(st.sampled_from(sorted(self.model.branches)))
        self.model.floors[self.base.add_floor(session, branch)] = Floor(session, branch)

    @precondition(lambda self: self.model.floors)
    @rule(data=st.data())
    def add_page(self, data: st.DataObject) -> None:
        floor = data.draw(st.sampled_from(sorted(self.model.floors)))
        self.model.pages[self.base.add_page(floor)] = floor

    @rule(data=st.data(), key=keys, value=json_values)
    def write(self, data: st.DataObject, key: str, value: Json) -> None:
        target = self._some_target(data)
        if target not in self.model.targets():
            with pytest.raises(HostNotFound):
                self.base.run(put, ACCOUNT, Put(target, key, render(value)), self.base.now)
        elif self.model.is_locked(target):
            with pytest.raises(TargetLocked):
                self.base.run(put, ACCOUNT, Put(target, key, render(value)), self.base.now)
        else:
            written = self.base.run(put, ACCOUNT, Put(target, key, render(value)), self.base.now)
            assert written.is_new == (key not in self.model.tier(target))
            self.model.tier(target)[key] = text_of(value)

    @rule(data=st.data(), items=st.lists(st.tuples(keys, json_values), min_size=1, max_size=5))
    def write_batch(self, data: st.DataObject, items: list[tuple[str, Json]]) -> None:
        puts = [Put(self._some_target(data), key, render(value)) for key, value in items]
        targets = {item.target for item in puts}
        known = set(self.model.targets())
        try:
            done = self.base.run(put_all, ACCOUNT, puts, self.base.now)
        except DuplicateTarget:
            assert len({(item.target, item.key) for item in puts}) < len(puts)
        except HostNotFound:
            assert not targets <= known
        except TargetLocked:
            assert any(self.model.is_locked(target) for target in targets & known)
        else:
            assert targets <= known
            assert not any(self.model.is_locked(target) for target in targets)
            assert len({(item.target, item.key) for item in puts}) == len(puts)
            for item, (key, value), written in zip(puts, items, done, strict=True):
                assert written.is_new == (key not in self.model.tier(item.target))
                self.model.tier(item.target)[key] = text_of(value)

    @rule(data=st.data())
    def delete_one(self, data: st.DataObject) -> None:
        variables, _ = self.base.read(find, ACCOUNT, Filter(), limit=100)
        if not variables:
            return
        variable = data.draw(st.sampled_from(variables))
        if self.model.is_locked(variable.target):
            with pytest.raises(TargetLocked):
                self.base.run(remove, ACCOUNT, variable.id)
        else:
            self.base.run(remove, ACCOUNT, variable.id)
            del self.model.tier(variable.target)[variable.key]

    @precondition(lambda self: any(not floor.is_locked for floor in self.model.floors.values()))
    @rule(data=st.data())
    def commit_floor(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(id for id, floor in self.model.floors.items() if not floor.is_locked)))
        floor = self.model.floors[id]
        self.base.run(save_branch_snapshot, ACCOUNT, id, self.base.now)
        self.base.set_state(id, "committed")
        floor.is_locked = True
        floor.snapshot = dict(self.model.tier(branch_target(floor.session, floor.branch)))

    @precondition(lambda self: self.model.floors)
    @rule(data=st.data(), branch=branch_names)
    def fork(self, data: st.DataObject, branch: str) -> None:
        id = data.draw(st.sampled_from(sorted(self.model.floors)))
        floor = self.model.floors[id]
        if (floor.session, branch) in self.model.branches:
            return
        self.base.add_branch(floor.session, branch)
        self.model.branches.add((floor.session, branch))
        fork = (ACCOUNT, floor.session, id, branch, self.base.now)
        if floor.snapshot is None:
            with pytest.raises(SnapshotMissing):
                self.base.run(fork_branch_variables, *fork)
        else:
            self.base.run(fork_branch_variables, *fork)
            self.model.tiers[branch_target(floor.session, branch)] = dict(floor.snapshot)

    @precondition(lambda self: self.model.branches and len(self.runs) < 3)
    @rule(data=st.data())
    def begin_run(self, data: st.DataObject) -> None:
        session, branch = data.draw(st.sampled_from(sorted(self.model.branches)))
        id = self.base.add_floor(session, branch, "generating")
        self.model.floors[id] = Floor(session, branch, is_locked=True)
        staged = Staged(self.base.read(load_layers, ACCOUNT, session, branch, id, None), now=lambda: self.base.now)
        self.runs.append((id, staged, {target: dict(values) for target, values in self.model.tiers.items()}))

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), key=keys, value=json_values, scope=st.sampled_from(SCOPES), reads=st.booleans())
    def stage(self, data: st.DataObject, key: str, value: Json, scope: str, reads: bool) -> None:
        _, staged, _ = data.draw(st.sampled_from(self.runs))
        # What a run writes is named by a path, in which dots lead on and spaces around a name are not part of it.
        if "." in key or key != key.strip():
            return
        if reads:
            value = [value, staged.view()[1][scope].get(key)]
        staged.stage(scope, key, value)
        assert text_of(staged.view()[1][scope][key]) == text_of(value)

    @precondition(lambda self: self.runs)
    @rule(data=st.data())
    def commit_run(self, data: st.DataObject) -> None:
        run = data.draw(st.sampled_from(self.runs))
        self.runs.remove(run)
        id, staged, before = run
        if id not in self.model.floors:
            return
        floor = self.model.floors[id]
        page = self.base.add_page(id)
        self.model.pages[page] = id
        places = {
            "global": Target("global", "global"),
            "chat": Target("chat", floor.session),
            "branch": branch_target(floor.session, floor.branch),
            "floor": Target("floor", id),
            "page": Target("page", page),
        }
        writes = staged.writes()
        try:
            self.base.run(commit_staged, ACCOUNT, "run", floor.session, floor.branch, id, page, writes, self.base.now)
        except VariableChanged as error:
            target, key = places[error.details["tier"]], error.details["key"]
            assert any(write.expected != "not read" for write in writes if (write.tier, write.key) == (target.scope, key))
            assert target.scope in ("global", "chat", "branch")
            return
        for write in writes:
            target = places[write.tier]
            if write.expected != "not read" and write.tier not in ("floor", "page"):
                assert self.model.tier(target).get(write.key) == before.get(target, {}).get(write.key)
            text = text_of(write.edits[-1].value)
            self.model.tier(target)[write.key] = text
        for write in writes:
            if write.tier == "floor":
                self.model.tier(places["page"]).setdefault(write.key, text_of(write.edits[-1].value))

    @precondition(lambda self: self.model.pages)
    @rule(data=st.data())
    def drop_page(self, data: st.DataObject) -> None:
        page = data.draw(st.sampled_from(sorted(self.model.pages)))
        self.base.run(rows.delete_page, ACCOUNT, page)
        self.model.drop_page(page)

    @precondition(lambda self: self.model.floors)
    @rule(data=st.data())
    def drop_floor(self, data: st.DataObject) -> None:
        floor = data.draw(st.sampled_from(sorted(self.model.floors)))
        self.base.run(rows.delete_floor, ACCOUNT, floor)
        self.model.drop_floor(floor)

    @precondition(lambda self: self.model.branches)
    @rule(data=st.data())
    def drop_branch(self, data: st.DataObject) -> None:
        session, branch = data.draw(st.sampled_from(sorted(self.model.branches)))
        self.base.run(rows.delete_branch, ACCOUNT, session, branch, 1)
        self.model.drop_branch(session, branch)

    @precondition(lambda self: len(self.model.sessions) > 1)
    @rule(data=st.data())
    def drop_session(self, data: st.DataObject) -> None:
        session = data.draw(st.sampled_from(sorted(self.model.sessions)))
        self.base.run(conversations.remove_session, ACCOUNT, session, self.base.now)
        self.model.drop_session(session)

    @precondition(lambda self: self.model.sessions)
    @rule(data=st.data())
    def look(self, data: st.DataObject) -> None:
        session = data.draw(st.sampled_from(sorted(self.model.sessions)))
        places: list[tuple[str | None, str | None, str | None]] = [(None, None, None)]
        places += [(branch, None, None) for of, branch in sorted(self.model.branches) if of == session]
        inside = {id: floor for id, floor in self.model.floors.items() if floor.session == session}
        places += [(floor.branch, id, None) for id, floor in inside.items()]
        places += [(inside[of].branch, of, page) for page, of in self.model.pages.items() if of in inside]
        place = data.draw(st.sampled_from(places), label="place")
        resolved = resolve(self.base.read(load_layers, ACCOUNT, session, *place))
        expected = self.model.visible(session, *place)
        assert list(resolved) == sorted(expected)
        assert {key: (winner.scope, text_of(winner.value.value)) for key, winner in resolved.items()} == expected

    @invariant()
    def the_list_is_complete(self) -> None:
        found = []
        total = 1
        while len(found) < total:
            part, total = self.base.read(find, ACCOUNT, Filter(), limit=100, offset=len(found), sort_by="key")
            if not part:
                break
            found += part
        assert len(found) == total
        assert {(item.scope, item.scope_id, item.key, text_of(item.value)) for item in found} == self.model.every()


@pytest.mark.timeout(300)
def test_the_store_agrees_with_the_model(base: Database) -> None:
    class OnThisStore(Tiers):
        pass

    OnThisStore.base = base
    run_state_machine_as_test(
        OnThisStore,
        settings=settings(
            max_examples=15, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
        ),
    )
