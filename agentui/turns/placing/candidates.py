"""The floors at which a client's turn may belong, looked up for ``placing``: a transaction's part.

The client's own branch is looked at first; nearly every request goes on there, or asks its head again. Where it does not, the
index of texts names the floors on which the last things were said, in any branch, and the paths to them are compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from sqlalchemy import Connection, Integer, String, bindparam, func, or_, select

from agentui.chat.fingerprints import letters
from agentui.chats.records import MAIN
from agentui.chats.text_index import answers_said, floors_saying, path_rows, sessions_saying
from agentui.store.prepared import Prepared
from agentui.store.tables import branches, floors, messages, pages, sessions
from agentui.turns.placing.likeness import LEAST, likeness
from agentui.turns.placing.matching import Found, Intent, Path, Placement, Sent, Stop, Version, find, place
from agentui.turns.placing.sent import repeats

FORK_MARK = "~"
"""Stands between a branch's name and the number of a fork that a client made of it: ``main~2``."""
_MOST_ENTRIES = 12
_MOST_PATHS = 6
_MOST_SESSIONS = 4
_MOST_NEWEST = 2
_MOST_COMPARED = 3
_KNOWN = 1.6
"""From this score on a chat is known: a question at its beginning has less, an answer or two questions have more."""
_LEAST_LETTERS = 16
"""Letters of two questions that are not what everybody says."""


def find_place(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str | None,
    sent: Sent,
    intent: Intent | None,
    words: Sequence[str] = (),
) -> Placement:
    """Where a turn belongs in a session; ``branch_id`` is the branch that the client names, and keeps it to that one and its
    forks. ``words`` are those of a request that holds nothing of a chat but a question (``words_of``)."""
    followed, head_id = followed_branch(db, account, session_id, branch_id or MAIN)
    if head_id is None:
        return place(sent, (), None, intent)
    own = path_to(db, account, head_id)
    last = own[-1]
    # A fork that has no floor yet ends with the floor that it was made behind.
    head = replace(last, branch_id=followed, is_head=True)
    paths: list[Path] = [[*own[:-1], head]]
    if not _is_clear(sent, find(sent, paths), head):
        if words and repeats(words, *last_said(db, account, head_id)):
            sent = replace(sent, tells=True)
        paths += _other_paths(db, account, session_id, sent, paths[0], branch_id)
    end = find(sent, paths)
    if end is not None and len(end.stop.answers) > 1 and sent.entries[-1].side == "user":
        # Which of several versions a client goes on from that changed it decides over the variables.
        sent = _with_likeness(db, account, sent, [end.stop])
    placement = place(sent, paths, head, intent)
    if placement.kind in ("regenerate", "continue") and placement.floor_id == head_id and last.branch_id != followed:
        # That floor is another branch's, which keeps its answer.
        return replace(placement, kind="fork", floor_id=last.parent_id, branch_id=followed, again=placement.kind)
    return placement if placement.branch_id is not None else Placement(placement.kind, placement.floor_id, followed)


def find_chat(db: Connection, account: str, sent: Sent, caller: str = "", intent: Intent | None = None) -> str | None:
    """The session, of all of the account's but those of other callers, in which most of the last things were said; None where
    too little of it is known: the same question begins many chats.

    An answer that a model gave there is enough, or two questions in their order. Where neither is found as it was, the answers
    behind the questions are compared: a client may change each of them before it sends it again.
    """
    if sent.opening is not None and not sent.is_tool_round:
        return _asked_again(db, account, sent, caller, intent)
    said: dict[str, set[int]] = {}
    answered: dict[str, int] = {}
    for side, number, session_id in sessions_saying(db, account, caller, _last_said(sent), 4 * _MOST_SESSIONS):
        said.setdefault(session_id, set()).add(number)
        if side == "assistant":
            answered[session_id] = answered.get(session_id, 0) + 1
    # By how much was said in them, the newest first among equals.
    best = sorted(said, key=lambda id: (answered.get(id, 0) + len(said[id]), id), reverse=True)
    found = _best_of(db, account, sent, [id for id in best if id in answered][:_MOST_SESSIONS], with_others=True)
    if found is not None:
        return found
    newest = sorted(best[_MOST_SESSIONS:], reverse=True)[:_MOST_NEWEST]
    return _best_of(db, account, sent, [*best[:_MOST_SESSIONS], *newest], with_others=False)


def _best_of(db: Connection, account: str, sent: Sent, sessions: Sequence[str], *, with_others: bool) -> str | None:
    """The session whose floors fit best what was sent, if any fits well enough. ``with_others`` looks at its other branches,
    too; without, the answers are compared."""
    ends: list[tuple[Found, str, list[Path]]] = []
    for session_id in sessions:
        _, head_id = followed_branch(db, account, session_id, MAIN)
        if head_id is None:
            continue
        paths = [path_to(db, account, head_id)]
        if with_others:
            paths += _other_paths(db, account, session_id, sent, paths[0], None)
        end = find(sent, paths)
        if end is not None:
            ends.append((end, session_id, paths))
    if not with_others:
        likest = _with_likeness(db, account, sent, [stop for _, _, paths in ends for stop in paths[0]])
        # Answers that are alike make more of an end than the questions alone.
        known = [(end, id, find(likest, paths)) for end, id, paths in ends]
        ends = [
            (like, id, [])
            for end, id, like in known
            if like is not None and (like.score > end.score or _says_enough(sent, end))
        ]
    good = [(end.score, -number, id) for number, (end, id, _) in enumerate(ends) if end.score > _KNOWN]
    return max(good)[2] if good else None


