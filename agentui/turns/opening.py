"""How a turn begins: one transaction that finds its place, locks its branch, and reads what it starts from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from agentui.chats.branches.writing import new_branch_name
from agentui.chats.codes import failure
from agentui.chats.questions import copy_question, question_page
from agentui.chats.rows import branch_head, find_session, parent_of, register_branch
from agentui.chats.state.heads import heads_before, set_heads
from agentui.chats.state.writing import check_writes
from agentui.chats.text_index import note_past, note_sent
from agentui.chats.versions import active_output, variables_before
from agentui.ids import new_short_id
from agentui.turns.ending import FailedTurn, fail_all
from agentui.turns.history import NO_PAST, Past, read_facts, read_past
from agentui.turns.joining import Joined, join_session
from agentui.turns.locks import Owner
from agentui.turns.repeats import attach, hold
from agentui.turns.replay import check_replay
from agentui.turns.request import ChatFacts, TurnPlace, TurnRequest
from agentui.turns.targets import TurnTarget, find_target
from agentui.turns.transactions import OpenedFloor, hold_free_branch, open_floor, start_floor, start_run
from agentui.variables.journal import before_changes, changes_of, set_text
from agentui.variables.resolve import Layers, load_layers
from agentui.variables.scopes import branch_target
from agentui.variables.snapshots import set_branch_values
from agentui.variables.values import render


@dataclass(frozen=True, slots=True)
class OpenedTurn:
    """A turn that has begun: its place, the tiers that its run begins with, and what it asked to know of its chat."""

    place: TurnPlace
    layers: Layers
    facts: ChatFacts | None = None
    past: Past = NO_PAST


class LeftQueue(Exception):
    """Who waited for the branch has left; nothing of the turn is written."""


def open_turn(
    db: Connection,
    request: TurnRequest,
    expected: TurnTarget | None,
    owner: Owner,
    now: int,
    unrecorded: Sequence[FailedTurn],
    has_left: Callable[[], bool],
) -> OpenedTurn:
    """Open and read in one transaction, so that the tiers are those at the moment the branch was locked. ``expected`` is what
    the request went back to when it came, where it has waited since. ``has_left`` tells whether somebody who waits in the queue
    has left it; it is called in the store's thread.

    Raises what ``TurnService.begin`` does, and LeftQueue.
    """
    account, claim = request.account, request.claim
    if claim is not None:
        hold(db, account, claim, owner.id, now)
    fail_all(db, unrecorded, now)
    if request.place is not None:
        request = request.place(db, account, request, now)
    place = _respond(db, account, request, owner, now)
    if place is None:
        place = _make_anew(db, account, request, expected, owner, now)
    if has_left():  # asked once the branch is held: until then the transaction may have waited for it long after its caller
        raise LeftQueue
    check_writes(db, account, place.session_id, place.branch_id, request.state_writes)
    if claim is not None:
        attach(db, account, claim, place.floor.floor_id)
    # Nobody but this transaction knows the floor's new page, and the version before is none of this one's business.
    layers = load_layers(db, account, place.session_id, place.branch_id, None, None, request.names)
    layers = {**_before(db, account, place, layers), "floor": {}, "page": {}}
    if request.history is None:
        return OpenedTurn(place, layers)
    facts = read_facts(db, account, place.session_id, place.branch_id)
    past = read_past(db, account, place.floor_id, place.replaced_floor_id, request.history(facts))
    return OpenedTurn(place, layers, facts, past)


def _respond(db: Connection, account: str, request: TurnRequest, owner: Owner, now: int) -> TurnPlace | None:
    """The place of a turn at the head of a branch; None where that is not what is wanted."""
    if request.kind != "respond":
        return None
    joined = join_session(
        db,
        account,
        request.session or "",
        request.branch,
        now,
        source_floor_id=request.source_floor_id,
        must_exist=request.must_exist,
    )
    where = joined.session_id, joined.branch_id, request.run_id, owner
    floor = open_floor(db, account, *where, request.user, now, is_new_branch=request.is_new_branch)
    note_sent(db, (account, joined.session_id, floor.floor_id, floor.input_page_id), request.sent_notes)
    if request.sent_past is not None:
        note_past(db, floor.floor_id, floor.input_page_id, request.sent_past)
    return TurnPlace(account, joined.session_id, joined.branch_id, request.run_id, "respond", floor, memory=joined.memory)


def _make_anew(
    db: Connection, account: str, request: TurnRequest, expected: TurnTarget | None, owner: Owner, now: int
) -> TurnPlace:
    """The place of a turn that goes back to a floor. Raises 409 ``generation_target_stale`` where that has changed, and as
    ``check_replay`` does."""
    target = find_target(db, account, request)
    session_id = target.floor.session_id
    memory = find_session(db, account, session_id, code="session_not_found", hold=True).memory
    if request.kind == "edit_and_regenerate":
        _check_same(target, expected)
        check_replay(db, account, target.floor.id, request.confirmed)
        return replace(_edit(db, account, request, target, owner, now), memory=memory)
    hold_free_branch(db, account, session_id, target.floor.branch_id)
    # Again, now that nobody else can change it.
    _check_same(find_target(db, account, request), expected or target)
    check_replay(db, account, target.floor.id, request.confirmed)
    place = Joined(session_id, target.floor.branch_id)
    if request.kind == "regenerate_page":
        return replace(_regenerate(db, account, request, target, place, owner, now), memory=memory)
    return replace(_retry(db, account, request, target, place, owner, now), memory=memory)


def _check_same(target: TurnTarget, expected: TurnTarget | None) -> None:
    if expected is not None and not target.is_same(expected):
        raise failure(
            "generation_target_stale",
            "What should be made anew has changed meanwhile: read the chat and decide again.",
            floor_id=expected.floor.id,
            actual_floor_id=target.floor.id,
        )


def _regenerate(
    db: Connection, account: str, request: TurnRequest, target: TurnTarget, place: Joined, owner: Owner, now: int
) -> TurnPlace:
    """A floor with the old one's number, parent and question, which is not live before it is committed."""
    old = target.floor
    opened = OpenedFloor(new_short_id(), old.floor_no, new_short_id(), new_short_id(), old.parent_floor_id)
    start_floor(db, account, place, opened, request.run_id, request.kind, owner, now, is_live=False)
    copy_question(db, account, old.id, opened.input_page_id, now)
    return TurnPlace(account, place.session_id, place.branch_id, request.run_id, request.kind, opened, previous_floor_id=old.id)


