"""What a turn is told of its chat: the messages before it, newest first until they are long enough, and its own question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, bindparam, case, cast, func, select
from sqlalchemy.dialects.postgresql import JSON

from agentui.assets.chat_settings import settings_in
from agentui.chat.messages import ToolResult
from agentui.chats.frozen import frozen_behind, frozen_of, with_frozen
from agentui.chats.lineage import ancestors
from agentui.chats.parts import read_parts
from agentui.chats.policies import StoredPolicies, envelope_of
from agentui.chats.records import Floor, PageKind
from agentui.jsonio import loads
from agentui.library.bound import with_chat_book
from agentui.profiles.service import NO_MODELS, read_models, with_narrator_preset
from agentui.profiles.stored import has_any
from agentui.prompt.history import NOTHING_UNREAD, HistoryEntry, Unread
from agentui.store.prepared import Found, OneOf, Prepared, texts
from agentui.store.tables import branches, floors, messages, page_results, pages, sessions
from agentui.turns.request import ChatFacts, Reach

MOST_HIDDEN = 500
"""Floors of which nothing is seen that are read on the way to older ones: a turn's work must not grow with its chat."""


@dataclass(frozen=True, slots=True)
class Past:
    """What was said before a turn, oldest first, and what is asked on its own floor. ``is_cut``: there is more. ``answer`` is
    what the floor answers until now, where that is made anew; ``is_partial``: those are the words of a run that was stopped.
    ``versions`` are how many answers it has, ``version`` the place of the active one among them, from 1.

    ``unread`` are the messages that count and were not read; None where they are too many to be counted.

    ``summary`` is the newest one that was kept before the turn. ``first_included_no`` is what the prompt of the last turn began
    with (``prompt.explain.first_included_no``); that is the floor's own, where its answer is made anew."""

    entries: tuple[HistoryEntry, ...] = ()
    question: tuple[HistoryEntry, ...] = ()
    answer: tuple[HistoryEntry, ...] = ()
    is_partial: bool = False
    is_cut: bool = False
    unread: Unread | None = NOTHING_UNREAD
    version: int = 0
    versions: int = 0
    summary: str = ""
    first_included_no: int | None = None


NO_PAST = Past()
"""That of a turn that did not ask for it."""


def read_facts(db: Connection, account: str, session_id: str, branch_id: str, source: Floor | None = None) -> ChatFacts:
    """What is known of a session as it holds on a branch. One that does not exist yet has no policy of its own, and the assets
    that it would keep if it were forked behind ``source``."""
    row = _FACTS.row(db, {"account": account, "session": session_id, "branch": branch_id})
    assert row is not None  # whoever asks has found the session
    policies = StoredPolicies(envelope_of(row.policy_json), envelope_of(row.branch_policy))
    if row.branch_id is not None:
        frozen = frozen_of(row.frozen_json)
    else:
        frozen = None if source is None else frozen_behind(db, account, source)
    metadata = loads(row.metadata_json)
    bindings = with_chat_book(with_frozen(loads(row.bindings_json), frozen), metadata)
    models = NO_MODELS
    if row.has_models:
        models = read_models(db, account, session_id)
        bindings = with_narrator_preset(db, account, bindings, models)
    return ChatFacts(row.id, row.name, row.title, bindings, settings_in(metadata), policies, models)


_FACTS = Prepared(
    select(
        *(sessions.c[name] for name in ("id", "name", "title", "bindings_json", "metadata_json", "policy_json")),
        branches.c.branch_id,
        branches.c.policy_json.label("branch_policy"),
        branches.c.frozen_json,
        has_any(sessions.c.account_id, sessions.c.id).label("has_models"),
    )
    .outerjoin(branches, (branches.c.session_id == sessions.c.id) & (branches.c.branch_id == bindparam("branch")))
    .where(sessions.c.id == bindparam("session"), sessions.c.account_id == bindparam("account"))
)


def read_past(db: Connection, account: str, floor_id: str, answered_floor_id: str | None, reach: Reach) -> Past:
    """The past of a floor, as much of it as is wanted and at least one floor that is seen; ``answered_floor_id`` is the floor
    whose answer is made anew."""
    before = ancestors(db, account, floor_id)
    newest = next(before, [])
    read = _newest(db, account, chain([newest] if newest else [], before), reach)
    answer, is_partial = _answer(db, account, answered_floor_id)
    return Past(
        **read,
        question=_said_there(db, account, floor_id, "input"),
        answer=answer,
        is_partial=is_partial,
        **_versions(db, account, answered_floor_id),
        summary=_summary(db, account, newest),
        first_included_no=_first_included(db, account, answered_floor_id or next(iter(newest), None)),
    )


