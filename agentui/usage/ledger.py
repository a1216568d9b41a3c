"""The ledger: one row for every request that went out to a model. The functions are transactions, or parts of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from sqlalchemy import Connection

from agentui.chat.deltas import Usage
from agentui.jsonio import Json
from agentui.pipeline.metering import Outcome, OutgoingCall
from agentui.store.prepared import INSERT, Prepared, named
from agentui.store.tables import usage

Basis = Literal["told", "estimated", "unknown"]
LONGEST_NAME: Final = 256
"""Characters of a name that are kept."""

_COLUMNS: Final = tuple(column.name for column in usage.columns)
_INSERT: Final = Prepared(
    {
        # A write whose outcome nobody heard of is made again.
        engine: insert(usage).values(named(usage, *_COLUMNS)).on_conflict_do_nothing(index_elements=["id"])
        for engine, insert in INSERT.items()
    }
)


@dataclass(frozen=True, slots=True)
class UsageRow:
    """A line of the ledger. ``price`` is in nano-dollars, None where it is not known."""

    id: str
    call: OutgoingCall
    outcome: Outcome | Literal["lost"]
    status: int | None
    usage: Usage
    price: int | None
    basis: Basis
    latency_ms: int
    created_at: int

    def values(self) -> Mapping[str, Json]:
        """The row by its columns."""
        call, told = self.call, self.usage
        return {
            "id": self.id,
            "account_id": call.principal.account,
            "key_id": call.principal.key,
            "session_id": call.session,
            "floor_id": call.floor,
            "run_id": call.run,
            "pipeline_id": _name(call.pipeline),
            "node_id": _name(call.node),
            "vendor": call.vendor,
            "host": _name(urlsplit(call.url).netloc.rpartition("@")[2]),
            "model": _name(call.model),
            "operation": call.operation,
            "purpose": call.purpose,
            "outcome": self.outcome,
            "status": self.status,
            "input_tokens": told.input,
            "output_tokens": told.output,
            "cache_read_tokens": told.cache_read,
            "cache_write_tokens": told.cache_write,
            "reasoning_tokens": told.reasoning,
            "price_nano": self.price,
            "basis": self.basis,
            "latency_ms": self.latency_ms,
            "created_at": self.created_at,
        }


def add_values(db: Connection, rows: Sequence[Mapping[str, Json]]) -> None:
    """Write lines; those that are there already stay as they are."""
    if rows:
        _INSERT.each(db, rows)


def _name(text: str) -> str:
    """A name as a column takes it: PostgreSQL knows no NUL, and neither engine half a character."""
    return text[:LONGEST_NAME].replace("\0", "").encode("utf-8", "replace").decode()
