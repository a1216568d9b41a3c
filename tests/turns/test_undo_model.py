"""Whatever is played - turns, swipes, edits, other versions, going back - the counters agree with a plain model of them."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from agentui.chats.pages import activate_page
from agentui.chats.parts import Content
from agentui.jobs.runner import JobRunner
from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import branch_snapshots
from agentui.turns.request import Outcome, TurnKind
from agentui.turns.service import Turn, TurnService
from agentui.variables.scopes import Scope
from agentui.variables.values import parse
from tests.postgres import PATIENCE
from tests.turns.chat import ACCOUNT, COUNTERS, Chat

Cell = tuple[Scope, str]
"""A counter: its tier, and the branch where the tier is a branch's."""
SESSIONS = count()


@dataclass
class Version:
    """One answer: what its turn changed, as before and after by cell."""

    page_id: str
    changes: dict[Cell, tuple[int | None, int | None]]


@dataclass
class Floor:
    """A floor as the model has it; ``snapshot`` is its branch's counter as the floor left it."""

    id: str
    branch: str
    number: int
    parent: "Floor | None"
    question: str
    snapshot: int | None = None
    versions: list[Version] = field(default_factory=list)
    active: int = 0

    @property
    def answer(self) -> Version:
        return self.versions[self.active]

    @property
    def before(self) -> int | None:
        """The branch's counter before the floor."""
        return self.answer.changes.get(("branch", self.branch), (self.snapshot, None))[0]


@dataclass
class Model:
    """The counters, and the floors that each branch has, in order."""

    cells: dict[Cell, int | None] = field(default_factory=dict)
    branches: dict[str, list[Floor]] = field(default_factory=lambda: {"main": []})

    def cell(self, scope: Scope, branch: str) -> Cell:
        return scope, branch if scope == "branch" else ""

    def undo(self, version: Version) -> None:
        for cell, (before, after) in version.changes.items():
            if self.cells.get(cell) == after:
                self.cells[cell] = before

    def redo(self, version: Version) -> None:
        for cell, (before, after) in version.changes.items():
            if self.cells.get(cell) == before:
                self.cells[cell] = after

    def seen(self, floor: Floor | None, branch: str) -> dict[Scope, int | None]:
        """What a turn sees: what is there, or what was before the floor that it makes anew."""
        found = {scope: self.cells.get(self.cell(scope, branch)) for scope in COUNTERS}
        if floor is None:
            return found
        is_head = self.branches[branch][-1] is floor
        for (scope, _), (before, after) in floor.answer.changes.items():
            if not is_head or found[scope] == after:
                found[scope] = before
        return found if is_head else {**found, "branch": floor.before}

    def write(self, floor: Floor | None, branch: str, tiers: set[Scope]) -> dict[Cell, tuple[int | None, int | None]]:
        """A turn raises the counters of some tiers; what it changed."""
        seen, changes = self.seen(floor, branch), {}
        is_head = floor is None or self.branches[branch][-1] is floor
        old = {} if floor is None else floor.answer.changes
        for scope in COUNTERS:
            cell = self.cell(scope, branch)
            now, was = self.cells.get(cell), old.get(cell)
            left = (seen[scope] or 0) + 1 if scope in tiers else seen[scope]
            stands = (now == was[1]) if was and not is_head else is_head or now == seen[scope]
            if stands and (scope in tiers or (was and now == was[1])):
                self.cells[cell] = left
            if scope in tiers:
                changes[cell] = seen[scope], left
        return changes


