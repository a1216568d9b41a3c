"""A proxied turn is put where it belongs, in the transaction that opens it.

``Placer`` is the ``place`` of a ``TurnRequest``: it gets the request as the client named its chat, and gives the one that is
to be opened: the next floor of a branch, another version of its head, or the first floor of a new branch. What is no turn of a
chat ends as ``NoTurn``.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Literal, get_args

from sqlalchemy import Connection, select, update

from agentui.chat.fingerprints import fingerprint, spellings
from agentui.chats.branches.writing import fork_branch
from agentui.chats.pages import activate_page
from agentui.chats.projects import found_project, own_project
from agentui.chats.questions import correct_question, find_question
from agentui.chats.records import MAIN
from agentui.chats.rows import find_branch, find_floor, find_session, has_branch, insert_new, register_branch
from agentui.chats.state.heads import heads_before, set_heads, written_by
from agentui.chats.versions import active_output, variables_before, with_changes
from agentui.ids import new_short_id
from agentui.store.tables import sessions
from agentui.turns.joining import session_called
from agentui.turns.locks import is_alone
from agentui.turns.placing.candidates import find_chat, find_place, find_told_chat, followed_branch, new_fork
from agentui.turns.placing.matching import Intent, Kind, Placement, Sent, Stop
from agentui.turns.placing.questions import MOST_JOINED, beside_of, own_words, shown_words
from agentui.turns.request import TurnRequest
from agentui.variables.journal import changes_of
from agentui.variables.snapshots import set_branch_values

Forced = Literal["new", "regenerate", "fork", "background"]
AUTO = "auto"
"""The session that is found by what its client sends."""
_MOST_TITLE = 60


def caller_of(api_key: str) -> str:
    """What tells callers apart: a hash of the key that they send to their provider, too short to find the key by."""
    return blake2b(api_key.encode("utf-8", "surrogateescape"), digest_size=12, person=b"agentui caller").hexdigest()


class NoTurn(Exception):
    """The request is no turn of a chat; it may see the variables of this session and branch."""

    def __init__(self, session: str | None, branch: str | None) -> None:
        super().__init__(session, branch)
        self.session = session
        self.branch = branch


class OtherQuestion(Exception):
    """The person said only a part of what was sent in the user's name (``Placer.own``)."""


