"""What a turn is told of its chat: the messages before it, newest first until they are long enough, and its own question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import ColumnElement, Connection, select

from agentui.chats.frozen import frozen_behind, frozen_of, with_frozen
from agentui.chats.lineage import ancestors
from agentui.chats.parts import read_parts
from agentui.chats.policies import StoredPolicies, envelope_of
from agentui.chats.records import AnyRow, Floor
from agentui.jsonio import loads
from agentui.library.bound import with_chat_book
from agentui.prompt.history import HistoryEntry
from agentui.store.tables import branches, floors, messages, page_results, pages, sessions
from agentui.turns.request import ChatFacts, Reach

MOST_HIDDEN = 500
"""Floors of which nothing is seen that are read on the way to older ones: a turn's work must not grow with its chat."""


@dataclass(frozen=True, slots=True)
class Past:
    """What was said before a turn, oldest first, and what is asked on its own floor. ``is_cut``: there is more. ``answer`` is
    what the floor answers until now, where that is made anew; ``is_partial``: those are the words of a run that was stopped.
    ``versions`` are how many answers it has, ``version`` the place of the active one among them, from 1.

    ``summary`` is the newest one that was kept before the turn. ``first_included_no`` is what the prompt of the last turn began
    with (``prompt.explain.first_included_no``); that is the floor's own, where its answer is made anew."""

    entries: tuple[HistoryEntry, ...] = ()
    question: tuple[HistoryEntry, ...] = ()
    answer: tuple[HistoryEntry, ...] = ()
    is_partial: bool = False
    is_cut: bool = False
    version: int = 0
    versions: int = 0
    summary: str = ""
    first_included_no: int | None = None


NO_PAST = Past()
"""That of a turn that did not ask for it."""


def read_facts(db: Connection, account: str, session_id: str, branch_id: str, source: Floor | None = None) -> ChatFacts:
    """What is known of a session as it holds on a branch. One that does not exist yet has no policy of its own, and the assets
    that it would keep if it were forked behind ``source``."""
    row = db.execute(select(sessions).where(sessions.c.id == session_id, sessions.c.account_id == account)).one()
    columns = (branches.c.policy_json, branches.c.frozen_json)
    of_branch = select(*columns).where(branches.c.session_id == session_id, branches.c.branch_id == branch_id)
    branch = db.execute(of_branch).one_or_none()
    policies = StoredPolicies(envelope_of(row.policy_json), envelope_of(None if branch is None else branch.policy_json))
    if branch is not None:
        frozen = frozen_of(branch.frozen_json)
    else:
        frozen = None if source is None else frozen_behind(db, account, source)
    metadata = loads(row.metadata_json)
    bindings = with_chat_book(with_frozen(loads(row.bindings_json), frozen), metadata)
    return ChatFacts(row.id, row.name, row.title, bindings, metadata, policies)


def read_past(db: Connection, account: str, floor_id: str, answered_floor_id: str | None, reach: Reach) -> Past:
    """The past of a floor, as much of it as is wanted and at least one floor that is seen; ``answered_floor_id`` is the floor
    whose answer is made anew."""
    before = ancestors(db, account, floor_id)
    newest = next(before, [])
    entries, is_cut = _newest(db, account, chain([newest] if newest else [], before), reach)
    answer, is_partial = _answer(db, account, answered_floor_id)
    return Past(
        entries=entries,
        question=tuple(entry for entry, _ in _said(db, account, [floor_id], kind="input").get(floor_id, ())),
        answer=answer,
        is_partial=is_partial,
        is_cut=is_cut,
        **_versions(db, account, answered_floor_id),
        summary=_summary(db, account, newest),
        first_included_no=_first_included(db, account, answered_floor_id or next(iter(newest), None)),
    )


def read_until(db: Connection, account: str, floor_id: str, reach: Reach) -> Past:
    """What was said up to a floor, its own messages among it: the past of a floor that would go on from there."""
    before = ancestors(db, account, floor_id)
    newest = [floor_id, *next(before, [])]
    entries, is_cut = _newest(db, account, chain([newest], before), reach)
    first_no = _first_included(db, account, floor_id)
    return Past(entries=entries, is_cut=is_cut, summary=_summary(db, account, newest), first_included_no=first_no)


