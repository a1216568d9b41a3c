"""``Operation``: what somebody did, as the log tells it. It holds ids, states and hashes, and never a text that was written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from typing_extensions import TypedDict

from agentui.jsonio import Json, dumps, dumps_text

ActorType: TypeAlias = Literal["account", "client", "llm", "system"]
SourceType: TypeAlias = Literal["http", "llm_run"]
OperationStatus: TypeAlias = Literal["succeeded", "failed", "denied", "cancelled"]
Result: TypeAlias = Literal["allowed", "denied"]

MAX_BYTES: Final = 16_000
"""The longest list of changes, as JSON."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did something: an account, a client with its key, a model in a run, or the server itself. ``account`` and ``client``
    are those in whose name it was."""

    type: ActorType
    id: str
    account: str | None
    client: str | None = None
    source: SourceType = "http"
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that was done, or refused. ``before_ref`` and ``after_ref`` name versions; ``permission`` is the right that it
    needed, ``reason`` the code of the error that refused it. ``group`` is the same for all that one request did."""

    actor: Actor
    action: str
    target_type: str | None = None
    target_id: str | None = None
    session_id: str | None = None
    branch_id: str | None = None
    floor_id: str | None = None
    run_id: str | None = None
    project_id: str | None = None
    before_ref: str | None = None
    after_ref: str | None = None
    diff: "Difference | None" = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    status: OperationStatus = "succeeded"
    permission: str | None = None
    result: Result | None = None
    reason: str | None = None
    group: str | None = None


class Change(TypedDict):
    """A field that changed. The hashes are SHA-256 of the values' JSON, in hex; a preview is there where the value is no text
    that somebody wrote."""

    path: str
    change_type: Literal["added", "removed", "changed"]
    before_hash: str | None
    after_hash: str | None
    redacted: bool
    before_preview: Json
    after_preview: Json


class Difference(TypedDict):
    """What changed of a thing: the first changes, and how many there are."""

    mode: Literal["summary"]
    changes: list[Change]
    total_changes: int
    truncated: bool
    max_bytes: int


def difference(before: Mapping[str, Json], after: Mapping[str, Json]) -> Difference | None:
    """What two states of a thing differ in, by their fields; None where in nothing. Of texts the hashes are told alone."""
    changes = list(_changes(before, after))
    if not changes:
        return None
    kept: list[Change] = []
    size = 0
    for change in changes:
        size += len(dumps(change))
        if size > MAX_BYTES:
            break
        kept.append(change)
    return {
        "mode": "summary",
        "changes": kept,
        "total_changes": len(changes),
        "truncated": len(kept) < len(changes),
        "max_bytes": MAX_BYTES,
    }


def hash_of(value: Json) -> str | None:
    """How a value stands in the log that must not be told; None for none."""
    return None if value is None else sha256(dumps_text(value).encode()).hexdigest()


def _changes(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[Change]:
    for name in sorted({*before, *after} - _TIMES):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        is_told = all(_may_be_told(name, value) for value in (old, new))
        yield {
            "path": f"/{name}",
            "change_type": "added" if old is None else "removed" if new is None else "changed",
            "before_hash": hash_of(old),
            "after_hash": hash_of(new),
            "redacted": not is_told,
            "before_preview": old if is_told else None,
            "after_preview": new if is_told else None,
        }


_TIMES: Final = frozenset({"created_at", "updated_at", "last_used_at"})
_WORDS: Final = frozenset({"status", "role", "kind", "content_hash", "prompt_mode"})
"""Fields whose texts are one of a few words, or none that somebody wrote."""


def _may_be_told(name: str, value: Json) -> bool:
    return value is None or isinstance(value, bool | int | float) or name in _WORDS or name.endswith("_id")