class Placer:
    """Puts one request where it belongs. ``kind`` says where that was, once it is known, and ``own`` what of the user's texts
    the person said; None where all of them.

    ``intent`` and ``forced`` are what the client says of its request; ``words`` those of a lone question (``words_of``), and
    ``is_raw`` says that a lone question is none of a chat, unless it belongs to one. ``caller`` (``caller_of``) is whose chats
    are looked through, where the client names none.
    """

    def __init__(
        self,
        sent: Sent,
        words: Sequence[str],
        intent: Intent | None,
        forced: Forced | None,
        *,
        is_raw: bool = False,
        caller: str = "",
    ) -> None:
        self.kind: Kind = "new"
        self.continues = False
        """Whether the answer goes on with the one that the client shows, wherever it is kept."""
        self.own: tuple[str, ...] | None = None
        self._is_raw = is_raw
        self._caller = caller
        self._sent = sent
        self._words = words if sent.is_lone else ()
        self._intent = intent
        self._forced = forced

    def __call__(self, db: Connection, account: str, request: TurnRequest, now: int) -> TurnRequest:
        """The request that is to be opened. Raises NoTurn, and what the rows say."""
        session_id = self._session(db, account, request, now)
        branch = request.branch
        if session_id is not None:
            find_session(db, account, session_id, code="session_not_found", hold=True)
        is_new_branch = session_id is not None and branch is not None and not has_branch(db, account, session_id, branch)
        if session_id is None or is_new_branch:
            placement = Placement("background" if self._is_aside else "new")
        else:
            placement = self._place(db, account, session_id, branch)
        self.kind = placement.kind
        self.continues = "continue" in (placement.kind, placement.again)
        if placement.kind == "background":
            raise NoTurn(session_id, placement.branch_id or branch)
        past = sum(entry.side == "assistant" for entry in self._sent.entries)
        request = replace(request, session=session_id or request.session, sent_past=past)
        request = self._asking(db, account, request, placement, now)
        if placement.kind in ("regenerate", "continue"):
            return replace(request, kind="retry_turn", target_floor_id=placement.floor_id, branch=placement.branch_id)
        if placement.kind == "fork":
            assert session_id is not None
            return replace(request, branch=_forked(db, account, session_id, placement, now), is_new_branch=True)
        if placement.page_id is not None:
            activate_page(db, account, placement.page_id, now)
        return replace(request, branch=placement.branch_id or branch)

    def _asking(self, db: Connection, account: str, request: TurnRequest, placement: Placement, now: int) -> TurnRequest:
        """The request with what the person said of all that was sent in the user's name; the floor before it keeps likewise
        what the client shows of it now. Raises OtherQuestion where the request has to be made anew for that."""
        stop, sent = placement.stop, self._sent
        # What is asked once more stands before the answer that the client shows.
        texts, known = placement.shown if placement.again is not None else sent.asked_last, frozenset[int]()
        if stop is not None:
            known = stop.beside | stop.added | _corrected(db, account, request.session or "", stop, placement, now)
        is_found = bool(placement.shown)
        own = own_words(texts, known) if is_found or known else texts
        added = beside_of(texts, own)
        notes = [("added", number) for number in added]
        notes += [("beside", number) for number in beside_of(texts, own[-1:]) - added]
        parts = spellings(own[-1], most=MOST_JOINED)[1:] if own else ()
        notes += [("part", number) for number in parts if number not in known]
        if sent.opening is not None and placement.floor_id is None:
            notes += [("opening", sent.opening), *(("part", number) for number in sent.perhaps)]
        is_part = own != sent.asked_last or (is_found and sent.is_single)
        if is_part and own != self.own and placement.kind in ("new", "fork"):
            self.own = own
            raise OtherQuestion
        return replace(request, sent_notes=tuple(notes))

    @property
    def _is_aside(self) -> bool:
        return self._forced == "background" or self._intent in ("quiet", "impersonate")

    def _session(self, db: Connection, account: str, request: TurnRequest, now: int) -> str | None:
        """The session that the client names or means; None for one that the turn has yet to make."""
        if request.session != AUTO:
            return session_called(db, account, request.session or "")
        found = find_chat(db, account, self._sent, self._caller, self._intent)
        if found is not None:
            return found
        told = find_told_chat(db, account, self._words, self._caller) if self._words else None
        if told is not None:
            raise NoTurn(*told)
        if self._is_aside or self._is_raw:
            raise NoTurn(None, None)
        return _new_session(db, account, request, self._caller, now)

    def _place(self, db: Connection, account: str, session_id: str, branch: str | None) -> Placement:
        """Where the turn belongs in a session that is there."""
        if not is_alone(db):
            # A turn that ends at this moment is of the past that is looked at, or goes on until this one is open.
            followed, _ = followed_branch(db, account, session_id, branch or MAIN)
            find_branch(db, account, session_id, followed, hold=True)
        if self._forced is not None:
            return self._as_forced(db, account, session_id, branch)
        return find_place(db, account, session_id, branch, self._sent, self._intent, self._words)

    def _as_forced(self, db: Connection, account: str, session_id: str, branch: str | None) -> Placement:
        """Where the client wants its turn."""
        followed, head_id = followed_branch(db, account, session_id, branch or MAIN)
        match self._forced:
            case "background":
                return Placement("background", None, followed)
            case "regenerate" if head_id is not None and find_floor(db, account, head_id).branch_id == followed:
                return Placement("regenerate", head_id, followed)
            case "fork" if head_id is not None:
                found = find_place(db, account, session_id, branch, self._sent, self._intent)
                if found.kind in ("regenerate", "continue") and found.floor_id is not None:
                    parent_id = find_floor(db, account, found.floor_id).parent_floor_id
                    return replace(found, kind="fork", floor_id=parent_id, again=found.kind)
                return replace(found, kind="fork", branch_id=found.branch_id or followed)
        return Placement("new", head_id, followed)


