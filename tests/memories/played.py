"""Random chats, and what must be seen of their memories: a plain model that knows turns, answers and branches, and nothing of
how the server keeps them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import aiohttp
from sqlalchemy import Connection, select

from agentui.chats.parts import Content
from agentui.jsonio import Json, dumps_text
from agentui.store.base import Store
from agentui.store.tables import branches, pages
from agentui.turns.request import TurnRequest
from agentui.turns.service import TurnService
from tests.api.chats.conftest import Reader

HIDING = ("updates", "resolves", "compacts")


@dataclass(eq=False)
class Turn:
    """A question and its answers; ``before`` is the turn that it goes on from."""

    floor_id: str
    branch: str
    before: "Turn | None"
    question: str | None
    answers: list[str]
    active: int = 0
    is_set_aside: bool = False

    def past(self) -> "list[Turn]":
        """All turns that lead here, this one too."""
        found: list[Turn] = []
        turn: Turn | None = self
        while turn is not None:
            found.append(turn)
            turn = turn.before
        return found

    @property
    def said(self) -> set[str]:
        """The pages that count: the question, and the answer that is shown."""
        return {page for page in (self.question, self.answers[self.active] if self.answers else None) if page is not None}


@dataclass(eq=False)
class Branch:
    """A branch: what lies on it, and what it was forked from, when, and from which branch."""

    name: str
    source: Turn | None
    source_branch: str | None
    created_at: int
    own: list[Turn] = field(default_factory=list)

    @property
    def head(self) -> Turn | None:
        return self.own[-1] if self.own else self.source


@dataclass(eq=False)
class Memory:
    """An item: the pages that it was made of, or where it was written by hand."""

    id: str
    sources: list[str]
    scope: str
    scope_id: str
    created_at: int
    names: str | None
    is_active: bool = True


@dataclass(eq=False)
class Bond:
    """An edge."""

    id: str
    from_id: str
    to_id: str
    relation: str
    sources: list[str]


class Play:
    """One chat on a server, and the same chat in the model."""

    def __init__(self, reader: Reader, account: str, session: str, random: Random) -> None:
        self.reader, self.account, self.session, self.random = reader, account, session, random
        self.store: Store = reader.server.state.store
        self.service: TurnService = reader.server.state.turns
        self.branches: dict[str, Branch] = {}
        self.turns: list[Turn] = []
        self.memories: dict[str, Memory] = {}
        self.bonds: dict[str, Bond] = {}
        self.told = 0
        self.steps: list[str] = []

    async def begin(self) -> "Play":
        """Take up what an imported chat, or a greeting, has left in the session."""
        self.branches["main"] = Branch("main", None, None, await self._made_at("main"))
        for floor in (await self._get(f"/floors?session_id={self.session}&limit=100&sort_by=floor_no&sort_order=asc"))["data"]:
            await self._add(floor["id"], "main")
        return self

    # What a person does

    async def play(self) -> None:
        """Do one thing, chosen by chance."""
        step = self.random.choices(*zip(*self.ways(), strict=True))[0]
        self.steps.append(step.__name__)
        await step()

    def ways(self) -> "list[tuple[Any, int]]":
        return [
            (self.answer_live, 10), (self.answer_proxied, 6), (self.regenerate, 4), (self.retry, 4), (self.swipe_proxied, 3),
            (self.break_off, 3), (self.activate, 8), (self.edit, 3), (self.fork, 5), (self.reset, 4), (self.merge, 3),
            (self.delete_floor, 3), (self.delete_branch, 2), (self.learn, 14), (self.write_by_hand, 6), (self.bind, 9),
            (self.loosen, 2), (self.deprecate, 2), (self.forget, 2), (self.correct, 2),
        ]  # fmt: skip

    async def answer_live(self) -> None:
        branch = self._branch()
        done = await self._post(f"/sessions/{self.session}/respond", {"message": self._words(), "branch_id": branch.name})
        await self._add(done["data"]["floor_id"], branch.name)

    async def answer_proxied(self) -> None:
        branch = self._branch()
        said = {"model": "text", "messages": [{"role": "user", "content": self._words()}]}
        place = {"x_agentui_session": self.session, "x_agentui_branch": branch.name, "x_agentui_turn": "new"}
        answer = await self.reader.post("/v1/chat/completions", said, **place)
        assert answer.status == 200, answer.text
        await self._add(answer.headers["x-agentui-floor"], branch.name)

    async def swipe_proxied(self) -> None:
        """Another version of the newest answer, as a client asks for it."""
        branch = self._branch()
        if not branch.own or branch.own[-1].question is None:
            return
        said = {"model": "text", "messages": [{"role": "user", "content": self._words()}]}
        place = {"x_agentui_session": self.session, "x_agentui_branch": branch.name, "x_agentui_turn": "regenerate"}
        answer = await self.reader.post("/v1/chat/completions", said, **place)
        assert answer.status == 200, answer.text
        assert answer.headers["x-agentui-floor"] == branch.own[-1].floor_id
        await self._reread(branch.own[-1])

    async def regenerate(self) -> None:
        branch = self._branch()
        if not branch.own or branch.own[-1].question is None:
            return
        old = branch.own.pop()
        done = await self._post(f"/sessions/{self.session}/regenerate", {"branch_id": branch.name})
        old.is_set_aside = True
        await self._add(done["data"]["floor_id"], branch.name, before=old.before)

    async def retry(self) -> None:
        turn = self._turn()
        if turn is None or turn.question is None or turn.is_set_aside:
            return
        await self._post(f"/floors/{turn.floor_id}/retry", {})
        await self._reread(turn)

    async def break_off(self) -> None:
        """An answer that breaks off: a new one's words are kept, and of one that is made anew as a version beside the old."""
        branch = self._branch()
        request: dict[str, Any] = {"kind": "respond", "user": Content(self._words()), "branch": branch.name}
        turn = self._turn(lambda turn: turn.question is not None and not turn.is_set_aside)
        is_anew = turn is not None and self.random.random() < 0.5
        if is_anew and turn is not None:
            request = {"kind": "retry_turn", "target_floor_id": turn.floor_id}
        named = None if is_anew else self.session
        begun = await self.service.begin(TurnRequest(self.account, f"run {self.told}", named, **request))
        await begun.fail({"code": "x", "message": "x"}, cancelled=True, partial=Content("Once upon"))
        if is_anew and turn is not None:
            await self._reread(turn)
        else:
            await self._add(begun.place.floor_id, branch.name)

    async def activate(self) -> None:
        turn = self._turn(lambda turn: len(turn.answers) > 1)
        if turn is None:
            return
        turn.active = self.random.randrange(len(turn.answers))
        answer = await self.reader.patch(f"/pages/{turn.answers[turn.active]}/activate")
        assert answer.status == 200, answer.text

    async def edit(self) -> None:
        turn = self._turn(lambda turn: turn.question is not None and not turn.is_set_aside)
        if turn is None:
            return
        self.told += 1
        name = f"edit{self.told}"
        [message] = (await self._get(f"/messages?page_id={turn.question}"))["data"]
        body = {"content": self._words(), "branch_id": name}
        done = await self._post(f"/messages/{message['id']}/edit-and-regenerate", body)
        await self._fork(name, turn.before)
        await self._add(done["data"]["floor_id"], name, before=turn.before)

    async def fork(self) -> None:
        turn = self._turn()
        if turn is None:
            return
        self.told += 1
        name = f"fork{self.told}"
        await self._post(f"/floors/{turn.floor_id}/branch", {"branch_id": name}, 201)
        await self._fork(name, turn)

    async def reset(self) -> None:
        branch = self._branch()
        if len(branch.own) < 2:
            return
        target = self.random.choice(branch.own[:-1])
        body = {"target_floor_id": target.floor_id}
        await self._post(f"/sessions/{self.session}/branches/{branch.name}/reset", body)
        while branch.own[-1] is not target:
            branch.own.pop().is_set_aside = True

    async def merge(self) -> None:
        source, target = self._branch(), self._branch()
        path = f"/sessions/{self.session}/branches/{source.name}/merge"
        answer = await self.reader.post(path, {"target_branch_id": target.name})
        if answer.status != 200:
            assert answer.body["error"]["code"] == "branch_merge_conflict", answer.text
            return
        if not answer.body["data"]["merged_floor_ids"]:
            return
        moved = source.own
        assert answer.body["data"]["merged_floor_ids"] == [turn.floor_id for turn in moved]
        target.own += moved
        if target.source in moved:  # it was forked behind one of them
            target.source, target.source_branch = source.source, source.source_branch
        source.own, source.source, source.source_branch = [], moved[-1], target.name
        for turn in moved:
            turn.branch = target.name
        old, new = (dumps_text([self.session, branch.name]) for branch in (source, target))
        for memory in self.memories.values():
            if (memory.scope, memory.scope_id) == ("branch", old):
                memory.scope_id, memory.names = new, memory.names or moved[-1].floor_id

    async def delete_floor(self) -> None:
        turn = self._turn()
        if turn is None:
            return
        answer = await self.reader.delete(f"/floors/{turn.floor_id}")
        assert answer.status == 200, answer.text
        self._remove([turn], turn.before)

    async def delete_branch(self) -> None:
        branch = self._branch()
        if branch.name == "main":
            return
        answer = await self.reader.delete(f"/branches/{branch.name}?session_id={self.session}")
        assert answer.status == 200, answer.text
        del self.branches[branch.name]
        self._remove([turn for turn in self.turns if turn.branch == branch.name], branch.source)
        self._drop("branch", dumps_text([self.session, branch.name]))

    # What is remembered

    async def learn(self) -> None:
        """An item that was made of some pages, shown or not."""
        known = [page for turn in self.turns for page in ([turn.question] if turn.question else []) + turn.answers]
        if known:
            many = self.random.choices((1, 2, 3), (6, 3, 1))[0]
            await self._remember(self._scope(), self.random.sample(known, min(many, len(known))))

    async def write_by_hand(self) -> None:
        turn = self._turn()
        names = turn.floor_id if turn is not None and self.random.random() < 0.3 else None
        await self._remember(self._scope(), [], names)

    async def bind(self) -> None:
        """An edge between any two, one and itself among them, with and without sources."""
        if not self.memories:
            return
        ends = self.random.choices(sorted(self.memories), k=2)
        relation = self.random.choice((*HIDING, *HIDING, "contradicts"))
        turn = self._turn(lambda turn: bool(turn.answers))
        sources = [self.random.choice(turn.answers)] if turn is not None and self.random.random() < 0.4 else []
        body = {"from_id": ends[0], "to_id": ends[1], "relation": relation, "sources": [{"page_id": id} for id in sources]}
        answer = await self.reader.post("/memory-edges", body)
        if answer.status != 409:
            assert answer.status == 201, answer.text
            id = answer.body["data"]["id"]
            self.bonds[id] = Bond(id, *ends, relation, sources)

    async def loosen(self) -> None:
        """An edge goes, or says something else."""
        if not self.bonds:
            return
        bond = self.bonds[self.random.choice(sorted(self.bonds))]
        if self.random.random() < 0.5:
            assert (await self.reader.delete(f"/memory-edges/{bond.id}")).status == 200
            del self.bonds[bond.id]
            return
        relation = self.random.choice((*HIDING, "supports"))
        answer = await self.reader.patch(f"/memory-edges/{bond.id}", {"relation": relation})
        if answer.status != 409:
            bond.relation = relation

    async def deprecate(self) -> None:
        memory = self._memory()
        if memory is not None:
            memory.is_active = not memory.is_active
            status = {"status": "active" if memory.is_active else "deprecated"}
            assert (await self.reader.patch(f"/memories/{memory.id}", status)).status == 200

    async def forget(self) -> None:
        memory = self._memory()
        if memory is not None:
            assert (await self.reader.delete(f"/memories/{memory.id}")).status == 200
            self._forget([memory.id])

    async def correct(self) -> None:
        """A person says that an item holds by its scope, wherever it was learned."""
        memory = self._memory()
        if memory is not None:
            scope, scope_id = self._scope()
            body = {"scope": scope, "scope_id": scope_id, "sources": []}
            assert (await self.reader.patch(f"/memories/{memory.id}", body)).status == 200
            memory.scope, memory.scope_id, memory.sources = scope, self.account if scope == "global" else scope_id, []

    # What must be seen

    def seen(self, branch: Branch, head: Turn | None) -> set[str]:
        """The items that must be seen from a turn on a branch."""
        path = [] if head is None else head.past()
        said = {page for turn in path for page in turn.said}
        floors = {turn.floor_id for turn in path}
        known = {turn.floor_id: turn for turn in self.turns}
        shown = {memory.id for memory in self.memories.values() if self._holds(memory, branch, said, floors, known)}
        bonds = [bond for bond in self.bonds.values() if {bond.from_id, bond.to_id} <= shown and set(bond.sources) <= said]
        after: dict[str, list[str]] = {}
        for bond in bonds:
            if bond.relation in HIDING:
                after.setdefault(bond.from_id, []).append(bond.to_id)
        covered = {end for start, ends in after.items() for end in ends if start not in _reached(after, end)}
        return shown - covered

    def _holds(self, memory: Memory, branch: Branch, said: set[str], floors: set[str], known: dict[str, Turn]) -> bool:
        if not memory.is_active:
            return False
        if memory.sources:
            return set(memory.sources) <= said
        named = known.get(memory.names or "")
        match memory.scope:
            case "global" | "chat":
                return named is None or named.floor_id in floors or not named.is_set_aside
            case "floor":
                is_off = named is not None and named.floor_id not in floors and named.is_set_aside
                return memory.scope_id in floors and not is_off
        for name, until in self._lineage(branch):
            if memory.scope_id == dumps_text([self.session, name]):
                return named.floor_id in floors if named is not None else until is None or memory.created_at < until
        return False

    def _lineage(self, branch: Branch) -> Iterator[tuple[str, int | None]]:
        """A branch and those that it comes from, with the time until which what was written on them is known."""
        until: int | None = None
        names = {branch.name}
        yield branch.name, None
        while True:
            source = branch.source.branch if branch.source is not None else branch.source_branch
            until = branch.created_at if until is None else min(until, branch.created_at)
            if source is None or source in names or source not in self.branches:
                return
            names.add(source)
            yield source, until
            branch = self.branches[source]

    async def check(self, *, everywhere: bool = False) -> int:
        """Compare what the server shows with what must be seen; how many places that were."""
        heads = f"session_id={self.session}&branch_id="
        places = [(branch, branch.head, f"{heads}{name}") for name, branch in self.branches.items()]
        live = [turn for turn in self.turns if not turn.is_set_aside]
        floors = [(self.branches[turn.branch], turn, f"floor_id={turn.floor_id}") for turn in live]
        if not everywhere:
            places, floors = self.random.sample(places, 1), self.random.sample(floors, min(1, len(floors)))
        for branch, head, query in (*places, *floors):
            listed = (await self._get(f"/memories?limit=200&{query}"))["data"]
            assert {item["id"] for item in listed} == self.memories.keys(), self._told(query)
            wanted = self.seen(branch, head)
            wrong = {item["id"]: item["hidden_reason"] for item in listed if item["visible"] != (item["id"] in wanted)}
            told = [(id in wanted, reason, self.memories[id]) for id, reason in wrong.items()]
            assert not wrong, self._told(f"{query}: {told} on {branch}")
            assert all((item["hidden_reason"] is None) == item["visible"] for item in listed)
            stats = (await self._get(f"/memories/stats?visible=true&{query}"))["data"]
            assert stats["total"] == len(wanted), self._told(query)
        return len(places) + len(floors)

    def _told(self, what: str) -> str:
        return f"{what} after {self.steps}"

    # The two sides

    async def _remember(self, scope: tuple[str, str], sources: list[str], names: str | None = None) -> None:
        self.told += 1
        given = {"scope": scope[0], "scope_id": scope[1], "type": "fact", "content": f"fact {self.told}"}
        made = await self.reader.make(
            "/memories", **given, source_floor_id=names, sources=[{"page_id": page} for page in sources]
        )
        self.memories[made["id"]] = Memory(made["id"], sources, scope[0], made["scope_id"], made["created_at"], names)

    def _scope(self) -> tuple[str, str]:
        kind = self.random.choice(("global", "chat", "branch", "branch", "branch", "floor"))
        turn = self._turn()
        if kind == "floor" and turn is not None:
            return kind, turn.floor_id
        if kind == "branch":
            return kind, dumps_text([self.session, self._branch().name])
        return ("chat", self.session) if kind != "global" else ("global", "global")

    async def _add(self, floor_id: str, branch: str, before: Turn | None = None) -> None:
        place = self.branches[branch]
        turn = Turn(floor_id, branch, before or place.head, None, [])
        if before is None and not place.own and place.source is None:
            turn.before = None
        await self._reread(turn)
        self.turns.append(turn)
        place.own.append(turn)

    async def _reread(self, turn: Turn) -> None:
        """Learn the ids of a turn's pages, and which counts."""
        query = select(pages.c.id, pages.c.page_kind, pages.c.is_active).where(pages.c.floor_id == turn.floor_id)
        rows = await self.store.read(lambda db: db.execute(query.order_by(pages.c.version)).all())
        turn.question = next((row.id for row in rows if row.page_kind == "input"), None)
        answers = [row for row in rows if row.page_kind != "input"]
        turn.answers = [row.id for row in answers]
        turn.active = next((at for at, row in enumerate(answers) if row.is_active), 0)

    async def _fork(self, name: str, source: Turn | None) -> None:
        source_branch = None if source is None else source.branch
        self.branches[name] = Branch(name, source, source_branch, await self._made_at(name))

    async def _made_at(self, name: str) -> int:
        def read(db: Connection) -> int:
            own = branches.c.session_id == self.session, branches.c.branch_id == name
            return int(db.execute(select(branches.c.created_at).where(*own)).scalar_one())

        return await self.store.read(read)

    def _remove(self, turns: list[Turn], before: Turn | None) -> None:
        """Take turns out; what stood behind them stands behind ``before``."""
        gone = {turn.floor_id for turn in turns}
        self.turns = [turn for turn in self.turns if turn.floor_id not in gone]
        for turn in self.turns:
            if turn.before is not None and turn.before.floor_id in gone:
                turn.before = before
        for branch in self.branches.values():
            branch.own = [turn for turn in branch.own if turn.floor_id not in gone]
            if branch.source is not None and branch.source.floor_id in gone:
                branch.source, branch.source_branch = before, None if before is None else before.branch
        for floor_id in gone:
            self._drop("floor", floor_id)
        for memory in self.memories.values():
            memory.names = None if memory.names in gone else memory.names

    def _drop(self, scope: str, scope_id: str) -> None:
        self._forget([each.id for each in self.memories.values() if (each.scope, each.scope_id) == (scope, scope_id)])

    def _forget(self, ids: list[str]) -> None:
        for id in ids:
            del self.memories[id]
        self.bonds = {id: bond for id, bond in self.bonds.items() if not {bond.from_id, bond.to_id} & set(ids)}

    def _branch(self) -> Branch:
        return self.branches[self.random.choice(sorted(self.branches))]

    def _turn(self, fits: Any = lambda turn: True) -> Turn | None:
        found = [turn for turn in self.turns if fits(turn)]
        return self.random.choice(found) if found else None

    def _memory(self) -> Memory | None:
        return self.memories[self.random.choice(sorted(self.memories))] if self.memories else None

    def _words(self) -> str:
        self.told += 1
        return f"Line {self.told}."

    async def _get(self, path: str) -> Json:
        answer = await self.reader.get(path)
        assert answer.status == 200, answer.text
        return answer.body

    async def _post(self, path: str, body: Json, status: int = 200) -> Json:
        answer = await self.reader.post(path, body)
        assert answer.status == status, f"{path}: {answer.text}"
        return answer.body