def read_until(db: Connection, account: str, floor_id: str, reach: Reach) -> Past:
    """What was said up to a floor, its own messages among it: the past of a floor that would go on from there."""
    before = ancestors(db, account, floor_id)
    newest = [floor_id, *next(before, [])]
    read = _newest(db, account, chain([newest], before), reach)
    first_no = _first_included(db, account, floor_id)
    return Past(**read, summary=_summary(db, account, newest), first_included_no=first_no)


def _newest(db: Connection, account: str, floor_ids: Iterable[Sequence[str]], reach: Reach) -> dict[str, Any]:
    """What was said on floors that come newest first, oldest first and no more than is wanted of it, with what was left; as
    ``Past`` has them. What is hidden takes no room of what is not."""
    newest_first: list[list[HistoryEntry]] = []
    is_seen = reach.is_seen
    length = texts = hidden = 0
    has_seen = False
    chunks = iter(floor_ids)
    for some in chunks:
        by_floor, beside = _said(db, account, some)
        for number, id in enumerate(some, 1):
            said = by_floor.get(id, [])
            seen = [entry for entry in said if not entry.is_hidden and is_seen(id, entry.floor_no)]
            length += sum([len(entry.text) + beside.get(entry.message_id, 0) for entry in seen])
            hidden += not seen
            if (length > reach.most and has_seen) or hidden > MOST_HIDDEN:
                return {"entries": _oldest_first(newest_first), "is_cut": True, "unread": None}
            has_seen = has_seen or bool(seen)
            newest_first.append(said)
            if reach.fits is None:
                continue
            texts += sum([_certain(entry) for entry in seen])
            # What tools gave is nothing without its call, which is on an older floor.
            if texts > reach.fits and not any(_is_result(entry) for entry in seen):
                older = chain([some[number:]] if some[number:] else [], chunks)
                is_cut, unread = _counted(db, account, older, reach.most - length)
                return {"entries": _oldest_first(newest_first), "is_cut": is_cut, "unread": unread}
    return {"entries": _oldest_first(newest_first)}


def _certain(entry: HistoryEntry) -> int:
    """How many characters of a message a prompt has at least that holds it. Macros may leave nothing of a greeting."""
    return 0 if entry.source == "greeting" else len(entry.text.strip())


def _is_result(entry: HistoryEntry) -> bool:
    return any(isinstance(part, ToolResult) for part in entry.parts)


def _counted(db: Connection, account: str, floor_ids: Iterable[Sequence[str]], most: int) -> tuple[bool, Unread | None]:
    """Whether there are any floors, which come newest first, and how many messages on them count; None where they have more
    than ``most`` characters, or many floors say nothing."""
    is_cut = False
    spoken = users = silent = 0
    for some in floor_ids:
        is_cut = True
        found = _COUNTED.first(db, {"floors": texts(some), "account": account})
        assert found is not None  # what is summed up is always one row
        more, more_users, length = (number or 0 for number in found)
        spoken, users, most = spoken + more, users + more_users, most - length
        silent += 0 if length else len(some)
        if most < 0 or silent > MOST_HIDDEN:
            return True, None
    return is_cut, Unread(spoken, users)


def _oldest_first(said: list[list[HistoryEntry]]) -> tuple[HistoryEntry, ...]:
    return tuple(chain.from_iterable(reversed(said)))


def _answer(db: Connection, account: str, floor_id: str | None) -> tuple[tuple[HistoryEntry, ...], bool]:
    if floor_id is None:
        return (), False
    return _said_there(db, account, floor_id, "output"), _PARTIAL.first(db, {"floor": floor_id}) is not None


_PARTIAL = Prepared(select(pages.c.id).where(pages.c.floor_id == bindparam("floor"), pages.c.is_active, pages.c.is_partial))


def _versions(db: Connection, account: str, floor_id: str | None) -> dict[str, Any]:
    """How many answers a floor has, and which of them is the active one."""
    if floor_id is None:
        return {"version": 0, "versions": 0}
    active = [row.is_active for row in _VERSIONS.rows(db, {"floor": floor_id, "account": account})]
    return {"version": active.index(True) + 1 if True in active else 0, "versions": len(active)}


_VERSIONS = Prepared(
    select(pages.c.is_active)
    .where(pages.c.floor_id == bindparam("floor"), pages.c.account_id == bindparam("account"), pages.c.page_kind == "output")
    .order_by(pages.c.page_no, pages.c.version)
)


def _summary(db: Connection, account: str, floor_ids: Sequence[str]) -> str:
    """The newest summary that one of these floors keeps, which come newest first; "" where there is none."""
    if not floor_ids:
        return ""
    kept = dict(map(tuple, _SUMMARIES.all(db, {"account": account, "floors": texts(floor_ids)})))
    newest = next((kept[id] for id in floor_ids if id in kept), None)
    return "" if newest is None else str(loads(newest)[-1])


