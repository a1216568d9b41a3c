"""Whole chats that come in and go out: a session made of a record, and the record of its branches or of one of them.

A record's floors are committed ones, in their order; what stood beside the chat in its file is kept in the session's metadata
(``chat_metadata``), so that it goes out again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from sqlalchemy import Connection, insert, select

from agentui.assets.files.chats import MAIN, MAX_BRANCHES, ChatBranch, ChatFloor, ChatMessage, ChatPage, ChatRecord
from agentui.assets.values import members, text
from agentui.chats.codes import failure
from agentui.chats.lineage import ancestors, own_floors, source_of
from agentui.chats.records import AnyRow, CharacterBinding, Session, UserBinding, shown_parts
from agentui.chats.rows import find_branch, find_session
from agentui.chats.text_index import index_text
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.library.bindings import CHAT_HEADER, create_session, update_session
from agentui.library.bound import CHAT_METADATA
from agentui.store.tables import branch_snapshots, branches, floors, message_extras, messages, pages
from agentui.variables.records import Put, put_all
from agentui.variables.resolve import load_targets
from agentui.variables.scopes import Target
from agentui.variables.values import check_key, render

MAX_TITLE: Final = 200
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


def import_chat(
    db: Connection, account: str, record: ChatRecord, title: str | None, character_id: str | None, now: int
) -> ImportedChat:
    """Make a session of a record, bound to a character where one is named. Raises 404 ``character_not_found``, 400 and 413 for
    variables that cannot be kept."""
    fields: dict[str, Json] = {"title": (title or _clean(record.title))[:MAX_TITLE] or None}
    told = {CHAT_METADATA: dict(record.metadata), CHAT_HEADER: dict(record.header)}
    if kept := {name: value for name, value in told.items() if value}:
        fields["metadata"] = kept
    if name := _clean(record.character_name)[:MAX_TITLE]:
        fields["character_snapshot"] = {"name": name}
    if name := _clean(record.user_name)[:MAX_TITLE]:
        fields["user_snapshot"] = {"name": name}
    session = create_session(db, account, fields, now)
    if character_id is not None:
        # Afterwards: a session that is made with a character begins with its greeting, and this chat has its own.
        session = update_session(db, account, session.id, {"character_id": character_id}, now)
    rows = _Rows(account, session.id, now)
    rows.add_line(MAIN, _Line("", 0), record.floors)
    for branch in record.branches:
        rows.add_branch(branch)
    rows.insert(db)
    chat = Target("chat", session.id)
    writes = [Put(chat, check_key(key), render(value)) for key, value in record.variables.items()]
    put_all(db, account, writes, now)
    return ImportedChat(session, len(rows.floors), len(rows.pages), len(rows.messages), len(writes))


@dataclass(frozen=True, slots=True)
class _Line:
    """How many floors of its source a branch begins with, and the rows of its own."""

    source_branch_id: str
    shared: int
    floors: list[dict[str, Json]] = field(default_factory=list)


class _Rows:
    """The rows of a chat: its branches, and the floors of each, one after the other."""

    def __init__(self, account: str, session_id: str, now: int) -> None:
        self._made = {"account_id": account}
        self._session_id = session_id
        self._now = now
        self._lines: dict[str, _Line] = {}
        self.branches: list[dict[str, Json]] = []
        self.floors: list[dict[str, Json]] = []
        self.pages: list[dict[str, Json]] = []
        self.messages: list[dict[str, Json]] = []
        self.extras: list[dict[str, Json]] = []

    def add_branch(self, branch: ChatBranch) -> None:
        """A branch whose source was added before."""
        source = self._last_of(branch.source_branch_id, branch.shared)
        forked = {f"source_{name}": None if source is None else source[key] for name, key in _FORKED.items()}
        times = {"created_at": self._now, "updated_at": self._now}
        self.branches.append({**self._made, "session_id": self._session_id, "branch_id": branch.branch_id, **forked, **times})
        self.add_line(branch.branch_id, _Line(branch.source_branch_id, branch.shared), branch.floors)

    def _last_of(self, branch_id: str, count: int) -> dict[str, Json] | None:
        """The last of the first floors of a branch, so many; None for no floors."""
        line = self._lines[branch_id]
        while 0 < count <= line.shared:
            line = self._lines[line.source_branch_id]
        return line.floors[count - line.shared - 1] if count else None

    def add_line(self, branch_id: str, line: _Line, own: Iterable[ChatFloor]) -> None:
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
        place = {"session_id": self._session_id, "branch_id": branch_id, "floor_no": floor_no, "parent_floor_id": parent}
        row: dict[str, Json] = {**self._made, "id": new_short_id(), **place, "state": "committed", "created_at": when}
        row["updated_at"] = self._now
        self.floors.append(row)
        for page in floor.pages:
            self._add_page(page, row["id"], when)
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
                    "source": f"{_SPEAKER}{_clean(said.name)[:100]}" if said.name else None,
                    "created_at": when if said.said_at is None else said.said_at,
                }
            )

    def insert(self, db: Connection) -> None:
        """Write all rows; branches that begin at a floor find that it left no variables on its branch."""
        snapshots = [
            {**self._made, "floor_id": row["id"], "values_json": "{}", "created_at": self._now, "is_journaled": True}
            for row in self.floors
        ]
        lines = (branches, self.branches), (floors, self.floors)
        said = (pages, self.pages), (messages, self.messages), (message_extras, self.extras)
        for table, rows in (*lines, *said, (branch_snapshots, snapshots)):
            for some in _batches(rows):
                db.execute(insert(table), list(some))
        for row in self.messages:
            index_text(db, row["account_id"], row["page_id"], row["role"], row["content"])


_FORKED: Final = {"floor_id": "id", "branch_id": "branch_id"}
"""What a branch keeps of the floor behind which it begins, as ``source_``, and the columns of that."""
_SPEAKER: Final = "speaker:"
"""Begins the source of a message whose file named somebody else than the chat's user or character."""


