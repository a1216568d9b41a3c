"""The calls of tools that turns made.

A call whose effects nobody takes back is written down before it begins and once it is over, each in a transaction of its own;
all others go with the turn that made them. Whatever dies in the middle of such a call leaves a row that says ``running``, and
the turn's end makes it ``uncertain``.

    commit_outcome   pending      the turn is not over
                     committed    its answer was kept
                     discarded    it failed, or another attempt made the answer; the call itself was over by then
                     uncertain    nobody knows whether the call had its effect
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from orjson import Fragment
from sqlalchemy import Connection, and_, bindparam, case, or_, select, update

from agentui.chats.codes import failure
from agentui.chats.listing import Listed, Paging, list_rows
from agentui.chats.records import AnyRow
from agentui.jsonio import Json, dumps_text, loads
from agentui.store.paging import length
from agentui.store.prepared import INSERT, Prepared, named
from agentui.store.tables import floors, tool_executions
from agentui.tools.execution import UNKNOWN_END, CommitOutcome, DeliveryMode, Execution, ExecutionStatus, LifecycleState
from agentui.tools.tool import CallerSlot, ProviderType, ReplaySafety, SideEffect


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """A call of a tool as callers of the API see it (spec: tavern-api part 10). Moments are milliseconds since 1970;
    ``page_id`` is the turn's input page, ``seq`` counts the calls of a run from 0."""

    id: str
    execution_id: str
    run_id: str
    session_id: str
    branch_id: str
    floor_id: str
    page_id: str
    seq: int
    caller_slot: CallerSlot
    provider_type: ProviderType
    provider_id: str
    tool_name: str
    args: Json
    result: Json
    delivery_mode: DeliveryMode
    status: ExecutionStatus
    lifecycle_state: LifecycleState
    commit_outcome: CommitOutcome
    side_effect_level: SideEffect
    error_code: str | None
    error_message: str | None
    duration_ms: float | None
    created_at: int
    started_at: int
    finished_at: int | None
    attempt_no: int
    replay_safety: ReplaySafety
    replay_reason: str | None
    runtime_job: None
    policy: Mapping[str, Json]
    provenance: Mapping[str, Json]
    roundtrip: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ExecutionFilter:
    """Which calls; None where it does not matter."""

    session_id: str | None = None
    floor_id: str | None = None
    run_id: str | None = None
    page_id: str | None = None
    caller_slot: CallerSlot | None = None
    tool_name: str | None = None
    status: ExecutionStatus | None = None
    lifecycle_state: LifecycleState | None = None
    commit_outcome: CommitOutcome | None = None
    provider_type: ProviderType | None = None


@dataclass(frozen=True, slots=True)
class CountedExecution:
    """A call, and its number among those of its run. ``is_discarded`` says that another attempt made the turn's answer."""

    seq: int
    execution: Execution
    is_discarded: bool = False


def keep_executions(db: Connection, account: str, calls: Iterable[CountedExecution], outcome: CommitOutcome, now: int) -> None:
    """Write calls of one turn down, those that stand already anew. The turn's floor is there."""
    rows = [_row(account, call, outcome, now) for call in calls]
    if rows:
        _KEEP.each(db, rows)


def settle_executions(db: Connection, account: str, floor_id: str, now: int) -> None:
    """The run of a floor is over and left nothing. Its calls that were over are discarded; of those that were not, those that
    cannot be undone are uncertain, and the others came to nothing."""
    place = {"floor": floor_id, "account": account}
    _LOSE.run(db, {**place, "now": now})
    _BREAK_OFF.run(db, {**place, "now": now})
    _DISCARD.run(db, place)


def has_lasting(db: Connection, account: str, floor_id: str) -> bool:
    """Whether a call was made on a floor that cannot be undone: what is known of it must not go with the floor."""
    return _LASTING.first(db, {"floor": floor_id, "account": account}) is not None


def calls_in_the_way(db: Connection, account: str, floor_id: str) -> Sequence[ToolExecution]:
    """The calls that making a floor's answer anew might make once more though nobody takes them back: those of all its turns,
    and of turns that were to take its place, or fork beside it, and failed. Calls that may be made again are none of them."""
    return [_shown(row) for row in _IN_THE_WAY.rows(db, {"floor": floor_id, "account": account})]


