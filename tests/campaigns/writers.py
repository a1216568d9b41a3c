"""Many who write the five tiers at once, against a model (reliability S14).

Single writes, batches, removals, commits of runs that read before, and transactions that fail halfway are under way side by
side, and readers look in between. As its last statement each transaction takes the next moment, so the moments are the order
in which the transactions became durable. Replayed in that order, a model that knows no concurrency must agree with every
answer, and with what every reader saw: the row's ids, versions and texts, at the moment that the reader saw with them.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from sqlalchemy import Connection, Integer, Text, cast, insert, update

from agentui.chats import rows
from agentui.jsonio import Json
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.base import Store
from agentui.store.postgres import PostgresStore
from agentui.store.sqlite import SqliteStore
from agentui.store.tables import branches, floors, pages, sessions, variables
from agentui.variables.committing import commit_staged
from agentui.variables.errors import HostNotFound, VariableChanged, VariableNotFound
from agentui.variables.records import Put, Variable, put, put_all, remove
from agentui.variables.resolve import Layers, load_layers, load_targets
from agentui.variables.scopes import GLOBAL, Scope, Target, branch_target
from agentui.variables.staging import NOT_READ, Staged, Stamp, Write
from agentui.variables.values import render
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.kills import house_of
from tests.postgres import PATIENCE

HANDS = 24
"""Who write at once."""
ROUND = 50
"""Operations of each hand between two looks at everything."""
SESSIONS = ("a", "b", "c")
BRANCHES = ("main", "alt")
KEYS = ("gold", "mood", "金", "deep.er")
MOMENT = "moment"
NOW = 1_735_689_600_000
NOBODY = Target("chat", "nobody")
Place = tuple[Target, str]
"""A tier and a key: where one variable stands."""


class OnPurpose(Exception):
    """A transaction that fails after it has written."""


@dataclass(frozen=True)
class Wrote:
    """A variable as a transaction left it; ``expected`` is what a run had read."""

    row: Variable
    expected: Stamp | str | None = NOT_READ


@dataclass(frozen=True)
class Removed:
    """A variable that a transaction removed by its id."""

    place: Place
    id: str


@dataclass(frozen=True)
class Done:
    """A durable transaction: its moment, and what it did."""

    moment: int
    effects: Sequence[Wrote | Removed]


@dataclass(frozen=True)
class Seen:
    """What one reader saw, and at which moment."""

    moment: int
    targets: Sequence[Target]
    rows: frozenset[Variable]


@dataclass
class Replay:
    """The model: every variable by its place, and the moment up to which it is known."""

    moment: int = 0
    rows: dict[Place, Variable] = field(default_factory=dict)

    def apply(self, done: Done) -> str:
        """Do what a transaction did; what cannot have happened so, or ""."""
        if done.moment != self.moment + 1:
            return f"after moment {self.moment} comes {done.moment}: a transaction is lost or counted twice"
        self.moment = done.moment
        for effect in done.effects:
            if isinstance(effect, Removed):
                if (there := self.rows.get(effect.place)) is not None and there.id == effect.id:
                    del self.rows[effect.place]
            elif wrong := self._write(effect):
                return f"moment {done.moment}: {wrong}"
        return ""

    def _write(self, effect: Wrote) -> str:
        row = effect.row
        place = row.target, row.key
        before = self.rows.get(place)
        self.rows[place] = row
        stamp = None if before is None else Stamp(before.id, before.version)
        if effect.expected != NOT_READ and effect.expected != stamp:
            return f"a run that had read {effect.expected} replaced {before}: an update is lost"
        if (row.id, row.version) != ((before.id, before.version + 1) if before is not None else (row.id, 1)):
            return f"{before} became {row}"
        return ""

    def wrong_in(self, seen: Seen) -> str:
        """What a reader cannot have seen at this moment, or ""."""
        known = {row for row in self.rows.values() if row.target in seen.targets}
        return (
            ""
            if known == seen.rows
            else f"moment {seen.moment}: a reader saw {seen.rows - known} instead of {known - seen.rows}"
        )


@dataclass
class Writers:
    """All hands on one store."""

    trial: Trial
    store: Store
    replay: Replay = field(default_factory=Replay)
    done: list[Done] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    floors: list[str] = field(default_factory=list)
    numbers: int = 0

    async def work(self) -> None:
        """Round after round, each replayed at its end, until there were enough operations."""
        await self.store.write(_found)
        while self.trial.counts["operations"] < self.trial.size and not self.trial.is_over() and not self.trial.failures:
            chances = [random.Random(self.trial.random.random()) for _ in range(HANDS)]
            async with asyncio.TaskGroup() as group:
                for chance in chances:
                    group.create_task(self._hand(chance))
            await self._leave_floors()
            await self._look(EVERYWHERE)
            self._replay()

    async def _hand(self, chance: random.Random) -> None:
        kinds = (self._put, self._put_several, self._remove, self._run, self._fail, self._read)
        for _ in range(ROUND):
            kind = chance.choices(kinds, (30, 10, 8, 25, 7, 20))[0]
            await kind(chance)
            self.trial.counts["operations"] += 1
            self.trial.counts[kind.__name__.strip("_").replace("_", " ")] += 1

    async def _put(self, chance: random.Random) -> None:
        await self._write(_putting, [self._wish(chance)])

    async def _put_several(self, chance: random.Random) -> None:
        wishes = {(wish.target, wish.key): wish for wish in (self._wish(chance) for _ in range(chance.randint(2, 5)))}
        await self._write(_putting, list(wishes.values()))

    async def _remove(self, chance: random.Random) -> None:
        await self._write(_removing, chance.choice(EVERYWHERE), chance.choice(KEYS))

    async def _run(self, chance: random.Random) -> None:
        """A run reads, others write meanwhile, and it commits what it read and changed."""
        session, branch = chance.choice(SESSIONS), chance.choice(BRANCHES)
        layers = await self.store.read(load_layers, DEFAULT_ACCOUNT, session, branch, None, None)
        layers["global"].pop(MOMENT)
        staged = Staged({**layers, "floor": {}, "page": {}}, now=lambda: NOW)
        scope: Scope = chance.choice(("global", "chat", "branch"))
        key = chance.choice(KEYS[:3])
        if chance.random() < 0.8:
            staged.stage(scope, key, [len(str(staged.view()[1][scope].get(key))), chance.randrange(1000)])
        else:
            staged.stage(scope, key, chance.randrange(1000))
        if chance.random() < 0.5:
            staged.stage("floor", chance.choice(KEYS[:3]), chance.randrange(1000))
        if chance.random() < 0.3:
            await asyncio.sleep(0)
        self.numbers += 1
        floor = f"floor{self.numbers}"
        try:
            await self._write(_committing, session, branch, floor, staged.writes())
        except VariableChanged:
            self.trial.counts["runs that somebody forestalled"] += 1
        else:
            self.floors.append(floor)

    async def _fail(self, chance: random.Random) -> None:
        """A transaction that ends badly, of which nothing may stay."""
        wishes = [self._wish(chance)]
        if chance.random() < 0.5:
            wishes.append(Put(NOBODY, "gold", "1"))
        try:
            await self._write(failing, wishes)
        except (HostNotFound, OnPurpose):
            return
        self.trial.fail("A transaction that fails has succeeded.")

    async def _read(self, chance: random.Random) -> None:
        session, branch = chance.choice(SESSIONS), chance.choice(BRANCHES)
        await self._look((GLOBAL, Target("chat", session), branch_target(session, branch)))

    async def _look(self, targets: Sequence[Target]) -> None:
        self.seen.append(await self.store.read(_looking, targets))

    async def _leave_floors(self) -> None:
        """Remove the round's floors: their variables were checked when they were written."""
        left, self.floors = self.floors, []
        for floor in left:
            await self.store.write(rows.delete_floor, DEFAULT_ACCOUNT, floor)

    async def _write(self, transaction: Callable[..., Sequence[Wrote | Removed]], *args: object) -> None:
        self.done.append(await self.store.write(_at_its_moment, transaction, args))

    def _wish(self, chance: random.Random) -> Put:
        value: Json = chance.choice((chance.randrange(1000), {"n": chance.random()}, "text " * chance.randrange(9), None))
        return Put(chance.choice(EVERYWHERE), chance.choice(KEYS), render(value))

    def _replay(self) -> None:
        """Do in the model what was done in the round, in the order of the moments."""
        by_moment = defaultdict(list)
        for seen in self.seen:
            by_moment[seen.moment].append(seen)
        for done in (None, *sorted(self.done, key=lambda done: done.moment)):
            wrong = [] if done is None else [self.replay.apply(done)]
            for what in (*wrong, *(self.replay.wrong_in(seen) for seen in by_moment.pop(self.replay.moment, ()))):
                if what:
                    self.trial.fail(what)
        for moment in by_moment:
            self.trial.fail(f"A reader saw moment {moment}, at which nothing was done.")
        self.trial.counts["transactions"] += len(self.done)
        self.trial.counts["views"] += len(self.seen)
        self.done.clear()
        self.seen.clear()


