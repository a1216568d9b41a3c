"""How a turn ends: one transaction that keeps all of it, or one that records why there is nothing to keep.

A run that was stopped may have said something: its words are kept as a partial page. A new turn goes on from them; where an
answer was to be made anew they are one more version of it, and the old answer stays.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlalchemy import Connection, bindparam, exists, insert, null, select, update

from agentui.chats.codes import failure
from agentui.chats.parts import Content
from agentui.chats.rows import find_floor, touch_above
from agentui.chats.state.heads import heads_before, renew_snapshot, save_snapshot, take_back
from agentui.chats.state.records import Write as StateWrite
from agentui.chats.state.writing import Origin, commit_writes
from agentui.chats.tools.executions import CountedExecution, keep_executions, may_not_repeat, settle_executions
from agentui.chats.versions import active_output, is_head, keep_snapshot, variables_before, with_changes
from agentui.chats.working.checkpoints import forget_checkpoints
from agentui.chats.working.folding import keep_checkpoint
from agentui.chats.working.journal import Spot, carry_over, save_changes
from agentui.ids import new_id, new_short_id
from agentui.jsonio import Json, dumps_text
from agentui.memories.used import note_used
from agentui.memories.writing.turns import TurnFloor, remember_turn
from agentui.operations.log import append
from agentui.operations.operation import Actor, Operation
from agentui.store.prepared import Prepared, named
from agentui.store.tables import floors, page_results, pages, promotions, variable_changes
from agentui.turns.failing import LOST_STATUS, fail_floor, free_key, spend_key
from agentui.turns.locks import is_alone, release_lock
from agentui.turns.repeats import Claim, keep
from agentui.turns.request import Outcome, TurnPlace
from agentui.turns.transactions import (
    clamped,
    commit_floor,
    commit_generating,
    end_run,
    hold_places_of,
    insert_message,
    insert_version,
)
from agentui.variables.committing import Replaced, commit_staged, forget_floor
from agentui.variables.journal import Change, changes_of
from agentui.variables.snapshots import save_snapshot_of
from agentui.variables.staging import Write

StateWrites: TypeAlias = Sequence[StateWrite]


def commit_turn(
    db: Connection,
    place: TurnPlace,
    writes: tuple[Write, ...],
    state_writes: StateWrites,
    outcome: Outcome,
    claim: Claim | None,
    now: int,
    *,
    is_logged: bool = False,
) -> None:
    """The whole turn, or nothing of it. The floor comes first: it is held from there on, and its session with it.
    ``state_writes`` are what the turn brings for the Session State. ``is_logged``: the operation log tells of it.

    Raises as ``Turn.commit`` does.
    """
    account, floor = place.account, place.floor
    if place.replaced_floor_id is None:
        _commit_new(db, account, place, outcome, now)
        _write(db, account, place, writes, now)
        save_snapshot_of(db, account, floor.floor_id, place.session_id, place.branch_id, now)
        commit_writes(db, account, _origin(place), state_writes, now)
        save_snapshot(db, account, floor.floor_id, place.session_id, place.branch_id, now)
    else:
        _commit_anew(db, account, place, place.replaced_floor_id, writes, state_writes, outcome, now)
    spot = Spot(place.session_id, place.branch_id, floor.floor_id, floor.output_page_id)
    save_changes(db, account, spot, outcome.working, now)
    if outcome.is_working_long and place.replaced_floor_id is None:
        keep_checkpoint(db, account, place.session_id, place.branch_id, floor.floor_id, floor.output_page_id, now)
    _keep_result(db, account, floor.output_page_id, outcome)
    keep_executions(db, account, outcome.calls, "committed", now)
    for answer in outcome.others:
        _keep_other(db, account, floor.floor_id, floor.output_page_id, answer, now)
    if outcome.memories is not None:
        spot_of_turn = TurnFloor(place.session_id, place.branch_id, floor.floor_id, floor.floor_no, floor.output_page_id)
        remember_turn(db, account, spot_of_turn, outcome.memories, now, place.replaced_floor_id)
    if outcome.used_memories:
        note_used(db, account, outcome.used_memories, now)
    if claim is not None and outcome.saved is not None:
        keep(db, account, claim, outcome.saved, now)
    if is_logged:
        append(db, account, _told(place, state_writes), now)


def _told(place: TurnPlace, state_writes: StateWrites) -> Iterator[Operation]:
    """What the operation log tells of a turn: its floor, and what it brought for the Session State, without the values."""
    actor = Actor("llm", place.run_id, place.account, source="llm_run")
    committed = Operation(
        actor,
        "commit_floor",
        "floor",
        place.floor_id,
        session_id=place.session_id,
        branch_id=place.branch_id,
        floor_id=place.floor_id,
        run_id=place.run_id,
        before_ref=place.previous_floor_id,
        after_ref=place.floor.output_page_id,
        metadata={"run_type": place.kind},
    )
    yield committed
    for write in state_writes:
        slot = f"{write.key.namespace}/{write.key.slot}"
        yield replace(
            committed,
            action="stage_session_state_turn_write",
            target_type="session_state_value",
            target_id=slot,
            before_ref=None,
            after_ref=None,
            metadata={},
        )


def _keep_other(db: Connection, account: str, floor_id: str, page_id: str, answer: Content, now: int) -> None:
    """Keep another answer of the run as an inactive version. What the run wrote to variables belongs to all of its answers, and
    so does its prompt: the version gets copies, so that making it the active one changes nothing but the words."""
    copy = new_short_id()
    insert_version(db, account, floor_id, copy, now, is_active=False)
    insert_message(db, account, copy, "assistant", answer, 0, now)
    for table in (variable_changes, page_results, promotions):
        for row in db.execute(select(table).where(table.c.page_id == page_id)).mappings().all():
            renamed = {"page_id": copy} | ({"id": new_id("promotion")} if "id" in row else {})
            db.execute(insert(table).values({**row, **renamed}))


def was_kept(db: Connection, account: str, page_id: str) -> bool:
    """Whether the turn with this output page was committed, whole."""
    return db.execute(
        select(exists().where(pages.c.id == page_id, pages.c.account_id == account, ~pages.c.is_partial))
    ).scalar_one()


def _commit_new(db: Connection, account: str, place: TurnPlace, outcome: Outcome, now: int) -> None:
    floor, tokens = place.floor, (outcome.tokens_in, outcome.tokens_out)
    page_id, reshapes = floor.output_page_id, place.replaced_floor_id is not None
    commit_floor(db, account, floor.floor_id, outcome.answer, *tokens, now, output_page_id=page_id, reshapes=reshapes)


def _commit_anew(
    db: Connection,
    account: str,
    place: TurnPlace,
    replaced_id: str,
    writes: tuple[Write, ...],
    state_writes: StateWrites,
    outcome: Outcome,
    now: int,
) -> None:
    """Keep an answer in the place of an older one, whose changes of variables and Session State go back."""
    if not is_alone(db):
        hold_places_of(db, [place.floor_id])
    old_floor, old_page = find_floor(db, account, replaced_id, code="commit_conflict"), active_output(db, replaced_id)
    forget_checkpoints(db, place.session_id, old_floor.floor_no)
    changes = () if old_page is None else tuple(changes_of(db, account, old_page))
    replaced = Replaced(changes, is_head(db, account, old_floor))
    before = {} if replaced.is_head else variables_before(db, account, replaced_id)
    state_before = None if replaced.is_head else heads_before(db, replaced_id, old_page)
    if place.kind == "retry_turn":
        _commit_version(db, account, place, outcome, now)
    else:
        _commit_new(db, account, place, outcome, now)
        _take_place(db, account, replaced_id, place.floor.floor_id, now)
        carry_over(db, account, Spot(place.session_id, place.branch_id, replaced_id), place.floor.floor_id)
    made = _write(db, account, place, writes, now, replaced)
    new_floor = find_floor(db, account, place.floor.floor_id)
    keep_snapshot(db, account, new_floor, with_changes(before, made), now)
    take_back(db, account, place.session_id, place.branch_id, old_page, now)
    commit_writes(db, account, _origin(place), state_writes, now, state_before)
    if state_before is None:
        renew_snapshot(db, account, place.floor_id, place.session_id, place.branch_id, now)


def _origin(place: TurnPlace) -> Origin:
    return Origin(place.session_id, place.branch_id, place.floor.output_page_id, place.floor_id, place.run_id)


def _commit_version(db: Connection, account: str, place: TurnPlace, outcome: Outcome, now: int) -> None:
    """Add the answer to its floor as the active version. Raises 409 ``commit_conflict`` when the run is no longer the one that
    may."""
    floor, tokens = place.floor, (clamped(outcome.tokens_in), clamped(outcome.tokens_out))
    held = release_lock(db, account, floor.floor_id, place.run_id)
    spent = {"floor": floor.floor_id, "tokens_in": tokens[0], "tokens_out": tokens[1], "now": now}
    if not held or _SPEND.run(db, spent) == 0:
        raise _conflict(floor.floor_id)
    forget_floor(db, account, floor.floor_id)
    insert_version(db, account, floor.floor_id, floor.output_page_id, now)
    insert_message(db, account, floor.output_page_id, "assistant", outcome.answer, tokens[1], now)
    end_run(db, floor.floor_id, "completed", None, now)
    touch_above(db, floor.floor_id, now, reshapes=True)


_SPEND = Prepared(
    update(floors)
    .where(floors.c.id == bindparam("floor"), floors.c.state == "committed", floors.c.superseded_at.is_(None))
    .values(token_in=bindparam("tokens_in"), token_out=bindparam("tokens_out"), updated_at=bindparam("now"))
)


def _take_place(db: Connection, account: str, old_id: str, new_id: str, now: int) -> None:
    """Set the old floor aside for the new one, which is live from then on. Raises 409 ``commit_conflict`` when somebody else
    set it aside."""
    if _SET_ASIDE.run(db, {"old": old_id, "account": account, "new": new_id, "now": now}) == 0:
        raise _conflict(new_id)
    _LET_LIVE.run(db, {"floor": new_id})


_SET_ASIDE = Prepared(
    update(floors)
    .where(floors.c.id == bindparam("old"), floors.c.account_id == bindparam("account"), floors.c.superseded_at.is_(None))
    .values(superseded_at=bindparam("now"), superseded_by_floor_id=bindparam("new"), updated_at=bindparam("now"))
)
_LET_LIVE = Prepared(update(floors).where(floors.c.id == bindparam("floor")).values(superseded_at=null()))


def _conflict(floor_id: str) -> Exception:
    return failure("commit_conflict", "This floor is no longer generating; its answer was not kept.", floor_id=floor_id)


def _write(
    db: Connection,
    account: str,
    place: TurnPlace,
    writes: tuple[Write, ...],
    now: int,
    replaced: Replaced | None = None,
) -> tuple[Change, ...]:
    floor = place.floor
    ids = (place.run_id, place.session_id, place.branch_id, floor.floor_id, floor.output_page_id)
    return commit_staged(db, account, *ids, writes, now, is_held=True, replaced=replaced)


def _keep_result(db: Connection, account: str, page_id: str, outcome: Outcome) -> None:
    """Keep what stands beside the answer, where anything does."""
    if not outcome.summaries and outcome.verifier is None and outcome.explain is None:
        return
    row = {
        "page_id": page_id,
        "account_id": account,
        "token_in": clamped(outcome.tokens_in),
        "token_out": clamped(outcome.tokens_out),
        "summaries_json": dumps_text(list(outcome.summaries)),
        "verifier_json": _text(outcome.verifier),
        "explain_json": outcome.explain,
    }
    _KEEP_RESULT.run(db, row)


_KEEP_RESULT = Prepared(insert(page_results).values(named(page_results, *(column.name for column in page_results.c))))


def _text(value: Json) -> str | None:
    return None if value is None else dumps_text(value)


@dataclass(frozen=True, slots=True)
class FailedTurn:
    """A turn that failed: its place, why, the words that it had said by then, and the calls of tools that it made. Where its
    caller's request would make another turn behind those words, ``told_status`` is what that caller was told, and its key is
    not given up; nor is it where a call must not be made once more by itself."""

    place: TurnPlace
    error: Mapping[str, Json]
    is_cancelled: bool
    partial: Content | None = None
    told_status: int | None = None
    calls: tuple[CountedExecution, ...] = ()


def fail_all(db: Connection, every: Sequence[FailedTurn], now: int) -> None:
    """Record turns that failed. One whose floor is gone or over is no longer of interest.

    The places of all are held before the first one's session is written to: a commit holds its branch until it writes to its
    session, and would wait for this one while this one waits for that branch.
    """
    if not is_alone(db):
        hold_places_of(db, [failed.place.floor_id for failed in every])
    for failed in every:
        _fail(db, failed.place.account, failed, now)


def _fail(db: Connection, account: str, failed: FailedTurn, now: int) -> None:
    place, words = failed.place, failed.partial
    floor_id, error, cancelled = place.floor.floor_id, dict(failed.error), failed.is_cancelled
    if words is not None and place.replaced_floor_id is None:
        _keep_words(db, account, failed, words, now)
        return
    has_ended = fail_floor(
        db,
        account,
        floor_id,
        error,
        now,
        cancelled=cancelled,
        run_id=place.run_id,
        calls=failed.calls,
        told_status=failed.told_status or LOST_STATUS,
    )
    if not has_ended or words is None or place.replaced_floor_id is None:
        return
    page_id = place.floor.output_page_id
    if insert_version(db, account, place.replaced_floor_id, page_id, now, is_active=False, is_partial=True):
        insert_message(db, account, page_id, "assistant", words, 0, now)


def _keep_words(db: Connection, account: str, failed: FailedTurn, words: Content, now: int) -> None:
    """Commit a new turn with the words that it said, and without its variables."""
    place, floor = failed.place, failed.place.floor
    if not commit_generating(db, account, floor.floor_id, 0, 0, now):
        return
    insert_version(db, account, floor.floor_id, floor.output_page_id, now, is_active=True, is_partial=True)
    insert_message(db, account, floor.output_page_id, "assistant", words, 0, now)
    end_run(db, floor.floor_id, "cancelled" if failed.is_cancelled else "failed", dict(failed.error), now)
    touch_above(db, floor.floor_id, now)
    save_snapshot_of(db, account, floor.floor_id, place.session_id, place.branch_id, now)
    save_snapshot(db, account, floor.floor_id, place.session_id, place.branch_id, now)
    keep_executions(db, account, failed.calls, "pending", now)
    settle_executions(db, account, floor.floor_id, now)
    if failed.told_status is not None or may_not_repeat(db, account, floor.floor_id):
        spend_key(db, account, floor.floor_id, failed.told_status or LOST_STATUS, now)
    else:
        free_key(db, account, floor.floor_id)
