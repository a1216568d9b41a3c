"""Writing the words index: spaces, and the texts that are put into them.

A message is put in by the transaction that keeps it, what a chat held before by ``fill``, in parts. What is removed takes its
words along. Whoever changes a text puts it in anew.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, bindparam, delete, select, update

from agentui.jsonio import Json
from agentui.store.prepared import INSERT, Prepared
from agentui.store.tables import floors, messages, pages, search_spaces, search_texts
from agentui.words.cutting import cut

MOST_CHARACTERS: Final = 20_000
"""Of a message, from its beginning: some four thousand words, which take 15 ms to cut. What stands behind is not found by its
words: on PostgreSQL a transaction runs in the event loop, which nothing may hold for long."""
_MOST_BYTES: Final = 500_000
"""Of all words of a text: a ``tsvector`` of PostgreSQL holds a megabyte."""
_AT_ONCE: Final = 20
"""Floors that ``fill`` goes on by."""
_MESSAGES_AT_ONCE: Final = 50
_CHARACTERS_AT_ONCE: Final = 20_000
"""Messages and characters that one transaction puts in: others wait for it."""
_BLOCK: Final = re.compile(
    r"<(/?)(think(?:ing)?|update(?:variable)?|status_current_variables?|StatusPlaceHolderImpl|style|script)\b[^<>]*>",
    re.IGNORECASE,
)
"""What is no story: thoughts, MVU's blocks of state, and a card's own markup."""
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]{0,300}>")


@dataclass(frozen=True, slots=True)
class Space:
    """The texts that are searched together. ``texts`` and ``words`` count what was ever put in: what is removed is not
    subtracted, for that would change all words' weights alike. ``filled_to`` is None where nothing of before is missing."""

    id: int
    session_id: str | None
    texts: int
    words: int
    filled_to: str | None


def open_space(db: Connection, account: str, session_id: str | None) -> Space:
    """The space of a chat, or of what belongs to none; made where there is none. A chat's has to be filled then."""
    found = find_space(db, account, session_id)
    if found is None:
        values = {"account_id": account, "session_id": session_id, "place": _place(account, session_id)}
        values["filled_to"] = None if session_id is None else ""
        db.execute(INSERT[db.dialect.name](search_spaces).values(**values).on_conflict_do_nothing())
        found = find_space(db, account, session_id)
        assert found is not None
    return found


def find_space(db: Connection, account: str, session_id: str | None) -> Space | None:
    """The space of a chat, or of what belongs to none; None where there is none."""
    row = _SPACE.first(db, {"account": account, "of": _place(account, session_id)})
    return None if row is None else Space(*row)


def _place(account: str, session_id: str | None) -> str:
    return session_id or f"@{account}"


_SPACE = Prepared(
    select(*(search_spaces.c[name] for name in ("id", "session_id", "texts", "words", "filled_to"))).where(
        search_spaces.c.account_id == bindparam("account"), search_spaces.c.place == bindparam("of")
    )
)


def index_floors(db: Connection, account: str, space: Space, floor_ids: Sequence[str]) -> bool:
    """Put in what users and models said on these floors and is not in yet, all versions, for the reader knows which he sees; at
    most as much as holds nobody up. False where more is left."""
    own = floors.c.id.in_(floor_ids), floors.c.session_id == space.session_id
    rows = db.execute(_unindexed(account, *own).order_by(messages.c.id).limit(_MESSAGES_AT_ONCE)).all()
    taken, left = list[_Put](), _CHARACTERS_AT_ONCE
    for row in rows:
        if left <= 0:
            break
        taken.append(_put_of(row))
        left -= len(taken[-1].text)
    _put(db, account, space, taken)
    return len(taken) == len(rows) < _MESSAGES_AT_ONCE


def _unindexed(account: str, *where: ColumnElement[bool]) -> Select[Any]:
    """Messages that are not in, of users and models."""
    return (
        select(messages.c.id, messages.c.content, pages.c.id.label("page_id"), pages.c.floor_id)
        .join(pages, pages.c.id == messages.c.page_id)
        .join(floors, floors.c.id == pages.c.floor_id)
        .outerjoin(search_texts, search_texts.c.message_id == messages.c.id)
        .where(
            messages.c.account_id == account, messages.c.role.in_(("user", "assistant")), search_texts.c.id.is_(None), *where
        )
    )


class _Put(NamedTuple):
    """A text to put in, and of what it is, by columns."""

    of: Mapping[str, Json]
    text: str