def _retry(
    db: Connection, account: str, request: TurnRequest, target: TurnTarget, place: Joined, owner: Owner, now: int
) -> TurnPlace:
    """The same floor, which stays committed all the while."""
    floor = target.floor
    start_run(db, account, place, floor.id, request.run_id, request.kind, owner, now)
    question = question_page(db, floor.id) or ""
    opened = OpenedFloor(floor.id, floor.floor_no, question, new_short_id(), floor.parent_floor_id)
    return TurnPlace(account, place.session_id, place.branch_id, request.run_id, request.kind, opened)


def _edit(db: Connection, account: str, request: TurnRequest, target: TurnTarget, owner: Owner, now: int) -> TurnPlace:
    """A branch that is forked before the floor of the message, with a floor in its place that says it differently."""
    old, message = target.floor, target.message
    assert message is not None and request.user is not None
    place = Joined(old.session_id, new_branch_name() if request.branch is None else request.branch)
    parent = parent_of(db, account, old)
    if not register_branch(db, account, place.session_id, place.branch_id, now, parent):
        raise failure("branch_exists", f"The session has a branch {place.branch_id!r} already.", branch_id=place.branch_id)
    values = variables_before(db, account, old.id)
    set_branch_values(db, account, place.session_id, place.branch_id, values, now)
    set_heads(db, account, place.session_id, place.branch_id, heads_before(db, old.id, active_output(db, old.id)))
    opened = OpenedFloor(new_short_id(), old.floor_no, new_short_id(), new_short_id(), None if parent is None else parent.id)
    start_floor(db, account, place, opened, request.run_id, request.kind, owner, now, is_new_branch=True)
    copy_question(db, account, old.id, opened.input_page_id, now, edited=(message.id, request.user.text))
    return TurnPlace(
        account,
        place.session_id,
        place.branch_id,
        request.run_id,
        request.kind,
        opened,
        source_floor_id=old.id,
        source_message_id=message.id,
    )


def _before(db: Connection, account: str, place: TurnPlace, layers: Layers) -> Layers:
    """The tiers as they were before the turn whose answer is made anew, and before those that came after it."""
    floor_id = place.replaced_floor_id
    page_id = None if floor_id is None else active_output(db, floor_id)
    if floor_id is None or page_id is None:
        return layers
    changes = changes_of(db, account, page_id)
    head = branch_head(db, account, place.session_id, place.branch_id)
    if head is None or head.id == floor_id:
        return before_changes(layers, changes)
    past = {scope: dict(tier) for scope, tier in layers.items()}
    for change in changes:
        set_text(past[change.target.scope], change.target, change.key, change.before)
    # Later turns have gone on from there, so that what the branch holds today says little of what it held then.
    branch, values = branch_target(place.session_id, place.branch_id), variables_before(db, account, floor_id)
    for key in past["branch"].keys() | values.keys():
        set_text(past["branch"], branch, key, render(values[key]) if key in values else None)
    return past
