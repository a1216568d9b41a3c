"""What a turn that makes something anew goes back to: the newest floor of a branch, a floor, or a message."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from agentui.chats.codes import failure
from agentui.chats.frozen import Frozen, frozen_behind, read_frozen, with_frozen
from agentui.chats.messages import find_message
from agentui.chats.questions import has_answer
from agentui.chats.records import MAIN, Floor, Message
from agentui.chats.rows import branch_head, find_branch, find_floor, find_page, find_session, has_branch, parent_of
from agentui.errors import ApiError
from agentui.jsonio import Json, loads
from agentui.library.bound import with_chat_book
from agentui.profiles.service import read_models, with_narrator_preset
from agentui.profiles.stored import has_any
from agentui.store.prepared import Prepared
from agentui.store.tables import floors, messages, pages, sessions
from agentui.turns.joining import check_active, check_branch_name, fork_source, is_called, session_called
from agentui.turns.request import TurnRequest


@dataclass(frozen=True, slots=True)
class TurnTarget:
    """The floor that is made anew, and the message that gets other words."""

    floor: Floor
    message: Message | None = None

    def is_same(self, other: "TurnTarget") -> bool:
        """Whether both are the same floor at the same place."""
        mine, others = self.floor, other.floor
        return (mine.id, mine.branch_id, mine.floor_no) == (others.id, others.branch_id, others.floor_no)


def find_target(db: Connection, account: str, request: TurnRequest) -> TurnTarget:
    """What the request goes back to.

    Raises 404 ``session_not_found``, ``branch_not_found``, ``floor_not_found``, ``message_not_found``,
    ``no_floor_to_regenerate`` and ``no_user_message``, 400 ``invalid_message_role``, 409 ``invalid_state``, ``branch_exists``
    and ``session_archived``.
    """
    if request.kind == "edit_and_regenerate":
        return _edited(db, account, request)
    floor = _newest(db, account, request) if request.kind == "regenerate_page" else _retried(db, account, request)
    _check_active(db, account, floor.session_id)
    # A client that follows its own history may go on with a greeting.
    if request.user is None and request.place is None and not has_answer(db, floor.id):
        raise failure(
            "no_user_message",
            "This floor answers nothing: nobody asked anything on it, and no turn made it.",
            floor_id=floor.id,
        )
    return TurnTarget(floor)


def find_bindings(db: Connection, account: str, request: TurnRequest) -> Mapping[str, Json]:
    """What the session of a turn that is wanted is bound to, as it holds on the turn's branch; nothing for a session that does
    not exist."""
    if request.target_floor_id is not None:
        row = _BOUND_BY_FLOOR.row(db, {"account": account, "floor": request.target_floor_id})
    elif request.source_message_id is not None:
        row = _BOUND_BY_MESSAGE.row(db, {"account": account, "message": request.source_message_id})
    else:
        row = _BOUND.row(db, {"account": account, "called": request.session or ""})
    if row is None:
        return {}
    bindings = loads(row.bindings_json)
    if bindings.get("deep_binding"):
        bindings = with_frozen(bindings, _frozen(db, account, row.id, request))
    if row.has_models:
        bindings = with_narrator_preset(db, account, bindings, read_models(db, account, row.id))
    return with_chat_book(bindings, loads(row.metadata_json))


_BINDINGS = select(
    sessions.c.id,
    sessions.c.bindings_json,
    sessions.c.metadata_json,
    has_any(sessions.c.account_id, sessions.c.id).label("has_models"),
)
_MINE = sessions.c.account_id == bindparam("account")
_BOUND = Prepared(_BINDINGS.where(*is_called()))
_BOUND_BY_FLOOR = Prepared(
    _BINDINGS.join(floors, floors.c.session_id == sessions.c.id).where(_MINE, floors.c.id == bindparam("floor"))
)
_BOUND_BY_MESSAGE = Prepared(
    _BINDINGS.join(floors, floors.c.session_id == sessions.c.id)
    .join(pages, pages.c.floor_id == floors.c.id)
    .join(messages, messages.c.page_id == pages.c.id)
    .where(_MINE, messages.c.id == bindparam("message"))
)


def _frozen(db: Connection, account: str, session_id: str, request: TurnRequest) -> Frozen | None:
    """The assets that the turn's branch keeps, or will keep once it is made. What the turn goes back to may be gone: then its
    opening says so."""
    try:
        if request.kind == "edit_and_regenerate":
            source = parent_of(db, account, _edited(db, account, request).floor)
            return None if source is None else frozen_behind(db, account, source)
        if request.target_floor_id is not None:
            floor = find_floor(db, account, request.target_floor_id)
            return read_frozen(db, account, session_id, floor.branch_id)
        branch_id = MAIN if request.branch is None else request.branch
        if has_branch(db, account, session_id, branch_id):
            return read_frozen(db, account, session_id, branch_id)
        source = fork_source(db, account, session_id, request.source_floor_id)
        return None if source is None else frozen_behind(db, account, source)
    except ApiError:
        return None


def _newest(db: Connection, account: str, request: TurnRequest) -> Floor:
    session_id = session_called(db, account, request.session or "")
    if session_id is None:
        raise failure("session_not_found", "There is no such session.", session=request.session)
    branch_id = MAIN if request.branch is None else request.branch
    find_branch(db, account, session_id, branch_id)
    floor = branch_head(db, account, session_id, branch_id)
    if floor is None:
        raise failure("no_floor_to_regenerate", f"The branch {branch_id!r} has no committed floor.", branch_id=branch_id)
    return floor


def _retried(db: Connection, account: str, request: TurnRequest) -> Floor:
    floor = find_floor(db, account, request.target_floor_id or "", code="floor_not_found")
    return _committed(floor)


def _edited(db: Connection, account: str, request: TurnRequest) -> TurnTarget:
    message = find_message(db, account, request.source_message_id or "", code="message_not_found")
    if message.role != "user":
        raise failure("invalid_message_role", "Only what the user said can be edited.", role=message.role)
    floor = _committed(find_floor(db, account, find_page(db, account, message.page_id).floor_id))
    _check_active(db, account, floor.session_id)
    if request.branch is not None and has_branch(db, account, floor.session_id, check_branch_name(request.branch)):
        raise failure("branch_exists", f"The session has a branch {request.branch!r} already.", branch_id=request.branch)
    return TurnTarget(floor, message)


def _committed(floor: Floor) -> Floor:
    if floor.state != "committed" or floor.superseded_at is not None:
        state = "superseded" if floor.superseded_at is not None else floor.state
        raise failure("invalid_state", "Floor is not committed", floor_id=floor.id, state=state)
    return floor


def _check_active(db: Connection, account: str, session_id: str) -> None:
    check_active(session_id, find_session(db, account, session_id, code="session_not_found").status)