def _put_of(row: Any) -> _Put:
    return _Put({"message_id": row.id, "page_id": row.page_id, "floor_id": row.floor_id}, story(row.content))


def renew_message(db: Connection, account: str, message_id: str) -> None:
    """Put a message in anew that was changed or written; nothing, where its chat is not in the index."""
    row = db.execute(
        select(floors.c.id, floors.c.session_id)
        .join(pages, pages.c.floor_id == floors.c.id)
        .join(messages, messages.c.page_id == pages.c.id)
        .where(messages.c.id == message_id, messages.c.account_id == account)
    ).one_or_none()
    space = None if row is None else find_space(db, account, row.session_id)
    if row is not None and space is not None:
        db.execute(delete(search_texts).where(search_texts.c.message_id == message_id, search_texts.c.account_id == account))
        said = db.execute(_unindexed(account, messages.c.id == message_id)).all()
        _put(db, account, space, [_put_of(each) for each in said])


def index_item(db: Connection, account: str, session_id: str | None, item_id: str, text: str) -> None:
    """Put a memory in, or anew where it is in. ``text`` is all that it should be found by."""
    db.execute(delete(search_texts).where(search_texts.c.item_id == item_id, search_texts.c.account_id == account))
    _put(db, account, open_space(db, account, session_id), [_Put({"item_id": item_id}, text[:MOST_CHARACTERS])])


def reopen_space(db: Connection, account: str, space: Space) -> None:
    """Have a chat filled again from its beginning: some of it may have been said while nobody put it in."""
    own = search_spaces.c.id == space.id, search_spaces.c.account_id == account
    db.execute(update(search_spaces).where(*own).values(filled_to=""))


def fill(db: Connection, account: str, session_id: str) -> bool:
    """Put in the next part of what a chat held before it came into the index; True while there is more. What was put in stays,
    should the process die."""
    space = find_space(db, account, session_id)
    if space is None or space.filled_to is None:
        return False
    mine = (floors.c.session_id == session_id, floors.c.account_id == account, floors.c.id > space.filled_to)
    ids = list(db.execute(select(floors.c.id).where(*mine).order_by(floors.c.id).limit(_AT_ONCE)).scalars())
    if not index_floors(db, account, space, ids):
        return True
    filled_to = ids[-1] if len(ids) == _AT_ONCE else None
    db.execute(update(search_spaces).where(search_spaces.c.id == space.id).values(filled_to=filled_to))
    return filled_to is not None


def story(content: str) -> str:
    """What a message is found by: its words without thoughts, blocks of state and markup. A block that never ends is words."""
    content = content[: 4 * MOST_CHARACTERS]
    if "<" not in content:
        return content[:MOST_CHARACTERS]
    pieces: list[str] = []
    opened, at = "", 0
    for tag in _BLOCK.finditer(content):
        name = tag[2].lower()
        if not opened and not tag[1] and name != "statusplaceholderimpl" and not tag[0].endswith("/>"):
            pieces.append(content[at : tag.start()])
            opened, at = name, tag.start()
        elif opened and tag[1] and name == opened:
            opened, at = "", tag.end()
    return _TAG.sub(" ", " ".join([*pieces, content[at:]]))[:MOST_CHARACTERS]


def _put(db: Connection, account: str, space: Space, texts: Sequence[_Put]) -> None:
    """Put texts into a space. One without words is there, too: it is not missing, though nothing finds it."""
    ids = {"space_id": space.id, "account_id": account, "message_id": None, "item_id": None, "page_id": None, "floor_id": None}
    rows = []
    for of, text in texts:
        words = _bounded(cut(text))
        rows.append({**ids, **of, "length": len(words), "words": " ".join(words)})
    if rows:
        # Another transaction may have put one in meanwhile.
        db.execute(INSERT[db.dialect.name](search_texts).on_conflict_do_nothing(), rows)
        count = sum(row["length"] for row in rows)
        _COUNT.run(db, {"space": space.id, "account": account, "more_texts": len(rows), "more_words": count})


_COUNT = Prepared(
    update(search_spaces)
    .where(search_spaces.c.id == bindparam("space"), search_spaces.c.account_id == bindparam("account"))
    .values(texts=search_spaces.c.texts + bindparam("more_texts"), words=search_spaces.c.words + bindparam("more_words"))
)


def _bounded(words: list[str]) -> list[str]:
    """As many of the words as an index takes."""
    if len(words) * 4 * 32 <= _MOST_BYTES:
        return words
    left = _MOST_BYTES
    for at, word in enumerate(words):
        left -= len(word.encode()) + 24
        if left < 0:
            return words[:at]
    return words
