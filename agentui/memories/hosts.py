"""Where an item belongs: a scope and its host, written one way (TavernHeadless' contract, 3.2).

scope     scope_id                        host
global    the account's id                the account ("global" is taken for it)
chat      the session's id                a session
branch    ["<session>","<branch>"]        a branch, as JSON without blanks
floor     the floor's id                  a floor
"""

from typing import NamedTuple

from sqlalchemy import Connection, select

from agentui.chats.codes import failure
from agentui.errors import ApiError
from agentui.jsonio import InvalidJson, dumps_text, loads
from agentui.memories.records import MemoryScope
from agentui.store.tables import accounts, floors, sessions

GLOBAL_ID = "global"


class Host(NamedTuple):
    """A scope's host, and the session that it is in or below; None for none that is known."""

    scope: MemoryScope
    scope_id: str
    session_id: str | None


def branch_scope_id(session_id: str, branch_id: str) -> str:
    """The scope_id of a branch."""
    return dumps_text([session_id, branch_id])


def split_branch(scope_id: str) -> tuple[str, str]:
    """Session and branch of the scope_id of a branch. Raises 400 ``validation_error`` for what is none."""
    try:
        named = loads(scope_id)
    except InvalidJson:
        named = None
    match named:
        case [str(session_id), str(branch_id)] if session_id and branch_id and len(branch_id) <= 100 and len(session_id) <= 64:
            return session_id, branch_id
    message = 'A branch is named by the JSON of its session and its name: ["session_id","branch_id"].'
    problem = {"path": "/scope_id", "message": message, "code": "custom"}
    raise ApiError(f"/scope_id: {message}", status=400, code="validation_error", problems=[problem])


def normal_scope_id(account: str, scope: MemoryScope, scope_id: str) -> str:
    """A scope_id in the one form that is stored. Raises 400 for what names no branch."""
    if scope == "global" and scope_id == GLOBAL_ID:
        return account
    return branch_scope_id(*split_branch(scope_id)) if scope == "branch" else scope_id


def find_host(db: Connection, account: str, scope: MemoryScope, scope_id: str) -> Host:
    """A host that is written to; one that does not exist (yet) is taken as it is named (contract, 3.3). A session that there
    is stays until the transaction ends, so that nothing is written below one that is being removed.

    Raises 400 as ``split_branch`` does, and 404 ``not_found`` for what is another account's.
    """
    scope_id = normal_scope_id(account, scope, scope_id)
    if scope == "global":
        if scope_id != account and db.execute(select(accounts.c.id).where(accounts.c.id == scope_id)).first() is not None:
            raise _not_found(scope, scope_id)
        return Host(scope, scope_id, None)
    if scope != "floor":
        session_id = scope_id if scope == "chat" else split_branch(scope_id)[0]
        _hold_session(db, account, session_id, scope, scope_id)
        return Host(scope, scope_id, session_id)
    floor = db.execute(select(floors.c.account_id, floors.c.session_id).where(floors.c.id == scope_id)).first()
    if floor is None:
        return Host(scope, scope_id, None)
    if floor.account_id != account:
        raise _not_found(scope, scope_id)
    _hold_session(db, account, floor.session_id, scope, scope_id)
    return Host(scope, scope_id, floor.session_id)


def _hold_session(db: Connection, account: str, session_id: str, scope: MemoryScope, scope_id: str) -> None:
    query = select(sessions.c.account_id).where(sessions.c.id == session_id)
    owner = db.execute(query.with_for_update(read=True, key_share=True)).scalar_one_or_none()
    if owner is not None and owner != account:
        raise _not_found(scope, scope_id)


def _not_found(scope: MemoryScope, scope_id: str) -> Exception:
    return failure("not_found", f"There is no such {scope}.", scope=scope, scope_id=scope_id)
