"""When many small summaries become a large one, and which (TavernHeadless' contract, 3.7).

The small ones stay as they are: the large one ``compacts`` them by edges, so that a fork that begins among them sees them, and
not what tells of floors that it does not have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from sqlalchemy import Connection, select

from agentui.chats.codes import failure
from agentui.chats.rows import find_session
from agentui.jsonio import Json
from agentui.memories.edges import create_edge
from agentui.memories.hosts import Host, find_host
from agentui.memories.items import NewItem, create_item, find_items
from agentui.memories.records import Item, MemoryScope
from agentui.memories.scopes import advance_scope
from agentui.memories.sight import Sight
from agentui.memories.writing.deciding import MACRO_IMPORTANCE
from agentui.memories.writing.jobs import MemoryJob, NewJob, QueuedJob, queue_job
from agentui.memories.writing.material import pages_there
from agentui.memories.writing.modes import WritingRules
from agentui.store.tables import memory_items

MANY: Final = 12
LONG: Final = 900
"""Tokens."""
FAR: Final = 12
"""Floors."""
LEAST: Final = 3
KEPT: Final = 4
"""The newest small summaries, which stay out of a large one where there are enough others."""
LONGEST_JOINED: Final = 1600
"""Characters of what stands for a large summary where a model's answer is none."""
MOST_MACRO: Final = 8000

Why: TypeAlias = Literal["micro_count_threshold", "micro_token_threshold", "floor_gap_threshold", "forced"]


@dataclass(frozen=True, slots=True)
class Compaction:
    """What is to be compacted: small summaries, the oldest first, and the newest large one."""

    reason: Why
    sources: Sequence[Item]
    before: Item | None

    @property
    def coverage(self) -> tuple[int | None, int | None]:
        """The first and the last floor that the sources tell of."""
        starts = [item.coverage_start_floor_no for item in self.sources if item.coverage_start_floor_no is not None]
        ends = [item.coverage_end_floor_no for item in self.sources if item.coverage_end_floor_no is not None]
        return min(starts, default=None), max(ends, default=None)


@dataclass(frozen=True, slots=True)
class CompactionJob(QueuedJob):
    """A compaction that was asked for."""

    reason: Why
    source_micro_ids: Sequence[str]
    coverage_start_floor_no: int | None
    coverage_end_floor_no: int | None


def find_compaction(
    db: Connection, account: str, host: Host, sight: Sight | None, last_floor_no: int | None, *, is_forced: bool = False
) -> Compaction | None:
    """What is to be compacted of what is seen in a scope, of all that is active where there is no ``sight``; None where nothing
    is."""
    small, large = _summaries(db, account, host, sight)
    before = max(large, key=lambda item: (item.coverage_end_floor_no or -1, item.created_at), default=None)
    reason = _reason(small, before, last_floor_no, is_forced=is_forced)
    if reason is None:
        return None
    number = min(MANY, len(small) - KEPT)
    if number < LEAST:
        number = LEAST if len(small) - 2 >= LEAST or (is_forced and len(small) >= LEAST) else 0
    return Compaction(reason, small[:number], before) if number else None


