"""Whole chats that come in: a session made of a record, in parts between which others write.

    async with incoming(store, ...) as chat:      a long one is written, for nobody yet
        await store.write(keep_chat, ..., chat)   the session is there, or none of it

A record's floors are committed ones, in their order; what stood beside the chat in its file is kept in the session's metadata
(``chat_metadata``), so that it goes out again (``transfer.py``).
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, insert

from agentui.assets.chat_settings import CHAT_METADATA
from agentui.assets.files.chats import MAIN, ChatBranch, ChatFloor, ChatPage, ChatRecord
from agentui.chats.records import Session
from agentui.chats.rows import AT_ONCE, NOBODY, REMOVAL, find_session, give_session
from agentui.chats.text_index import index_text
from agentui.errors import AgentUIError, Busy
from agentui.ids import new_short_id
from agentui.jobs.queue import add, hasten, take_back
from agentui.jsonio import Json, dumps_text
from agentui.library.bindings import CHAT_HEADER, create_session, update_session
from agentui.store.base import Store
from agentui.store.tables import branch_snapshots, branches, floors, message_extras, messages, pages
from agentui.threads import in_thread
from agentui.variables.records import Put, put_all
from agentui.variables.scopes import Target
from agentui.variables.values import check_key, render

MAX_TITLE: Final = 200
PART_MESSAGES: Final = 5 * AT_ONCE
"""Messages after which a part ends, also one of fewer floors than ``AT_ONCE``."""
LEFT_MS: Final = 3_600_000
"""After so long, what a process that died has written of a chat is removed."""
_ROWS: Final = 500
"""Rows in one statement: neither engine takes any number of values."""


@dataclass(frozen=True, slots=True)
class ImportedChat:
    """A chat that was made of a record, and how much it holds."""

    session: Session
    floors: int
    pages: int
    messages: int
    variables: int


@dataclass(frozen=True, slots=True)
class IncomingChat:
    """A record that is to be a session, called ``title`` and bound to a character where they are given; and its rows, where
    they are written already."""

    record: ChatRecord
    title: str | None = None
    character_id: str | None = None
    rows: "ChatRows | None" = None


@asynccontextmanager
async def incoming(store: Store, account: str, chat: IncomingChat, now: int) -> AsyncIterator[IncomingChat]:
    """A chat that ``keep_chat`` keeps, and quickly: what is long of it is written before, in parts. What was not kept at the
    end is removed. Raises as ``keep_chat`` does for the character, and the store's errors."""
    if not _is_long(chat.record):
        yield chat
        return
    session_id = await store.write(_begin, account, chat, now)
    try:
        rows = await in_thread(lambda: ChatRows(account, session_id, chat.record, now))
        for part in rows.parts():
            await store.write(rows.insert, part)
        yield IncomingChat(chat.record, chat.title, chat.character_id, rows)
    finally:
        with suppress(AgentUIError):  # what was kept is kept; what was not is removed later
            await store.write(hasten, session_id, now)


def keep_chat(db: Connection, account: str, chat: IncomingChat, now: int) -> ImportedChat:
    """Make a session of a record. Raises 404 ``character_not_found``, 400 and 413 for variables that cannot be kept."""
    rows = chat.rows
    if rows is None:
        rows = ChatRows(account, _begin(db, account, chat, now), chat.record, now)
        for part in rows.parts():
            rows.insert(db, part)
    if not take_back(db, rows.session_id):
        raise Busy("The chat took too long to come in. Try again.", retry_after=1)
    give_session(db, rows.session_id, account)
    target = Target("chat", rows.session_id)
    writes = [Put(target, check_key(key), render(value)) for key, value in chat.record.variables.items()]
    put_all(db, account, writes, now)
    session = find_session(db, account, rows.session_id)
    return ImportedChat(session, len(rows.floors), len(rows.pages), len(rows.messages), len(writes))