class Player:
    """Plays the same on a chat and on the model."""

    def __init__(self, runner: asyncio.Runner, store: Store, turns: TurnService) -> None:
        self.runner, self.chat, self.model = runner, Chat(turns, store, name=f"tale {next(SESSIONS)}"), Model()

    def floors(self) -> list[Floor]:
        return [floor for name in sorted(self.model.branches) for floor in self.model.branches[name]]

    def respond(self, branch: str, tiers: set[Scope]) -> None:
        line = self.model.branches[branch]
        changes = self.model.write(None, branch, tiers)
        turn = self._play("respond", tiers, branch=branch, text="Hi")
        parent = line[-1] if line else None
        floor = Floor(turn.place.floor_id, branch, turn.place.floor.floor_no, parent, "")
        self._answered(floor, turn, changes)
        line.append(floor)

    def retry(self, floor: Floor, tiers: set[Scope]) -> None:
        before = floor.before
        is_head = self.model.branches[floor.branch][-1] is floor
        changes = self.model.write(floor, floor.branch, tiers)
        turn = self._play("retry_turn", tiers, target_floor_id=floor.id)
        self._answered(floor, turn, changes)
        if not is_head:
            floor.snapshot = changes.get(("branch", floor.branch), (None, before))[1]

    def regenerate(self, branch: str, tiers: set[Scope]) -> None:
        line = self.model.branches[branch]
        if line:
            old = line[-1]
            changes = self.model.write(old, branch, tiers)
            turn = self._play("regenerate_page", tiers, branch=branch)
            line[-1] = Floor(turn.place.floor_id, branch, old.number, old.parent, "")
            self._answered(line[-1], turn, changes)

    def edit(self, floor: Floor, tiers: set[Scope]) -> None:
        name = f"b{len(self.model.branches)}"
        self.model.branches[name] = []
        self.model.cells["branch", name] = floor.before
        changes = self.model.write(None, name, tiers)
        message_id, _ = self.runner.run(self.chat.question(floor.id))
        turn = self._play("edit_and_regenerate", tiers, text="Hi!", source_message_id=message_id, branch=name)
        edited = Floor(turn.place.floor_id, name, floor.number, floor.parent, "")
        self._answered(edited, turn, changes)
        self.model.branches[name].append(edited)

    def activate(self, floor: Floor, number: int) -> None:
        number %= len(floor.versions)
        is_head, before = self.model.branches[floor.branch][-1] is floor, floor.before
        self.runner.run(self.chat.store.write(activate_page, ACCOUNT, floor.versions[number].page_id, 9))
        if number == floor.active:
            return
        self.model.undo(floor.answer)
        floor.active = number
        self.model.redo(floor.answer)
        cell: Cell = ("branch", floor.branch)
        floor.snapshot = self.model.cells.get(cell) if is_head else floor.answer.changes.get(cell, (None, before))[1]

    def reset(self, floor: Floor) -> None:
        self.runner.run(self.chat.reset(floor.id, floor.branch))
        line = self.model.branches[floor.branch]
        while line[-1] is not floor:
            changes = {cell: change for cell, change in line.pop().answer.changes.items() if cell[0] != "branch"}
            self.model.undo(Version("", changes))
        self.model.cells["branch", floor.branch] = floor.snapshot

    def fail(self, floor: Floor) -> None:
        turn = self.runner.run(self.chat.begin("retry_turn", target_floor_id=floor.id))
        turn.staged().stage("chat", "n", 1000)
        self.runner.run(turn.fail({"code": "x", "message": "x"}))

    def put(self, scope: Scope, branch: str, value: int) -> None:
        self.runner.run(self.chat.set(scope, str(value), branch))
        self.model.cells[self.model.cell(scope, branch)] = value

    def check(self) -> None:
        """Both agree."""
        for branch in self.model.branches:
            kept = self.runner.run(self.chat.counters(branch))
            wanted = {scope: self.model.cells.get(self.model.cell(scope, branch)) for scope in COUNTERS}
            assert kept == {scope: value for scope, value in wanted.items() if value is not None}, branch
        kept = self.runner.run(self.chat.store.read(_snapshots, [floor.id for floor in self.floors()]))
        assert kept == {floor.id: floor.snapshot for floor in self.floors()}

    def _play(self, kind: TurnKind, tiers: set[Scope], text: str | None = None, **more: str) -> Turn:
        async def play() -> Turn:
            turn = await self.chat.begin(kind, text, **more)
            staged = turn.staged()
            for scope in sorted(tiers):
                staged.stage(scope, "n", staged.view()[1][scope].get("n", 0) + 1)
            await turn.commit(Outcome(Content("Hello.")))
            return turn

        return self.runner.run(play())

    def _answered(self, floor: Floor, turn: Turn, changes: dict[Cell, tuple[int | None, int | None]]) -> None:
        floor.versions.append(Version(turn.place.floor.output_page_id, changes))
        floor.active = len(floor.versions) - 1
        floor.snapshot = self.model.cells.get(("branch", floor.branch))


