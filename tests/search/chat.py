"""Chats for searches: floors of two messages each, written straight into the tables."""

from collections.abc import Sequence

from sqlalchemy import Connection, insert

from agentui.search.index import Space
from agentui.search.query import Candidates, candidates
from agentui.store.tables import branches, floors, messages, pages, sessions
from agentui.words.cutting import cut


def furnish(db: Connection, account: str, session_id: str, turns: Sequence[tuple[str, str]], branch: str = "main") -> list[str]:
    """Write a chat of these questions and answers; the ids of its floors. Ids of messages are those of the pages: ``s-3-a`` is
    the answer on the fourth floor."""
    times = {"account_id": account, "created_at": 1, "updated_at": 1}
    db.execute(insert(sessions).values(id=session_id, **times))
    db.execute(insert(branches).values(session_id=session_id, branch_id=branch, **times))
    return add_floors(db, account, session_id, turns, branch=branch)


def add_floors(
    db: Connection, account: str, session_id: str, turns: Sequence[tuple[str, str]], first: int = 0, branch: str = "main"
) -> list[str]:
    """Write floors behind those that are there; ``first`` is the number of the first."""
    mine = {"account_id": account, "created_at": 1}
    times = {**mine, "updated_at": 1}
    ids = [f"{session_id}-{first + number:05}" for number in range(len(turns))]
    place = {"session_id": session_id, "branch_id": branch, "state": "committed"}
    said = [
        (f"{id}-{side}", id, text) for id, turn in zip(ids, turns, strict=True) for side, text in zip("qa", turn, strict=True)
    ]
    db.execute(insert(floors), [{"id": id, "floor_no": number, **place, **times} for number, id in enumerate(ids, first)])
    kinds = {"q": ("input", "user", 0), "a": ("output", "assistant", 1)}
    db.execute(
        insert(pages),
        [
            {
                "id": id,
                "floor_id": floor,
                "page_no": kinds[id[-1]][2],
                "page_kind": kinds[id[-1]][0],
                "is_active": True,
                **times,
            }
            for id, floor, _ in said
        ],
    )
    db.execute(
        insert(messages),
        [{"id": id, "page_id": id, "seq": 0, "role": kinds[id[-1]][1], "content": text, **mine} for id, _, text in said],
    )
    return ids


def everybody(item_id: str | None, floor_id: str | None) -> bool:
    """Sees every text."""
    return True


def found(db: Connection, account: str, spaces: Sequence[Space], question: str) -> Candidates:
    """What holds words of a question."""
    return candidates(db, account, spaces, dict.fromkeys(cut(question), 1.0), everybody)


def ranked(db: Connection, account: str, spaces: Sequence[Space], question: str) -> list[str]:
    """The ids of what answers a question, the best first."""
    order = found(db, account, spaces, question).ranked(dict.fromkeys(cut(question), 1.0))
    return [str(one.text.message_id or one.text.item_id) for _, one in order]