def _is_long(record: ChatRecord) -> bool:
    """Whether a record is more than one part."""
    own = [floor for line in (record.floors, *(branch.floors for branch in record.branches)) for floor in line]
    return len(own) > AT_ONCE or sum(len(page.messages) for floor in own for page in floor.pages) > PART_MESSAGES


def _begin(db: Connection, account: str, chat: IncomingChat, now: int) -> str:
    """Make the session, which is nobody's until it is whole, and a job that removes it unless it is taken back; returns the
    id of both."""
    record = chat.record
    fields: dict[str, Json] = {"title": (chat.title or _clean(record.title))[:MAX_TITLE] or None}
    told = {CHAT_METADATA: dict(record.metadata), CHAT_HEADER: dict(record.header)}
    if kept := {name: value for name, value in told.items() if value}:
        fields["metadata"] = kept
    if name := _clean(record.character_name)[:MAX_TITLE]:
        fields["character_snapshot"] = {"name": name}
    if name := _clean(record.user_name)[:MAX_TITLE]:
        fields["user_snapshot"] = {"name": name}
    session = create_session(db, account, fields, now)
    if chat.character_id is not None:
        # Afterwards: a session that is made with a character begins with its greeting, and this chat has its own.
        update_session(db, account, session.id, {"character_id": chat.character_id}, now)
    give_session(db, session.id, NOBODY)
    return add(db, REMOVAL, [account, session.id], now, due_at=now + LEFT_MS, id=session.id)


@dataclass(frozen=True, slots=True)
class _Line:
    """How many floors of its source a branch begins with, and the rows of its own."""

    source_branch_id: str
    shared: int
    floors: list[dict[str, Json]] = field(default_factory=list)


