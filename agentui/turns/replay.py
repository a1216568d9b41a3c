"""Whether an answer may be made anew, for what its turn wrote.

A turn that wrote to Session State in a namespace which does not call that safe is repeated only when the caller confirms what
it wrote, or not at all.
"""

from collections.abc import Set
from typing import Final

from sqlalchemy import Connection

from agentui.chats.codes import failure
from agentui.chats.rows import find_floor
from agentui.chats.state.heads import written_by
from agentui.chats.state.records import Mutation
from agentui.chats.versions import active_output
from agentui.jsonio import Json

NEEDS_CONFIRMATION: Final = "confirmation_required"
IS_NEVER: Final = "never_auto_replay"


def check_replay(db: Connection, floor_id: str, confirmed_mutations: Set[str]) -> None:
    """Raise 409 where the active answer of a floor may not be made anew: ``session_state_replay_blocked`` where no confirmation
    helps, ``session_state_replay_confirmation_required`` where one is missing. The details name every write that is in the way
    (``blocking_session_state_mutations``)."""
    blockers = blockers_of(db, floor_id, confirmed_mutations)
    if not blockers:
        return
    if any(blocker["reason"] == IS_NEVER for blocker in blockers):
        code = "session_state_replay_blocked"
        message = f"The turn wrote to Session State that is never written again ({len(blockers)} times): go on in another way."
    else:
        code = "session_state_replay_confirmation_required"
        message = (
            f"The turn wrote to Session State ({len(blockers)} times): confirmed_session_state_mutation_ids must name that."
        )
    raise failure(code, message, blocking_session_state_mutations=blockers, floor_id=floor_id)


def blockers_of(db: Connection, floor_id: str, confirmed: Set[str]) -> list[dict[str, Json]]:
    """What stands in the way of making a floor's active answer anew, by namespaces and slots."""
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