def may_not_repeat(db: Connection, account: str, floor_id: str) -> bool:
    """Whether a call was made on a floor that must not be made once more by itself."""
    return _UNREPEATABLE.first(db, {"floor": floor_id, "account": account}) is not None


def kept_executions(db: Connection, account: str, floor_id: str) -> list[str]:
    """The ids of the calls that were kept with a floor's answers, in their order."""
    columns = tool_executions.c
    mine = (columns.floor_id == floor_id, columns.account_id == account, columns.commit_outcome == "committed")
    return list(db.execute(select(columns.id).where(*mine).order_by(columns.created_at, columns.seq, columns.id)).scalars())


def find_execution(db: Connection, account: str, id: str) -> ToolExecution:
    """A call. Raises 404 ``not_found``."""
    mine = (tool_executions.c.id == id, tool_executions.c.account_id == account)
    row = db.execute(select(tool_executions).where(*mine)).one_or_none()
    if row is None:
        raise failure("not_found", "There is no such call of a tool.", execution_id=id)
    return _shown(row)


def list_executions(db: Connection, account: str, paging: Paging, wanted: ExecutionFilter) -> Listed[ToolExecution]:
    """The calls that are meant, sorted by ``seq`` or a moment."""
    columns = tool_executions.c
    query = select(tool_executions).where(columns.account_id == account)
    for name, value in asdict(wanted).items():
        if value is not None:
            query = query.where(columns[name] == value)
    order = (columns[paging.sort_by], columns.created_at, columns.seq, columns.id)
    listed = list_rows(db, query, paging, *order, weight=length(columns.arguments_json, columns.result_json))
    return Listed([_shown(row) for row in listed.items], listed.total)


def _row(account: str, call: CountedExecution, outcome: CommitOutcome, now: int) -> dict[str, Json]:
    execution, place = call.execution, call.execution.place
    return {
        "id": execution.id,
        "account_id": account,
        "run_id": place.run_id,
        "session_id": place.session_id,
        "branch_id": place.branch_id,
        "floor_id": place.floor_id,
        "page_id": place.page_id,
        "node_id": place.node_id[:200],
        "seq": call.seq,
        "call_id": _storable(execution.call_id),
        "step": execution.step,
        "attempt_no": execution.attempt_no,
        "caller_slot": place.caller_slot,
        "provider_type": execution.provider_type,
        "provider_id": execution.provider_id[:200],
        "tool_name": _storable(execution.tool_name),
        "delivery_mode": execution.delivery_mode,
        "status": execution.status,
        "lifecycle_state": execution.lifecycle_state,
        "commit_outcome": "discarded" if call.is_discarded else outcome,
        "side_effect": execution.side_effect,
        "replay_safety": execution.replay_safety,
        "replay_reason": _storable(execution.replay_reason),
        "error_code": execution.error_code,
        "error_message": None if execution.error_message is None else _storable(execution.error_message),
        "is_truncated": execution.is_truncated,
        "duration_ms": execution.duration_ms,
        "started_at": execution.started_at,
        "finished_at": execution.finished_at,
        "created_at": now,
        "policy_json": dumps_text(dict(execution.policy)),
        "arguments_json": dumps_text(execution.arguments),
        "result_json": dumps_text(execution.result),
    }


