"""What a turn writes of memories in its own commit: items of its ``<summary>`` blocks, what a model proposed before, or a job
that reads it later (TavernHeadless' contract, 3.5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from agentui.chats.memories import drop_jobs
from agentui.jsonio import Json
from agentui.memories.hosts import Host, branch_scope_id
from agentui.memories.items import NewItem, create_item
from agentui.memories.writing.applying import apply_decision
from agentui.memories.writing.jobs import NewJob, let_read, queue_job
from agentui.memories.writing.modes import MOST_SUMMARIES, TurnMemories, ingest_id
from agentui.memories.writing.said import answer_id, digest, user_text
from agentui.store.tables import memory_jobs

LONGEST_ITEM = 64 * 1024
"""Characters of an item; the rest of a longer one is left out."""


@dataclass(frozen=True, slots=True)
class TurnFloor:
    """Where a turn's answer stands."""

    session_id: str
    branch_id: str
    floor_id: str
    floor_no: int
    page_id: str

    @property
    def host(self) -> Host:
        """The scope that a turn writes to: its branch."""
        return Host("branch", branch_scope_id(self.session_id, self.branch_id), self.session_id)


def remember_turn(
    db: Connection, account: str, floor: TurnFloor, wanted: TurnMemories, now: int, replaced_floor_id: str | None = None
) -> None:
    """Write what a turn that is being committed writes. Jobs for answers that it replaces are cancelled."""
    for dropped in {floor.floor_id, replaced_floor_id} - {None}:
        drop_jobs(db, account, now, memory_jobs.c.floor_id == dropped, memory_jobs.c.page_id != floor.page_id)
    if wanted.decision is not None and wanted.sight is not None:
        waits = wanted.rules.needs_approval
        apply_decision(db, account, floor.branch_id, wanted.decision, wanted.sight, now, waits=waits)
        return
    if not wanted.is_queued:
        store_summaries(db, account, floor, wanted.summaries, now, waits=wanted.rules.needs_approval)
        return
    let_read(db, account, floor.host, floor.floor_no - wanted.rules.behind, now)
    is_due = wanted.is_due or wanted.rules.behind <= 0
    payload: dict[str, Json] = {
        "accountId": account,
        "sessionId": floor.session_id,
        "floorId": floor.floor_id,
        "floorNo": floor.floor_no,
        "assistantMessageId": answer_id(db, account, floor.page_id),
        "pageId": floor.page_id,
        "branchId": floor.branch_id,
        "userInputDigest": digest(user_text(db, account, floor.floor_id)),
        "committedAt": now,
        "summaries": [text[:LONGEST_ITEM] for text in wanted.summaries[:MOST_SUMMARIES]],
        "enableConsolidation": True,
        "runtimeMode": "async_primary",
        "keyId": wanted.key,
    }
    due_at = now if is_due else now + wanted.rules.wait_ms
    job = NewJob(
        ingest_id(floor.page_id), floor.host, "ingest_turn", payload, floor.floor_id, floor.floor_no, floor.page_id, due_at
    )
    queue_job(db, account, job, now)


def store_summaries(
    db: Connection,
    account: str,
    floor: TurnFloor,
    summaries: Sequence[str],
    now: int,
    job_id: str | None = None,
    *,
    waits: bool,
) -> None:
    """Write a summary item of each text that an answer's ``<summary>`` blocks held."""
    if not summaries:
        return
    message_id = answer_id(db, account, floor.page_id)
    for text in summaries[:MOST_SUMMARIES]:
        item = NewItem(
            "branch",
            floor.host.scope_id,
            "summary",
            text.replace("\0", "\ufffd")[:LONGEST_ITEM],
            source_floor_id=floor.floor_id,
            source_message_id=message_id,
            sources=((floor.page_id, None),),
            author="rule",
            waiting=waits,
            source_job_id=job_id,
        )
        create_item(db, account, item, now)
