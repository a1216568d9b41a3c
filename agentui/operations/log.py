"""The operation log as it is kept: writing entries inside the transaction that they tell of, listing them, and keeping it
short."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, String, bindparam, delete, func, insert, select

from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.projects import workspace_of
from agentui.chats.records import AnyRow
from agentui.chats.rows import find_floor, find_session
from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text, loads
from agentui.operations.operation import ActorType, Difference, Operation, OperationStatus, Result, SourceType
from agentui.store.paging import length
from agentui.store.prepared import Prepared, named
from agentui.store.tables import operation_logs, sessions


@dataclass(frozen=True, slots=True)
class LoggedOperation:
    """An entry of the log."""

    id: str
    account_id: str
    actor_type: ActorType
    actor_id: str
    operation_group_id: str | None
    request_id: str | None
    source_type: SourceType
    workspace_id: str
    project_id: str | None
    actor_account_id: str | None
    actor_client_id: str | None
    permission_action: str | None
    result: Result | None
    reason: str | None
    action: str
    status: OperationStatus
    session_id: str | None
    branch_id: str | None
    floor_id: str | None
    run_id: str | None
    target_type: str | None
    target_id: str | None
    before_ref: str | None
    after_ref: str | None
    diff: Difference | None
    metadata: dict[str, Json]
    created_at: int


EVER: Final = 1 << 62


def append(db: Connection, account: str, operations: Iterable[Operation], now: int) -> list[str]:
    """Write entries to an account's log, inside the transaction that they tell of: both are kept, or neither is. Their ids."""
    ids = []
    for operation in operations:
        values = _values(operation)
        _APPEND.run(db, {**values, "account_id": account, "created_at": now})
        ids.append(values["id"])
    return ids


_PROJECT = (
    select(sessions.c.project_id)
    .where(
        sessions.c.id == bindparam("session_id", type_=String), sessions.c.account_id == bindparam("account_id", type_=String)
    )
    .scalar_subquery()
)
_APPEND = Prepared(
    insert(operation_logs).values(
        {
            **named(operation_logs, *operation_logs.c.keys()),
            "project_id": func.coalesce(
                bindparam("project_id", type_=String),
                _PROJECT,
            ),
        }
    )
)


def _values(operation: Operation) -> dict[str, Json]:
    actor = operation.actor
    return {
        "id": new_short_id(),
        "actor_type": actor.type,
        "actor_id": actor.id,
        "actor_account_id": actor.account,
        "actor_client_id": actor.client,
        "source_type": actor.source,
        "operation_group_id": operation.group,
        "request_id": actor.request_id,
        "project_id": operation.project_id,
        "permission_action": operation.permission,
        "result": operation.result,
        "reason": operation.reason,
        "action": operation.action,
        "status": operation.status,
        "session_id": operation.session_id,
        "branch_id": operation.branch_id,
        "floor_id": operation.floor_id,
        "run_id": operation.run_id,
        "target_type": operation.target_type,
        "target_id": operation.target_id,
        "before_ref": operation.before_ref,
        "after_ref": operation.after_ref,
        "diff_json": None if operation.diff is None else dumps_text(operation.diff),
        "metadata_json": dumps_text(operation.metadata),
    }


def list_operations(
    db: Connection,
    account: str | None,
    paging: Paging,
    wanted: Mapping[str, str | None],
    span: tuple[int, int] = (0, EVER),
    host: tuple[Literal["session", "floor"], str] | None = None,
) -> Listed[LoggedOperation]:
    """The entries of an account's log (None: of all) whose columns hold what is ``wanted``, None for anything, and that were
    made from a time on and before another, by that time; those of a ``host`` alone, which has to be there in the account:
    raises 404 ``not_found``."""
    created_at = operation_logs.c.created_at
    query = select(operation_logs).where(created_at >= span[0], created_at < span[1])
    if account is not None:
        query = query.where(operation_logs.c.account_id == account)
    if host is not None and account is not None:
        kind, id = host
        if kind == "session":
            find_session(db, account, id)
        else:
            find_floor(db, account, id)
        query = query.where(operation_logs.c[f"{kind}_id"] == id)
    for name, value in wanted.items():
        if value is None:
            continue
        if name == "workspace_id":  # there is one for each account
            owner = value.removeprefix(workspace_of(""))
            if workspace_of(owner) != value or account not in (None, owner):
                return Listed([], 0)
            query = query.where(operation_logs.c.account_id == owner)
            continue
        query = query.where(operation_logs.c[name] == value)
    order = operation_logs.c.created_at, operation_logs.c.id
    listed = list_rows(db, query, paging, *order, weight=length(operation_logs.c.diff_json, operation_logs.c.metadata_json))
    return Listed([_logged(row) for row in listed.items], listed.total)


def tidy_operations(db: Connection, most: int) -> int:
    """Remove of each account's log what is older than its newest ``most`` entries; returns how many that were. Each account has
    as many as any other, so that nobody drives what others did out of the log."""
    removed = 0
    counted = select(operation_logs.c.account_id).group_by(operation_logs.c.account_id).having(func.count() > most)
    for account in db.execute(counted).scalars().all():
        own = operation_logs.c.account_id == account
        newest_first = operation_logs.c.created_at.desc(), operation_logs.c.id.desc()
        kept = select(operation_logs.c.id).where(own).order_by(*newest_first).offset(most).limit(AT_ONCE)
        removed += db.execute(delete(operation_logs).where(operation_logs.c.id.in_(kept))).rowcount
    return removed


AT_ONCE: Final = 5_000
"""Entries of an account that one transaction removes: whoever else writes waits for it."""


def _logged(row: AnyRow) -> LoggedOperation:
    values: dict[str, Any] = dict(row._mapping)
    diff, metadata = values.pop("diff_json"), values.pop("metadata_json")
    told = {"diff": None if diff is None else loads(diff), "metadata": loads(metadata)}
    return LoggedOperation(workspace_id=workspace_of(row.account_id), **told, **values)