def _says_enough(sent: Sent, end: Found) -> bool:
    """Whether the questions up to the end are more than what everybody says."""
    said = zip(sent.entries[: end.entry + 1], sent.texts, strict=False)
    return sum(len(letters(text)) for entry, text in said if entry.side == "user") >= _LEAST_LETTERS


def _asked_again(db: Connection, account: str, sent: Sent, caller: str, intent: Intent | None) -> str | None:
    """The session of a first question that is asked once more, behind the same opening: the newest one that asks it, if nothing
    came of it yet, or the client says that it wants another answer."""
    says = intent in ("swipe", "regenerate")
    # Of a chat in one message the question is known by what it was found to be.
    own = [entry.numbers if says else entry.numbers[:1] for entry in sent.entries if entry.side == "user"]
    asked = [(*numbers, *sent.perhaps) for numbers in own]
    if not asked:  # a picture alone says nothing that could be found again
        return None
    asking = sessions_saying(db, account, caller, [("user", number) for number in asked[0]], 1)
    newest = max((id for _, _, id in asking), default=None)
    if newest is None:
        return None
    _, head_id = followed_branch(db, account, newest, MAIN)
    path = [] if head_id is None else path_to(db, account, head_id)
    if not path or path[0].parent_id is not None or path[0].opening != sent.opening:
        return None
    # The same first words begin many chats, and only where nothing followed them is another answer likelier than another chat.
    if not says and (len(path) != 1 or not path[0].is_head):
        return None
    known = path[0].may_ask | path[0].added if says else path[0].asked | path[0].beside
    return newest if all(not known.isdisjoint(numbers) for numbers in asked) else None


def _with_likeness(db: Connection, account: str, sent: Sent, stops: Sequence[Stop]) -> Sent:
    """The same, where the last answers have the number, too, of the kept one that they were made of, if their question is
    found on one of these floors."""
    behind: dict[str, tuple[int, int]] = {}
    for at in _last_answered(sent):
        asked = sent.entries[at - 1].numbers
        for stop in stops:
            if not stop.may_ask.isdisjoint(asked):
                behind |= {version.page_id: (version.number, at) for version in stop.answers}
    if not behind:
        return sent
    likest: dict[int, tuple[float, int]] = {}
    for page_id, text in answers_said(db, account, list(behind)):
        number, at = behind[page_id]
        likest[at] = max(likest.get(at, (0.0, 0)), (likeness(sent.texts[at], text), number))
    entries = list(sent.entries)
    for at, (share, number) in likest.items():
        if share >= LEAST:
            entries[at] = entries[at]._replace(numbers=(*entries[at].numbers, number))
    return replace(sent, entries=tuple(entries))


def _last_answered(sent: Sent) -> list[int]:
    """The last entries that answer a question directly."""
    sides = [entry.side for entry in sent.entries]
    found = [at for at in range(1, len(sides)) if sides[at] == "assistant" and sides[at - 1] == "user"]
    return found[-_MOST_COMPARED:]


def path_to(db: Connection, account: str, floor_id: str) -> Path:
    """The floors that lead to this one, the oldest first, as far as they are looked at."""
    rows = path_rows(db, account, floor_id)
    return [_stop(list(of_floor)) for _, of_floor in groupby(rows, itemgetter(0))][::-1]


def _stop(rows: Sequence[Sequence[object]]) -> Stop:
    """A floor of its rows (``path_rows``)."""
    _, floor_id, branch_id, parent_id, is_last, *_ = rows[0]
    texts = [row[5:] for row in rows if row[5] is not None and row[9] is not None]
    openings = [number for side, _, number, _, _ in texts if side == "opening"]
    pasts = [past for side, _, _, past, _ in texts if side == "user" and past is not None]
    return Stop(
        str(floor_id),
        str(branch_id),
        None if parent_id is None else str(parent_id),
        is_last == 1,
        frozenset(_whole(number) for side, _, number, _, _ in texts if side == "user"),
        tuple(
            Version(str(page), _whole(number), active == 1) for side, page, number, _, active in texts if side == "assistant"
        ),
        _whole(pasts[0]) if pasts else None,
        frozenset(_whole(number) for side, _, number, _, _ in texts if side == "beside"),
        _whole(openings[0]) if openings else None,
        frozenset(_whole(number) for side, _, number, _, _ in texts if side == "added"),
        frozenset(_whole(number) for side, _, number, _, _ in texts if side == "part"),
    )


def _whole(number: object) -> int:
    assert isinstance(number, int)
    return number


