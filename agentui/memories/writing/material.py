"""What a model is shown of a chat: the words of a few floors, and what is known already.

Never among it: injected memories, system texts, texts of lorebooks, thoughts, hidden messages. What was recalled must not come
back as a new fact, so of a prompt nothing is read, only what the user and the model said (``messages.content``).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select

from agentui.memories.hosts import Host
from agentui.memories.items import find_items
from agentui.memories.records import Item, MemoryType
from agentui.memories.sight import Sight
from agentui.memories.writing.jobs import MemoryJob
from agentui.memories.writing.said import digest
from agentui.store.kept import PAGE_IS_KEPT
from agentui.store.tables import floors, memory_items, messages, pages
from agentui.words.cutting import cut

MOST_TEXT: Final = 12_000
"""Characters of one message that a model is shown: of a longer one its beginning and its end."""
MOST_TEXTS: Final = 40_000
"""Characters of all floors that one call reads; the first one is read in any case."""
MOST_KNOWN: Final = {"fact": 50, "open_loop": 25, "summary": 20}
"""Items that a model is shown (TavernHeadless' contract, 3.6)."""
MOST_LOOKED_AT: Final = 400
"""Items of a kind, the newest, among which those are looked for that have to do with the text."""


@dataclass(frozen=True, slots=True)
class PageText:
    """What the user or the model said on a page."""

    page_id: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class FloorText:
    """What was said on a floor, and what its answer's ``<summary>`` blocks held. ``page_id`` is the answer's page."""

    floor_id: str
    floor_no: int
    page_id: str
    pages: Sequence[PageText]
    summaries: Sequence[str] = ()
    message_id: str | None = None
    job: MemoryJob | None = None

    @property
    def length(self) -> int:
        """How many characters it has."""
        return sum(len(page.text) for page in self.pages)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a chat already, by the short names that a model calls the items by. These are made for one call, so
    that no other item can be named."""

    facts: dict[str, Item]
    loops: dict[str, Item]
    summaries: dict[str, Item]


@dataclass(frozen=True, slots=True)
class Material:
    """What one call reads, in the scope that it writes to."""

    host: Host
    floors: Sequence[FloorText]
    known: Known


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A job whose floor is not read: its answer is not the active one, or is gone (``is_dropped``), or its words are others
    than when it was queued."""

    job: MemoryJob
    is_dropped: bool


def read_floors(db: Connection, account: str, jobs: Sequence[MemoryJob]) -> tuple[list[FloorText], list[Unreadable]]:
    """The texts of the floors that jobs are for, as many as one call reads, and the jobs that cannot be done."""
    found: list[FloorText] = []
    unreadable: list[Unreadable] = []
    length = 0
    for job in jobs:
        floor = _floor_of(db, account, job)
        if isinstance(floor, Unreadable):
            unreadable.append(floor)
            continue
        length += floor.length
        if found and length > MOST_TEXTS:
            break
        found.append(floor)
    return found, unreadable


def _floor_of(db: Connection, account: str, job: MemoryJob) -> FloorText | Unreadable:
    page_id = job.payload["pageId"]
    state = (
        select(floors.c.floor_no)
        .join(pages, pages.c.floor_id == floors.c.id)
        .where(pages.c.id == page_id, pages.c.account_id == account, pages.c.is_active, PAGE_IS_KEPT)
        .where(floors.c.superseded_at.is_(None), floors.c.state == "committed")
    )
    number = db.execute(state).scalar_one_or_none()
    if number is None:
        return Unreadable(job, is_dropped=True)
    said = (
        select(pages.c.id, pages.c.page_kind, messages.c.role, messages.c.content)
        .join(pages, pages.c.id == messages.c.page_id)
        .where(pages.c.floor_id == job.floor_id, pages.c.account_id == account, pages.c.is_active)
        .where(messages.c.is_hidden.is_(False), messages.c.role.in_(("user", "assistant")))
        .order_by(pages.c.page_no, messages.c.seq)
    )
    rows = db.execute(said).all()
    question = "\n".join(row.content for row in rows if row.page_kind == "input" and row.role == "user")
    if digest(question) != job.payload["userInputDigest"]:
        return Unreadable(job, is_dropped=False)
    told = [PageText(row.id, row.role, shortened(row.content)) for row in rows if row.content.strip()]
    beside = job.payload.get("summaries") or (), job.payload.get("assistantMessageId")
    return FloorText(job.floor_id or "", number, page_id, told, *beside, job=job)


def shortened(text: str) -> str:
    """A text as it is shown: of a long one its beginning and its end."""
    if len(text) <= MOST_TEXT:
        return text
    half = MOST_TEXT // 2
    return f"{text[:half]}\n[...]\n{text[-half:]}"


def read_known(db: Connection, account: str, session_id: str, sight: Sight, texts: Sequence[str]) -> Known:
    """What is seen from a place and has to do with some texts: of each kind those that share most words with them, then the
    most important; of summaries the newest."""
    wanted = set(cut("\n".join(texts)))
    by_type = {type: _seen(db, account, session_id, sight, type) for type in MOST_KNOWN}
    for type in ("fact", "open_loop"):
        by_type[type].sort(key=lambda item: (-len(wanted & set(cut(item.text[:2000]))), -item.importance))
    names = {"fact": "f", "open_loop": "l", "summary": "s"}
    facts, loops, summaries = (
        {f"{names[type]}{number}": item for number, item in enumerate(by_type[type][: MOST_KNOWN[type]], 1)}
        for type in ("fact", "open_loop", "summary")
    )
    return Known(facts, loops, summaries)


def _seen(db: Connection, account: str, session_id: str, sight: Sight, type: str) -> list[Item]:
    """The newest items of a kind that are seen."""
    own = memory_items.c.account_id == account, memory_items.c.type == type
    of_chat = memory_items.c.session_id == session_id
    newest = select(memory_items.c.id).where(*own, of_chat).order_by(memory_items.c.created_at.desc(), memory_items.c.id)
    ids = [id for id in db.execute(newest.limit(MOST_LOOKED_AT)).scalars() if sight.sees(id)]
    found = find_items(db, account, ids)
    return [found[id] for id in ids if id in found]


def same_facts(
    db: Connection, account: str, session_id: str, sight: Sight, type: MemoryType, key: str | None, text: str
) -> list[Item]:
    """The seen items that say the same: of the same key, or in the same words, whatever their cases."""
    columns = memory_items.c
    is_same = columns.folded == text.casefold()
    if key is not None:
        is_same |= columns.fact_key == key
    query = select(columns.id).where(
        columns.account_id == account, columns.session_id == session_id, columns.type == type, is_same
    )
    ids = [id for id in db.execute(query.limit(MOST_LOOKED_AT)).scalars() if sight.sees(id)]
    return list(find_items(db, account, ids).values())


def pages_there(db: Connection, account: str, ids: Collection[str]) -> set[str]:
    """Those of some pages that are still there."""
    query = select(pages.c.id).where(pages.c.account_id == account, pages.c.id.in_(ids), PAGE_IS_KEPT)
    return set(db.execute(query).scalars())