def _storable(text: str) -> str:
    """A text as both engines keep it: PostgreSQL knows no NUL, and neither knows half a character."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _shown(row: AnyRow) -> ToolExecution:
    return ToolExecution(
        id=row.id,
        execution_id=row.id,
        run_id=row.run_id,
        session_id=row.session_id,
        branch_id=row.branch_id,
        floor_id=row.floor_id,
        page_id=row.page_id,
        seq=row.seq,
        caller_slot=row.caller_slot,
        provider_type=row.provider_type,
        provider_id=row.provider_id,
        tool_name=row.tool_name,
        args=Fragment(row.arguments_json),
        result=Fragment(row.result_json),
        delivery_mode=row.delivery_mode,
        status=row.status,
        lifecycle_state=row.lifecycle_state,
        commit_outcome=row.commit_outcome,
        side_effect_level=row.side_effect,
        error_code=row.error_code,
        error_message=row.error_message,
        duration_ms=row.duration_ms,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        attempt_no=row.attempt_no,
        replay_safety=row.replay_safety,
        replay_reason=row.replay_reason or None,
        runtime_job=None,
        policy=loads(row.policy_json),
        provenance={"node_id": row.node_id, "call_id": row.call_id},
        roundtrip={"step": row.step, "is_truncated": row.is_truncated},
    )


_NAMES: Final = tuple(column.name for column in tool_executions.c)
_CHANGES: Final = (
    "status",
    "lifecycle_state",
    "error_code",
    "error_message",
    "is_truncated",
    "duration_ms",
    "finished_at",
    "replay_safety",
    "replay_reason",
    "arguments_json",
    "result_json",
)
"""What is otherwise once a call is over, or its turn is."""


def _keeping(insert: Any) -> Any:
    statement = insert(tool_executions).values(named(tool_executions, *_NAMES))
    changes = {name: statement.excluded[name] for name in _CHANGES}
    stands, new = tool_executions.c.commit_outcome, statement.excluded.commit_outcome
    # Somebody took the turn for dead meanwhile: what it still does comes to nothing, unless nobody knows what it did.
    is_late = and_(stands != "pending", new == "pending")
    is_unknown = statement.excluded.status == "uncertain"
    outcome = case((and_(is_late, is_unknown), "uncertain"), (is_late, "discarded"), else_=new)
    return statement.on_conflict_do_update(index_elements=["id"], set_={**changes, "commit_outcome": outcome})


_KEEP = Prepared({engine: _keeping(insert) for engine, insert in INSERT.items()})
_PENDING: Final = (
    tool_executions.c.floor_id == bindparam("floor"),
    tool_executions.c.account_id == bindparam("account"),
    tool_executions.c.commit_outcome == "pending",
)
_OPENED: Final = (*_PENDING, tool_executions.c.lifecycle_state == "opened")
_LOSE = Prepared(
    update(tool_executions)
    .where(*_OPENED, tool_executions.c.side_effect == "irreversible")
    .values(
        status="uncertain",
        lifecycle_state="finished",
        commit_outcome="uncertain",
        replay_safety=case((tool_executions.c.replay_safety == "never_auto_replay", "never_auto_replay"), else_="uncertain"),
        replay_reason=UNKNOWN_END,
        finished_at=bindparam("now"),
    )
)
_BREAK_OFF = Prepared(
    update(tool_executions)
    .where(*_OPENED, tool_executions.c.side_effect != "irreversible")
    .values(
        status="error",
        lifecycle_state="finished",
        commit_outcome="discarded",
        error_code="cancelled",
        error_message="The turn ended before the call did.",
        finished_at=bindparam("now"),
    )
)
_DISCARD = Prepared(update(tool_executions).where(*_PENDING).values(commit_outcome="discarded"))
_REPEATS_NOT: Final = (
    tool_executions.c.side_effect == "irreversible",
    tool_executions.c.replay_safety != "safe",
)
"""Calls that are made once more only where somebody confirms that, if at all."""
_UNREPEATABLE = Prepared(
    select(tool_executions.c.id)
    .where(
        tool_executions.c.floor_id == bindparam("floor"),
        tool_executions.c.account_id == bindparam("account"),
        *_REPEATS_NOT,
    )
    .limit(1)
)
_TARGET: Final = floors.alias("target")
_IN_THE_WAY = Prepared(
    select(tool_executions)
    .join(floors, floors.c.id == tool_executions.c.floor_id)
    .join(_TARGET, _TARGET.c.id == bindparam("floor"))
    .where(
        tool_executions.c.session_id == _TARGET.c.session_id,
        tool_executions.c.account_id == bindparam("account"),
        *_REPEATS_NOT,
        or_(
            floors.c.id == _TARGET.c.id,
            and_(
                floors.c.state == "failed",
                floors.c.floor_no == _TARGET.c.floor_no,
                floors.c.parent_floor_id.is_not_distinct_from(_TARGET.c.parent_floor_id),
                floors.c.created_at >= _TARGET.c.created_at,
            ),
        ),
    )
    .order_by(tool_executions.c.created_at, tool_executions.c.seq, tool_executions.c.id)
)
_LASTING = Prepared(
    select(tool_executions.c.id)
    .where(
        tool_executions.c.floor_id == bindparam("floor"),
        tool_executions.c.account_id == bindparam("account"),
        tool_executions.c.side_effect == "irreversible",
    )
    .limit(1)
)
