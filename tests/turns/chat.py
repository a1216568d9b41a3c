"""A chat on a turn service, without HTTP: turns of every kind, played on a store."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from agentui.chats.branches.writing import reset_branch
from agentui.chats.floors import remove_floor
from agentui.chats.pages import activate_page
from agentui.chats.parts import Content
from agentui.principal import DEFAULT_ACCOUNT
from agentui.store.base import Store
from agentui.store.tables import floors, pages
from agentui.store.tables import messages as messages_table
from agentui.turns.request import Outcome, Reach, TurnKind, TurnRequest
from agentui.turns.service import Turn, TurnService
from agentui.variables.records import Put, delete_at, put_all
from agentui.variables.resolve import load_targets
from agentui.variables.scopes import GLOBAL, Scope, Target, branch_target

ACCOUNT = DEFAULT_ACCOUNT
COUNTERS: tuple[Scope, ...] = ("branch", "chat", "global")


@dataclass
class Chat:
    """One session and who plays it."""

    turns: TurnService
    store: Store
    session_id: str = ""
    name: str = "tale"

    async def begin(self, kind: TurnKind = "respond", text: str | None = None, **more: Any) -> Turn:
        user = None if text is None else Content(text)
        session = None if kind in ("retry_turn", "edit_and_regenerate") else self.name
        turn = await self.turns.begin(
            TurnRequest(DEFAULT_ACCOUNT, "run", session, kind=kind, user=user, history=lambda _: Reach(1_000_000), **more)
        )
        self.session_id = turn.place.session_id
        return turn

    async def play(self, kind: TurnKind = "respond", text: str | None = "Hi", answer: str = "Hello.", **more: Any) -> Turn:
        """A turn that raises a counter of each shared tier by one."""
        turn = await self.begin(kind, text if kind in ("respond", "edit_and_regenerate") else None, **more)
        count(turn)
        await turn.commit(Outcome(Content(answer), 3, 5))
        return turn

    async def counters(self, branch: str = "main") -> Mapping[str, Any]:
        """The counters as they are durable."""
        targets = {"branch": branch_target(self.session_id, branch), "chat": Target("chat", self.session_id), "global": GLOBAL}

        def read(db: Connection) -> dict[str, Any]:
            layers = load_targets(db, ACCOUNT, list(targets.values()))
            return {scope: layers[scope]["n"].value for scope in COUNTERS if "n" in layers[scope]}

        return await self.store.read(read)

    async def set(self, scope: Scope, value: str, branch: str = "main") -> None:
        """Somebody writes a counter by hand."""
        ids = {"global": "global", "chat": self.session_id, "branch": branch_target(self.session_id, branch).scope_id}
        await self.store.write(put_all, ACCOUNT, [Put(Target(scope, ids[scope]), "n", value)], 5)

    async def forget_global(self) -> None:
        """Remove the global counter, which other chats raised."""
        await self.store.write(delete_at, ACCOUNT, GLOBAL, "n")

    async def floors(self, branch: str = "main") -> list[tuple[int, str]]:
        """Number and state of the live floors of a branch."""
        query = select(floors.c.floor_no, floors.c.state).where(
            floors.c.session_id == self.session_id, floors.c.branch_id == branch, floors.c.superseded_at.is_(None)
        )
        rows = await self.store.read(lambda db: db.execute(query.order_by(floors.c.floor_no)).all())
        return [(row.floor_no, row.state) for row in rows]

    async def versions(self, floor_id: str) -> list[tuple[str, int, bool, bool, str]]:
        """The output pages of a floor: id, version, active, partial, and what they say."""
        query = (
            select(pages.c.id, pages.c.version, pages.c.is_active, pages.c.is_partial, messages_table.c.content)
            .outerjoin(messages_table, messages_table.c.page_id == pages.c.id)
            .where(pages.c.floor_id == floor_id, pages.c.page_kind == "output")
            .order_by(pages.c.version)
        )
        rows = await self.store.read(lambda db: db.execute(query).all())
        return [tuple(row) for row in rows]

    async def question(self, floor_id: str) -> tuple[str, str]:
        """The id and the text of what was asked on a floor."""
        query = (
            select(messages_table.c.id, messages_table.c.content)
            .join(pages, pages.c.id == messages_table.c.page_id)
            .where(pages.c.floor_id == floor_id, pages.c.page_kind == "input")
        )
        row = await self.store.read(lambda db: db.execute(query).one())
        return row.id, row.content

    async def activate(self, page_id: str) -> None:
        """Swipe to a version."""
        await self.store.write(activate_page, ACCOUNT, page_id, 9)

    async def reset(self, floor_id: str, branch: str = "main") -> None:
        """Go back to a floor."""
        await self.store.write(reset_branch, ACCOUNT, self.session_id, branch, floor_id, None, 9)

    async def remove(self, floor_id: str) -> None:
        """Remove a floor by hand."""
        await self.store.write(remove_floor, ACCOUNT, floor_id, 9)


def count(turn: Turn) -> None:
    """Raise the counters that a turn sees."""
    staged = turn.staged()
    for scope in COUNTERS:
        staged.stage(scope, "n", staged.view()[1][scope].get("n", 0) + 1)


def all_at(value: int) -> Mapping[str, int]:
    """Counters that all have this value."""
    return dict.fromkeys(COUNTERS, value)