def _newest(
    db: Connection, account: str, floor_ids: Iterable[Sequence[str]], reach: Reach
) -> tuple[tuple[HistoryEntry, ...], bool]:
    """What was said on floors that come newest first, oldest first and no more than is wanted of it; True where there is more.
    What is hidden takes no room of what is not."""
    newest_first: list[list[HistoryEntry]] = []
    length = hidden = 0
    has_seen = False
    for some in floor_ids:
        by_floor = _said(db, account, some)
        for id in some:
            said = by_floor.get(id, ())
            seen = [size for entry, size in said if not entry.is_hidden and reach.is_seen(id, entry.floor_no)]
            length += sum(seen)
            hidden += not seen
            if (length > reach.most and has_seen) or hidden > MOST_HIDDEN:
                return _oldest_first(newest_first), True
            has_seen = has_seen or bool(seen)
            newest_first.append([entry for entry, _ in said])
    return _oldest_first(newest_first), False


def _oldest_first(said: list[list[HistoryEntry]]) -> tuple[HistoryEntry, ...]:
    return tuple(entry for entries in reversed(said) for entry in entries)


def _answer(db: Connection, account: str, floor_id: str | None) -> tuple[tuple[HistoryEntry, ...], bool]:
    if floor_id is None:
        return (), False
    said = tuple(entry for entry, _ in _said(db, account, [floor_id], kind="output").get(floor_id, ()))
    partial = select(pages.c.id).where(pages.c.floor_id == floor_id, pages.c.is_active, pages.c.is_partial)
    return said, db.execute(partial.limit(1)).first() is not None


def _versions(db: Connection, account: str, floor_id: str | None) -> dict[str, int]:
    """How many answers a floor has, and which of them is the active one."""
    mine = (pages.c.floor_id == floor_id, pages.c.account_id == account, pages.c.page_kind == "output")
    query = select(pages.c.is_active).where(*mine).order_by(pages.c.page_no, pages.c.version)
    active = [] if floor_id is None else list(db.execute(query).scalars())
    return {"version": active.index(True) + 1 if True in active else 0, "versions": len(active)}


def _summary(db: Connection, account: str, floor_ids: Sequence[str]) -> str:
    """The newest summary that one of these floors keeps, which come newest first; "" where there is none."""
    if not floor_ids:
        return ""
    query = select(pages.c.floor_id, page_results.c.summaries_json).where(
        *_answers(account, floor_ids), page_results.c.summaries_json != "[]"
    )
    kept = {row.floor_id: row.summaries_json for row in db.execute(query)}
    newest = next((kept[id] for id in floor_ids if id in kept), None)
    return "" if newest is None else str(loads(newest)[-1])


def _first_included(db: Connection, account: str, floor_id: str | None) -> int | None:
    """Which message the prompt of a floor's answer began with; None where that is not known."""
    if floor_id is None:
        return None
    query = select(page_results.c.explain_json).where(*_answers(account, [floor_id]))
    text = db.execute(query).scalar_one_or_none()
    number = None if text is None else loads(text).get("first_included_no")
    return number if isinstance(number, int) else None


def _answers(account: str, floor_ids: Sequence[str]) -> tuple[ColumnElement[bool], ...]:
    """What is kept beside the active answers of some floors: conditions on pages and their results."""
    mine = (pages.c.id == page_results.c.page_id, pages.c.account_id == account)
    return (*mine, pages.c.floor_id.in_(floor_ids), pages.c.is_active, pages.c.page_kind == "output")


def _said(
    db: Connection, account: str, floor_ids: Sequence[str], kind: str | None = None
) -> dict[str, list[tuple[HistoryEntry, int]]]:
    """What was said on the active pages of some floors, by floor and in order, each with its length."""
    query = (
        select(messages, pages.c.floor_id, floors.c.floor_no)
        .join(pages, pages.c.id == messages.c.page_id)
        .join(floors, floors.c.id == pages.c.floor_id)
        .where(pages.c.floor_id.in_(floor_ids), pages.c.is_active, pages.c.account_id == account)
        .order_by(pages.c.page_no, messages.c.seq)
    )
    if kind is not None:
        query = query.where(pages.c.page_kind == kind)
    found: dict[str, list[tuple[HistoryEntry, int]]] = {}
    for row in db.execute(query):
        found.setdefault(row.floor_id, []).append((_entry(db, account, row), len(row.content) + len(row.parts_json or "")))
    return found


def _entry(db: Connection, account: str, row: AnyRow) -> HistoryEntry:
    parts = () if row.parts_json is None else read_parts(db, account, row.content, row.parts_json)
    return HistoryEntry(
        floor_id=row.floor_id,
        floor_no=row.floor_no,
        message_id=row.id,
        page_id=row.page_id,
        role=row.role,
        text=row.content,
        parts=parts,
        is_hidden=row.is_hidden,
        source=row.source,
        created_at=row.created_at,
    )
