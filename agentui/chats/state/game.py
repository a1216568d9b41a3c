"""``game_state``: what the server itself tells of a chat, read from the floor that told it.

Nothing is stored for it: the newest committed turn that a branch leads through holds the words, the summaries and what the
prompt was made of, and its active version is what counts. So it follows every fork, reset and retry by itself.
"""

from collections.abc import Mapping
from itertools import chain

from sqlalchemy import Connection, select

from agentui.chats.floors import FloorResult, floor_result
from agentui.chats.lineage import ancestors, source_of
from agentui.chats.records import Floor
from agentui.chats.rows import branch_head, find_floor
from agentui.chats.state.records import GAME, SCHEMA_VERSION, Key, Source, StateValue
from agentui.chats.tools.executions import kept_executions
from agentui.jsonio import Json, dumps, loads
from agentui.store.tables import page_results, runs

SCENE, WORLD = Key(GAME, "scene"), Key(GAME, "world")


def game_of_branch(db: Connection, account: str, session_id: str, branch_id: str) -> dict[Key, StateValue]:
    """What a branch's newest turn tells; nothing where it leads through none."""
    head = branch_head(db, account, session_id, branch_id) or source_of(db, account, session_id, branch_id)
    return {} if head is None else game_of_floor(db, account, head.id, "live_head")


def game_of_floor(db: Connection, account: str, floor_id: str, source: Source) -> dict[Key, StateValue]:
    """What a floor's turn tells, or the newest one before it."""
    found = _newest_turn(db, account, floor_id)
    if found is None:
        return {}
    floor, run_type = found
    result = floor_result(db, account, floor.id)
    told = {
        "schemaVersion": SCHEMA_VERSION,
        "sessionId": floor.session_id,
        "branchId": floor.branch_id,
        "floorId": floor.id,
        "runType": run_type,
        "toolExecutionIds": kept_executions(db, account, floor.id),
        "updatedAt": result.committed_at,
    }
    values = {SCENE: {**told, **_scene(result)}, WORLD: {**told, **_world(db, result)}}
    return {
        key: StateValue(key, source, True, value, floor.id, _told_by(floor, key), result.committed_at, len(dumps(value)))
        for key, value in values.items()
    }


def _told_by(floor: Floor, key: Key) -> tuple[str, ...]:
    """What stands where the ids of writes would: nothing was written, the floor's commit tells it."""
    return (f"{floor.id}:{key.namespace}.{key.slot}",)


def _scene(result: FloorResult) -> dict[str, Json]:
    return {
        "kind": "first_party_scene_state",
        "generatedText": result.generated_text,
        "summaries": result.summaries,
        "usage": {
            "promptTokens": result.usage["prompt_tokens"],
            "completionTokens": result.usage["completion_tokens"],
            "totalTokens": result.usage["total_tokens"],
        },
    }


def _world(db: Connection, result: FloorResult) -> dict[str, Json]:
    kept = select(page_results.c.explain_json).where(page_results.c.page_id == result.output_page_id)
    text = db.execute(kept).scalar_one_or_none()
    prompt: Mapping[str, Json] = {} if text is None else loads(text).get("prompt_snapshot") or {}
    return {
        "kind": "first_party_world_state",
        "summaryLines": result.summaries,
        "worldbookId": prompt.get("worldbook_id"),
        "worldbookVersion": prompt.get("worldbook_version"),
        "activatedWorldbookEntryUids": prompt.get("worldbook_activated_entry_uids") or [],
    }


def _newest_turn(db: Connection, account: str, floor_id: str) -> tuple[Floor, str] | None:
    """A floor on which a turn was committed, and the kind of that: this one, or the newest before it."""
    for ids in chain([[floor_id]], ancestors(db, account, floor_id)):
        query = select(runs.c.floor_id, runs.c.run_type).where(runs.c.floor_id.in_(ids))
        kinds = {row.floor_id: row.run_type for row in db.execute(query)}
        for id in ids:
            floor = find_floor(db, account, id) if id in kinds else None
            if floor is not None and floor.state == "committed":
                return floor, kinds[id]
    return None