def _first_included(db: Connection, account: str, floor_id: str | None) -> int | None:
    """Which message the prompt of a floor's answer began with; None where that is not known."""
    found = None if floor_id is None else _FIRST_INCLUDED.first(db, {"account": account, "floors": texts([floor_id])})
    return None if found is None else found[0]


def _answers() -> tuple[ColumnElement[bool], ...]:
    """What is kept beside the active answers of some floors: conditions on pages and their results."""
    mine = (pages.c.id == page_results.c.page_id, pages.c.account_id == bindparam("account"))
    return (*mine, OneOf(pages.c.floor_id, "floors"), pages.c.is_active, pages.c.page_kind == "output")


_SUMMARIES = Prepared(
    select(pages.c.floor_id, page_results.c.summaries_json).where(*_answers(), page_results.c.summaries_json != "[]")
)
# PostgreSQL unescapes every text of a document on its way to one member, and refuses U+0000, which a client's system text may
# hold. Where the backslash itself is escaped this changes the text behind it, and the document stays JSON.
_EXPLAIN = func.replace(page_results.c.explain_json, r"\u0000", r"\ufffd")
# Of a document that tells of a whole prompt one number is wanted: the database finds it sooner than it is read here.
_FIRST_INCLUDED = Prepared(
    {
        "sqlite": select(func.json_extract(page_results.c.explain_json, "$.first_included_no")).where(*_answers()),
        "postgresql": select(cast(cast(_EXPLAIN, JSON)["first_included_no"].astext, Integer)).where(*_answers()),
    }
)


def _said_there(db: Connection, account: str, floor_id: str, kind: PageKind) -> tuple[HistoryEntry, ...]:
    """What was said on the active pages of one kind of a floor, in order."""
    return tuple(_entry(db, account, row) for row in _SAID_THERE.all(db, {"floor": floor_id, "kind": kind, "account": account}))


def _said(db: Connection, account: str, floor_ids: Sequence[str]) -> tuple[dict[str, list[HistoryEntry]], dict[str, int]]:
    """What was said on the active pages of some floors, by floor and in order; and of messages that are more than their text
    how much that is, by their ids."""
    found: dict[str, list[HistoryEntry]] = {id: [] for id in floor_ids}
    beside: dict[str, int] = {}
    for row in _SAID.all(db, {"floors": texts(floor_ids), "account": account}):
        found[row[0]].append(_entry(db, account, row))
        if row[6] is not None:
            beside[row[2]] = len(row[6])
    return found, beside


def _messages(*where: ColumnElement[bool]) -> Any:
    """The messages on active pages as ``HistoryEntry`` has them, but that the parts are JSON and the flag is a number."""
    return (
        select(
            pages.c.floor_id,
            floors.c.floor_no,
            messages.c.id,
            messages.c.page_id,
            messages.c.role,
            messages.c.content,
            messages.c.parts_json,
            cast(messages.c.is_hidden, Integer),
            messages.c.source,
            messages.c.created_at,
        )
        .join(pages, pages.c.id == messages.c.page_id)
        .join(floors, floors.c.id == pages.c.floor_id)
        .where(*where, pages.c.is_active, pages.c.account_id == bindparam("account"))
        .order_by(pages.c.page_no, messages.c.seq)
    )


def _count() -> Prepared:
    """How many messages of some floors count, how many of them are the user's, and their characters."""
    # What Python's ``str.strip`` takes away of a text that says nothing.
    says = func.trim(messages.c.content, "".join(map(chr, _BLANKS))) != ""
    is_part_only = messages.c.parts_json.is_not(None) & ~says
    is_spoken = ((messages.c.role == "user") | (messages.c.role == "assistant")) & ~is_part_only
    size = func.length(messages.c.content) + func.coalesce(func.length(messages.c.parts_json), 0)
    return Prepared(
        select(*(func.sum(case((each, 1), else_=0)) for each in (is_spoken, messages.c.role == "user")), func.sum(size))
        .join(pages, pages.c.id == messages.c.page_id)
        .where(OneOf(pages.c.floor_id, "floors"), pages.c.is_active, pages.c.account_id == bindparam("account"))
        .where(~messages.c.is_hidden, messages.c.parts_json.is_not(None) | says)
    )


_BLANKS = tuple(number for number in range(0x3001) if chr(number).isspace())
_COUNTED = _count()
_SAID = Prepared(_messages(OneOf(pages.c.floor_id, "floors")))
_SAID_THERE = Prepared(_messages(pages.c.floor_id == bindparam("floor"), pages.c.page_kind == bindparam("kind")))


def _entry(db: Connection, account: str, row: Found) -> HistoryEntry:
    """A message of ``_messages``."""
    parts = () if row[6] is None else read_parts(db, account, row[5], row[6])
    return tuple.__new__(HistoryEntry, (*row[:6], parts, row[7] == 1, row[8], row[9]))
