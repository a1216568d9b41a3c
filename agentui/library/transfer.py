"""Whole chats that come in and go out: a session made of a record, and the record of one of its branches.

A record's floors are committed ones, in their order; what stood beside the chat in its file is kept in the session's metadata
(``chat_metadata``), so that it goes out again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, insert, select

from agentui.assets.files.chats import ChatFloor, ChatMessage, ChatPage, ChatRecord
from agentui.assets.values import members, text
from agentui.chats.lineage import branch_path
from agentui.chats.records import MAIN, AnyRow, CharacterBinding, Session, UserBinding, shown_parts
from agentui.chats.rows import find_branch, find_session
from agentui.chats.text_index import index_text
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.library.bindings import CHAT_HEADER, create_session, update_session
from agentui.library.bound import CHAT_METADATA
from agentui.store.tables import branch_snapshots, floors, message_extras, messages, pages
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
    for floor in record.floors:
        rows.add(floor)
    rows.insert(db)
    chat = Target("chat", session.id)
    writes = [Put(chat, check_key(key), render(value)) for key, value in record.variables.items()]
    put_all(db, account, writes, now)
    return ImportedChat(session, len(rows.floors), len(rows.pages), len(rows.messages), len(writes))


class _Rows:
    """The rows of a chat's floors, one after the other on the branch main."""

    def __init__(self, account: str, session_id: str, now: int) -> None:
        self._made = {"account_id": account}
        self._session_id = session_id
        self._now = now
        self.floors: list[dict[str, Json]] = []
        self.pages: list[dict[str, Json]] = []
        self.messages: list[dict[str, Json]] = []
        self.extras: list[dict[str, Json]] = []

    def add(self, floor: ChatFloor) -> None:
        """A floor that follows the one before."""
        parent = self.floors[-1]["id"] if self.floors else None
        times = [said.said_at for page in floor.pages for said in page.messages if said.said_at is not None]
        when = min(times, default=self._now)
        row = {"id": new_short_id(), "session_id": self._session_id, "branch_id": MAIN, "floor_no": len(self.floors)}
        self.floors.append(
            {**self._made, **row, "parent_floor_id": parent, "state": "committed", "created_at": when, "updated_at": self._now}
        )
        for page in floor.pages:
            self._add_page(page, row["id"], when)

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
        said = (messages, self.messages), (message_extras, self.extras)
        for table, rows in ((floors, self.floors), (pages, self.pages), *said, (branch_snapshots, snapshots)):
            for some in _batches(rows):
                db.execute(insert(table), list(some))
        for row in self.messages:
            index_text(db, row["account_id"], row["page_id"], row["role"], row["content"])


_SPEAKER: Final = "speaker:"
"""Begins the source of a message whose file named somebody else than the chat's user or character."""


def _batches(rows: Sequence[dict[str, Json]]) -> Iterator[Sequence[dict[str, Json]]]:
    return (rows[at : at + _ROWS] for at in range(0, len(rows), _ROWS))


def _clean(said: str) -> str:
    """A text as it is kept: PostgreSQL keeps no NUL, so both engines get the replacement character for it."""
    return said.replace("\0", "\ufffd")


def export_chat(db: Connection, account: str, session_id: str, branch_id: str, *, include_variables: bool) -> ChatRecord:
    """The record of a session: the committed floors that a branch leads through, also those before its fork, with every version
    of what was said on them. Raises 404, and 404 ``branch_not_found``."""
    session = find_session(db, account, session_id)
    find_branch(db, account, session_id, branch_id)
    ids = [floor.id for floor in branch_path(db, account, session_id, branch_id) if floor.state == "committed"]
    made: list[ChatFloor] = []
    for at in range(0, len(ids), _ROWS):
        made += _floors_of(db, account, ids[at : at + _ROWS])
    return ChatRecord(
        tuple(made),
        title=session.title or "",
        user_name=_name_of(session.user_binding),
        character_name=_name_of(session.character_binding),
        variables=_variables_of(db, account, session_id) if include_variables else {},
        metadata=members(session.metadata.get(CHAT_METADATA)),
        header=members(session.metadata.get(CHAT_HEADER)),
    )


def _name_of(binding: CharacterBinding | UserBinding | None) -> str:
    """The name that a session's binding keeps."""
    return "" if binding is None else text(members(binding.snapshot_summary).get("name"))


def _variables_of(db: Connection, account: str, session_id: str) -> Mapping[str, Json]:
    found = load_targets(db, account, [Target("chat", session_id)])["chat"]
    return {key: variable.value for key, variable in sorted(found.items())}


def _floors_of(db: Connection, account: str, ids: Sequence[str]) -> Iterable[ChatFloor]:
    """These floors in this order; one that says nothing has no pages and is left out."""
    own = (pages.c.floor_id.in_(ids), pages.c.account_id == account)
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
    return [ChatFloor(tuple(by_floor[id])) for id in ids if id in by_floor]


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
