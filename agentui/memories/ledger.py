"""What jobs proposed for an answer's page, and what became of it (TavernHeadless' contract, 3.10). Only jobs write it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, select

from agentui.chats.records import AnyRow
from agentui.chats.rows import find_floor, find_page
from agentui.jsonio import Json, loads
from agentui.memories.records import MemoryScope
from agentui.store.tables import memory_batches, memory_proposals

ProposalStatus: TypeAlias = Literal["proposed", "promoted", "rejected", "superseded"]
OperationKind: TypeAlias = Literal[
    "refresh_summary", "add_fact", "update_fact", "deprecate_fact", "add_open_loop", "resolve_open_loop"
]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One thing that a job proposed."""

    id: str
    memory_kind: str
    operation_kind: OperationKind
    target_scope: MemoryScope
    payload: Json
    importance: float | None
    reason: str | None
    evidence_json: Json
    status: ProposalStatus
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class ProposalBatch:
    """What a job proposed at once, and how it was decided."""

    id: str
    proposal_batch_id: str
    runtime_mode: str
    strategy: str
    source_kind: str
    actor_client_id: str | None
    source_json: Json
    evidence_json: Json
    proposal_status: ProposalStatus
    promotion_status: str | None
    decision_reason: str | None
    decision_code: str | None
    summary_text_hash: str | None
    token_stats: Json
    scope_resolution: Json
    created_at: int
    updated_at: int
    decided_at: int | None
    items: Sequence[Proposal]


@dataclass(frozen=True, slots=True)
class PageLedger:
    """What was proposed for a page."""

    page_id: str
    floor_id: str
    session_id: str
    branch_id: str
    items: Sequence[ProposalBatch]


def page_ledger(db: Connection, account: str, page_id: str, *, is_decided: bool = False) -> PageLedger:
    """What was proposed for a page, the first first; only what is decided, where that is asked for. Raises 404."""
    page = find_page(db, account, page_id)
    floor = find_floor(db, account, page.floor_id)
    own = memory_batches.c.account_id == account, memory_batches.c.page_id == page_id
    query = select(memory_batches).where(*own).order_by(memory_batches.c.created_at, memory_batches.c.id)
    if is_decided:
        query = query.where(memory_batches.c.decided_at.is_not(None))
    batches = db.execute(query).all()
    parts = (
        select(memory_proposals)
        .where(memory_proposals.c.account_id == account, memory_proposals.c.batch_id.in_([row.id for row in batches]))
        .order_by(memory_proposals.c.batch_id, memory_proposals.c.number)
    )
    by_batch: dict[str, list[Proposal]] = {}
    for row in db.execute(parts):
        by_batch.setdefault(row.batch_id, []).append(_proposal_of(row))
    items = [_batch_of(row, by_batch.get(row.id, [])) for row in batches]
    return PageLedger(page_id, floor.id, floor.session_id, floor.branch_id, items)


def _proposal_of(row: AnyRow) -> Proposal:
    return Proposal(
        id=f"{row.batch_id}:{row.number}",
        memory_kind=row.memory_kind,
        operation_kind=row.operation_kind,
        target_scope=row.target_scope,
        payload=loads(row.payload_json),
        importance=row.importance,
        reason=row.reason,
        evidence_json=loads(row.evidence_json),
        status=row.status,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _batch_of(row: AnyRow, items: Sequence[Proposal]) -> ProposalBatch:
    return ProposalBatch(
        id=row.id,
        proposal_batch_id=row.id,
        runtime_mode=row.runtime_mode,
        strategy=row.strategy,
        source_kind=row.source_kind,
        actor_client_id=row.actor_client_id,
        source_json=loads(row.source_json),
        evidence_json=loads(row.evidence_json),
        proposal_status=row.proposal_status,
        promotion_status=row.promotion_status,
        decision_reason=row.decision_reason,
        decision_code=row.decision_code,
        summary_text_hash=row.summary_text_hash,
        token_stats=_json(row.token_stats_json),
        scope_resolution=_json(row.scope_resolution_json),
        created_at=row.created_at,
        updated_at=row.updated_at,
        decided_at=row.decided_at,
        items=items,
    )


def _json(text: str | None) -> Json:
    return None if text is None else loads(text)
