"""What a turn at the head of a branch would begin with, read without one: for dry runs, previews and inspections."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from agentui.chats.records import MAIN, Session
from agentui.chats.rows import branch_head, find_branch, find_session, has_branch
from agentui.jsonio import Json
from agentui.library.bundles import Bundle
from agentui.prompt.explain import PromptScope
from agentui.prompt.policy import Resolution
from agentui.prompt.prepared import PreparedTurn
from agentui.turns.history import NO_PAST, Past, read_facts, read_until
from agentui.turns.joining import check_active, check_branch_name, fork_source, session_called
from agentui.turns.request import ChatFacts, Reach
from agentui.variables.journal import set_text
from agentui.variables.resolve import Layers, load_layers
from agentui.variables.scopes import branch_target
from agentui.variables.snapshots import load_branch_snapshot
from agentui.variables.values import render


@dataclass(frozen=True, slots=True)
class Look:
    """A chat as a turn would find it: where the turn would be, the session, what was said before it, and the stored
    variables. ``head_id`` is the floor that it would go on from; ``ignored_source_floor_id`` is a source that does not count,
    for the branch exists."""

    scope: PromptScope
    session: Session
    facts: ChatFacts
    past: Past
    layers: Layers
    head_id: str | None
    ignored_source_floor_id: str | None = None


@dataclass(frozen=True, slots=True)
class LookedAt:
    """A prompt, the chat as it is, the rules by which it was made, its assets, and the parameters that go with it."""

    look: Look
    resolution: Resolution
    prepared: PreparedTurn
    bundle: Bundle
    params: Mapping[str, Json]


def look_at(
    db: Connection,
    account: str,
    session_id: str,
    branch_id: str | None,
    source_floor_id: str | None,
    history: Callable[[ChatFacts], Reach],
    unknown: str = "session_not_found",
) -> Look:
    """Read all of it in one transaction; ``history`` says how much of the past is wanted.

    A branch that does not exist is looked at as a turn would make it: forked behind the source floor, else from the head of
    main. Raises 400 ``validation_error``, 404 ``unknown`` where there is no such session, and ``source_floor_not_found``, 409
    ``session_archived``, ``invalid_state`` and ``branch_local_snapshot_missing``.
    """
    session = find_session(db, account, session_called(db, account, session_id) or session_id, code=unknown)
    session_id = session.id
    check_active(session.id, session.status)
    branch_id = MAIN if branch_id is None else check_branch_name(branch_id)
    source = None if source_floor_id is None else fork_source(db, account, session_id, source_floor_id)
    if has_branch(db, account, session_id, branch_id):
        named = None if source is None else source.id  # told as it was asked for; the branch goes on from its head
        scope = PromptScope(session_id, branch_id, True, named, branch_id, "existing_branch")
        facts = read_facts(db, account, session_id, branch_id)
        head_id = _head_id(db, account, session_id, branch_id)
        layers = load_layers(db, account, session_id, branch_id, None, None)
    else:
        if source is not None:
            scope = PromptScope(session_id, branch_id, False, source.id, source.branch_id, "source_floor_branch")
        else:
            scope = PromptScope(session_id, branch_id, False, None, MAIN, "main_fallback")
            source = branch_head(db, account, session_id, MAIN)
        facts = read_facts(db, account, session_id, branch_id, source)
        head_id = None if source is None else source.id
        layers = _forked(db, account, session_id, branch_id, head_id)
    past = NO_PAST if head_id is None else read_until(db, account, head_id, history(facts))
    ignored = source_floor_id if scope.branch_exists else None
    return Look(scope, session, facts, past, {**layers, "floor": {}, "page": {}}, head_id, ignored)


def _head_id(db: Connection, account: str, session_id: str, branch_id: str) -> str | None:
    """The floor that the next one of a branch goes on from: its head, else where it was forked."""
    head = branch_head(db, account, session_id, branch_id)
    return head.id if head is not None else find_branch(db, account, session_id, branch_id).source_floor_id


def _forked(db: Connection, account: str, session_id: str, branch_id: str, floor_id: str | None) -> Layers:
    """The variables that a branch would have which is forked behind a floor. Raises SnapshotMissing."""
    branch = branch_target(session_id, branch_id)
    layers = {**load_layers(db, account, session_id, None, None, None), "branch": {}}
    values = {} if floor_id is None else load_branch_snapshot(db, account, floor_id)
    for key, value in values.items():
        set_text(layers["branch"], branch, key, render(value))
    return layers
