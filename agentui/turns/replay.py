"""Whether an answer may be made anew, for what its turn did.

A turn that called a tool whose effects nobody takes back, or wrote to Session State in a namespace which does not call that
safe, is repeated only when the caller confirms what it did, or not at all.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Final

from sqlalchemy import Connection

from agentui.chats.codes import failure
from agentui.chats.rows import find_floor
from agentui.chats.state.heads import written_by
from agentui.chats.state.records import Mutation
from agentui.chats.tools.executions import ToolExecution, calls_in_the_way
from agentui.chats.versions import active_output
from agentui.jsonio import Json
from agentui.turns.request import Confirmed

NEEDS_CONFIRMATION: Final = "confirmation_required"
IS_NEVER: Final = "never_auto_replay"

Blockers = Sequence[Mapping[str, Json]]


def check_replay(db: Connection, account: str, floor_id: str, confirmed: Confirmed) -> None:
    """Raise 409 where the answer of a floor may not be made anew: ``tool_replay_blocked`` and ``session_state_replay_blocked``
    where no confirmation helps, ``tool_replay_confirmation_required``, ``session_state_replay_confirmation_required`` and, for
    both, ``replay_confirmation_required`` where one is missing. The details name every call that is in the way
    (``blocking_executions``) and every write (``blocking_session_state_mutations``)."""
    calls = call_blockers(db, account, floor_id, confirmed.executions)
    writes = blockers_of(db, floor_id, confirmed.mutations)
    if not calls and not writes:
        return
    details: dict[str, Json] = {"floor_id": floor_id}
    if calls:
        details["blocking_executions"] = calls
    if writes:
        details["blocking_session_state_mutations"] = writes
    raise failure(*_refusal(calls, writes), **details)


def _refusal(calls: Blockers, writes: Blockers) -> tuple[str, str]:
    """The code and the message for these blockers."""
    if _are_never(calls):
        return "tool_replay_blocked", "The turn called a tool that is never called again: go on in another way."
    if _are_never(writes):
        return (
            "session_state_replay_blocked",
            f"The turn wrote to Session State that is never written again ({len(writes)} times): go on in another way.",
        )
    ways = {"confirmed_execution_ids": calls, "confirmed_session_state_mutation_ids": writes}
    missing = " and ".join(name for name, blockers in ways.items() if blockers)
    if not writes:
        code = "tool_replay_confirmation_required"
        did = f"The turn made {len(calls)} calls that cannot be undone"
    elif not calls:
        code, did = "session_state_replay_confirmation_required", f"The turn wrote to Session State ({len(writes)} times)"
    else:
        code = "replay_confirmation_required"
        did = f"The turn made {len(calls)} calls that cannot be undone and wrote to Session State ({len(writes)} times)"
    return code, f"{did}: {missing} must name them."


def _are_never(blockers: Blockers) -> bool:
    return any(blocker["reason"] == IS_NEVER for blocker in blockers)


def call_blockers(db: Connection, account: str, floor_id: str, confirmed: Set[str]) -> list[dict[str, Json]]:
    """The calls that stand in the way of making a floor's answer anew (spec: tavern-api part 5)."""
    return [
        _call_blocker(call)
        for call in calls_in_the_way(db, account, floor_id)
        if call.replay_safety == "never_auto_replay" or call.id not in confirmed
    ]


def _call_blocker(call: ToolExecution) -> dict[str, Json]:
    return {
        "execution_id": call.id,
        "tool_name": call.tool_name,
        "provider_id": call.provider_id,
        "provider_type": call.provider_type,
        "side_effect_level": call.side_effect_level,
        "status": call.status,
        "lifecycle_state": call.lifecycle_state,
        "replay_safety": call.replay_safety,
        "reason": IS_NEVER if call.replay_safety == "never_auto_replay" else NEEDS_CONFIRMATION,
        "error_message": call.error_message,
    }


def blockers_of(db: Connection, floor_id: str, confirmed: Set[str]) -> list[dict[str, Json]]:
    """The writes that stand in the way of making a floor's active answer anew, by namespaces and slots."""
    written = written_by(db, active_output(db, floor_id))
    return [
        _blocker(mutation)
        for mutation in sorted(written, key=lambda mutation: mutation.key)
        if mutation.status == "applied" and _is_in_the_way(mutation, confirmed)
    ]


def _is_in_the_way(mutation: Mutation, confirmed: Set[str]) -> bool:
    match mutation.replay_safety:
        case "safe":
            return False
        case "never_auto_replay":
            return True
        case _:
            return mutation.id not in confirmed


def _blocker(mutation: Mutation) -> dict[str, Json]:
    return {
        "mutation_id": mutation.id,
        "state_namespace": mutation.namespace,
        "target_slot": mutation.slot,
        "replay_safety": mutation.replay_safety,
        "status": mutation.status,
        "reason": IS_NEVER if mutation.replay_safety == "never_auto_replay" else NEEDS_CONFIRMATION,
    }


def replay_safety(db: Connection, account: str, floor_id: str, confirmed: Set[str]) -> list[dict[str, Json]]:
    """What would stand in the way of making a floor's answer anew. Raises 404 ``not_found``."""
    find_floor(db, account, floor_id)
    return blockers_of(db, floor_id, confirmed)