def _batches(rows: Sequence[dict[str, Json]]) -> Iterator[Sequence[dict[str, Json]]]:
    return (rows[at : at + _ROWS] for at in range(0, len(rows), _ROWS))


def _clean(said: str) -> str:
    """A text as it is kept: PostgreSQL keeps no NUL, so both engines get the replacement character for it."""
    return said.replace("\0", "\ufffd")


def export_chat(db: Connection, account: str, session_id: str, branch_id: str | None, *, include_variables: bool) -> ChatRecord:
    """The record of a session: the committed floors that a branch leads through, also those before its fork, with every version
    of what was said on them; without a branch those of main, and the others beside it. Raises 404, and 404
    ``branch_not_found``."""
    session = find_session(db, account, session_id)
    find_branch(db, account, session_id, branch_id or MAIN)
    tree = _Tree(db, account, session_id)
    main = tree.add(branch_id or MAIN)
    others = () if branch_id is not None else tuple(tree.add(id) for id in _other_branches(db, account, session_id))
    return ChatRecord(
        main.floors,
        title=session.title or "",
        user_name=_name_of(session.user_binding),
        character_name=_name_of(session.character_binding),
        variables=_variables_of(db, account, session_id) if include_variables else {},
        metadata=members(session.metadata.get(CHAT_METADATA)),
        header=members(session.metadata.get(CHAT_HEADER)),
        branches=others,
    )


def _other_branches(db: Connection, account: str, session_id: str) -> list[str]:
    """The branches of a session beside main, the first that were made first. Raises 413 for too many of them."""
    here = (branches.c.session_id == session_id, branches.c.account_id == account, branches.c.branch_id != MAIN)
    query = select(branches.c.branch_id).where(*here).order_by(branches.c.created_at, branches.c.branch_id)
    ids = list(db.execute(query.limit(MAX_BRANCHES + 1)).scalars())
    if len(ids) > MAX_BRANCHES:
        message = f"The chat has more than {MAX_BRANCHES} branches: name the one that is to be written."
        raise failure("payload_too_large", message, limit=MAX_BRANCHES)
    return ids


