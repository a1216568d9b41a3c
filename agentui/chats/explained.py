"""What is kept of the prompts of committed floors, as it was at the commit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

from sqlalchemy import Connection, bindparam, func, literal_column, select

from agentui.chats.codes import failure
from agentui.chats.floors import FloorResult, floor_result
from agentui.chats.lineage import ancestors
from agentui.chats.records import Floor
from agentui.chats.rows import find_floor
from agentui.jsonio import Json, loads
from agentui.store.prepared import OneOf, Prepared, texts
from agentui.store.tables import floors, messages, page_results, pages, runs

MOST_APART = 64
"""Floors whose texts are compared, the newest."""
MOST_WALKED = 1024
"""Floors of a past that are looked through for one that another past has, too."""
LONGEST_SAID = 8192
"""Characters of a message that are compared."""


Apart: TypeAlias = "dict[int, tuple[dict[str, Json], dict[str, Json]]]"
"""By its number what a floor is for each of two prompts: its ``floor_id``, and by role its ``texts``."""


@dataclass(frozen=True, slots=True)
class KeptPrompt:
    """A committed floor, what it came to, and what is kept of its prompt; None where nothing is, as of a turn whose client made
    the prompt itself."""

    floor: Floor
    result: FloorResult
    document: Mapping[str, Json] | None


def read_prompt(db: Connection, account: str, floor_id: str) -> KeptPrompt:
    """What is kept of a floor's prompt. Raises 404 ``not_found``, and ``prompt_runtime_explain_not_found`` where the floor had
    none (a greeting, a floor made by hand), 409 ``invalid_state``."""
    result = floor_result(db, account, floor_id)
    kept = select(page_results.c.explain_json).where(
        page_results.c.page_id == result.output_page_id, page_results.c.account_id == account
    )
    text = db.execute(kept).scalar_one_or_none()
    if text is None and db.execute(select(runs.c.run_id).where(runs.c.floor_id == floor_id)).first() is None:
        raise failure(
            "prompt_runtime_explain_not_found", "This floor had no prompt: no model was asked for it.", floor_id=floor_id
        )
    return KeptPrompt(find_floor(db, account, floor_id), result, None if text is None else loads(text))


def read_two_prompts(
    db: Connection, account: str, session_id: str, left_floor_id: str, right_floor_id: str
) -> tuple[KeptPrompt, KeptPrompt, Apart]:
    """The same of two floors of a session, in one transaction, with what is said today where their pasts differ
    (``_said_apart``). Raises 404 ``not_found`` for a floor of another session too."""
    left, right = (read_prompt(db, account, floor_id) for floor_id in (left_floor_id, right_floor_id))
    for kept in (left, right):
        if kept.floor.session_id != session_id:
            raise failure("not_found", "The session has no such floor.", floor_id=kept.floor.id, session_id=session_id)
    return left, right, _said_apart(db, account, left_floor_id, right_floor_id)


def _said_apart(db: Connection, account: str, left_id: str, right_id: str) -> Apart:
    """By their numbers the newest floors before two floors that are one for the first and another for the second, as two
    branches have them: for each its ``floor_id`` and, by role, its ``texts``."""
    ways = _ways(ancestors(db, account, left_id), ancestors(db, account, right_id))
    shared = set(ways[0]) & set(ways[1])
    # What stands before a floor that both go on from is the same.
    apart = [list(takewhile(lambda id: id not in shared, way)) for way in ways]
    if not all(apart):
        return {}
    numbers = dict(map(tuple, _NUMBERS.all(db, {"floors": texts([*apart[0], *apart[1]]), "account": account})))
    left, right = ({numbers[id]: id for id in way if id in numbers} for way in apart)
    both = sorted(left.keys() & right.keys(), reverse=True)[:MOST_APART]
    said = _said(db, account, [side[number] for side in (left, right) for number in both])
    return {
        number: ({"floor_id": one, "texts": said[one]}, {"floor_id": other, "texts": said[other]})
        for number in both
        for one, other in [(left[number], right[number])]
    }


def _ways(*pasts: Iterator[list[str]]) -> tuple[list[str], ...]:
    """The floors of two pasts, newest first, until they meet, and no more than are compared."""
    ways = tuple(list[str]() for _ in pasts)
    while not set(ways[0]) & set(ways[1]) and max(map(len, ways)) < MOST_WALKED:
        some = [next(past, []) for past in pasts]
        if not any(some):
            break
        for way, more in zip(ways, some, strict=True):
            way += more
    return ways


def _said(db: Connection, account: str, floor_ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """What is said on some floors, by floor and role: messages of their active pages that are sent, cut to what can be told."""
    found: dict[str, dict[str, list[str]]] = {id: {} for id in floor_ids}
    for floor_id, role, text in _SAID.all(db, {"floors": texts(floor_ids), "account": account}):
        found[floor_id].setdefault(role, []).append(text)
    return {id: {role: "\n\n".join(said) for role, said in roles.items()} for id, roles in found.items()}


_NUMBERS = Prepared(
    select(floors.c.id, floors.c.floor_no).where(OneOf(floors.c.id, "floors"), floors.c.account_id == bindparam("account"))
)
_SAID = Prepared(
    select(pages.c.floor_id, messages.c.role, func.substr(messages.c.content, 1, literal_column(str(LONGEST_SAID))))
    .join(messages, messages.c.page_id == pages.c.id)
    .where(OneOf(pages.c.floor_id, "floors"), pages.c.is_active, ~messages.c.is_hidden)
    .where(pages.c.account_id == bindparam("account"))
    .order_by(pages.c.page_no, messages.c.seq)
)
