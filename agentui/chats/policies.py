"""The prompt policies that sessions and branches keep: each a partial policy in an envelope that counts its writes.

What a policy may say is checked where it comes in, and what it means is worked out in agentui/prompt/policy.py; here it is
JSON.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, select, update

from agentui.chats.frozen import Frozen, read_frozen
from agentui.chats.records import Session
from agentui.chats.rows import find_branch, find_session, touch
from agentui.jsonio import Json, dumps_text, loads
from agentui.store.tables import branches, sessions


@dataclass(frozen=True, slots=True)
class PolicyEnvelope:
    """A stored policy: how often it was written, when last (milliseconds since 1970) and by which account."""

    version: int
    updated_at: int
    updated_by: str | None
    value: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class StoredPolicies:
    """What a session keeps, and one of its branches; None where nothing was ever written."""

    session: PolicyEnvelope | None = None
    branch: PolicyEnvelope | None = None


NO_POLICIES: Final = StoredPolicies()


def read_policies(db: Connection, account: str, session_id: str, branch_id: str | None = None) -> StoredPolicies:
    """What a session keeps, and the branch where one is named. Raises 404 ``not_found`` and ``branch_not_found``."""
    find_session(db, account, session_id)
    if branch_id is None:
        return StoredPolicies(_stored(db, session_id, None))
    find_branch(db, account, session_id, branch_id)
    return StoredPolicies(_stored(db, session_id, None), _stored(db, session_id, branch_id))


@dataclass(frozen=True, slots=True)
class RuledSession:
    """A session, the policies by which prompts of one of its branches are assembled, and the assets that the branch keeps."""

    session: Session
    policies: StoredPolicies
    frozen: Frozen | None


def read_ruled(db: Connection, account: str, session_id: str, branch_id: str) -> RuledSession:
    """Raises as ``read_policies`` does."""
    session, policies = find_session(db, account, session_id), read_policies(db, account, session_id, branch_id)
    return RuledSession(session, policies, read_frozen(db, account, session_id, branch_id))


def patch_policy(
    db: Connection, account: str, session_id: str, branch_id: str | None, changes: Mapping[str, Json], now: int
) -> StoredPolicies:
    """Change the session's policy, or the branch's where one is named: objects are merged into what is there, null takes away.

    Raises as ``read_policies`` does.
    """
    find_session(db, account, session_id)
    if branch_id is not None:
        find_branch(db, account, session_id, branch_id)
    old = _stored(db, session_id, branch_id, hold=True)
    value = merged(old.value if old is not None else {}, changes)
    new = PolicyEnvelope(old.version + 1 if old is not None else 1, now, account, value)
    table, place = _place(session_id, branch_id)
    db.execute(update(table).where(*place).values(policy_json=dumps_text(asdict(new))))
    touch(db, session_id, branch_id, now)
    return read_policies(db, account, session_id, branch_id)


def merged(old: Mapping[str, Json], changes: Mapping[str, Json]) -> dict[str, Json]:
    """A document with changes: objects are merged, null takes away, anything else takes the place of what was there."""
    document = {name: value for name, value in old.items() if changes.get(name, value) is not None}
    for name, value in changes.items():
        if isinstance(value, Mapping):
            document[name] = merged(document.get(name, {}), value)
        elif value is not None:
            document[name] = value
    return document


def envelope_of(policy_json: str | None) -> PolicyEnvelope | None:
    """What stands in ``policy_json`` of a session or a branch."""
    return None if policy_json is None else PolicyEnvelope(**loads(policy_json))


def _stored(db: Connection, session_id: str, branch_id: str | None, *, hold: bool = False) -> PolicyEnvelope | None:
    """What is kept there; ``hold`` lets nobody else write it until the transaction ends."""
    table, place = _place(session_id, branch_id)
    query = select(table.c.policy_json).where(*place)
    return envelope_of(db.execute(query.with_for_update(key_share=True) if hold else query).scalar_one_or_none())


def _place(session_id: str, branch_id: str | None) -> tuple[Table, tuple[ColumnElement[bool], ...]]:
    if branch_id is None:
        return sessions, (sessions.c.id == session_id,)
    return branches, (branches.c.session_id == session_id, branches.c.branch_id == branch_id)
