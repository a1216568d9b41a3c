"""Whole chats that go out: the record of a session's branches, or of one of them. How a record comes in: ``incoming.py``."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from sqlalchemy import Connection, select

from agentui.assets.chat_settings import CHAT_METADATA, SETTINGS
from agentui.assets.files.chats import MAIN, MAX_BRANCHES, ChatBranch, ChatFloor, ChatMessage, ChatPage, ChatRecord
from agentui.assets.values import members, text
from agentui.chats.codes import failure
from agentui.chats.lineage import ancestors, own_floors, source_of
from agentui.chats.records import AnyRow, CharacterBinding, UserBinding, shown_parts
from agentui.chats.rows import find_branch, find_session
from agentui.jsonio import Json, loads
from agentui.library.bindings import CHAT_HEADER
from agentui.library.incoming import SPEAKER
from agentui.store.tables import branches, floors, message_extras, messages, pages
from agentui.variables.resolve import load_targets
from agentui.variables.scopes import Target

_ROWS: Final = 500
"""Rows in one statement: neither engine takes any number of values."""


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
        metadata=_metadata_of(session.metadata),
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


def _metadata_of(metadata: Mapping[str, Json]) -> Mapping[str, Json]:
    """What is told of a chat: as its file did, but for what the session says of its prompts itself."""
    own = {name: metadata[name] for name in SETTINGS if name in metadata}
    return {**members(metadata.get(CHAT_METADATA)), **own}


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
    name = source.removeprefix(SPEAKER) if source.startswith(SPEAKER) else ""
    return ChatMessage(row.role, row.content, name, row.is_hidden, row.created_at, row.content_format, _beside(row))


def _beside(row: AnyRow) -> dict[str, Json]:
    """What is told of a message beside its text: as its file did, with the thoughts of an answer that was made here as
    SillyTavern keeps them (``extra.reasoning``)."""
    beside: dict[str, Json] = {} if row.beside_json is None else loads(row.beside_json)
    thoughts = [text(part.get("text")) for part in shown_parts(row) or () if part["type"] == "thinking"]
    reasoning = "\n\n".join(thought for thought in thoughts if thought)
    extra = members(beside.get("extra"))
    return {**beside, "extra": {**extra, "reasoning": reasoning}} if reasoning and "reasoning" not in extra else beside