def _snapshots(db: Connection, floor_ids: list[str]) -> Mapping[str, int | None]:
    query = select(branch_snapshots.c.floor_id, branch_snapshots.c.values_json)
    rows = db.execute(query.where(branch_snapshots.c.floor_id.in_(floor_ids)))
    return {row.floor_id: parse(row.values_json).get("n") for row in rows}


TIERS = st.one_of(st.just(set(COUNTERS)), st.sets(st.sampled_from(COUNTERS)))
PLAY = st.tuples(
    st.sampled_from(["respond"] * 3 + ["retry"] * 3 + ["regenerate", "edit", "activate", "activate", "reset", "fail", "set"]),
    st.sampled_from([0, 0, 0, 1, 2, 5]),
    st.integers(0, 3),
    TIERS,
)


def play(player: Player, moves: list[tuple[str, int, int, set[Scope]]]) -> None:
    """Play moves one after the other; what a move needs and is not there makes it a new turn."""
    for move, place, number, tiers in moves:
        floors, names = player.floors(), sorted(player.model.branches)
        branch = names[place % len(names)]
        if move == "set":
            player.put(COUNTERS[number % 3], branch, 100 + place)
        elif move == "respond" or not floors or (move == "regenerate" and not player.model.branches[branch]):
            player.respond(branch, tiers)
        elif move == "regenerate":
            player.regenerate(branch, tiers)
        else:
            go_back(player, move, floors[-1 - place % len(floors)], number, tiers)
        player.check()


def go_back(player: Player, move: str, floor: Floor, number: int, tiers: set[Scope]) -> None:
    """A move that goes back to a floor."""
    match move:
        case "retry":
            player.retry(floor, tiers)
        case "edit":
            player.edit(floor, tiers)
        case "activate":
            player.activate(floor, number)
        case "reset":
            player.reset(floor)
        case "fail":
            player.fail(floor)


@pytest.fixture
def table(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[asyncio.Runner, Store, TurnService]]:
    """A store that chats are played on, one after the other."""
    store: Store
    with asyncio.Runner() as runner:
        if engine == "sqlite":
            store = SqliteStore(tmp_path / "agentui.db")
        else:
            store = PostgresStore(request.getfixturevalue("database"), pool_size=2, patience=PATIENCE)
        turns = TurnService(store, JobRunner(store, "test"), "test", queue_seconds=0, is_alone=engine == "sqlite")
        yield runner, store, turns
        runner.run(turns.close())
        runner.run(store.close())


EXAMPLES = {"sqlite": 25, "postgresql": 10}
"""The plays of each engine: what they have in common is tried on the quicker one."""


def test_counters_are_what_a_plain_model_says(table: tuple[asyncio.Runner, Store, TurnService], engine: str) -> None:
    @settings(max_examples=EXAMPLES[engine])
    @given(moves=st.lists(PLAY, min_size=8, max_size=20))
    def are_counted(moves: list[tuple[str, int, int, set[Scope]]]) -> None:
        runner, store, turns = table
        player = Player(runner, store, turns)
        runner.run(player.chat.forget_global())
        player.respond("main", set())
        play(player, moves)

    are_counted()
