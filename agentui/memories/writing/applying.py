"""What was decided of a model's answer, written down: items with their sources, edges, the ledger of pages, and what was
not taken. A transaction, or part of the one that commits a turn.

Nothing that was there is changed: a new item ``updates`` an old one, a summary ``updates`` a fact that does not hold any more
and ``resolves`` an open loop, each by an edge with the same sources. So the rule of sight (``memories/sight.py``) takes all of
it back with the answer that it was read of, and brings it back with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, insert

from agentui.ids import new_short_id
from agentui.jsonio import Json, dumps_text
from agentui.memories.edges import create_edge
from agentui.memories.hosts import Host
from agentui.memories.items import CHARACTERS_PER_TOKEN, NewItem, create_item, find_items
from agentui.memories.records import Item, MemoryScope, Relation
from agentui.memories.scopes import advance_scope
from agentui.memories.sight import Sight
from agentui.memories.writing.deciding import (
    FALLBACK_IMPORTANCE,
    SUMMARY_IMPORTANCE,
    Accepted,
    Decision,
    Rejection,
    Summary,
)
from agentui.memories.writing.material import FloorText, pages_there, same_facts
from agentui.memories.writing.said import digest
from agentui.store.tables import memory_batches, memory_proposals, memory_rejections


@dataclass
class _Writing:
    """One decision on its way into the store."""

    db: Connection
    account: str
    decision: Decision
    sight: Sight
    waits: bool
    now: int
    branch_id: str
    there: set[str] = field(default_factory=set)
    summaries: dict[str, Item] = field(default_factory=dict)
    """The summary items that were written, by the answers' pages."""
    made: dict[str, Item] = field(default_factory=dict)
    """The facts and loops that were written, by their keys and by their words."""

    @property
    def host(self) -> Host:
        return self.decision.material.host

    def scope_id(self, scope: MemoryScope) -> str:
        return self.host.scope_id if scope == "branch" else str(self.host.session_id)

    def write(self) -> bool:
        """Write all of it; whether anything changed."""
        decision = self.decision
        pages = {floor.page_id for floor in decision.material.floors} | {each.page_id for each in decision.accepted}
        self.there = pages_there(self.db, self.account, pages)
        for summary in decision.summaries:
            if summary.floor.page_id in self.there:
                self._summarise(summary.floor, summary.text, author_is_model=not summary.is_own)
        accepted = [each for each in decision.accepted if {each.page_id, each.floor.page_id} <= self.there]
        known = find_items(self.db, self.account, [each.changes.id for each in accepted if each.changes is not None])
        for each in accepted:
            if each.changes is not None and each.changes.id not in known:
                continue  # a person removed it meanwhile
            self._add(each) if each.type != "summary" else self._end(each)
        self._keep_ledger()
        return bool(self.summaries or self.made)

    def _summarise(self, floor: FloorText, text: str, *, author_is_model: bool = True) -> Item:
        new = NewItem(
            "branch",
            self.host.scope_id,
            "summary",
            text,
            summary_tier="micro",
            importance=SUMMARY_IMPORTANCE,
            source_floor_id=floor.floor_id,
            source_message_id=floor.message_id,
            sources=((floor.page_id, None),),
            author="model" if author_is_model else "rule",
            waiting=self.waits,
            source_job_id=_job_of(floor),
            token_count_estimate=_tokens(text),
            coverage_start_floor_no=floor.floor_no,
            coverage_end_floor_no=floor.floor_no,
        )
        item = create_item(self.db, self.account, new, self.now)
        self.summaries[floor.page_id] = item
        return item

    def _add(self, accepted: Accepted) -> None:
        """Write a fact or an open loop; what it says anew, or otherwise, it updates or contradicts."""
        text, key, type = accepted.text, accepted.fact_key, accepted.type
        names = [name for name in (None if key is None else f"{type} key {key}", f"{type} {text.casefold()}") if name]
        same = same_facts(self.db, self.account, str(self.host.session_id), self.sight, type, key, text)
        before = {item.id: item for item in (*same, *(self.made[name] for name in names if name in self.made))}
        if accepted.changes is not None:
            before[accepted.changes.id] = accepted.changes
        if any(item.pinned and item.text.casefold() == text.casefold() for item in before.values()):
            return
        item = create_item(self.db, self.account, self._new(accepted, text, key), self.now)
        for other in before.values():
            contradicts = other.pinned or (accepted.proposed.contradicts and other == accepted.changes)
            self._link(item, other, "contradicts" if contradicts else "updates", accepted)
        self.made.update(dict.fromkeys(names, item))

    def _new(self, accepted: Accepted, text: str, key: str | None) -> NewItem:
        importance = accepted.proposed.importance
        default = SUMMARY_IMPORTANCE if accepted.type == "open_loop" else FALLBACK_IMPORTANCE
        return NewItem(
            accepted.scope,
            self.scope_id(accepted.scope),
            accepted.type,
            text,
            importance=default if importance is None else importance,
            fact_key=key,
            source_floor_id=accepted.floor.floor_id,
            source_message_id=accepted.floor.message_id,
            sources=((accepted.page_id, accepted.proposed.quote),),
            author="model",
            waiting=self.waits,
            source_job_id=_job_of(accepted.floor),
            token_count_estimate=_tokens(text),
        )

    def _end(self, accepted: Accepted) -> None:
        """Let a fact that does not hold any more, or a loop that is closed, be superseded by the floor's summary."""
        summary = self.summaries.get(accepted.floor.page_id) or self._summarise(accepted.floor, accepted.proposed.text)
        assert accepted.changes is not None
        self._link(summary, accepted.changes, "resolves" if accepted.proposed.kind == "resolve" else "updates", accepted)

    def _link(self, new: Item, old: Item, relation: Relation, accepted: Accepted) -> None:
        source = (accepted.page_id, accepted.proposed.quote)
        create_edge(self.db, self.account, new.id, old.id, relation, self.now, (source,))

    def _keep_ledger(self) -> None:
        """Keep what was proposed for each answer, and what was not taken and why."""
        floors = self.decision.material.floors
        for floor in floors:
            if floor.page_id not in self.there:
                continue
            rejected = self.decision.rejections if floor is floors[-1] else ()
            summaries = [each for each in self.decision.summaries if each.floor is floor]
            _keep_batch(self, floor, summaries, [each for each in self.decision.accepted if each.floor is floor], rejected)
            for each in rejected:
                self._reject(floor, each)

    def _reject(self, floor: FloorText, rejection: Rejection) -> None:
        row: dict[str, Json] = {
            "id": new_short_id(),
            "account_id": self.account,
            "session_id": self.host.session_id,
            "branch_id": self.branch_id,
            "floor_id": floor.floor_id,
            "page_id": floor.page_id,
            "job_id": _job_of(floor),
            "type": rejection.type,
            "content": rejection.text,
            "quote": rejection.quote or None,
            "reason": rejection.reason,
            "created_at": self.now,
        }
        self.db.execute(insert(memory_rejections).values(**row))