EVERYWHERE = (
    GLOBAL,
    *(Target("chat", session) for session in SESSIONS),
    *(branch_target(session, branch) for session in SESSIONS for branch in BRANCHES),
)


def _found(db: Connection) -> None:
    """Make the hosts, and the row of the moments."""
    times = {"created_at": NOW, "updated_at": NOW}
    for session in SESSIONS:
        db.execute(insert(sessions).values(id=session, account_id=DEFAULT_ACCOUNT, **times))
        for branch in BRANCHES:
            row = {"session_id": session, "branch_id": branch, "account_id": DEFAULT_ACCOUNT}
            db.execute(insert(branches).values(**row, **times))
    put(db, DEFAULT_ACCOUNT, Put(GLOBAL, MOMENT, "0"), NOW)


def _at_its_moment(db: Connection, transaction: Callable[..., Sequence[Wrote | Removed]], args: Sequence[object]) -> Done:
    """Do something, and take the next moment: its row is held until the commit, so later moments are later commits."""
    effects = transaction(db, *args)
    number = cast(cast(variables.c.value_json, Integer) + 1, Text)
    of = (variables.c.scope == "global", variables.c.key == MOMENT)
    taken = update(variables).where(*of).values(value_json=number).returning(variables.c.value_json)
    return Done(int(db.execute(taken).scalar_one()), effects)


