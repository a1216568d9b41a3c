"""The greetings of a character: what a chat with it begins with, on floor 0.

They are kept as they are written; macros in them are expanded when they are read into a prompt (``source`` is ``greeting``).
"""

from collections.abc import Mapping

from sqlalchemy import Connection, insert

from agentui.chats.records import MAIN
from agentui.chats.text_index import index_text
from agentui.ids import new_short_id
from agentui.jsonio import Json
from agentui.store.tables import floors, messages, pages
from agentui.variables.snapshots import save_snapshot_of

FIRST = ("primaryGreeting", "greeting", "first_mes", "first_message")
"""Where a character's snapshot has its greeting, in the words of those who make them; the first that says something counts."""
OTHERS = ("alternateGreetings", "alternate_greetings")
"""Where it has other ones."""
MAX_OTHERS = 200
SOURCE = "greeting"


def greetings_of(snapshot: Mapping[str, Json] | None) -> list[str]:
    """The greetings of a character's snapshot, the one to begin with first; each once, and none that is blank."""
    if snapshot is None:
        return []
    first = next((said for name in FIRST if (said := _clean(snapshot.get(name)))), "")
    others = [_clean(said) for name in OTHERS for said in snapshot.get(name) or ()]
    return [said for said in dict.fromkeys((first, *others)) if said]


def _clean(said: str | None) -> str:
    """A greeting as it is kept. PostgreSQL keeps no NUL in a text, so both engines get the replacement character for it."""
    return (said or "").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").strip()


def wrong_greeting(snapshot: Mapping[str, Json]) -> str | None:
    """What is wrong with the greetings of a snapshot; None when they are texts."""
    for name in FIRST:
        if not isinstance(snapshot.get(name), str | None):
            return f"{name} is a text"
    for name in OTHERS:
        others = snapshot.get(name)
        if others is not None and not (isinstance(others, list) and all(isinstance(said, str) for said in others)):
            return f"{name} is a list of texts"
        if others is not None and len(others) > MAX_OTHERS:
            return f"{name} has at most {MAX_OTHERS} texts"
    return None


def begin_with(db: Connection, account: str, session_id: str, greetings: list[str], now: int) -> None:
    """Open a new session's branch main with the greetings of its character: floor 0, committed, with one output page; the
    first is its active version, the others further ones. Nothing for none."""
    if not greetings:
        return
    floor_id = new_short_id()
    made = {"account_id": account, "created_at": now}
    place = {"session_id": session_id, "branch_id": MAIN, "floor_no": 0}
    db.execute(insert(floors).values(id=floor_id, **place, state="committed", **made, updated_at=now))
    page_ids = [new_short_id() for _ in greetings]
    slot = {**made, "updated_at": now, "floor_id": floor_id, "page_no": 0, "page_kind": "output"}
    versions = enumerate(page_ids, 1)
    db.execute(insert(pages), [{**slot, "id": id, "version": version, "is_active": version == 1} for version, id in versions])
    word = {**made, "seq": 0, "role": "assistant", "source": SOURCE}
    said = list(zip(page_ids, greetings, strict=True))
    db.execute(
        insert(messages), [{**word, "id": new_short_id(), "page_id": page_id, "content": text} for page_id, text in said]
    )
    for page_id, text in said:
        index_text(db, account, page_id, "assistant", text)
    save_snapshot_of(db, account, floor_id, session_id, MAIN, now)