def _corrected(db: Connection, account: str, session_id: str, stop: Stop, placement: Placement, now: int) -> frozenset[int]:
    """Have the floor at which a history ends keep what the client shows of its question; the numbers of what it kept beyond
    that. A client shows of its past what the person said, and only of its last request what it adds."""
    shown = placement.shown
    if not shown or not stop.asked or any(number in stop.asked for text in shown for number in spellings(text)):
        return frozenset()
    asked = find_question(db, account, stop.floor_id)
    if asked is None:
        return frozenset()
    words = next((text for text in reversed(shown) if fingerprint(text) in stop.beside | stop.parts), None) or shown_words(
        shown, asked.text
    )
    if words is None:
        return frozenset()
    beside = beside_of((asked.text,), (words,))
    correct_question(db, account, stop.floor_id, asked, words, beside)
    _rename(db, account, session_id, placement.branch_id, _title_of(asked.text), _title_of(words), now)
    return beside


def _rename(
    db: Connection, account: str, session_id: str, branch: str | None, title: str | None, better: str | None, now: int
) -> None:
    """Call a session after what the person said, where its title is still the one that it got from the client's words.

    A turn that ends holds its branch before it writes to its session. This one goes on a ``branch`` that need not be the one
    that its client was on: it holds that first, or each would wait for the other (PostgreSQL; SQLite has one writer).
    """
    named_so = (sessions.c.id == session_id, sessions.c.name.is_(None), sessions.c.title == title)
    if better == title or db.execute(select(sessions.c.id).where(*named_so)).first() is None:
        return
    if not is_alone(db) and branch is not None:
        find_branch(db, account, session_id, branch, hold=True)
    db.execute(update(sessions).where(*named_so).values(title=better, updated_at=now))


def _new_session(db: Connection, account: str, request: TurnRequest, caller: str, now: int) -> str:
    """A session without a name for a chat that is new, called after its first words. PostgreSQL keeps no NUL in a text."""
    session_id = new_short_id()
    title = _title_of("" if request.user is None else request.user.text)
    values = {"id": session_id, "account_id": account, "title": title, "caller": caller, "created_at": now, "updated_at": now}
    insert_new(db, sessions, {**values, "project_id": own_project(session_id)})
    found_project(db, account, session_id, title, now)
    register_branch(db, account, session_id, MAIN, now)
    return session_id


def _title_of(words: str) -> str | None:
    return " ".join(words.replace("\0", "\ufffd").split())[:_MOST_TITLE] or None


def _forked(db: Connection, account: str, session_id: str, placement: Placement, now: int) -> str:
    """Make the branch of a fork, with the variables of the version that the client goes on from; its name."""
    name = new_fork(db, account, session_id, placement.branch_id or MAIN)
    if placement.floor_id is None:
        register_branch(db, account, session_id, name, now)
        return name
    fork_branch(db, account, session_id, name, find_floor(db, account, placement.floor_id), now)
    if placement.page_id is not None:
        values = variables_before(db, account, placement.floor_id)
        values = with_changes(values, changes_of(db, account, placement.page_id))
        set_branch_values(db, account, session_id, name, values, now)
        heads = heads_before(db, placement.floor_id, active_output(db, placement.floor_id))
        heads |= {mutation.key: mutation.id for mutation in written_by(db, placement.page_id)}
        set_heads(db, account, session_id, name, heads)
    return name


def read_intent(text: str | None) -> Intent | None:
    """What kind of generation the client says it is; None where it does not say, or says what nobody knows (a macro that
    its version does not have)."""
    said = (text or "").strip().lower()
    return next((intent for intent in get_args(Intent) if intent == said), None)