def _putting(db: Connection, wishes: Sequence[Put]) -> Sequence[Wrote]:
    return [Wrote(written.variable) for written in put_all(db, DEFAULT_ACCOUNT, wishes, NOW)]


def _removing(db: Connection, target: Target, key: str) -> Sequence[Removed]:
    there = load_targets(db, DEFAULT_ACCOUNT, [target])[target.scope].get(key)
    if there is None:
        return ()
    try:
        remove(db, DEFAULT_ACCOUNT, there.id)
    except VariableNotFound:
        return ()  # somebody was faster
    return (Removed((target, key), there.id),)


def failing(db: Connection, wishes: Sequence[Put]) -> Sequence[Wrote]:
    """Write, and then fail."""
    put_all(db, DEFAULT_ACCOUNT, wishes, NOW)
    raise OnPurpose


def _committing(db: Connection, session: str, branch: str, floor: str, writes: Sequence[Write]) -> Sequence[Wrote]:
    page, times = f"page of {floor}", {"created_at": NOW, "updated_at": NOW}
    row = {"account_id": DEFAULT_ACCOUNT, "session_id": session, "branch_id": branch}
    number = int(floor.removeprefix("floor"))
    db.execute(insert(floors).values(id=floor, **row, floor_no=number, state="generating", **times))
    values = {"id": page, "account_id": DEFAULT_ACCOUNT, "floor_id": floor, "page_no": 1, "page_kind": "output"}
    db.execute(insert(pages).values(**values, is_active=True, **times))
    commit_staged(db, DEFAULT_ACCOUNT, "run", session, branch, floor, page, writes, NOW)
    layers = load_layers(db, DEFAULT_ACCOUNT, session, branch, floor, page)
    _check_own(layers, writes)
    return [Wrote(layers[write.tier][write.key], write.expected) for write in writes if write.tier not in ("floor", "page")]


def _check_own(layers: Layers, writes: Sequence[Write]) -> None:
    """What a run wrote to its floor stands there and on its page; raises AssertionError."""
    for write in writes:
        text = render(write.edits[-1].value)
        for scope in (write.tier, "page") if write.tier == "floor" else (write.tier,):
            assert layers[scope][write.key].value_json == text, (scope, write.key, text, layers[scope].get(write.key))


def _looking(db: Connection, targets: Sequence[Target]) -> Seen:
    rows = [row for target in targets for row in load_targets(db, DEFAULT_ACCOUNT, [target])[target.scope].values()]
    moment = load_targets(db, DEFAULT_ACCOUNT, [GLOBAL])["global"][MOMENT]
    return Seen(int(moment.value_json), targets, frozenset(row for row in rows if row.key != MOMENT))


async def _run(trial: Trial, engine: str) -> None:
    async with AsyncExitStack() as stack:
        if engine == "sqlite":
            store: Store = SqliteStore(trial.folder / "agentui.db", reserve=0)
        else:
            house = await stack.enter_async_context(house_of(engine, trial.folder))
            store = PostgresStore(house.settings["AGENTUI_DATABASE_URL"], patience=PATIENCE)
        await store.start()
        try:
            await Writers(trial, store).work()
        finally:
            await store.close()


async def on_sqlite(trial: Trial) -> None:
    """Many hands on SQLite."""
    await _run(trial, "sqlite")


async def on_postgres(trial: Trial) -> None:
    """Many hands on PostgreSQL."""
    await _run(trial, "postgresql")


CAMPAIGNS = [
    Campaign("writers.sqlite", on_sqlite, counted="operations", short=2 * HANDS * ROUND, long=200_000, short_seconds=30),
    Campaign("writers.postgres", on_postgres, counted="operations", short=HANDS * ROUND, long=200_000, short_seconds=60),
]
