"""What is kept of the prompts of committed floors, as it was at the commit."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from agentui.chats.codes import failure
from agentui.chats.floors import FloorResult, floor_result
from agentui.chats.records import Floor
from agentui.chats.rows import find_floor
from agentui.jsonio import Json, loads
from agentui.store.tables import page_results, runs


@dataclass(frozen=True, slots=True)
class KeptPrompt:
    """A committed floor, what it came to, and what is kept of its prompt; None where nothing is, as of a turn whose client made
    the prompt itself."""

    floor: Floor
    result: FloorResult
    document: Mapping[str, Json] | None


def read_prompt(db: Connection, account: str, floor_id: str) -> KeptPrompt:
    """What is kept of a floor's prompt. Raises 404 ``not_found``, and ``prompt_runtime_explain_not_found`` where the floor had
    none (a greeting, a floor made by hand), 409 ``invalid_state``."""
    result = floor_result(db, account, floor_id)
    kept = select(page_results.c.explain_json).where(
        page_results.c.page_id == result.output_page_id, page_results.c.account_id == account
    )
    text = db.execute(kept).scalar_one_or_none()
    if text is None and db.execute(select(runs.c.run_id).where(runs.c.floor_id == floor_id)).first() is None:
        raise failure(
            "prompt_runtime_explain_not_found", "This floor had no prompt: no model was asked for it.", floor_id=floor_id
        )
    return KeptPrompt(find_floor(db, account, floor_id), result, None if text is None else loads(text))


def read_two_prompts(
    db: Connection, account: str, session_id: str, left_floor_id: str, right_floor_id: str
) -> tuple[KeptPrompt, KeptPrompt]:
    """The same of two floors of a session, in one transaction. Raises 404 ``not_found`` for a floor of another session too."""
    left, right = (read_prompt(db, account, floor_id) for floor_id in (left_floor_id, right_floor_id))
    for kept in (left, right):
        if kept.floor.session_id != session_id:
            raise failure("not_found", "The session has no such floor.", floor_id=kept.floor.id, session_id=session_id)
    return left, right