def _is_clear(sent: Sent, found: Found | None, head: Stop) -> bool:
    """Whether the client's own branch says it all: an answer of its head is the last that was sent, or its question."""
    if found is None or found.stop.floor_id != head.floor_id:
        return False
    sides = [entry.side for entry in sent.entries[found.entry + 1 :]]
    return "assistant" not in sides and (found.page_id is not None or found.score > 2.0)


def _other_paths(db: Connection, account: str, session_id: str, sent: Sent, own: Path, family: str | None) -> Iterator[Path]:
    """The paths to other floors on which the last things were said, the latest first."""
    known = {stop.floor_id for stop in own}
    hits = floors_saying(db, account, session_id, _last_said(sent))
    count = 0
    for floor_id in sorted(hits, reverse=True):
        if floor_id in known or count == _MOST_PATHS:
            continue
        path = path_to(db, account, floor_id)
        known.update(stop.floor_id for stop in path)
        count += 1
        if path and (family is None or _is_of(path[-1].branch_id, family)):
            yield path


def _last_said(sent: Sent) -> list[tuple[str, int]]:
    """The last things that were said: by which side, and the numbers that each may have."""
    return [(entry.side, number) for entry in sent.entries[-_MOST_ENTRIES:] for number in entry.numbers]


def _is_of(branch_id: str, family: str) -> bool:
    return branch_id == family or branch_id.startswith(family + FORK_MARK)


def new_fork(db: Connection, account: str, session_id: str, branch_id: str) -> str:
    """A name for a fork of a branch that no branch has yet."""
    base = branch_id.partition(FORK_MARK)[0]
    taken = {row[0] for row in _FAMILY.all(db, _family(account, session_id, base))}
    number = len(taken) + 1
    while f"{base}{FORK_MARK}{number}" in taken:
        number += 1
    return f"{base}{FORK_MARK}{number}"


def followed_branch(db: Connection, account: str, session_id: str, named: str) -> tuple[str, str | None]:
    """The branch that the client is on: of the named one and its forks the one that took the last turn; and its head."""
    best, head = named, None
    for branch_id, head_id in _FAMILY.all(db, _family(account, session_id, named)):
        best, head = branch_id, head_id
        if head is not None:
            break
    return best, head


def _family(account: str, session_id: str, base: str) -> dict[str, str]:
    return {
        "account": account,
        "session": session_id,
        "base": base,
        "from": base + FORK_MARK,
        "to": base + chr(ord(FORK_MARK) + 1),
    }


def _family_of() -> Prepared:
    """A branch and the forks of it, the last used first, each with its latest committed floor, on it or before it."""
    account = bindparam("account", type_=String)
    lying = (
        select(floors.c.id)
        .where(
            floors.c.session_id == branches.c.session_id,
            floors.c.branch_id == branches.c.branch_id,
            floors.c.superseded_at.is_(None),
            floors.c.state == "committed",
        )
        .order_by(floors.c.floor_no.desc())
        .limit(1)
        .scalar_subquery()
    )
    return Prepared(
        select(branches.c.branch_id, func.coalesce(lying, branches.c.source_floor_id))
        .where(
            branches.c.account_id == account,
            branches.c.session_id == bindparam("session", type_=String),
            or_(
                branches.c.branch_id == bindparam("base", type_=String),
                (branches.c.branch_id >= bindparam("from", type_=String))
                & (branches.c.branch_id < bindparam("to", type_=String)),
            ),
        )
        .order_by(branches.c.updated_at.desc(), branches.c.branch_id.desc())
    )


_FAMILY = _family_of()


def find_told_chat(db: Connection, account: str, words: Sequence[str], caller: str = "") -> tuple[str, str] | None:
    """The session, of those that were used last, that a lone question is about, and the branch that its client is on."""
    for (session_id,) in _RECENT.all(db, {"account": account, "caller": caller, "most": 2 * _MOST_SESSIONS}):
        branch_id, head_id = followed_branch(db, account, session_id, MAIN)
        if head_id is not None and repeats(words, *last_said(db, account, head_id)):
            return session_id, branch_id
    return None


_RECENT = Prepared(
    select(sessions.c.id)
    .where(
        sessions.c.account_id == bindparam("account", type_=String),
        sessions.c.caller.is_(None) | (sessions.c.caller == bindparam("caller", type_=String)),
    )
    .order_by(sessions.c.updated_at.desc())
    .limit(bindparam("most", type_=Integer))
)


def last_said(db: Connection, account: str, floor_id: str) -> tuple[list[str], list[str]]:
    """What was said on a floor: its question, and its active answer."""
    rows = _LAST_SAID.all(db, {"account": account, "floor": floor_id})
    return [row[1] for row in rows if row[0] != "assistant"], [row[1] for row in rows if row[0] == "assistant"]


_LAST_SAID = Prepared(
    select(messages.c.role, messages.c.content)
    .join(pages, pages.c.id == messages.c.page_id)
    .where(
        pages.c.floor_id == bindparam("floor", type_=String),
        pages.c.account_id == bindparam("account", type_=String),
        pages.c.is_active,
    )
)