def _reason(small: Sequence[Item], before: Item | None, last_floor_no: int | None, *, is_forced: bool) -> Why | None:
    if len(small) >= MANY:
        return "micro_count_threshold"
    if sum(item.token_count_estimate or len(item.text) // 4 for item in small) >= LONG:
        return "micro_token_threshold"
    end = None if before is None else before.coverage_end_floor_no
    if last_floor_no is not None and end is not None and last_floor_no - end >= FAR:
        return "floor_gap_threshold"
    return "forced" if is_forced and len(small) >= LEAST else None


def _summaries(db: Connection, account: str, host: Host, sight: Sight | None) -> tuple[list[Item], list[Item]]:
    """The small and the large summaries of a scope, the oldest first; what has no coverage is older than what has one."""
    own = memory_items.c.account_id == account, memory_items.c.type == "summary"
    if sight is None:
        place = memory_items.c.scope == host.scope, memory_items.c.scope_id == host.scope_id
    else:
        # A branch goes on from what its path knows, whichever branch that was written on.
        place = memory_items.c.session_id == host.session_id, memory_items.c.scope == host.scope
    active = (
        memory_items.c.status == "active",
        memory_items.c.lifecycle_status == "active",
        memory_items.c.is_waiting.is_(False),
    )
    ids = list(db.execute(select(memory_items.c.id).where(*own, *place, *active)).scalars())
    found = find_items(db, account, [id for id in ids if sight is None or sight.sees(id)])
    every = sorted(found.values(), key=lambda item: (_end(item), item.created_at, item.id))
    return [item for item in every if item.summary_tier != "macro"], [item for item in every if item.summary_tier == "macro"]


def _end(item: Item) -> int:
    return -1 if item.coverage_end_floor_no is None else item.coverage_end_floor_no


def queue_compaction(
    db: Connection, account: str, host: Host, found: Compaction, now: int, *, trigger: str | None = None, force: bool = False
) -> CompactionJob:
    """Queue a job that makes the large summary."""
    ids = [item.id for item in found.sources]
    start, end = found.coverage
    scope = "" if host.scope == "chat" else f"{host.scope}:"
    payload: dict[str, Json] = {
        "accountId": account,
        "scope": host.scope,
        "scopeId": host.scope_id,
        "sourceMicroIds": ids,
        "coverageStartFloorNo": start,
        "coverageEndFloorNo": end,
        "triggerFloorId": trigger,
        "committedAt": now,
        "force": force,
    }
    job = NewJob(f"memory-job:compact_macro:{scope}{host.scope_id}:{ids[-1]}", host, "compact_macro", payload)
    queued = queue_job(db, account, job, now)
    return CompactionJob(queued.job_id, queued.created, host.scope, host.scope_id, found.reason, ids, start, end)


def ask_compaction(
    db: Connection,
    account: str,
    scope: MemoryScope,
    scope_id: str,
    rules: WritingRules,
    sight: Sight | None,
    now: int,
    trigger: str | None,
    force: bool,
) -> CompactionJob:
    """Queue a compaction that a person asks for. Raises 404 for a host that is not there, 409 ``invalid_state`` where there is
    nothing to compact, or no job writes memories."""
    host = _asked_of(db, account, scope, scope_id, rules)
    found = find_compaction(db, account, host, sight, None, is_forced=force)
    if found is None:
        raise failure("invalid_state", "There is nothing to compact: too few small summaries are seen there.")
    return queue_compaction(db, account, host, found, now, trigger=trigger, force=force)


def ask_rebuild(
    db: Connection,
    account: str,
    scope: MemoryScope,
    scope_id: str,
    rules: WritingRules,
    now: int,
    trigger: str | None,
    force: bool,
) -> QueuedJob:
    """Queue a job that looks through a scope, and plans a compaction; the chat is not read again (contract, 3.11). Raises as
    ``ask_compaction`` does."""
    host = _asked_of(db, account, scope, scope_id, rules)
    payload: dict[str, Json] = {
        "accountId": account,
        "scope": host.scope,
        "scopeId": host.scope_id,
        "triggerFloorId": trigger,
        "committedAt": now,
        "forceCompaction": force,
    }
    id = f"memory-job:rebuild_scope:{host.scope}:{host.scope_id}:{now}"
    return queue_job(db, account, NewJob(id, host, "rebuild_scope", payload), now)


def _asked_of(db: Connection, account: str, scope: MemoryScope, scope_id: str, rules: WritingRules) -> Host:
    """The scope that a person asks something of. Raises 404 ``not_found``, 409 ``invalid_state``."""
    host = find_host(db, account, scope, scope_id)
    mode = rules.mode
    if scope != "global":
        if host.session_id is None:
            raise failure("not_found", f"There is no such {scope}.", scope=scope, scope_id=scope_id)
        mode = rules.mode_of(find_session(db, account, host.session_id).memory)
    elif host.scope_id != account:
        raise failure("not_found", "There is no such scope.", scope=scope, scope_id=scope_id)
    if mode != "async":
        raise failure("invalid_state", "No jobs write memories there: the mode is not async.", mode=mode)
    return host


def joined(sources: Sequence[Item]) -> str:
    """What stands for a large summary where a model's answer is none."""
    return "\n".join(item.text for item in sources)[:LONGEST_JOINED]


def write_macro(
    db: Connection, account: str, host: Host, job: MemoryJob, sources: Sequence[Item], text: str, now: int, *, waits: bool
) -> Item | None:
    """Write a large summary that compacts small ones; None where too many of these are gone."""
    found = find_items(db, account, [item.id for item in sources])
    kept = pages_there(db, account, {source.page_id for item in sources for source in item.sources})
    there = [item for item in sources if item.id in found and all(source.page_id in kept for source in item.sources)]
    if len(there) < LEAST:
        return None
    start, end = Compaction("forced", there, None).coverage
    pages = dict.fromkeys(source.page_id for item in there for source in item.sources)
    new = NewItem(
        host.scope,
        host.scope_id,
        "summary",
        text,
        summary_tier="macro",
        importance=MACRO_IMPORTANCE,
        sources=tuple((page_id, None) for page_id in pages),
        author="model",
        waiting=waits,
        source_job_id=job.id,
        token_count_estimate=max(1, -(-len(text) // 4)),
        coverage_start_floor_no=start,
        coverage_end_floor_no=end,
        derived_from_count=len(there),
    )
    item = create_item(db, account, new, now)
    for each in there:
        create_edge(db, account, item.id, each.id, "compacts", now)
        create_edge(db, account, item.id, each.id, "derived_from", now)
    advance_scope(db, account, host, now, is_compacted=True)
    return item