def apply_decision(
    db: Connection, account: str, branch_id: str, decision: Decision, sight: Sight, now: int, *, waits: bool
) -> None:
    """Write what was decided. ``sight`` is what is seen from the last of the floors; with ``waits`` new items wait for a
    person. Pages and items that are gone meanwhile are passed over."""
    has_changed = _Writing(db, account, decision, sight, waits, now, branch_id).write()
    numbers = [floor.floor_no for floor in decision.material.floors if floor.job is not None]
    if numbers and has_changed:
        advance_scope(db, account, decision.material.host, now, floor_no=max(numbers))


def _keep_batch(
    writing: _Writing,
    floor: FloorText,
    summaries: Sequence[Summary],
    accepted: Sequence[Accepted],
    rejections: Sequence[Rejection],
) -> None:
    """Keep what was proposed for one answer (TavernHeadless' contract, 3.10)."""
    told: list[tuple[str, str, str, Mapping[str, Json], float | None, str | None, str]] = [
        ("micro_summary", "refresh_summary", "branch", {"content": each.text}, SUMMARY_IMPORTANCE, None, "promoted")
        for each in summaries
    ]
    for each in accepted:
        said, item_id = each.proposed, None if each.changes is None else each.changes.id
        payload: Mapping[str, Json] = {"content": each.text, "factKey": each.fact_key, "id": item_id, "quote": said.quote}
        kind = "open_loop" if said.kind in ("open", "resolve") else "fact"
        told.append((kind, _OPERATIONS[said.kind], each.scope, payload, said.importance, None, "promoted"))
    for rejection in rejections:
        refused: Mapping[str, Json] = {"content": rejection.text, "quote": rejection.quote or None}
        operation = {"fact": "add_fact", "open_loop": "add_open_loop", "summary": "refresh_summary"}[rejection.type]
        told.append((rejection.type, operation, "branch", refused, None, rejection.reason, "rejected"))
    if not told or floor.job is None:
        return  # the contract's ledger is one of jobs
    db, account, now, batch_id = writing.db, writing.account, writing.now, new_short_id()
    is_promoted = bool(summaries or accepted)
    status = "promoted" if is_promoted else "rejected"
    job = floor.job
    row: dict[str, Json] = {
        "id": batch_id,
        "account_id": account,
        "page_id": floor.page_id,
        "runtime_mode": "async_primary",
        "strategy": "single_summary",
        "source_kind": "memory_runtime",
        "source_json": dumps_text(
            {
                "assistantMessageId": floor.message_id,
                "userInputDigest": job.payload["userInputDigest"],
                "sourceJobId": _job_of(floor),
            }
        ),
        "evidence_json": dumps_text(
            {"floorNo": floor.floor_no, "mutationCount": len(accepted), "summaryCount": len(summaries)}
        ),
        "proposal_status": status,
        "promotion_status": status,
        "decision_reason": None if is_promoted else "Nothing of it could be taken.",
        "decision_code": "promotion_allowed" if is_promoted else "nothing_taken",
        "summary_text_hash": digest(summaries[0].text) if summaries else None,
        "created_at": now,
        "updated_at": now,
        "decided_at": now,
    }
    db.execute(insert(memory_batches).values(**row))
    for number, (kind, operation, scope, content, importance, reason, state) in enumerate(told, 1):
        values: dict[str, Json] = {
            "batch_id": batch_id,
            "number": number,
            "account_id": account,
            "memory_kind": kind,
            "operation_kind": operation,
            "target_scope": scope,
            "payload_json": dumps_text(dict(content)),
            "importance": importance,
            "reason": reason,
            "evidence_json": dumps_text({"quote": content.get("quote")}),
            "status": state,
            "created_at": now,
            "updated_at": now,
        }
        db.execute(insert(memory_proposals).values(**values))


_OPERATIONS: Mapping[str, str] = {
    "add": "add_fact",
    "update": "update_fact",
    "deprecate": "deprecate_fact",
    "open": "add_open_loop",
    "resolve": "resolve_open_loop",
}


def _job_of(floor: FloorText) -> str | None:
    return None if floor.job is None else floor.job.id


def _tokens(text: str) -> int:
    return max(1, -(-len(text) // CHARACTERS_PER_TOKEN))