class ChatRows:
    """The rows of a chat: its branches, which are nobody's yet, and the floors of each, one after the other."""

    def __init__(self, account: str, session_id: str, record: ChatRecord, now: int) -> None:
        self.session_id = session_id
        self._made = {"account_id": account}
        self._now = now
        self._lines: dict[str, _Line] = {}
        self._ends: list[_End] = []
        self.branches: list[dict[str, Json]] = []
        self.floors: list[dict[str, Json]] = []
        self.pages: list[dict[str, Json]] = []
        self.messages: list[dict[str, Json]] = []
        self.extras: list[dict[str, Json]] = []
        self._add_line(MAIN, _Line("", 0), record.floors)
        for branch in record.branches:
            self._add_branch(branch)

    def parts(self) -> Iterator["ChatPart"]:
        """Parts of the rows, each short enough for one transaction unless a single floor is longer."""
        first = end = _End(0, 0, 0, 0)
        for end in self._ends:
            if end.floors - first.floors == AT_ONCE or end.messages - first.messages >= PART_MESSAGES:
                yield ChatPart(first, end)
                first = end
        if end is not first or not self._ends:
            yield ChatPart(first, end)

    def _add_branch(self, branch: ChatBranch) -> None:
        """A branch whose source was added before."""
        source = self._last_of(branch.source_branch_id, branch.shared)
        forked = {f"source_{name}": None if source is None else source[key] for name, key in _FORKED.items()}
        times = {"created_at": self._now, "updated_at": self._now}
        place = {"account_id": NOBODY, "session_id": self.session_id, "branch_id": branch.branch_id}
        self.branches.append({**place, **forked, **times})
        self._add_line(branch.branch_id, _Line(branch.source_branch_id, branch.shared), branch.floors)

    def _last_of(self, branch_id: str, count: int) -> dict[str, Json] | None:
        """The last of the first floors of a branch, so many; None for no floors."""
        line = self._lines[branch_id]
        while 0 < count <= line.shared:
            line = self._lines[line.source_branch_id]
        return line.floors[count - line.shared - 1] if count else None

    def _add_line(self, branch_id: str, line: _Line, own: Iterable[ChatFloor]) -> None:
        """The floors of a branch behind those of its source."""
        self._lines[branch_id] = line
        before = self._last_of(line.source_branch_id, line.shared) if line.shared else None
        for floor_no, floor in enumerate(own, line.shared):
            before = self._add(floor, branch_id, floor_no, before)
            line.floors.append(before)

    def _add(self, floor: ChatFloor, branch_id: str, floor_no: int, before: Mapping[str, Json] | None) -> dict[str, Json]:
        """A floor that follows the one before; returns its row."""
        parent = None if before is None else before["id"]
        times = [said.said_at for page in floor.pages for said in page.messages if said.said_at is not None]
        when = min(times, default=self._now)
        place = {"session_id": self.session_id, "branch_id": branch_id, "floor_no": floor_no, "parent_floor_id": parent}
        row: dict[str, Json] = {**self._made, "id": new_short_id(), **place, "state": "committed", "created_at": when}
        row["updated_at"] = self._now
        self.floors.append(row)
        for page in floor.pages:
            self._add_page(page, row["id"], when)
        self._ends.append(_End(len(self.floors), len(self.pages), len(self.messages), len(self.extras)))
        return row

    def _add_page(self, page: ChatPage, floor_id: Json, when: int) -> None:
        id = new_short_id()
        place = {"floor_id": floor_id, "page_no": page.page_no, "page_kind": page.kind, "version": page.version}
        times = {"created_at": when, "updated_at": self._now}
        self.pages.append({**self._made, "id": id, **place, "is_active": page.is_active, **times})
        for seq, said in enumerate(page.messages):
            message_id = new_short_id()
            if said.beside:
                self.extras.append({**self._made, "message_id": message_id, "beside_json": dumps_text(said.beside)})
            self.messages.append(
                {
                    **self._made,
                    "id": message_id,
                    "page_id": id,
                    "seq": seq,
                    "role": said.role,
                    "content": _clean(said.content),
                    "content_format": said.content_format,
                    "is_hidden": said.is_hidden,
                    "source": f"{SPEAKER}{_clean(said.name)[:100]}" if said.name else None,
                    "created_at": when if said.said_at is None else said.said_at,
                }
            )

    def insert(self, db: Connection, part: "ChatPart") -> None:
        """Write a part of the rows, with the first of them the branches; branches that begin at a floor find that it left no
        variables on its branch."""
        first, end = part.first, part.end
        made = self.floors[first.floors : end.floors]
        said = self.messages[first.messages : end.messages]
        snapshots = [
            {**self._made, "floor_id": row["id"], "values_json": "{}", "created_at": self._now, "is_journaled": True}
            for row in made
        ]
        lines = (branches, self.branches if first.floors == 0 else []), (floors, made)
        words = (messages, said), (message_extras, self.extras[first.extras : end.extras])
        for table, rows in (*lines, (pages, self.pages[first.pages : end.pages]), *words, (branch_snapshots, snapshots)):
            for some in _batches(rows):
                db.execute(insert(table), list(some))
        for row in said:
            index_text(db, row["account_id"], row["page_id"], row["role"], row["content"])


@dataclass(frozen=True, slots=True)
class _End:
    """How many rows of each kind there are up to the end of a floor."""

    floors: int
    pages: int
    messages: int
    extras: int


@dataclass(frozen=True, slots=True)
class ChatPart:
    """The rows of some floors that follow each other: those behind the one end, up to the other."""

    first: _End
    end: _End


_FORKED: Final = {"floor_id": "id", "branch_id": "branch_id"}
"""What a branch keeps of the floor behind which it begins, as ``source_``, and the columns of that."""
SPEAKER: Final = "speaker:"
"""Begins the source of a message whose file named somebody else than the chat's user or character."""


def _batches(rows: Sequence[dict[str, Json]]) -> Iterator[Sequence[dict[str, Json]]]:
    return (rows[at : at + _ROWS] for at in range(0, len(rows), _ROWS))


def _clean(said: str) -> str:
    """A text as it is kept: PostgreSQL keeps no NUL, so both engines get the replacement character for it."""
    return said.replace("\0", "\ufffd")