class _Tree:
    """The branches of a session, each floor of them once."""

    def __init__(self, db: Connection, account: str, session_id: str) -> None:
        self._db, self._account, self._session_id = db, account, session_id
        self._places: dict[str, tuple[str, int]] = {}
        """By a floor's id: the branch that it was written with, and how many floors that has up to it."""

    def add(self, branch_id: str) -> ChatBranch:
        """A branch: where it leaves those that were added before, and its floors from there on."""
        source, ids = self._own(branch_id)
        source_branch_id, shared = (MAIN, 0) if source is None else self._places[source]
        made: list[ChatFloor] = []
        for at in range(0, len(ids), _ROWS):
            for id, floor in _floors_of(self._db, self._account, ids[at : at + _ROWS]):
                made.append(floor)
                self._places[id] = branch_id, shared + len(made)
        return ChatBranch(branch_id, source_branch_id, shared, tuple(made))

    def _own(self, branch_id: str) -> tuple[str | None, list[str]]:
        """The newest floor of a branch's way that was written already, and the ids of those behind it, in order."""
        db, account = self._db, self._account
        own = [floor.id for floor in own_floors(db, account, self._session_id, branch_id)]
        source = source_of(db, account, self._session_id, branch_id)
        before: list[str] = []
        for ids in chain([[source.id]], ancestors(db, account, source.id)) if source is not None else ():
            for id in ids:
                if id in self._places:
                    return id, [*reversed(before), *own]
                before.append(id)
        return None, [*reversed(before), *own]


def _name_of(binding: CharacterBinding | UserBinding | None) -> str:
    """The name that a session's binding keeps."""
    return "" if binding is None else text(members(binding.snapshot_summary).get("name"))


def _variables_of(db: Connection, account: str, session_id: str) -> Mapping[str, Json]:
    found = load_targets(db, account, [Target("chat", session_id)])["chat"]
    return {key: variable.value for key, variable in sorted(found.items())}


def _floors_of(db: Connection, account: str, ids: Sequence[str]) -> Iterable[tuple[str, ChatFloor]]:
    """The committed ones of these floors in this order; one that says nothing has no pages and is left out."""
    mine = (floors.c.id.in_(ids), floors.c.account_id == account, floors.c.state == "committed")
    own = (pages.c.floor_id.in_(list(db.execute(select(floors.c.id).where(*mine)).scalars())), pages.c.account_id == account)
    said: dict[str, list[ChatMessage]] = {}
    query = (
        select(messages, message_extras.c.beside_json)
        .join(pages, pages.c.id == messages.c.page_id)
        .outerjoin(message_extras, message_extras.c.message_id == messages.c.id)
        .where(*own)
        .order_by(messages.c.seq)
    )
    for row in db.execute(query):
        if row.content:  # a message of pictures alone has no text, and a record holds texts
            said.setdefault(row.page_id, []).append(_message(row))
    by_floor: dict[str, list[ChatPage]] = {}
    for row in db.execute(select(pages).where(*own).order_by(pages.c.page_no, pages.c.version)):
        page = ChatPage(row.page_no, row.page_kind, tuple(said.get(row.id, ())), row.version, row.is_active)
        by_floor.setdefault(row.floor_id, []).append(page)
    return [(id, ChatFloor(tuple(by_floor[id]))) for id in ids if id in by_floor]


def _message(row: AnyRow) -> ChatMessage:
    source = row.source or ""
    name = source.removeprefix(_SPEAKER) if source.startswith(_SPEAKER) else ""
    return ChatMessage(row.role, row.content, name, row.is_hidden, row.created_at, row.content_format, _beside(row))


def _beside(row: AnyRow) -> dict[str, Json]:
    """What is told of a message beside its text: as its file did, with the thoughts of an answer that was made here as
    SillyTavern keeps them (``extra.reasoning``)."""
    beside: dict[str, Json] = {} if row.beside_json is None else loads(row.beside_json)
    thoughts = [text(part.get("text")) for part in shown_parts(row) or () if part["type"] == "thinking"]
    reasoning = "\n\n".join(thought for thought in thoughts if thought)
    extra = members(beside.get("extra"))
    return {**beside, "extra": {**extra, "reasoning": reasoning}} if reasoning and "reasoning" not in extra else beside
