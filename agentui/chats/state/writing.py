"""Writing Session State: by itself, and with the commit of a turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from agentui.chats.rows import find_branch, find_session
from agentui.chats.state.heads import heads_of, save_snapshot_heads, set_head
from agentui.chats.state.limits import LIMITS, StateLimits, check_room
from agentui.chats.state.namespaces import check_writable
from agentui.chats.state.reading import value_of
from agentui.chats.state.records import Heads, Key, Mutation, ReplaySafety, StateValue, Write, WriteMode
from agentui.ids import new_short_id
from agentui.jsonio import Json
from agentui.store.tables import state_heads, state_mutations

_NOTHING = "null"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where mutations come from: the branch, and the turn that made them, where one did."""

    session_id: str
    branch_id: str
    page_id: str | None = None
    floor_id: str | None = None
    run_id: str | None = None

    @property
    def mode(self) -> WriteMode:
        """How they were written."""
        return "direct" if self.floor_id is None else "commit_bound"


def write_direct(
    db: Connection, account: str, session_id: str, branch_id: str, write: Write, now: int, limits: StateLimits = LIMITS
) -> StateValue:
    """Write one slot of a branch at once; returns what it holds then.

    Raises 404 ``not_found``, ``branch_not_found`` and as ``check_writable`` does, 409 ``session_state_*_limit_exceeded``.
    """
    find_session(db, account, session_id, hold=True)
    find_branch(db, account, session_id, branch_id, hold=True)
    safety = check_writable(db, session_id, {write.key.namespace})
    old = select(state_heads.c.mutation_id).where(
        state_heads.c.session_id == session_id,
        state_heads.c.branch_id == branch_id,
        state_heads.c.namespace == write.key.namespace,
        state_heads.c.slot == write.key.slot,
    )
    mutation = _made(write, Origin(session_id, branch_id), db.execute(old).scalar_one_or_none(), safety, now)
    check_room(db, account, session_id, branch_id, {write.key: mutation.size}, limits)
    _insert(db, account, [mutation])
    set_head(db, account, session_id, branch_id, mutation)
    return value_of(mutation, "live_head")


def commit_writes(
    db: Connection,
    account: str,
    origin: Origin,
    writes: Sequence[Write],
    now: int,
    past: Heads | None = None,
    limits: StateLimits = LIMITS,
) -> None:
    """Write what a turn brings with it, at its commit; of several writes to one slot the last counts.

    ``past`` is what the turn began with where later turns have gone on from its floor: then a slot holds what the turn wrote
    only if nobody has written there since, and the floor's snapshot is made of ``past``. Raises as ``write_direct`` does.
    """
    latest: Mapping[Key, Write] = {write.key: write for write in writes}
    heads = heads_of(db, origin.session_id, origin.branch_id) if writes else {}
    began = heads if past is None else past
    safety = check_writable(db, origin.session_id, {key.namespace for key in latest})
    made = [_made(write, origin, began.get(key), safety, now) for key, write in latest.items()]
    _insert(db, account, made)
    holding = [mutation for mutation in made if heads.get(mutation.key) == mutation.before_id]
    check_room(db, account, origin.session_id, origin.branch_id, {each.key: each.size for each in holding}, limits)
    for mutation in holding:
        set_head(db, account, origin.session_id, origin.branch_id, mutation)
    if past is not None and origin.floor_id is not None:
        after = {**past, **{mutation.key: mutation.id for mutation in made}}
        save_snapshot_heads(db, account, origin.floor_id, after, now)


def check_writes(db: Connection, account: str, session_id: str, branch_id: str, writes: Sequence[Write]) -> None:
    """Refuse, before a turn spends anything, what its commit would refuse. Raises as ``write_direct`` does."""
    check_writable(db, session_id, {write.key.namespace for write in writes})
    check_room(db, account, session_id, branch_id, {write.key: _size(write) for write in writes})


def _size(write: Write) -> int:
    """In bytes, as it is kept."""
    return len((_NOTHING if write.value_json is None else write.value_json).encode())


def _made(write: Write, origin: Origin, before_id: str | None, safety: Mapping[str, ReplaySafety], now: int) -> Mutation:
    text = _NOTHING if write.value_json is None else write.value_json
    return Mutation(
        id=new_short_id(),
        session_id=origin.session_id,
        branch_id=origin.branch_id,
        namespace=write.key.namespace,
        slot=write.key.slot,
        page_id=origin.page_id,
        floor_id=origin.floor_id,
        run_id=origin.run_id,
        write_mode=origin.mode,
        status="applied",
        replay_safety=safety[write.key.namespace],
        before_id=before_id,
        is_present=write.value_json is not None,
        value_json=text,
        size=_size(write),
        created_at=now,
        updated_at=now,
    )


def _insert(db: Connection, account: str, mutations: Sequence[Mutation]) -> None:
    columns = [column.name for column in state_mutations.c if column.name != "account_id"]
    rows: list[dict[str, Json]] = [
        {"account_id": account, **{name: getattr(mutation, name) for name in columns}} for mutation in mutations
    ]
    if rows:
        db.execute(insert(state_mutations), rows)