def _reached(after: dict[str, list[str]], start: str) -> set[str]:
    """Whatever edges lead to from an item, and itself."""
    found, waiting = {start}, [start]
    while waiting:
        more = set(after.get(waiting.pop(), ())) - found
        found |= more
        waiting += more
    return found


IMPORTED = "\n".join(
    dumps_text(line)
    for line in (
        {"user_name": "You", "character_name": "Mira", "create_date": "2026-11-01", "chat_metadata": {}},
        {"name": "You", "is_user": True, "mes": "Who are you?"},
        {"name": "Mira", "is_user": False, "mes": "Mira.", "swipes": ["Nobody.", "Mira."], "swipe_id": 1},
        {"name": "You", "is_user": True, "mes": "Where do you live?"},
        {"name": "Mira", "is_user": False, "mes": "By the lake."},
    )
)
"""A chat of SillyTavern's, whose first answer has two versions."""


async def begin_play(reader: Reader, account: str, random: Random) -> Play:
    """A new chat, or one that comes in from a file."""
    if random.random() < 0.7:
        session = await reader.session_id(pipeline_id="default")
    else:
        form = aiohttp.FormData()
        form.add_field("file", IMPORTED.encode(), filename="mira.jsonl", content_type="application/octet-stream")
        url = f"{reader.server.origin}/import/chat"
        async with reader.session.post(url, data=form) as answer:
            body = await answer.json()
            assert answer.status == 201, body
        session = body["data"]["session_id"]
        assert (await reader.patch(f"/sessions/{session}", {"pipeline_id": "default"})).status == 200
    return await Play(reader, account, session, random).begin()


async def play_chat(play: Play, steps: int) -> int:
    """Play a chat; how many places were compared."""
    compared = 0
    for _ in range(steps):
        await play.play()
        compared += await play.check()
    compared += await play.check(everywhere=True)
    await play.reader.post("/memories/batch/delete", {"ids": sorted(play.memories)[:100]}) if play.memories else None
    return compared
